# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""A robot's joints and where its bodies are: what columns of numbers can be tried against.

An adapter file: MuJoCo ships no types.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from imitable.robots.robot import Robot
from imitable.types import Floats

KINDS = {
    int(mujoco.mjtJoint.mjJNT_FREE): "free",
    int(mujoco.mjtJoint.mjJNT_BALL): "ball",
    int(mujoco.mjtJoint.mjJNT_SLIDE): "slide",
    int(mujoco.mjtJoint.mjJNT_HINGE): "hinge",
}
WIDTHS = {"free": (7, 6), "ball": (4, 3), "slide": (1, 1), "hinge": (1, 1)}
"""Position and velocity entries of each kind."""


@dataclass(frozen=True)
class Joint:
    """A joint and where it stands in a state."""

    name: str
    kind: str
    """free, ball, slide or hinge."""
    position: int
    """Its first entry in qpos."""
    velocity: int
    """Its first entry in qvel."""
    low: float
    """Of its range; −∞ without one."""
    high: float

    @property
    def single(self) -> bool:
        """Whether it has one degree of freedom."""
        return self.kind in ("slide", "hinge")


def joints_of(robot: Robot) -> tuple[Joint, ...]:
    """Return all joints in the order of the state."""
    model, found = robot.model, []
    for index in range(model.njnt):
        limited = bool(model.jnt_limited[index])
        low, high = model.jnt_range[index].tolist() if limited else (-math.inf, math.inf)
        found.append(
            Joint(
                name=str(model.joint(index).name) or f"joint{index}",
                kind=KINDS[int(model.jnt_type[index])],
                position=int(model.jnt_qposadr[index]),
                velocity=int(model.jnt_dofadr[index]),
                low=low,
                high=high,
            )
        )
    return tuple(found)


def breadth_first(robot: Robot) -> tuple[Joint, ...]:
    """Return the joints body by body in the order of distance from the root, as some simulators number them."""
    model, joints = robot.model, joints_of(robot)
    depth = np.zeros(model.nbody, int)
    for body in range(1, model.nbody):
        depth[body] = depth[model.body_parentid[body]] + 1
    order = sorted(range(model.njnt), key=lambda joint: (depth[model.jnt_bodyid[joint]], _path(model, joint), joint))
    return tuple(joints[place] for place in order)


def _path(model: Any, joint: int) -> tuple[int, ...]:
    """Return the bodies from the root to the joint's: siblings come in the order of their parents."""
    body, path = int(model.jnt_bodyid[joint]), []
    while body:
        path.append(body)
        body = int(model.body_parentid[body])
    return tuple(reversed(path))


class Poses:
    """Forward kinematics of a robot, a pose at a time."""

    def __init__(self, robot: Robot) -> None:
        """Prepare one simulation's data."""
        self.model, self.data = robot.model, mujoco.MjData(robot.model)

    def bodies(self, qpos: Floats) -> Floats:
        """(nq) → (bodies, 3) positions in the world, the world itself left out."""
        self._pose(qpos)
        return np.array(self.data.xpos[1:])

    def lowest(self, qpos: Floats) -> float:
        """(nq) → height of the lowest point of all geoms that move, by their boxes."""
        self._pose(qpos)
        model = self.model
        moving = np.flatnonzero(model.body_weldid[model.geom_bodyid] != 0)
        frames = self.data.geom_xmat[moving].reshape(-1, 3, 3)
        centre, half = model.geom_aabb[moving, :3], model.geom_aabb[moving, 3:]
        heights = (
            self.data.geom_xpos[moving, 2] + (frames[:, 2] * centre).sum(axis=1) - (np.abs(frames[:, 2]) * half).sum(axis=1)
        )
        return float(heights.min(initial=np.inf))

    def site(self, name: str, qpos: Floats) -> tuple[Floats, Floats]:
        """(nq) → (3) position and (4) rotation of a site in the world."""
        self._pose(qpos)
        rotation = np.empty(4)
        site = self.data.site(name)
        mujoco.mju_mat2Quat(rotation, site.xmat)
        return np.array(site.xpos), rotation

    def _pose(self, qpos: Floats) -> None:
        self.data.qpos[:] = qpos
        mujoco.mj_kinematics(self.model, self.data)


def sites_of(robot: Robot) -> Sequence[str]:
    """Return the names of the robot's sites."""
    model = robot.model
    return [str(model.site(index).name) for index in range(model.nsite)]
