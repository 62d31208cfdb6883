# SPDX-License-Identifier: MIT
"""Small repairs of a demonstration for a body: joints back inside their limits, the start on the ground."""

from dataclasses import dataclass, replace

import numpy as np

from imitable.feasibility.checks import OVER_LIMIT
from imitable.feasibility.static_checks import static_checks
from imitable.robots.robot import Robot
from imitable.sim.ground import height_entry, standing
from imitable.sim.kinematics import SLACK
from imitable.sim.poses import limited_joints
from imitable.tracking.balance import NEAR_M
from imitable.types import Floats, Trajectory

LEAST_M = 0.005
"""Shifts below this are not worth one: contacts are springs."""


@dataclass(frozen=True)
class Repaired:
    """A demonstration after its repairs."""

    trajectory: Trajectory
    """The same object if nothing was done."""
    done: tuple[str, ...]
    """What was, in sentences."""


def repaired(trajectory: Trajectory, imitator: Robot) -> Repaired:
    """Clip positions to the joints' ranges, at rest there, then lift or settle the whole movement by its start.

    A start that is inside the ground is lifted out of it. One that nothing supports is lowered by the least distance of the
    whole movement from the ground, so that no later state is pushed into it.
    """
    states, clipped = _clipped(trajectory.states, imitator)
    states, moved = _grounded(states, imitator)
    done = (*clipped, *moved)
    return Repaired(replace(trajectory, states=states) if done else trajectory, done)


def _clipped(states: Floats, imitator: Robot) -> tuple[Floats, list[str]]:
    if imitator.tool is not None:
        return states, []
    joints, nq, done = limited_joints(imitator), imitator.layout.nq, list[str]()
    excess, clipped = joints.excess(states), states.copy()
    for column in np.flatnonzero(excess.any(axis=0)).tolist():
        if joints.balls[column]:
            continue
        rows, entry = excess[:, column] > 0, int(joints.entries[column])
        low, high = joints.ranges[column]
        if excess[:, column].max() <= max(OVER_LIMIT, SLACK * (high - low)):
            continue
        clipped[:, entry] = np.clip(states[:, entry], low, high)
        velocity = nq + _dof(imitator, entry)
        clipped[rows, velocity] = 0.0
        most, unit = float(excess[:, column].max()), joints.units[column]
        done.append(f"{joints.names[column]}: {int(rows.sum())} frames put back to its limit, at most {most:.3g} {unit}")
    return clipped, done


def _dof(imitator: Robot, entry: int) -> int:
    """Return the velocity entry of a joint with one degree of freedom, by its position's."""
    return imitator.layout.qvel.index(f"{imitator.layout.qpos[entry]}_velocity")


def _grounded(states: Floats, imitator: Robot) -> tuple[Floats, list[str]]:
    entry = None if imitator.tool is not None else height_entry(imitator)
    if entry is None:
        return states, []
    ground, moved = standing(imitator, states).ground, states.copy()
    if ground[0] < -LEAST_M:
        moved[:, entry] -= ground[0]
        return moved, [f"lifted by {-float(ground[0]):.3f} m: it starts inside the ground"]
    least = float(ground.min())
    hangs = ground[0] > NEAR_M and any(
        span.kind in ("support", "path") and not span.begin for span in static_checks(imitator, states).spans
    )
    if hangs and LEAST_M < least < np.inf:
        moved[:, entry] -= least
        return moved, [f"settled by {least:.3f} m: nothing supports its start"]
    return states, []
