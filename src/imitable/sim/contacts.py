# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""Which parts of a body are near or at its surroundings, by geometry alone.

An adapter file: MuJoCo ships no types.
"""

from dataclasses import dataclass

import mujoco
import numpy as np

from imitable.robots.robot import Robot
from imitable.types import Bools, Floats


@dataclass(frozen=True)
class Contact:
    """Two geoms that are nearer to each other than their clearance."""

    first: str
    second: str
    distance_m: float
    """Between their surfaces; below 0 they are inside each other."""

    def __str__(self) -> str:
        """Name the pair."""
        return f"{self.first} – {self.second}"


def touches(robot: Robot, states: Floats) -> Bools:
    """(N, S) → (N) whether any contact is listed: two geoms are nearer than margin and gap of theirs allow.

    About 5 µs a state.
    """
    model, near = robot.model, np.empty(len(states), bool)
    data, nq = mujoco.MjData(model), int(model.nq)
    qpos = data.qpos
    for row, state in enumerate(states):
        qpos[:] = state[:nq]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        near[row] = data.ncon > 0
    return near


def nearest_contact(robot: Robot, state: Floats) -> Contact | None:
    """(S) → the pair that is nearest to each other, or deepest inside; None if none is near."""
    model = robot.model
    data = mujoco.MjData(model)
    data.qpos[:] = state[: model.nq]
    mujoco.mj_kinematics(model, data)
    mujoco.mj_collision(model, data)
    if not data.ncon:
        return None
    place = int(np.argmin(data.contact.dist))
    first, second = (str(model.geom(int(geom)).name) for geom in data.contact.geom[place])
    return Contact(first, second, float(data.contact.dist[place]))
