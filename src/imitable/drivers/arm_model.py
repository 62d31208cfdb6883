# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""What a robot's model knows of an arm without moving it: where its tool is, and what it is near to, at given joint positions.

An adapter file: MuJoCo ships no types.
"""

from typing import Any

import mujoco
import numpy as np

from imitable.errors import BadModel
from imitable.robots.robot import Robot
from imitable.types import Floats, Ints, frozen


class ArmModel:
    """A robot of J hinges and slides that stands wherever it is put."""

    def __init__(self, robot: Robot) -> None:
        """Refuse a body that floats, or whose actuators are no position servos."""
        model = robot.model
        servos = (model.actuator_biastype == int(mujoco.mjtBias.mjBIAS_AFFINE)) & (model.actuator_biasprm[:, 1] < 0)
        on_joints = model.actuator_trntype == int(mujoco.mjtTrn.mjTRN_JOINT)
        if model.nq != model.nv or not model.nu or not (servos & on_joints).all():
            raise BadModel(str(robot), "an arm has hinges and slides alone, and position servos on them; it has not")
        self.robot, self.joints = robot, robot.layout.qpos
        self.start: Floats = frozen(robot.start[: model.nq])
        self.servos: Ints = frozen(model.actuator_trnid[:, 0], np.int64)
        self._data = mujoco.MjData(model)  # one for all looks: they are many, and a step is short
        self._site = -1 if robot.tool is None else int(model.site(robot.tool.site).id)

    @property
    def has_tool(self) -> bool:
        """Whether it is known where the tool is."""
        return self.robot.tool is not None

    @property
    def position_range(self) -> Floats:
        """(2, J) lowest and highest joint positions; infinite where the model has no limit."""
        model = self.robot.model
        limited = np.array(model.jnt_limited, bool)
        return np.where(limited, np.array(model.jnt_range, float).T, [[-np.inf], [np.inf]])

    def tool(self, positions: Floats) -> Floats:
        """(J) → (3) where the tool is, in metres."""
        self._put(positions)
        return np.array(self._data.site_xpos[self._site])

    def touching(self, positions: Floats, clearance_m: float) -> str:
        """(J) → the pair that is nearest to each other, if nearer than `clearance_m` and than the model lists; else nothing."""
        self._put(positions)
        mujoco.mj_collision(self.robot.model, self._data)
        return touching_pair(self.robot.model, self._data, clearance_m)

    def _put(self, positions: Floats) -> None:
        self._data.qpos[:] = positions
        mujoco.mj_kinematics(self.robot.model, self._data)


def touching_pair(model: Any, data: Any, clearance_m: float = 0.0) -> str:
    """Return the names of the two geoms that are nearest to each other, if nearer than `clearance_m`; else nothing."""
    if not data.ncon:
        return ""
    place = int(np.argmin(data.contact.dist))
    if not data.contact.dist[place] < clearance_m:
        return ""
    return " – ".join(str(model.geom(int(geom)).name) for geom in data.contact.geom[place])
