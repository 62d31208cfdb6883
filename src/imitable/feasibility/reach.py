# SPDX-License-Identifier: MIT
"""Where a demonstrated tool is out of an arm's reach, and which welded joint would have brought it there; no simulation."""

from dataclasses import dataclass

import numpy as np

from imitable.robots.robot import Robot
from imitable.sim.inverse_kinematics import lever_joint, posed
from imitable.sim.kinematics import state_space
from imitable.types import Floats, Trajectory

OUT_M = 0.05
"""A tool that is farther than this from where the arm can bring its own is out of reach: as near as a goal must be reached."""


@dataclass(frozen=True)
class OutOfReach:
    """The moment at which a demonstrated tool is farthest from what the arm can do."""

    metres: float
    seconds: float
    joint: str
    """The welded joint that would move the tool there most; empty if no joint is."""

    @property
    def sentence(self) -> str:
        """The reason in words."""
        if not self.joint:
            return f"the path leaves the arm's reach by {100 * self.metres:.0f} cm at {self.seconds:.1f} s"
        return f"{self.joint} is fixed; the path leaves its plane by {100 * self.metres:.0f} cm at {self.seconds:.1f} s"


def reach_gaps(imitator: Robot, states: Floats) -> Floats:
    """(T, S) → (T, 3) from where the arm can bring its tool to where it was demonstrated, metres."""
    return state_space(imitator).difference(states, posed(imitator, states))


def out_of_reach(imitator: Robot, trajectory: Trajectory) -> OutOfReach | None:
    """Return the worst moment of a demonstration; None if all of it is in reach, or the imitator has no tool."""
    if imitator.tool is None:
        return None
    gaps = reach_gaps(imitator, trajectory.states)
    sizes = np.linalg.norm(gaps, axis=1)
    step = int(sizes.argmax())
    if sizes[step] <= OUT_M:
        return None
    own = posed(imitator, trajectory.states[step : step + 1])[0]
    return OutOfReach(float(sizes[step]), step * imitator.layout.period_s, lever_joint(imitator, own, gaps[step]))
