# SPDX-License-Identifier: MIT
"""Pieces of demonstrations re-rolled on the imitator, which then carry its own states and its own actions.

A piece begins in a demonstrated state; the tracker follows it from there, s_{t+1} = f(s_t, a_t) with the imitator's f, so that
every transition is one of the imitator. A piece ends early

* where it is lost: its error ‖(s_t − g_t) / scale‖ / √E, over all E entries but the root's position and in deviations of the
  imitator's own babbling, is above `LOST` for `PATIENCE` steps on end, or up to the piece's end;
* where the imitator falls, by its task's own rule, or MuJoCo gives up.

What is left of a piece is kept if it has at least two transitions.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from imitable.errors import BadOption
from imitable.robots.robot import Robot
from imitable.sim.babble import scales
from imitable.sim.kinematics import state_space
from imitable.sim.own_task import own_task
from imitable.sim.task import moment_of
from imitable.tracking.follow import follow
from imitable.tracking.solver import Lanes, Solver
from imitable.types import Bools, Demonstrations, Floats

LOST, PATIENCE = 0.5, 10
"""A piece is lost when its error is above this for so many steps on end."""

SHORTEST = 2
"""Transitions that a piece needs to be kept: what scores and learners need of a demonstration."""

BLOCK = 256
"""Pieces that are simulated side by side, each with about ten candidates: more would only take memory."""

SEGMENT, RESTART_BUDGET = 20, 90
"""Steps between two looks at who is lost, and the solver's restart budget for so many."""


@dataclass(frozen=True, eq=False)
class FollowedPiece:
    """A piece after it was followed: to its end, or until it was over."""

    states: Floats
    """(H + 1, S) of the imitator, from where the piece begins."""
    actions: Floats
    """(H, A) that it took."""


@dataclass(frozen=True, eq=False)
class Kept:
    """What is worth keeping of a piece."""

    states: Floats
    """(T + 1, S) of the imitator."""
    actions: Floats
    """(T, A) inside its control range."""
    fell: bool
    """Whether it ends in a fall, by the imitator's own rule."""
    error: float
    """Mean error, in deviations of the imitator's own babbling."""


class Reroller:
    """Follows pieces on the imitator. What becomes of one depends on it, the imitator and the seed alone."""

    def __init__(self, imitator: Robot, seed: int, threads: int = 1) -> None:
        """Get the simulations ready."""
        self._imitator, self._seed = imitator, seed
        self._lanes = Lanes(imitator, scales(imitator).difference, threads)
        self._solver = Solver(restart_budget=RESTART_BUDGET)
        self._task = own_task(imitator) if imitator.family.has_task else None

    @property
    def spent(self) -> int:
        """Simulated control steps so far."""
        return self._lanes.spent

    def most_steps(self, length: int) -> int:
        """Return how many simulated steps a piece of `length` control steps takes at most."""
        whole, rest = divmod(length, SEGMENT)
        segments = [SEGMENT] * whole + [rest] * bool(rest)
        # and each may be looked at once more, whether MuJoCo gave up there
        return sum(self._solver.most_steps(self._lanes, steps) for steps in segments) + length

    def follow(self, targets: Sequence[Floats]) -> list[FollowedPiece]:
        """Follow n pieces, each (T + 1, S), side by side, segment by segment, until they end or are lost."""
        states: list[list[Floats]] = [[target[:1]] for target in targets]
        actions: list[list[Floats]] = [[np.empty((0, len(self._lanes.centre)))] for _ in targets]
        live, begin = [*range(len(targets))], 0
        while live := [
            i for i in live if begin < len(targets[i]) - 1 and not self._over(np.concatenate(states[i]), targets[i])
        ]:
            lengths = np.array([min(SEGMENT, len(targets[i]) - 1 - begin) for i in live])
            columns = np.arange(begin, begin + int(lengths.max()) + 1)
            wanted = np.stack([targets[i][np.minimum(columns, len(targets[i]) - 1)] for i in live])
            wanted[:, 0] = [states[i][-1][-1] for i in live]
            followed = follow(self._lanes, self._solver, wanted, lengths, self._seed)
            for row, i in enumerate(live):
                states[i].append(followed.states[row, : lengths[row]])
                actions[i].append(followed.actions[row, : lengths[row]])
            begin += SEGMENT
        return [FollowedPiece(np.concatenate(s), np.concatenate(a)) for s, a in zip(states, actions, strict=True)]

    def kept(self, followed: FollowedPiece, targets: Floats) -> Kept | None:
        """Return what is worth keeping of a piece (T + 1, S) that was followed; None: nothing is."""
        after = followed.states[1:]
        errors = self._errors(after, targets[1 : len(followed.states)])
        # beyond the end everything is lost: a piece whose last steps are, ends before them
        good = _first_run(np.concatenate([~(errors <= LOST) | self._stuck(followed), np.ones(PATIENCE, bool)]))
        fallen = np.flatnonzero(self._fallen(after[:good]))
        length = int(fallen[0]) + 1 if len(fallen) else good
        if length < SHORTEST:
            return None
        actions = np.clip(followed.actions[:length], *self._imitator.control_range)
        return Kept(followed.states[: length + 1], actions, bool(len(fallen)), float(errors[:length].mean()))

    def _over(self, states: Floats, targets: Floats) -> bool:
        lost = self._errors(states[1:], targets[1 : len(states)]) > LOST
        return _first_run(lost) < len(lost) or bool(self._fallen(states[1:]).any())

    def _errors(self, states: Floats, targets: Floats) -> Floats:
        """(n, S), (n, S) → (n) errors."""
        gap = state_space(self._imitator).difference(states, targets) / scales(self._imitator).coordinates
        gap = gap[:, self._imitator.root_entries :]
        return np.sqrt(np.square(gap).mean(axis=1))

    def _fallen(self, states: Floats) -> Bools:
        if self._task is None:
            return np.zeros(len(states), bool)
        return self._task.end(moment_of(states)).terminated

    def _stuck(self, followed: FollowedPiece) -> Bools:
        """(H) from where on MuJoCo gave up on every action: the state stands still there, though the imitator would not."""
        still = np.flatnonzero((followed.states[1:] == followed.states[:-1]).all(axis=1))
        units = (followed.actions[still] - self._lanes.centre) / self._lanes.half
        gone = np.zeros(len(followed.actions), bool)
        if len(still):
            gone[still] = np.isnan(self._lanes.reach(followed.states[still], units[:, None])).any(axis=(1, 2))
        return np.logical_or.accumulate(gone)


def nothing_kept(demos: Demonstrations, imitator: Robot) -> BadOption:
    """Return the error that no piece of some demonstrations is worth keeping."""
    expected = f"{imitator} cannot follow a single one of them; see what imitable score says of each"
    return BadOption("DEMOS", demos.episodes[0].source or "in memory", expected)


def _first_run(lost: Bools) -> int:
    """Return where the first `PATIENCE` true values on end begin; the length if there are none."""
    if len(lost) < PATIENCE:
        return len(lost)
    runs = np.lib.stride_tricks.sliding_window_view(lost, PATIENCE).all(axis=1)
    return int(runs.argmax()) if runs.any() else len(lost)
