# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""What states say of a body's posture, by its geometry alone: joints beyond their limits, geoms inside each other.

An adapter file: MuJoCo ships no types.
"""

from collections.abc import Sequence

import mujoco
import numpy as np

from imitable.robots.robot import Robot
from imitable.types import Bools, Floats

SLACK = 0.01
"""A joint may stand beyond its range by this part of its span: MuJoCo's limits are springs and give way a little."""

DEPTH_M = 0.005
"""Geoms may sink into each other so deep: MuJoCo's contacts are springs, too."""


def beyond_limits(robot: Robot, states: Floats) -> Bools:
    """(N, S) → (N) whether any limited joint stands beyond its range by more than `SLACK` of its span."""
    model, beyond = robot.model, np.zeros(len(states), bool)
    for joint in np.flatnonzero(model.jnt_limited).tolist():
        place = int(model.jnt_qposadr[joint])
        low, high = model.jnt_range[joint].tolist()
        if int(model.jnt_type[joint]) == int(mujoco.mjtJoint.mjJNT_BALL):
            # a ball joint limits the angle of its rotation, whatever the axis
            vector = np.linalg.norm(states[:, place + 1 : place + 4], axis=1)
            positions = 2 * np.arctan2(vector, np.abs(states[:, place]))
        else:
            positions = states[:, place]
        slack = SLACK * (high - low)
        beyond |= (positions < low - slack) | (positions > high + slack)
    return beyond


def penetrating(robot: Robot, states: Floats) -> Bools:
    """(N, S) → (N) whether two geoms that can touch each other are inside each other by more than `DEPTH_M`."""
    model = robot.model
    data = mujoco.MjData(model)
    deep = np.empty(len(states), bool)
    for row, state in enumerate(states):
        data.qpos[:] = state[: model.nq]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        deep[row] = bool((data.contact.dist < -DEPTH_M).any())
    return deep


def one_sign(places: Sequence[int], states: Floats) -> Floats:
    """(N, S) → (N, S) with every quaternion q written as that of q and −q, the same rotation, whose first entry is positive.

    `places` are the first entries of the quaternions.
    """
    signed = states.copy()
    for first in places:
        signed[:, first : first + 4] *= np.where(states[:, first : first + 1] < 0, -1.0, 1.0)
    return signed


def quaternions(robot: Robot) -> tuple[int, ...]:
    """Return the first state entry of every quaternion: of free and of ball joints."""
    model = robot.model
    offsets = {int(mujoco.mjtJoint.mjJNT_FREE): 3, int(mujoco.mjtJoint.mjJNT_BALL): 0}
    joints = zip(model.jnt_type.tolist(), model.jnt_qposadr.tolist(), strict=True)
    return tuple(place + offsets[kind] for kind, place in joints if kind in offsets)


def signed_like(places: Sequence[int], states: Floats, targets: Floats) -> Floats:
    """(…, S), (…, S) → (…, S) targets with every quaternion written as that of q and −q which is nearer to the state's.

    Recorders may change the sign from one frame to the next; the rotation is the same.
    """
    if not places:
        return targets
    signed = np.array(np.broadcast_to(targets, np.broadcast_shapes(states.shape, targets.shape)))
    for first in places:
        part = slice(first, first + 4)
        dot = (states[..., part] * signed[..., part]).sum(axis=-1, keepdims=True)
        signed[..., part] *= np.where(dot < 0, -1.0, 1.0)
    return signed
