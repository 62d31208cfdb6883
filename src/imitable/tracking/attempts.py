# SPDX-License-Identifier: MIT
"""Attempts at demonstrations: pieces to follow, what came of them beside a passive imitator, and how that is told."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Protocol

import numpy as np

from imitable import seeding
from imitable.robots.robot import Robot
from imitable.sim.rollout import actuation_noise
from imitable.tracking.follow import Followed
from imitable.types import Bools, Floats, Ints, Trajectory


@dataclass(frozen=True, eq=False)
class Trace:
    """What a method saw, row by row: row k judges the demonstrated state `steps[k]`."""

    steps: Ints
    """(n) index of the demonstrated state that each row is compared with, from 1 on."""
    attempts: Ints
    """(n) which window or rollout a row belongs to."""
    errors: Floats
    """(n) distance to the demonstrated state."""
    states: Floats
    """(n, S) the imitator's state there; NaN for methods without a rollout."""
    actions: Floats
    """(n, A) the action that led there; NaN for methods without a rollout."""


def joined(traces: Sequence[Trace]) -> Trace:
    """Return the rows of several traces as one."""
    columns = (np.concatenate([getattr(trace, column.name) for trace in traces]) for column in fields(Trace))
    return Trace(*columns)


def trace_without_rollout(trajectory: Trajectory, steps: Ints, errors: Floats, imitator: Robot) -> Trace:
    """Return the trace of a method that simulates no rollout."""
    return Trace(
        steps=steps,
        attempts=np.zeros(len(steps), np.int64),
        errors=errors,
        states=np.full((len(steps), trajectory.states.shape[1]), np.nan),
        actions=np.full((len(steps), imitator.control_range.shape[1]), np.nan),
    )


def discounted_share(distance: float, passive: float, floor: float = 1e-9) -> float:
    """Return distance ÷ passive distance, which counts as `floor` at least: see `Distance.floor`."""
    return distance / max(passive, floor)


@dataclass(frozen=True, eq=False)
class Pieces:
    """n pieces of demonstrations to follow."""

    owners: Ints
    """(n) position of the demonstration."""
    numbers: Ints
    """(n) which attempt at it."""
    begins: Ints
    """(n) step at which the piece begins."""
    lengths: Ints
    """(n) its steps."""

    def part(self, begin: int, count: int) -> "Pieces":
        """Return one block of them."""
        return self.rows(slice(begin, begin + count))

    def rows(self, rows: Ints | slice) -> "Pieces":
        """Return some of them."""
        return Pieces(self.owners[rows], self.numbers[rows], self.begins[rows], self.lengths[rows])

    def states(self, trajectories: Sequence[Trajectory], steps: int) -> Floats:
        """(n, steps + 1, S) the demonstrated states of every piece; the last one repeats beyond a demonstration's end."""
        columns, states = np.arange(steps + 1), list[Floats]()
        for owner, begin in zip(self.owners, self.begins, strict=True):
            demonstrated = trajectories[int(owner)].states
            states.append(demonstrated[np.minimum(begin + columns, len(demonstrated) - 1)])
        return np.stack(states)

    def generators(self, trajectories: Sequence[Trajectory], seed: int, purpose: str) -> list[np.random.Generator]:
        """Return a generator a piece, which depends on its demonstration and number alone."""
        names = [(trajectories[int(owner)].hash, int(number)) for owner, number in zip(self.owners, self.numbers, strict=True)]
        return [seeding.generator(seed, purpose, *name) for name in names]

    def disturbances(self, trajectories: Sequence[Trajectory], imitator: Robot, steps: int, seed: int) -> Floats:
        """(n, steps, A) actuation noise."""
        shape = (steps, imitator.control_range.shape[1])
        return np.stack([actuation_noise(imitator, rng, shape) for rng in self.generators(trajectories, seed, "actuation")])


def whole_pieces(lengths: Ints, attempts: int = 1) -> Pieces:
    """Return pieces that begin with their demonstrations: K lengths, each attempted so many times → n = K · attempts."""
    owners = np.repeat(np.arange(len(lengths)), attempts)
    return Pieces(owners, np.tile(np.arange(attempts), len(lengths)), np.zeros_like(owners), lengths[owners])


class Distance(Protocol):
    """How far states are apart, and how steps add up."""

    @property
    def discount(self) -> float:
        """γ of the sum."""
        ...

    @property
    def floor(self) -> float:
        """Error of one step that nothing is smaller than when errors are compared with it.

        A demonstration that rests is followed by doing nothing, too: what is left of it would else be a share of nothing.
        """
        ...

    def errors(self, states: Floats, targets: Floats) -> Floats:
        """(…, S), (…, S) → (…) distances."""
        ...

    def discounted(self, errors: Floats) -> Floats:
        """(…, n) errors of consecutive steps → (…) their discounted sum."""
        ...


@dataclass(frozen=True, eq=False)
class Attempts:
    """What came of n pieces of at most H steps; NaN beyond their ends."""

    pieces: Pieces
    states: Floats
    """(n, H, S) of the imitator after each step."""
    actions: Floats
    """(n, H, A) that it took."""
    errors: Floats
    """(n, H) distances to the demonstration."""
    passive_errors: Floats
    """(n, H) those of the passive imitator from the same start."""

    def distances(self, ruler: Distance, rows: Ints | slice = slice(None)) -> tuple[Floats, Floats]:
        """(k), (k) discounted distances of some attempts, and those of the passive imitator."""
        return ruler.discounted(self.errors[rows]), ruler.discounted(self.passive_errors[rows])

    def floors(self, ruler: Distance, rows: Ints | slice = slice(None)) -> Floats:
        """(k) what passive distances of some attempts count as at least: `Distance.floor` at every step."""
        return ruler.discounted(np.where(np.isfinite(self.errors[rows]), ruler.floor, np.nan))

    def share(self, ruler: Distance, rows: Ints) -> tuple[float, float]:
        """Return Σ d / Σ p of k attempts at one demonstration, and its standard error; d distances, p the passive ones.

        The ratio of sums, not the mean of ratios: an attempt from which the passive imitator hardly departs says little. Its
        standard error is that of the mean of d − share · p, over the mean of p; 0 of one attempt.
        """
        distances, passive = self.distances(ruler, rows)
        passive = np.maximum(passive, self.floors(ruler, rows))
        share = float(distances.sum() / passive.sum())
        if len(rows) == 1:
            return share, 0.0
        return share, float((distances - share * passive).std(ddof=1) / np.sqrt(len(rows)) / passive.mean())

    def trace(self, rows: Ints) -> Trace:
        """Return all judged steps of some attempts, one after the other."""
        pieces, columns = self.pieces, np.arange(int(self.errors.shape[1]))
        within: Bools = columns < pieces.lengths[rows][:, None]
        return Trace(
            steps=(pieces.begins[rows][:, None] + 1 + columns)[within],
            attempts=np.broadcast_to(pieces.numbers[rows][:, None], within.shape)[within],
            errors=self.errors[rows][within],
            states=self.states[rows][within],
            actions=self.actions[rows][within],
        )


def compare_attempts(ruler: Distance, pieces: Pieces, targets: Floats, followed: Followed, passive: Floats) -> Attempts:
    """Compare attempts and the passive imitator's states (n, H, S) with what was demonstrated, targets (n, H, S)."""
    errors, passive_errors = (ruler.errors(states, targets) for states in (followed.states, passive))
    beyond: Bools = np.arange(int(targets.shape[1])) >= pieces.lengths[:, None]
    errors[beyond] = passive_errors[beyond] = np.nan
    return Attempts(pieces, followed.states, followed.actions, errors, passive_errors)
