# SPDX-License-Identifier: MIT
"""Attempts to stay in the tube around a demonstration, window by window, by several trackers; the best attempt counts.

A window begins in a demonstrated state. One attempt that stays in the tube shows that the imitator can do the window: so cheap
trackers come first, and only windows in which they leave the tube go on to the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from imitable.feasibility.body_errors import BodyErrors, body_errors
from imitable.feasibility.spans import runs
from imitable.feasibility.tolerance import Tolerance
from imitable.robots.robot import Robot
from imitable.sim.babble import scales
from imitable.sim.kinematics import within_limits
from imitable.tracking.attempts import Pieces
from imitable.tracking.feed_forward import feed_forward
from imitable.tracking.feedback import ControlLaw, control_law, follow_with_feedback
from imitable.tracking.follow import follow
from imitable.tracking.shadow import EASES, Linearised, linearised, shadow
from imitable.tracking.smoothing import smoothed
from imitable.tracking.solver import Lanes, Solver
from imitable.types import Bools, Floats, Ints, Trajectory

WINDOW_S = 0.8
"""Seconds of a window."""

BLOCK = 128
"""Windows that are simulated side by side."""

SMOOTHINGS_S = (0.0, 0.06, 0.15)
"""Half-widths of the parabolas that references are smoothed by."""

WIDE = 12
"""Actuators above which the actions of inverse dynamics are not improved by a search, whose cost grows with their square."""

RESTART_BUDGET = 300
"""Simulated steps of the search for new beginnings, per window of an arm that is controlled by its tool."""


@dataclass(frozen=True, eq=False)
class Windows:
    """n windows of at most H steps, and the best attempt at each."""

    pieces: Pieces
    states: Floats
    """(n, H, S) of the imitator after each step; NaN beyond the end, and where nothing was attempted."""
    ratios: Floats
    """(n, H) largest error ÷ tolerance; NaN beyond the end, infinite where nothing was attempted."""

    @property
    def worst(self) -> Floats:
        """(n) largest ratio of each window: at most 1 if the attempt stayed in the tube."""
        return np.where(np.isnan(self.ratios), 0.0, self.ratios).max(axis=1, initial=0.0)


class Tube:
    """Trackers of one imitator, and how far is too far."""

    def __init__(self, imitator: Robot, tolerance: Tolerance, threads: int = 1) -> None:
        """Get ready; the searching trackers are set up when they are first needed."""
        self.imitator, self.tolerance, self._threads = imitator, tolerance, threads
        self.steps = max(2, round(WINDOW_S / imitator.layout.period_s))
        self.spent = 0
        self._wide = len(imitator.layout.actuators) > WIDE
        self._points = None if imitator.tool is None else (imitator.tool.site,)

    @cached_property
    def _lanes(self) -> Lanes:
        return Lanes(self.imitator, scales(self.imitator).difference, self._threads)

    def begins(self, length: int) -> Ints:
        """Return where windows begin that cover a demonstration of so many transitions, overlapping by half."""
        last = max(0, length - self.steps)
        return np.unique(np.append(np.arange(0, last + 1, max(1, self.steps // 2)), last))

    def errors(self, trajectories: Sequence[Trajectory], windows: Windows) -> BodyErrors:
        """Return the errors of the best attempts."""
        wanted = windows.pieces.states(trajectories, self.steps)[:, 1:]
        return body_errors(self.imitator, windows.states, wanted, self._points, windows.pieces.lengths)

    def cheaply(self, trajectories: Sequence[Trajectory], pieces: Pieces) -> Windows:
        """Attempt windows by feedback about the references, as they are and smoothed."""
        size = (len(pieces.owners), self.steps)
        beyond: Bools = np.arange(self.steps) >= pieces.lengths[:, None]
        windows = Windows(pieces, np.full((*size, len(self.imitator.start)), np.nan), np.where(beyond, np.nan, np.inf))
        if self.imitator.tool is not None:
            return windows
        for seconds in SMOOTHINGS_S:
            rows = np.flatnonzero(windows.worst > 1)
            if not len(rows):
                break
            windows = self._with_feedback(trajectories, windows, rows, seconds)
        return windows

    def hard(self, trajectories: Sequence[Trajectory], windows: Windows, rows: Ints) -> Windows:
        """Attempt some windows (k) again, by shadowing; of an arm that is controlled by its tool, by a search step by step."""
        if self.imitator.tool is not None:
            return self._searched(trajectories, windows, rows)
        for seconds in SMOOTHINGS_S[:2]:
            rows = rows[windows.worst[rows] > 1]
            for owner in np.unique(windows.pieces.owners[rows]).tolist():
                windows = self._shadowed(trajectories, windows, rows[windows.pieces.owners[rows] == owner], seconds)
        return windows

    def _with_feedback(self, trajectories: Sequence[Trajectory], windows: Windows, rows: Ints, seconds: float) -> Windows:
        """Follow references that are smoothed over some seconds, by a servo's own feedback and by computed torque."""
        references = dict[int, tuple[Trajectory, ControlLaw]]()
        owners: Ints = windows.pieces.owners[rows]
        for owner in map(int, np.unique(owners)):
            own: Ints = rows[owners == owner]
            references[owner] = self._reference(trajectories[owner], windows.pieces.rows(own), seconds)
        for begin in range(0, len(rows), BLOCK):
            some = rows[begin : begin + BLOCK]
            pieces = windows.pieces.rows(some)
            targets = np.stack([_window(references[owner][0].states, first, self.steps) for owner, first in _pairs(pieces)])
            if seconds:
                targets[:, 0] = within_limits(self.imitator, targets[:, 0])
            laws = ControlLaw.joined(
                [references[owner][1].windows(np.array([first]), self.steps) for owner, first in _pairs(pieces)]
            )
            for law in (laws, laws.own_feedback) if self.imitator.has_servos else (laws,):
                states = follow_with_feedback(self.imitator, targets, law, pieces.lengths, threads=self._threads)
                self.spent += int(pieces.lengths.sum())
                windows = self._better(trajectories, windows, some, states)
        return windows

    def _reference(self, trajectory: Trajectory, pieces: Pieces, seconds: float) -> tuple[Trajectory, ControlLaw]:
        """Return the smoothed demonstration and its law, where windows need it."""
        states = smoothed(self.imitator, trajectory.states, seconds) if seconds else trajectory.states
        law = ControlLaw.empty(self.imitator, len(trajectory))
        for first, end in runs(_needed(pieces, len(trajectory))):
            run = states[first : end + 1]
            law.fill(first, control_law(self.imitator, run, feed_forward(self.imitator, run)))
        return Trajectory(states, trajectory.demonstrator), law

    def _shadowed(self, trajectories: Sequence[Trajectory], windows: Windows, rows: Ints, seconds: float) -> Windows:
        """Shadow windows (k) of one demonstration, from where it is and, where a joint is beyond its stop, from the stop."""
        imitator, pieces = self.imitator, windows.pieces.rows(rows)
        lanes, scale = self._lanes, scales(imitator)
        trajectory, before = trajectories[int(pieces.owners[0])], lanes.spent
        states = smoothed(imitator, trajectory.states, seconds) if seconds else trajectory.states
        parts, firsts = list[Linearised](), np.zeros(len(rows), np.int64)
        for first, end in runs(_needed(pieces, len(trajectory))):
            inside = (pieces.begins >= first) & (pieces.begins < end)
            firsts[inside] = pieces.begins[inside] - first + sum(len(part.units) for part in parts)
            guess = feed_forward(imitator, states[first : end + 1]) if self._wide else None
            parts.append(linearised(lanes, scale.coordinates, states[first : end + 1], guess))
        linear = Linearised.joined(parts)
        targets = np.stack([_window(states, begin, self.steps) for begin in pieces.begins.tolist()])
        demonstrated, inside = targets[:, 0].copy(), within_limits(imitator, targets[:, 0])
        for start, ease in ((demonstrated, EASES[0]), (inside, EASES[0]), *((demonstrated, ease) for ease in EASES[1:])):
            left = np.flatnonzero(windows.worst[rows] > 1)
            if not len(left):
                break
            targets[:, 0] = start
            made = shadow(lanes, scale.coordinates, targets[left], linear, firsts[left], pieces.lengths[left], ease)
            windows = self._better(trajectories, windows, rows[left], made)
        self.spent += lanes.spent - before
        return windows

    def _searched(self, trajectories: Sequence[Trajectory], windows: Windows, rows: Ints) -> Windows:
        """Search for the best action of every step of some windows (k)."""
        lanes, pieces = self._lanes, windows.pieces.rows(rows)
        before, targets = lanes.spent, pieces.states(trajectories, self.steps)
        targets[:, 0] = within_limits(self.imitator, targets[:, 0])
        states = follow(lanes, Solver(restart_budget=RESTART_BUDGET), targets, pieces.lengths, 0).states
        self.spent += lanes.spent - before
        return self._better(trajectories, windows, rows, states)

    def _better(self, trajectories: Sequence[Trajectory], windows: Windows, rows: Ints, states: Floats) -> Windows:
        """Keep attempts (k, H, S) at some windows that leave the tube less than the best so far."""
        pieces = windows.pieces.rows(rows)
        wanted = pieces.states(trajectories, self.steps)[:, 1:]
        errors = body_errors(self.imitator, states, wanted, self._points, pieces.lengths)
        ratios = self.tolerance.ratios(self.imitator, errors, states, wanted)
        new = Windows(pieces, states, ratios)
        won = new.worst < windows.worst[rows]
        best, kept = windows.states.copy(), windows.ratios.copy()
        best[rows[won]], kept[rows[won]] = states[won], ratios[won]
        return Windows(windows.pieces, best, kept)


def _needed(pieces: Pieces, steps: int) -> Bools:
    """(steps) which transitions of their one demonstration windows contain."""
    needed = np.zeros(steps, bool)
    for first, length in zip(pieces.begins.tolist(), pieces.lengths.tolist(), strict=True):
        needed[first : first + length] = True
    return needed


def _pairs(pieces: Pieces) -> list[tuple[int, int]]:
    """Return owner and first step of every window."""
    return list(zip(pieces.owners.tolist(), pieces.begins.tolist(), strict=True))


def _window(states: Floats, begin: int, steps: int) -> Floats:
    """(T + 1, S) → (steps + 1, S); the last state repeats beyond the end."""
    return states[np.minimum(begin + np.arange(steps + 1), len(states) - 1)]
