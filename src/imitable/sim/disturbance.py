# SPDX-License-Identifier: MIT
"""Pushes: a horizontal force on the root body for a tenth of a second, in practice at random and in tests once an episode."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from imitable import seeding
from imitable.errors import BadOption
from imitable.robots.robot import Robot
from imitable.types import Floats, Ints

PUSH_S = 0.1
"""Seconds that a push lasts."""

LATEST = 0.8
"""A test pushes in this part of the episode, so that there is time left to fall."""


@dataclass(frozen=True)
class Pushes:
    """How often and how hard a simulation is pushed while it practises."""

    per_episode: float
    """Pushes in an episode of full length, on average."""
    newtons: float
    """Each push draws its force from 0 up to this."""

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn."""
        if not 0 < self.per_episode < np.inf or not 0 < self.newtons < np.inf:
            raise BadOption("pushes", (self.per_episode, self.newtons), "give two numbers above 0: how many, how many newtons")


class Pusher:
    """N simulations that are pushed at random times, in random horizontal directions."""

    def __init__(self, pushes: Pushes, robot: Robot, size: int, horizon: int, seed: int) -> None:
        """Start with nobody being pushed."""
        self._pushes, self._planar = pushes, _is_planar(robot)
        self._duration, self._chance = push_steps(robot), pushes.per_episode / horizon
        self._rng = seeding.generator(seed, "pushes")
        self._left = np.zeros(size, np.int64)
        self._forces = np.zeros((size, 2))

    def forces(self) -> Floats:
        """(N, 2) newtons along x and y in the next control step."""
        chances, angles, shares = self._rng.random((3, len(self._left)))
        begin = (self._left == 0) & (chances < self._chance)
        self._left[begin] = self._duration
        drawn = self._pushes.newtons * shares[:, None] * _directions(angles, self._planar)
        self._forces[begin] = drawn[begin]
        self._forces[self._left == 0] = 0.0
        self._left = np.maximum(self._left - 1, 0)
        return self._forces.copy()

    def stop(self, ids: Ints) -> None:
        """Leave simulations alone whose episode begins anew."""
        self._left[ids] = 0

    def snapshot(self) -> tuple[dict[str, Floats | Ints], dict[str, str]]:
        """Return arrays and generator states from which `restore` goes on to the same bits."""
        return {"push_left": self._left.copy(), "push_forces": self._forces.copy()}, {"pushes": seeding.to_json(self._rng)}

    def restore(self, arrays: dict[str, Floats | Ints], generators: dict[str, str]) -> None:
        """Go back to a snapshot."""
        self._left, self._forces = arrays["push_left"].astype(np.int64), arrays["push_forces"].astype(np.float64)
        self._rng = seeding.from_json(generators["pushes"])


@dataclass(frozen=True)
class OnePush:
    """One push in each of N episodes."""

    begins: Ints
    """(N) control step that it begins in."""
    vectors: Floats
    """(N, 2) newtons along x and y."""
    duration: int
    """Control steps that it lasts."""

    def forces(self, step: int) -> Floats:
        """(N, 2) newtons in a control step."""
        during = (self.begins <= step) & (step < self.begins + self.duration)
        return np.where(during[:, None], self.vectors, 0.0)


def one_push(robot: Robot, newtons: float, seeds: Sequence[int], horizon: int) -> OnePush:
    """Draw when and whither each episode is pushed, from its own seed."""
    draws = np.stack([seeding.generator(seed, "push").random(2) for seed in seeds])
    begins = (draws[:, 0] * LATEST * horizon).astype(np.int64)
    return OnePush(begins, newtons * _directions(draws[:, 1], _is_planar(robot)), push_steps(robot))


def push_steps(robot: Robot) -> int:
    """Return the control steps of a push, at least one."""
    return max(1, round(PUSH_S / robot.layout.period_s))


def _directions(draws: Floats, planar: bool) -> Floats:
    """(N) in [0, 1) → (N, 2) unit vectors: any horizontal one, or back and forth for a body that cannot move sideways."""
    if planar:
        return np.stack([np.where(draws < 0.5, -1.0, 1.0), np.zeros(len(draws))], axis=1)
    angles = 2 * np.pi * draws
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _is_planar(robot: Robot) -> bool:
    """Return whether the body moves along x only, as one does whose root position is a single state entry."""
    return robot.root_entries == 1
