# SPDX-License-Identifier: MIT
"""Direct: no learning. The tracker asks the simulator itself for the best action of every step.

Forms: `rollout` follows from its own state (as the trajectory f-MDP), `windows` does so from several points of the
demonstration, `restart` begins every step in the demonstrated state (as the one-step f-MDP).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from imitable import seeding
from imitable.errors import BadOption, one_of
from imitable.feasibility.scorer import Job, Measured, Trace, discounted_share
from imitable.sim.babble import scales
from imitable.sim.rollout import actuation_noise
from imitable.spec_text import check_ranges
from imitable.tracking.certificate import certificate
from imitable.tracking.follow import follow, passive_rollout
from imitable.tracking.solver import Lanes, Solver
from imitable.types import Bools, Floats, Ints, Trajectory

FORMS = ("rollout", "windows", "restart")

BLOCK = 256
"""Attempts that are simulated side by side, each with about ten candidates: more would only take memory."""


RANGES = {
    "horizon": (1, 10**6),
    "windows": (1, 1000),
    "window": (2, 10**6),
    "look_ahead": (1, 50),
    "restart_budget": (0, 10**6),
}
"""Lowest and highest value of every number."""


@dataclass(frozen=True)
class Direct:
    """Settings of the direct scorer."""

    rule: ClassVar[str] = "share"
    form: str = "rollout"
    """rollout, windows or restart."""
    horizon: int = 100
    """Steps of a rollout, or transitions of a restart, at most; fewer if the discount ends earlier."""
    windows: int = 3
    """Windows of the form `windows`, spread evenly over the demonstration."""
    window: int = 50
    """Their length in steps."""
    look_ahead: int = 1
    """Steps that an action is held when it is judged: above 1 the tracker aims past the next state."""
    restart_budget: int = 450
    """Simulated steps for new beginnings of the search, an attempt."""

    def __post_init__(self) -> None:
        """Check every value."""
        if self.form not in FORMS:
            raise BadOption("form", self.form, one_of(self.form, FORMS))
        check_ranges(self, RANGES)

    def prepared(self, job: Job) -> "_Tracker":
        """Return the measurer: there is nothing to learn."""
        return _Tracker(self, job)


@dataclass(frozen=True)
class _Attempts:
    """Pieces of demonstrations to follow, n of them."""

    owners: Ints
    """(n) position of the demonstration."""
    numbers: Ints
    """(n) which attempt at it."""
    begins: Ints
    """(n) step at which the piece begins."""
    lengths: Ints
    """(n) its steps."""

    def part(self, begin: int) -> "_Attempts":
        """Return one block of them."""
        rows = slice(begin, begin + BLOCK)
        return _Attempts(self.owners[rows], self.numbers[rows], self.begins[rows], self.lengths[rows])


@dataclass(frozen=True)
class _Found:
    """What came of n attempts of at most H steps; NaN beyond their ends."""

    attempts: _Attempts
    errors: Floats
    """(n, H) distances to the demonstration."""
    idle: Floats
    """(n, H) those of the passive imitator."""
    states: Floats
    """(n, H, S) of the imitator."""
    actions: Floats
    """(n, H, A) that it took."""


class _Tracker:
    """The direct scorer at work."""

    def __init__(self, method: Direct, job: Job) -> None:
        self._method, self._job = method, job
        self._lanes = Lanes(job.imitator, scales(job.imitator).difference, job.threads, ahead=method.look_ahead)
        self._solver = Solver(restart_budget=method.restart_budget)
        self.horizon = job.ruler.horizon(method.window if method.form == "windows" else method.horizon)

    @cached_property
    def about(self) -> dict[str, object]:
        """The certificate of the solver on this body, and how many pieces of a demonstration are judged."""
        found = certificate(self._lanes, self._solver, self._job.demos, self._job.seed)
        return {"certificate": found, "attempts": self._method.windows if self._method.form == "windows" else 1}

    @property
    def spent(self) -> int:
        """Simulated control steps so far."""
        return self._lanes.spent

    def __call__(self, trajectories: Sequence[Trajectory]) -> list[Measured]:
        """Follow all of them, a block of attempts side by side."""
        attempts = self._attempts(trajectories)
        blocks = [self._followed(trajectories, attempts.part(begin)) for begin in range(0, len(attempts.owners), BLOCK)]
        states, actions, passive = (_joined(arrays) for arrays in zip(*blocks, strict=True))
        targets = _pieces(trajectories, attempts, states.shape[1])[:, 1:]
        found = _Found(
            attempts, self._job.ruler.errors(states, targets), self._job.ruler.errors(passive, targets), states, actions
        )
        summed = self._restarted if self._method.form == "restart" else self._rolled_out
        return [summed(np.flatnonzero(attempts.owners == i), found) for i in range(len(trajectories))]

    @property
    def _repeats(self) -> int:
        return self._job.rollouts if self._job.imitator.noise else 1

    def _attempts(self, trajectories: Sequence[Trajectory]) -> _Attempts:
        rows: list[tuple[int, int, int, int]] = []
        for owner, trajectory in enumerate(trajectories):
            steps = min(self.horizon, len(trajectory))
            begins = [0]
            if self._method.form == "windows":
                begins = sorted(set(np.linspace(0, len(trajectory) - steps, self._method.windows).astype(int).tolist()))
            if self._method.form == "restart":
                begins, steps = list(range(steps)), 1
            pairs = ((k, begin, r) for k, begin in enumerate(begins) for r in range(self._repeats))
            rows += [(owner, k * self._repeats + r, begin, steps) for k, begin, r in pairs]
        owners, numbers, begins_at, lengths = np.array(rows, np.int64).T
        return _Attempts(owners, numbers, begins_at, lengths)

    def _followed(self, trajectories: Sequence[Trajectory], attempts: _Attempts) -> tuple[Floats, Floats, Floats]:
        """Return the imitator's states (n, H, S) and actions (n, H, A), and the passive imitator's states (n, H, S)."""
        steps = int(attempts.lengths.max())
        targets = _pieces(trajectories, attempts, steps + self._method.look_ahead - 1)
        noise = self._disturbances(trajectories, attempts, steps) if self._job.imitator.noise else None
        followed = follow(self._lanes, self._solver, targets, attempts.lengths, self._job.seed, disturbances=noise)
        passive = passive_rollout(self._lanes, targets[:, 0], steps, noise)
        passive[np.arange(steps) >= attempts.lengths[:, None]] = np.nan
        return followed.states[:, :steps], followed.actions[:, :steps], passive

    def _disturbances(self, trajectories: Sequence[Trajectory], attempts: _Attempts, steps: int) -> Floats:
        """(n, H, A) actuation noise; each attempt's depends on its demonstration and number alone."""
        shape = (steps, self._job.imitator.control_range.shape[1])
        return np.stack(
            [
                actuation_noise(
                    self._job.imitator,
                    seeding.generator(self._job.seed, "actuation", trajectories[int(i)].hash, int(number)),
                    shape,
                )
                for i, number in zip(attempts.owners, attempts.numbers, strict=True)
            ]
        )

    def _rolled_out(self, rows: Ints, found: _Found) -> Measured:
        """Average the attempts at one demonstration; E[distance] of a noisy body is the mean over its rollouts."""
        attempts, columns = found.attempts, np.arange(int(found.errors.shape[1]))
        judged: Bools = columns < attempts.lengths[rows][:, None]
        trace = Trace(
            steps=(attempts.begins[rows][:, None] + 1 + columns)[judged],
            attempts=np.broadcast_to(attempts.numbers[rows][:, None], judged.shape)[judged],
            errors=found.errors[rows][judged],
            states=found.states[rows][judged],
            actions=found.actions[rows][judged],
        )
        distances, idle = (self._job.ruler.discounted(array[rows]) for array in (found.errors, found.idle))
        shares = [discounted_share(float(d), float(p)) for d, p in zip(distances, idle, strict=True)]
        return Measured(float(distances.mean()), float(np.mean(shares)), trace)

    def _restarted(self, rows: Ints, found: _Found) -> Measured:
        """Sum the one-step errors of one demonstration; with several rollouts each step's error is their mean."""
        errors, idle = (array[rows, 0].reshape(-1, self._repeats).mean(axis=1) for array in (found.errors, found.idle))
        distance, passive = (float(self._job.ruler.discounted(array)) for array in (errors, idle))
        steps, firsts = np.arange(len(errors)), rows[:: self._repeats]
        # every step is an attempt of its own: one that fails says nothing of the next
        trace = Trace(steps + 1, steps, errors, found.states[firsts, 0], found.actions[firsts, 0])
        return Measured(distance, discounted_share(distance, passive), trace)


def _joined(arrays: Sequence[Floats]) -> Floats:
    """Join blocks (n, H, …) whose longest attempts differ: shorter blocks are filled up with NaN."""
    steps = max(array.shape[1] for array in arrays)
    padded = [np.pad(a, ((0, 0), (0, steps - a.shape[1]), (0, 0)), constant_values=np.nan) for a in arrays]
    return np.concatenate(padded)


def _pieces(trajectories: Sequence[Trajectory], attempts: _Attempts, steps: int) -> Floats:
    """(n, steps + 1, S) the demonstrated states of every attempt; the last one repeats beyond the demonstration's end."""
    columns, pieces = np.arange(steps + 1), list[Floats]()
    for owner, begin in zip(attempts.owners, attempts.begins, strict=True):
        states = trajectories[int(owner)].states
        pieces.append(states[np.minimum(begin + columns, len(states) - 1)])
    return np.stack(pieces)
