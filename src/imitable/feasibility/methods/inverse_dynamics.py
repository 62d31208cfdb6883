# SPDX-License-Identifier: MIT
"""ID-Feas (Cao and Sadigh, RA-L 2021): follow demonstrations with an inverse model learned from random movements.

The imitator starts in the demonstration's first state. At every step a network that was fitted to the imitator's own random
transitions is asked for the action of (own state, next demonstrated state − own state); a little uniform noise is added.

distance = (1/H) Σ_t d(s_t, s^d_t), the published trajectory error: a plain mean, not a discounted sum.
score = 1 − clip((distance − m) / (u − m), 0, 1), m and u the least and largest distance of known-feasible trajectories:
the imitator's own random movements, held out from the fit. The weighting rule `calibrated` does that.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, ClassVar

import numpy as np

from imitable import seeding
from imitable.feasibility.model_cache import cached
from imitable.feasibility.scorer import Measured, ScoringJob
from imitable.nn import inverse_model
from imitable.sim.babble import babble
from imitable.sim.kinematics import own_starts
from imitable.spec_text import Range, check_fields
from imitable.tensors import Arrays
from imitable.tracking.attempts import Attempts, Pieces, compare_attempts, discounted_share, joined, whole_pieces
from imitable.tracking.follow import Followed, passive_rollout
from imitable.tracking.solver import Lanes
from imitable.types import Floats, Trajectory

EPISODE = 200
"""Steps of one random movement."""

ROWS = 64
"""Attempts side by side, and rows that go through the network at once: the bits of one do not depend on the others."""

SCHEMA = 1
"""Of the cached model."""

UNLEARNED = ("jitter", "calibration", "horizon")
"""Settings that the model does not depend on."""


@dataclass(frozen=True)
class InverseDynamics:
    """Settings of ID-Feas."""

    rule: ClassVar[str] = "calibrated"
    learns_from_set: ClassVar[bool] = False
    transitions: Annotated[int, Range(EPISODE, 10**8)] = 100_000
    """Random transitions that the inverse model is fitted to."""
    hidden: Annotated[int, Range(1, 65536)] = 100
    """Width of its layers."""
    blocks: Annotated[int, Range(0, 100)] = 6
    """Residual blocks between its first and its last layer."""
    passes: Annotated[int, Range(1, 10**4)] = 10
    """Passes over the transitions."""
    minibatch: Annotated[int, Range(1, 10**6)] = 128
    """Rows of one gradient step."""
    learning_rate: Annotated[float, Range(1e-12, 1)] = 1e-3
    """Adam's rate at the start."""
    jitter: Annotated[float, Range(0, 2)] = 0.001
    """Uniform noise on actions, in half control ranges."""
    calibration: Annotated[int, Range(1, 10**6)] = 50
    """Own random movements that say which distances are known to be feasible."""
    horizon: Annotated[int, Range(1, 10**6)] = 100
    """Steps of a demonstration that count, at most; fewer if the discount forgets sooner."""

    def __post_init__(self) -> None:
        """Check every value."""
        check_fields(self)

    def prepared(self, job: ScoringJob) -> "_Follower":
        """Learn the inverse model, or take the one that an earlier job left, and calibrate."""
        settings = {name: value for name, value in asdict(self).items() if name not in UNLEARNED}
        arrays = cached(job, ("inverse-dynamics", SCHEMA, settings), lambda: self._learned(job))
        return _Follower(self, job, inverse_model.from_arrays(arrays), int(arrays["spent"]))

    def _learned(self, job: ScoringJob) -> Arrays:
        """Fit the network to random movements: (s without root position, s′ − s) → action in half control ranges."""
        own = babble(job.imitator, self.transitions // EPISODE, EPISODE, _seed(job, "movements"), threads=job.threads)
        inputs = np.concatenate([_inputs(job, one.states[:-1], one.states[1:]) for one in own])
        actions = np.concatenate([one.actions for one in own if one.actions is not None])
        model = inverse_model.fit(
            inputs,
            job.imitator.to_units(actions),
            job.seed,
            hidden=self.hidden,
            blocks=self.blocks,
            passes=self.passes,
            minibatch=self.minibatch,
            learning_rate=self.learning_rate,
        )
        return inverse_model.to_arrays(model) | {"spent": np.array(len(inputs))}


def _seed(job: ScoringJob, purpose: str) -> int:
    return int(seeding.generator(job.seed, "inverse-dynamics", purpose).integers(2**53))


def _inputs(job: ScoringJob, states: Floats, wanted: Floats) -> Floats:
    """(n, S), (n, S) → (n, 4 nv − root) what the network sees: where in the world the body is does not matter."""
    space = job.ruler.space
    return np.concatenate([space.coordinates(states)[:, job.imitator.root_entries :], space.difference(wanted, states)], axis=1)


class _Follower:
    """The imitator, led by the inverse model."""

    def __init__(self, method: InverseDynamics, job: ScoringJob, model: inverse_model.Inverse, learning: int) -> None:
        self._method, self._job, self._model, self._learning = method, job, model, learning
        self._lanes = Lanes(job.imitator, job.ruler.scale, job.threads)
        self._repeats = job.rollouts if job.imitator.noise else 1
        self.horizon = job.ruler.horizon(method.horizon)
        own = babble(job.imitator, method.calibration, self.horizon, _seed(job, "calibration"), threads=job.threads)
        self._learning += sum(len(one) for one in own)
        self.about: dict[str, object] = {"calibration": [measured.distance for measured in self(own)]}

    @property
    def spent(self) -> int:
        """Simulated control steps, those of learning included."""
        return self._learning + self._lanes.spent

    def __call__(self, trajectories: Sequence[Trajectory]) -> list[Measured]:
        """Follow demonstrations side by side, each from its first state; average the attempts at each."""
        lengths = np.array([min(self.horizon, len(one)) for one in trajectories], np.int64)
        pieces, measured = whole_pieces(lengths, self._repeats), list[Measured]()
        for begin in range(0, len(pieces.owners), ROWS):
            attempts = self._attempted(trajectories, pieces.part(begin, ROWS))
            measured += [self._measured(attempts, row) for row in range(len(attempts.errors))]
        groups = (measured[begin : begin + self._repeats] for begin in range(0, len(measured), self._repeats))
        return [_averaged(group) for group in groups]

    def _attempted(self, trajectories: Sequence[Trajectory], pieces: Pieces) -> Attempts:
        job, steps = self._job, int(pieces.lengths.max())
        targets = pieces.states(trajectories, steps)
        targets[:, 0] = own_starts(job.imitator, targets[:, 0])
        disturbances = pieces.disturbances(trajectories, job.imitator, steps, job.seed)
        followed = self._followed(targets, self._jitter(trajectories, pieces, steps), disturbances)
        passive = passive_rollout(self._lanes, targets[:, 0], steps, disturbances)
        return compare_attempts(job.ruler, pieces, targets[:, 1:], followed, passive)

    def _jitter(self, trajectories: Sequence[Trajectory], pieces: Pieces, steps: int) -> Floats:
        """(n, H, A) in half control ranges, each attempt's of its own generator."""
        shape, generators = (steps, len(self._lanes.centre)), pieces.generators(trajectories, self._job.seed, "jitter")
        return self._method.jitter * np.stack([rng.uniform(-1, 1, shape) for rng in generators])

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

    def _measured(self, attempts: Attempts, row: int) -> Measured:
        """Return mean error, share and trace of one attempt."""
        within = slice(int(attempts.pieces.lengths[row]))
        errors, passive_errors = attempts.errors[row, within], attempts.passive_errors[row, within]
        distance, passive = (float(self._job.ruler.discounted(array)) for array in (errors, passive_errors))
        rows = np.array([row])
        share = discounted_share(distance, passive, float(attempts.floors(self._job.ruler, rows)[0]))
        return Measured(float(errors.mean()), share, attempts.trace(rows))


def _averaged(attempts: Sequence[Measured]) -> Measured:
    """Average the attempts at one demonstration."""
    return Measured(
        distance=float(np.mean([one.distance for one in attempts])),
        share=float(np.mean([one.share for one in attempts])),
        trace=joined([one.trace for one in attempts]),
    )
