# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""How a robot stands in its scene, by geometry alone: what is inside what, how far the ground is, and a step up or down.

An adapter file: MuJoCo ships no types.
"""

import copy
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from imitable.robots.robot import Robot
from imitable.sim.objects import own_bodies
from imitable.types import Floats

REACH_M = 1.0
"""The ground is looked for so far away."""

GROUND = "the ground"
"""What is fixed to the world, in words."""


@dataclass(frozen=True, eq=False)
class Standing:
    """How a robot stands in N states."""

    depths: Floats
    """(N) metres that two geoms are inside each other, at the deepest place; 0 if none are."""
    pairs: tuple[str, ...]
    """(N) the two bodies of it, in words; empty if there are none."""
    ground: Floats
    """(N) metres between the robot and what is fixed to the world, negative inside it; infinite out of reach."""


def standing(robot: Robot, states: Floats, *, reach_m: float = REACH_M) -> Standing:
    """(N, S) → how the robot stands in each state; what objects do among themselves does not count."""
    model = copy.copy(robot.model)
    fixed = np.array(model.body_weldid)[np.array(model.geom_bodyid)] == 0
    model.geom_margin[fixed], model.geom_gap[fixed] = reach_m, 0
    model.body_margin[np.array(model.body_weldid) == 0] = reach_m
    data, depths, ground, pairs = mujoco.MjData(model), np.zeros(len(states)), np.full(len(states), np.inf), list[str]()
    moving = own_bodies(robot) & (np.array(model.body_weldid) != 0)
    for row, state in enumerate(states):
        data.qpos[:] = state[: model.nq]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        bodies, gaps = np.array(model.geom_bodyid)[data.contact.geom], np.array(data.contact.dist)
        mine = moving[bodies].any(axis=1)
        on_ground = mine & (np.array(model.body_weldid)[bodies] == 0).any(axis=1)
        ground[row] = gaps[on_ground].min(initial=np.inf)
        worst = int(np.where(mine, gaps, np.inf).argmin()) if mine.any() else -1
        inside = worst >= 0 and gaps[worst] < 0
        depths[row] = -gaps[worst] if inside else 0.0
        pairs.append(" and ".join(_name(model, int(body)) for body in bodies[worst]) if inside else "")
    return Standing(depths, tuple(pairs), ground)


def height_entry(robot: Robot) -> int | None:
    """Return the state entry that lifts the whole robot: of a free root, or of a root that slides upwards."""
    model, own = robot.model, own_bodies(robot)
    for joint, kind in enumerate(model.jnt_type.tolist()):
        body, place = int(model.jnt_bodyid[joint]), int(model.jnt_qposadr[joint])
        if not own[body] or int(model.body_parentid[body]) != 0:
            continue
        if kind == int(mujoco.mjtJoint.mjJNT_FREE):
            return place + 2
        if kind == int(mujoco.mjtJoint.mjJNT_SLIDE) and abs(float(model.jnt_axis[joint, 2])) > 0.99:
            return place
    return None


def _name(model: Any, body: int) -> str:
    return GROUND if int(model.body_weldid[body]) == 0 else str(model.body(body).name) or f"body{body}"
