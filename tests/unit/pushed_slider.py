# SPDX-License-Identifier: MIT
"""The slider of the tests under a constant force, and an observer that remembers."""

import numpy as np

from imitable.robots.robot import Robot
from imitable.sim.babble import babble
from imitable.types import InMemory, Trajectory

DT, SUBSTEPS, DAMPING, FORCE = 0.01, 2, 0.1, 2.0
"""The slider of the tests, see conftest: 1 kg, two simulator steps a control step."""


def pushed(force: float, steps: int) -> Trajectory:
    """Return the slider's closed form under a constant force, far from its stops: v′ = (v + h F) / (1 + h c), x′ = x + h v′."""
    states = np.zeros((SUBSTEPS * steps + 1, 2))
    for t in range(SUBSTEPS * steps):
        velocity = (states[t, 1] + DT * force) / (1 + DT * DAMPING)
        states[t + 1] = states[t, 0] + DT * velocity, velocity
    return Trajectory(states[::SUBSTEPS], f"a cart pushed with {force} N")


class Heard:
    """An observer that remembers."""

    def __init__(self) -> None:
        self.done: list[int] = []
        self.lines: list[str] = []

    def progress(self, done: int, total: int, note: str = "") -> None:
        del total, note
        self.done.append(done)

    def say(self, line: str) -> None:
        self.lines.append(line)


def own(robot: Robot, count: int = 6, steps: int = 40, seed: int = 5) -> InMemory:
    return InMemory(robot.layout, babble(robot, count, steps, seed))
