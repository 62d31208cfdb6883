# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""What of a scene is the robot, and what are things: a tree of bodies that no actuator moves is an object.

An adapter file: MuJoCo ships no types.
"""

from functools import lru_cache
from typing import Any

import mujoco
import numpy as np

from imitable.robots.robot import Robot
from imitable.types import Bools, frozen


@lru_cache(maxsize=64)
def own_bodies(robot: Robot) -> Bools:
    """(nbody) whether a body is of the robot: of a tree that an actuator moves, or fixed to the world."""
    model = robot.model
    roots = np.array(model.body_rootid)
    driven = roots[np.array(model.dof_bodyid)[driven_dofs(model)]]
    return frozen(np.isin(roots, driven) | (np.array(model.body_weldid) == 0), bool)


@lru_cache(maxsize=64)
def own_entries(robot: Robot) -> Bools:
    """(S) which state entries are of the robot's own joints, not of objects."""
    model = robot.model
    qpos, bodies = np.zeros(model.nq, bool), own_bodies(robot)
    for joint in range(model.njnt):
        first = int(model.jnt_qposadr[joint])
        qpos[first : first + len(model.joint(joint).qpos0)] = bodies[model.jnt_bodyid[joint]]
    return frozen(np.concatenate([qpos, bodies[np.array(model.dof_bodyid)]]), bool)


def has_objects(robot: Robot) -> bool:
    """Return whether there are things in the robot's scene that can move."""
    return not bool(own_bodies(robot).all())


def driven_dofs(model: Any) -> Bools:
    """(nv) whether an actuator moves a degree of freedom, from the model's start."""
    data, driven = mujoco.MjData(model), np.zeros(model.nv, bool)
    mujoco.mj_fwdPosition(model, data)
    for first, count in zip(data.moment_rowadr.tolist(), data.moment_rownnz.tolist(), strict=True):
        driven[data.moment_colind[first : first + count]] = True
    return driven
