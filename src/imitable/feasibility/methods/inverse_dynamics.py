# SPDX-License-Identifier: MIT
"""ID-Feas (Cao and Sadigh, RA-L 2021): follow demonstrations with an inverse model learned from random movements.

The imitator starts in the demonstration's first state. At every step a network that was fitted to the imitator's own random
transitions is asked for the action of (own state, next demonstrated state − own state); a little uniform noise is added.

distance = (1/H) Σ_t d(s_t, s^d_t), the published trajectory error: a plain mean, not a discounted sum.
score = 1 − clip((distance − m) / (u − m), 0, 1), m and u the least and largest distance of known-feasible trajectories:
the imitator's own random movements, held out from the fit. The weighting rule `calibrated` does that.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np

from imitable import seeding
from imitable.feasibility.model_cache import learned
from imitable.feasibility.scorer import Job, Measured, Trace, discounted_share
from imitable.sim.babble import babble
from imitable.sim.rollout import actuation_noise
from imitable.spec_text import check_ranges
from imitable.tensors import Arrays
from imitable.tracking.follow import Followed, passive_rollout
from imitable.tracking.solver import Lanes
from imitable.types import Floats, Ints, Trajectory

EPISODE = 200
"""Steps of one random movement."""

ROWS = 64
"""Attempts side by side, and rows that go through the network at once: the bits of one do not depend on the others."""

SCHEMA = 1
"""Of what is kept."""


RANGES = {
    "transitions": (EPISODE, 10**8),
    "hidden": (1, 65536),
    "blocks": (0, 100),
    "passes": (1, 10**4),
    "minibatch": (1, 10**6),
    "learning_rate": (1e-12, 1),
    "jitter": (0, 2),
    "calibration": (1, 10**6),
    "horizon": (1, 10**6),
}
"""Lowest and highest value of every number."""


@dataclass(frozen=True)
class InverseDynamics:
    """Settings of ID-Feas."""

    rule: ClassVar[str] = "calibrated"
    transitions: int = 100_000
    """Random transitions that the inverse model is fitted to."""
    hidden: int = 100
    """Width of its layers."""
    blocks: int = 6
    """Residual blocks between its first and its last layer."""
    passes: int = 10
    """Passes over the transitions."""
    minibatch: int = 128
    """Rows of one gradient step."""
    learning_rate: float = 1e-3
    """Adam's rate at the start."""
    jitter: float = 0.001
    """Uniform noise on actions, in half control ranges."""
    calibration: int = 50
    """Own random movements that say which distances are known to be feasible."""
    horizon: int = 100
    """Steps of a demonstration that count, at most; fewer if the discount forgets sooner."""

    def __post_init__(self) -> None:
        """Check every value."""
        check_ranges(self, RANGES)

    def prepared(self, job: Job) -> "_Follower":
        """Learn the inverse model, or take the one that an earlier job left, and calibrate."""
        from imitable.nn.inverse_model import from_arrays  # brings JAX

        told = {name: value for name, value in asdict(self).items() if name not in ("jitter", "calibration", "horizon")}
        arrays = learned(job, ("inverse-dynamics", SCHEMA, told), lambda: self._learned(job))
        return _Follower(self, job, from_arrays(arrays), int(arrays["spent"]))

    def _learned(self, job: Job) -> Arrays:
        """Fit the network to random movements: (s without root position, s′ − s) → action in half control ranges."""
        from imitable.nn.inverse_model import fit, to_arrays

        low, high = job.imitator.control_range
        own = babble(job.imitator, self.transitions // EPISODE, EPISODE, _seed(job, "movements"), threads=job.threads)
        inputs = np.concatenate([_inputs(job, one.states[:-1], one.states[1:]) for one in own])
        actions = np.concatenate([one.actions for one in own if one.actions is not None])
        model = fit(
            inputs,
            (actions - (low + high) / 2) / ((high - low) / 2),
            job.seed,
            hidden=self.hidden,
            blocks=self.blocks,
            passes=self.passes,
            minibatch=self.minibatch,
            learning_rate=self.learning_rate,
        )
        return to_arrays(model) | {"spent": np.array(len(inputs))}


def _seed(job: Job, purpose: str) -> int:
    return int(seeding.generator(job.seed, "inverse-dynamics", purpose).integers(2**53))


def _inputs(job: Job, states: Floats, wanted: Floats) -> Floats:
    """(n, S), (n, S) → (n, 4 nv − root) what the network sees: where in the world the body is does not matter."""
    space = job.ruler.space
    return np.concatenate([space.coordinates(states)[:, job.imitator.root_entries :], space.difference(wanted, states)], axis=1)


class _Follower:
    """The imitator, led by the inverse model."""

    def __init__(self, method: InverseDynamics, job: Job, model: Callable[[Floats], Floats], learning: int) -> None:
        self._method, self._job, self._model, self._learning = method, job, model, learning
        self._lanes = Lanes(job.imitator, job.ruler.scale, job.threads)
        self._attempts = job.rollouts if job.imitator.noise else 1
        self.horizon = job.ruler.horizon(method.horizon)
        own = babble(job.imitator, method.calibration, self.horizon, _seed(job, "calibration"), threads=job.threads)
        self._learning += sum(len(one) for one in own)
        self.about: dict[str, object] = {"calibration": [measured.distance for measured in self(own)]}

    @property
    def spent(self) -> int:
        """Simulated control steps, those of learning included."""
        return self._learning + self._lanes.spent

    def __call__(self, trajectories: Sequence[Trajectory]) -> list[Measured]:
        """Follow demonstrations side by side, each from its first state."""
        pieces = [(one, attempt) for one in trajectories for attempt in range(self._attempts)]
        found: list[tuple[float, float, Trace]] = []
        for begin in range(0, len(pieces), ROWS):
            found += self._judged(pieces[begin : begin + ROWS])
        groups = [found[begin : begin + self._attempts] for begin in range(0, len(found), self._attempts)]
        return [_averaged(group) for group in groups]

    def _judged(self, pieces: Sequence[tuple[Trajectory, int]]) -> list[tuple[float, float, Trace]]:
        """Return mean error, share and trace of every attempt."""
        lengths = np.array([min(self.horizon, len(one)) for one, _ in pieces])
        steps = int(lengths.max())
        # the last state repeats beyond a demonstration's end
        targets = np.stack([one.states[np.minimum(np.arange(steps + 1), len(one))] for one, _ in pieces])
        jitter, disturbances = self._noise(pieces, steps)
        followed = self._followed(targets, jitter, disturbances)
        passive = passive_rollout(self._lanes, targets[:, 0], steps, disturbances)
        errors, idle = (self._job.ruler.errors(states, targets[:, 1:]) for states in (followed.states, passive))
        return [
            self._measured(attempt, length, errors[row, :length], idle[row, :length], followed, row)
            for row, ((_, attempt), length) in enumerate(zip(pieces, lengths.tolist(), strict=True))
        ]

    def _noise(self, pieces: Sequence[tuple[Trajectory, int]], steps: int) -> tuple[Floats, Floats]:
        """Return jitter in half control ranges and actuation noise, (n, H, A): each attempt's of its own generator."""
        shape = (steps, len(self._lanes.centre))
        names = [(one.hash, attempt) for one, attempt in pieces]
        jitter = [seeding.generator(self._job.seed, "jitter", *name).uniform(-1, 1, shape) for name in names]
        noise = [
            actuation_noise(self._job.imitator, seeding.generator(self._job.seed, "actuation", *name), shape) for name in names
        ]
        return self._method.jitter * np.stack(jitter), np.stack(noise)

    def _followed(self, targets: Floats, jitter: Floats, disturbances: Floats) -> Followed:
        """Follow references (n, H + 1, S) from their own first states."""
        n, frames, size = targets.shape
        states, units = np.empty((n, frames - 1, size)), np.empty_like(jitter)
        now, rows = targets[:, 0], np.zeros((ROWS, 2 * self._job.ruler.space.size - self._job.imitator.root_entries))
        for t in range(frames - 1):
            rows[:n] = _inputs(self._job, now, targets[:, t + 1])
            units[:, t] = np.clip(self._model(rows)[:n] + jitter[:, t], -1, 1)
            reached = self._lanes.reach(now, (units[:, t] + disturbances[:, t] / self._lanes.half)[:, None])[:, 0]
            # where MuJoCo gives up the body stays
            now = states[:, t] = np.where(np.isfinite(reached), reached, now)
        return Followed(states, self._lanes.centre + self._lanes.half * units)

    def _measured(
        self, attempt: int, length: int, errors: Floats, idle: Floats, followed: Followed, row: int
    ) -> tuple[float, float, Trace]:
        distance, passive = (float(self._job.ruler.discounted(array)) for array in (errors, idle))
        steps: Ints = np.arange(1, length + 1)
        trace = Trace(
            steps=steps,
            attempts=np.full(length, attempt),
            errors=errors,
            states=followed.states[row, :length],
            actions=followed.actions[row, :length],
        )
        return float(errors.mean()), discounted_share(distance, passive), trace


def _averaged(found: Sequence[tuple[float, float, Trace]]) -> Measured:
    """Average the attempts at one demonstration."""
    traces = [trace for _, _, trace in found]
    return Measured(
        distance=float(np.mean([distance for distance, _, _ in found])),
        share=float(np.mean([share for _, share, _ in found])),
        trace=Trace(
            steps=np.concatenate([trace.steps for trace in traces]),
            attempts=np.concatenate([trace.attempts for trace in traces]),
            errors=np.concatenate([trace.errors for trace in traces]),
            states=np.concatenate([trace.states for trace in traces]),
            actions=np.concatenate([trace.actions for trace in traces]),
        ),
    )
