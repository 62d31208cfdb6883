# SPDX-License-Identifier: MIT
"""The training of behaviour cloning: a regression in parts, and GAIfO after it if that is asked for; and its checkpoints."""

import hashlib
import json
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import NoReturn

import numpy as np

from imitable import seeding
from imitable.errors import BadOption, ImitableError
from imitable.files import write_bytes
from imitable.imitation.learner import Job
from imitable.imitation.methods.cloning import Cloning
from imitable.imitation.methods.gaifo import Gaifo
from imitable.imitation.training import PolicyTraining, adversarial, imitation_task, normaliser_of
from imitable.imitation.transitions import Sampler, densities, weighted_transitions
from imitable.nn import cloner
from imitable.nn.fitting import cosine_rates
from imitable.nn.networks import policy_of
from imitable.nn.typed_jax import array, leaves, replaced
from imitable.policies.acting import mean, normalised
from imitable.rl.checkpoint import checked
from imitable.rl.expert import check_settings
from imitable.rl.progress import Progress
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.task import Moment
from imitable.tensors import Arrays, to_bytes
from imitable.types import Demonstrations, Episode, Floats, Policy, Weights

SCHEMA = 1

PART = 500
"""Gradient steps of one iteration."""

RESIDUALS = 20_000
"""Transitions, drawn by weight, that the policy's deviation is measured on."""

LOG_STD = (-5.0, 0.0)
"""Bounds of the logarithm of the policy's deviation, in half control ranges."""

FINE_LOG_STD = -1.5
"""Exploration of GAIfO after cloning: enough to learn from, not so much that it forgets."""


