# SPDX-License-Identifier: MIT
"""The paper's imitation on the arm: a β-VAE of weighted state transitions, and inverse kinematics for the actions.

The VAE says where the demonstrations go from a state: its answer is the change to the next state, as the action that brings it
about, g(s_{t+1}) − g(s_t) for the tool g of an arm, in half control ranges; the arm's own inverse kinematics turn that into
angles. On a body without a tool the action is that of inverse dynamics. Nothing is simulated while it learns, and actions of
the demonstrators are not used.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import numpy as np

from imitable import seeding
from imitable.files import write_bytes
from imitable.imitation.learner import LearningJob
from imitable.imitation.training import imitation_task, normaliser_of, observations
from imitable.imitation.transitions import Sampler, WeightedTransitions, transitions_of
from imitable.nn import transition_vae
from imitable.nn.fitting import cosine_rates
from imitable.nn.networks import policy_of
from imitable.nn.typed_jax import array, leaves, replaced
from imitable.policies.acting import mean, normalised
from imitable.rl.checkpoint import checked
from imitable.rl.progress import Progress
from imitable.rl.settings import LearningRate, Widths
from imitable.robots.robot import Robot
from imitable.spec_text import Range, check_fields
from imitable.tensors import Arrays, to_bytes
from imitable.tracking.inverse_dynamics import inverse_actions
from imitable.types import Floats, Policy

SCHEMA = 1

PART = 500
"""Gradient steps of one iteration."""

RESIDUALS = 5_000
"""Transitions, drawn by weight, that the policy's deviation is measured on."""

LOG_STD = (-5.0, 0.0)
"""Bounds of the logarithm of the policy's deviation, in half control ranges."""


@dataclass(frozen=True)
class StateVae:
    """Settings of the VAE; those of the paper's code but for tanh, the budget and a rate that falls along a cosine."""

    gradient_steps: Annotated[int, Range(1, 10**8)] = 4_000
    """Gradient steps."""
    minibatch: Annotated[int, Range(1, 10**7)] = 128
    """Transitions of one gradient step, drawn by weight."""
    learning_rate: LearningRate = 1e-3
    """Adam's rate; falls along a cosine to zero."""
    hidden: Widths = (128, 128, 128)
    """Layer widths of the encoder; the decoder has one less."""
    latent: Annotated[int, Range(1, 10**4)] = 128
    """Entries of the latent."""
    beta: Annotated[float, Range(0, 100)] = 0.005
    """Weight of the divergence from the prior."""

    def __post_init__(self) -> None:
        """Check every value."""
        check_fields(self)

    @property
    def least_steps(self) -> int:
        """None."""
        return 0

    def begin(self, job: LearningJob) -> "VaeTraining":
        """Read the transitions and start the networks."""
        return VaeTraining(self, job, transitions_of(job))


class VaeTraining:
    """A VAE that learns."""

    def __init__(self, method: StateVae, job: LearningJob, transitions: WeightedTransitions) -> None:
        """Start on weighted transitions."""
        task, self.reference = imitation_task(job, transitions)
        self._method, self._job = method, job
        self._normaliser = normaliser_of(task, transitions)
        self._rng = seeding.generator(job.seed, "state-vae")
        self._actions = len(job.imitator.control_centre)
        seed = int(self._rng.integers(2**32))
        self._vae = transition_vae.fresh(seed, task.observation_size, self._actions, method.hidden, method.latent)
        self._steps_taken = 0
        real = ~transitions.absorbing
        before, after = transitions.before[real], transitions.after[real]
        inputs = normalised(self._policy_with(np.zeros(self._actions)), observations(task, before))
        units = _units(job.imitator, before, after)
        self._sampler = Sampler(transitions.density[real])
        drawn = self._sampler.draw(seeding.generator(job.seed, "residuals"), (RESIDUALS,))
        self._residual_rows = inputs[drawn], units[drawn]
        self._inputs, self._units = array(inputs), array(units, np.float32)

    @property
    def done(self) -> bool:
        """Whether all gradient steps are taken."""
        return self._steps_taken == self._method.gradient_steps

    @property
    def progress(self) -> float:
        """Part of the gradient steps that are taken."""
        return self._steps_taken / self._method.gradient_steps

    @property
    def policy(self) -> Policy:
        """The policy so far."""
        inputs, units = self._residual_rows
        predicted = mean(self._policy_with(np.zeros(self._actions)), inputs).astype(np.float64)
        residual = np.sqrt(np.square(predicted - units).mean(axis=0))
        return self._policy_with(np.clip(np.log(np.maximum(residual, np.exp(LOG_STD[0]))), *LOG_STD))

    def iterate(self) -> Progress:
        """Take some gradient steps."""
        method, taken = self._method, self._steps_taken
        count = min(PART, method.gradient_steps - taken)
        order = self._sampler.draw(self._rng, (count, method.minibatch))
        self._vae, loss = transition_vae.fit(
            self._vae,
            self._inputs,
            self._units,
            array(order, np.int32),
            array(cosine_rates(method.learning_rate, taken, count, method.gradient_steps), np.float32),
            transition_vae.noise_keys(int(self._rng.integers(2**32)), count),
            array(method.beta, np.float32),
        )
        self._steps_taken += count
        metrics = {"gradient_steps": float(self._steps_taken), "loss": float(loss)}
        return Progress(0, float("nan"), float("nan"), 0, metrics)

    def save(self, path: Path) -> None:
        """Write a checkpoint."""
        arrays: Arrays = {f"vae.{index}": np.asarray(leaf) for index, leaf in enumerate(leaves(self._vae))}
        metadata = {
            "fingerprint": json.dumps(self._fingerprint),
            "rng": seeding.to_json(self._rng),
            "taken": str(self._steps_taken),
        }
        write_bytes(path, to_bytes(arrays, metadata))

    def load(self, path: Path) -> None:
        """Read a checkpoint."""
        arrays, metadata = checked(path, self._fingerprint)
        count = len(leaves(self._vae))
        self._vae = replaced(self._vae, [array(arrays[f"vae.{index}"]) for index in range(count)])
        self._rng, self._steps_taken = seeding.from_json(metadata["rng"]), int(metadata["taken"])

    @property
    def _fingerprint(self) -> dict[str, object]:
        """What must be equal for a checkpoint to be continued."""
        rows = np.asarray(self._inputs).tobytes() + np.asarray(self._units).tobytes()
        return {
            "schema": SCHEMA,
            "body": self._job.imitator.hash,
            "method": json.loads(json.dumps(asdict(self._method))),
            "transitions": hashlib.sha256(rows).hexdigest()[:32],
            "seed": self._job.seed,
        }

    def _policy_with(self, log_std: Floats) -> Policy:
        return policy_of(transition_vae.mean_network(self._vae.network), log_std, self._normaliser, self._job.imitator)


def _units(imitator: Robot, before: Floats, after: Floats) -> Floats:
    """(n, S), (n, S) → (n, A) the actions that take a state to the next, in half control ranges, inside the range."""
    return np.clip(imitator.to_units(inverse_actions(imitator, before, after)), -1, 1)
