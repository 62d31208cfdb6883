# SPDX-License-Identifier: MIT
"""Behaviour cloning of weighted transitions that carry the imitator's own actions, such as projected demonstrations.

minimise over μ:  E_{(s, a) ~ p_w} ‖μ(o(s)) − a‖² / A,  actions in half control ranges, by Adam; the rate falls along a cosine
to zero. The policy's deviation is the maximum-likelihood one, the root mean square of what the regression leaves over. The
regression takes no simulator step.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, NoReturn

import numpy as np

from imitable import seeding
from imitable.errors import BadOption, ImitableError
from imitable.evaluation.reference import Reference
from imitable.files import write_bytes
from imitable.imitation.learner import LearningJob
from imitable.imitation.training import imitation_task, normaliser_of, observations
from imitable.imitation.transitions import Sampler, WeightedTransitions, densities, transitions_of
from imitable.nn import cloner
from imitable.nn.fitting import cosine_rates
from imitable.nn.networks import policy_of
from imitable.nn.typed_jax import array, leaves, replaced
from imitable.policies.acting import mean, normalised
from imitable.rl.checkpoint import checked
from imitable.rl.progress import Progress
from imitable.rl.settings import LearningRate, Widths
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.task import Task
from imitable.spec_text import Range, check_fields
from imitable.tensors import Arrays, to_bytes
from imitable.types import Demonstrations, Episode, Floats, Policy, Weights

SCHEMA = 1

PART = 500
"""Gradient steps of one iteration."""

RESIDUALS = 20_000
"""Transitions, drawn by weight, that the policy's deviation is measured on."""

LOG_STD = (-5.0, 0.0)
"""Bounds of the logarithm of the policy's deviation, in half control ranges."""

GradientSteps = Annotated[int, Range(1, 10**8)]
"""Of the regression."""


@dataclass(frozen=True)
class Cloning:
    """Settings of the regression."""

    gradient_steps: GradientSteps = 20_000
    """Gradient steps of the regression."""
    minibatch: Annotated[int, Range(1, 10**7)] = 256
    """Transitions of one gradient step, drawn by weight."""
    learning_rate: LearningRate = 1e-3
    """Adam's rate; falls along a cosine to zero."""
    hidden: Widths = (64, 64)
    """Layer widths of the policy."""

    def __post_init__(self) -> None:
        """Check every value."""
        check_fields(self)

    @property
    def least_steps(self) -> int:
        """None."""
        return 0

    def begin(self, job: LearningJob) -> "CloneTraining":
        """Read the transitions and start the policy; refuse demonstrations without the imitator's own actions."""
        check_own_actions(job.demos, job.weights, job.imitator)
        transitions = transitions_of(job, actions=True)
        return CloneTraining(self, job, transitions, *imitation_task(job, transitions))


class CloneTraining:
    """A regression under way."""

    def __init__(
        self,
        method: Cloning,
        job: LearningJob,
        transitions: WeightedTransitions,
        task: Task,
        reference: Reference | None,
    ) -> None:
        """Start on transitions that have the imitator's own actions."""
        assert transitions.actions is not None
        self._method, self._job, self.reference = method, job, reference
        self._normaliser = normaliser_of(task, transitions)
        self._rng = seeding.generator(job.seed, "cloning")
        self._actions = len(job.imitator.control_centre)
        sizes = (task.observation_size, *method.hidden, self._actions)
        self._cloner = cloner.fresh(int(self._rng.integers(2**32)), sizes)
        self._steps_taken = 0
        untrained = self._policy_with(np.zeros(self._actions))
        real = ~transitions.absorbing
        inputs = normalised(untrained, observations(task, transitions.before[real]))
        # what lies outside the range is clipped by the simulator: it moves the body like the bound
        units = np.clip(job.imitator.to_units(transitions.actions[real]), -1, 1).astype(np.float32)
        self._sampler = Sampler(transitions.density[real])
        drawn = self._sampler.draw(seeding.generator(job.seed, "residuals"), (RESIDUALS,))
        self._residual_rows = inputs[drawn], units[drawn]
        self._inputs, self._units = array(inputs), array(units)

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
        count = min(PART, self._method.gradient_steps - self._steps_taken)
        rates = cosine_rates(self._method.learning_rate, self._steps_taken, count, self._method.gradient_steps)
        order = self._sampler.draw(self._rng, (count, self._method.minibatch))
        self._cloner, loss = cloner.fit(
            self._cloner, self._inputs, self._units, array(order, np.int32), array(rates, np.float32)
        )
        self._steps_taken += count
        metrics = {"gradient_steps": float(self._steps_taken), "loss": float(loss)}
        return Progress(0, float("nan"), float("nan"), 0, metrics)

    def save(self, path: Path) -> None:
        """Write a checkpoint."""
        arrays: Arrays = {f"cloner.{index}": np.asarray(leaf) for index, leaf in enumerate(leaves(self._cloner))}
        metadata = {
            "fingerprint": json.dumps(self._fingerprint),
            "rng": seeding.to_json(self._rng),
            "taken": str(self._steps_taken),
        }
        write_bytes(path, to_bytes(arrays, metadata))

    def load(self, path: Path) -> None:
        """Read a checkpoint."""
        arrays, metadata = checked(path, self._fingerprint)
        count = len(leaves(self._cloner))
        self._cloner = replaced(self._cloner, [array(arrays[f"cloner.{index}"]) for index in range(count)])
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
        return policy_of(self._cloner.network, log_std, self._normaliser, self._job.imitator)


def check_own_actions(demos: Demonstrations, weights: Weights | None, imitator: Robot) -> None:
    """Refuse demonstrations with a weight that do not carry the imitator's own actions."""
    weighted, own = densities(demos, weights) > 0, dict[str, bool]()
    for place, episode in enumerate(demos.episodes):
        if not weighted[place]:
            continue
        if episode.demonstrator not in own:
            own[episode.demonstrator] = _is(imitator, episode.demonstrator)
        if not own[episode.demonstrator]:
            _refuse(episode, f"was recorded on {episode.demonstrator}", imitator)
        if demos[place].actions is None:
            _refuse(episode, "has no actions", imitator)


def _is(imitator: Robot, name: str) -> bool:
    try:
        return parse_robot(name).hash == imitator.hash
    except ImitableError:
        return False  # the name of no robot at all


def _refuse(episode: Episode, what: str, imitator: Robot) -> NoReturn:
    source = episode.source or "in memory"
    raise BadOption(
        "DEMOS",
        source,
        f"cloning needs actions of {imitator}, and episode {episode.index} {what}; "
        f"run imitable project {episode.source or 'DEMOS'} --imitator {imitator} --out DEMOS2 first, or choose warm-start",
    )