class CloneTraining:
    """A regression under way, then perhaps a trainer."""

    def __init__(self, method: Cloning, job: Job) -> None:
        """Read the lessons; refuse demonstrations without the imitator's own actions."""
        check_own_actions(job.demos, job.weights, job.imitator)
        self._method, self._job = method, job
        transitions = weighted_transitions(job.demos, job.weights, job.seed, actions=True)
        assert transitions.actions is not None
        task = imitation_task(job, transitions)
        self._normaliser = normaliser_of(task, transitions)
        low, high = job.imitator.control_range
        self._centre, self._half = (low + high) / 2, (high - low) / 2
        self._rng = seeding.generator(job.seed, "cloning")
        sizes = (task.observation_size, *method.hidden, len(low))
        self._cloner = cloner.fresh(int(self._rng.integers(2**32)), sizes)
        self._taken = 0
        self._tuning: PolicyTraining | None = None
        real = ~transitions.absorbing
        before = transitions.before[real]
        blank = np.zeros((len(before), 0), np.int64)
        if method.fine_tune:
            # said now, not after the regression
            check_settings(task, self._gaifo.rl, job.steps, self._policy_of(np.zeros(len(low))))
        observed = task.observe(Moment(before, np.zeros(len(before), np.int64), blank))
        inputs = normalised(self._policy_of(np.zeros(len(low))), observed)
        # what lies outside the range is clipped by the simulator: it moves the body like the bound
        units = np.clip((transitions.actions[real] - self._centre) / self._half, -1, 1).astype(np.float32)
        self._sampler = Sampler(transitions.density[real])
        shown = self._sampler.draw(seeding.generator(job.seed, "residuals"), (RESIDUALS,))
        self._shown = inputs[shown], units[shown]
        self._inputs, self._units = array(inputs), array(units)

    @property
    def done(self) -> bool:
        """Whether all gradient steps are taken, and GAIfO after them has no room for another batch."""
        if not self._cloned or not self._method.fine_tune:
            return self._cloned
        return self._tuned.done

    @property
    def share(self) -> float:
        """Part of the gradient steps that are taken; with GAIfO after them, each is half of the work."""
        cloned = self._taken / self._method.gradient_steps
        if not self._method.fine_tune:
            return cloned
        return cloned / 2 + (self._tuned.share / 2 if self._cloned else 0.0)

    @property
    def policy(self) -> Policy:
        """The policy so far."""
        return self._tuned.policy if self._cloned and self._method.fine_tune else self._cloned_policy

    def iterate(self) -> Progress:
        """Take some gradient steps, or a batch of GAIfO."""
        if self._cloned:
            return self._tuned.iterate()
        count = min(PART, self._method.gradient_steps - self._taken)
        rates = cosine_rates(self._method.learning_rate, self._taken, count, self._method.gradient_steps)
        order = self._sampler.draw(self._rng, (count, self._method.minibatch))
        self._cloner, loss = cloner.fit(
            self._cloner, self._inputs, self._units, array(order, np.int32), array(rates, np.float32)
        )
        self._taken += count
        return Progress(0, float("nan"), float("nan"), 0, {"gradient_steps": float(self._taken), "loss": float(loss)})

    def save(self, path: Path) -> None:
        """Write a checkpoint: the regression, and the trainer's own checkpoint inside it once there is one."""
        arrays: Arrays = {f"cloner.{index}": np.asarray(leaf) for index, leaf in enumerate(leaves(self._cloner))}
        if self._tuning is not None:
            with _beside(path) as file:
                self._tuning.save(file)
                arrays["tuning"] = np.frombuffer(file.read_bytes(), np.uint8)
        metadata = {
            "fingerprint": json.dumps(self._fingerprint),
            "rng": seeding.to_json(self._rng),
            "taken": str(self._taken),
        }
        write_bytes(path, to_bytes(arrays, metadata))

    def load(self, path: Path) -> None:
        """Read a checkpoint."""
        arrays, metadata = checked(path, self._fingerprint)
        count = len(leaves(self._cloner))
        self._cloner = replaced(self._cloner, [array(arrays[f"cloner.{index}"]) for index in range(count)])
        self._rng, self._taken = seeding.from_json(metadata["rng"]), int(metadata["taken"])
        if "tuning" in arrays:
            with _beside(path) as file:
                file.write_bytes(arrays["tuning"].tobytes())
                self._tuned.load(file)

    @property
    def _fingerprint(self) -> dict[str, object]:
        """What must be equal for a checkpoint to be continued."""
        lesson = hashlib.sha256(np.asarray(self._inputs).tobytes() + np.asarray(self._units).tobytes()).hexdigest()[:32]
        return {
            "schema": SCHEMA,
            "body": self._job.imitator.hash,
            "method": json.loads(json.dumps(asdict(self._method))),
            "lessons": lesson,
            "budget": self._job.steps if self._method.fine_tune else 0,
            "seed": self._job.seed,
        }

    @property
    def _cloned(self) -> bool:
        return self._taken == self._method.gradient_steps

    @property
    def _gaifo(self) -> Gaifo:
        cloning = self._method
        return Gaifo(hidden=cloning.hidden, log_std=FINE_LOG_STD, critic_steps=cloning.critic_steps)

    @property
    def _tuned(self) -> PolicyTraining:
        """GAIfO from the cloned policy; begun when it is first needed."""
        if self._tuning is None:
            self._tuning = adversarial(self._gaifo, self._job, self._cloned_policy)
        return self._tuning

    @property
    def _cloned_policy(self) -> Policy:
        blank = self._policy_of(np.zeros(len(self._half)))
        inputs, units = self._shown
        left = np.sqrt(np.square(mean(blank, inputs).astype(np.float64) - units).mean(axis=0))
        return self._policy_of(np.clip(np.log(np.maximum(left, np.exp(LOG_STD[0]))), *LOG_STD))

    def _policy_of(self, log_std: Floats) -> Policy:
        return policy_of(self._cloner.network, log_std, self._normaliser, self._job.imitator)


@contextmanager
def _beside(path: Path) -> Generator[Path]:
    """Give the name of a file beside `path` that vanishes again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        yield Path(folder) / "tuning"


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
        f"run imitable project {episode.source or 'DEMOS'} --imitator {imitator} --out DEMOS2 first",
    )
