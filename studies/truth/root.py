# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""The root of a floating base: moving and turning it, whether it has a free joint or slides and a hinge in a plane.

An adapter file: MuJoCo ships no types.
"""

from functools import cached_property
from typing import Any

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from imitable.types import Floats
from studies.truth.body import Body, continuous


class Root:
    """The undriven joints that carry a body through the world."""

    def __init__(self, body: Body) -> None:
        """Find them."""
        self.body, model = body, body.model
        self.free = int(model.jnt_type[0]) == int(mujoco.mjtJoint.mjJNT_FREE)
        undriven = [j for j in range(model.njnt) if j not in body.joints]
        kind = {j: int(model.jnt_type[j]) for j in undriven}
        self.slides = [] if self.free else [j for j in undriven if kind[j] == int(mujoco.mjtJoint.mjJNT_SLIDE)]
        self.hinges = [] if self.free else [j for j in undriven if kind[j] == int(mujoco.mjtJoint.mjJNT_HINGE)][:1]
        self.base = int(model.jnt_bodyid[0 if self.free else self.slides[0]])

    @cached_property
    def axis(self) -> Floats:
        """The axis that a planar body turns about; the vertical of a free one."""
        return np.array((0.0, 0.0, 1.0)) if self.free else np.array(self.body.model.jnt_axis[self.hinges[0]], float)

    @cached_property
    def ways(self) -> Floats:
        """(W, 3) horizontal directions the root can move in."""
        axes = np.eye(3) if self.free else np.array(self.body.model.jnt_axis[self.slides], float)
        return axes[np.abs(axes[:, 2]) < 0.5]

    def position(self, qpos: Floats) -> Floats:
        """Return (T, 3) where the base is."""
        data: Any = self.body.data
        out = np.empty((len(qpos), 3))
        for row, pose in zip(out, qpos, strict=True):
            data.qpos[:] = pose
            mujoco.mj_kinematics(self.body.model, data)
            row[:] = data.xpos[self.base]
        return out

    def shifted(self, qpos: Floats, by: Floats) -> Floats:
        """Return (T, Q) positions with the root moved by (T, 3) metres."""
        out = qpos.copy()
        if self.free:
            out[:, :3] += by
        for j in self.slides:
            out[:, self.body.model.jnt_qposadr[j]] += by @ self.body.model.jnt_axis[j]
        return out

    def turned(self, qpos: Floats, angle: Floats, axis: Floats, pivot: Floats | None = None) -> Floats:
        """Return (T, Q) positions with the root turned by (T) radians about an axis, through itself or (T, 3) pivots."""
        out, turns = qpos.copy(), Rotation.from_rotvec(angle[:, None] * axis)
        if self.free:
            moved = angle != 0
            before = Rotation.from_quat(np.roll(qpos[moved, 3:7], -1, axis=1))
            out[moved, 3:7] = np.roll((turns[moved] * before).as_quat(), 1, axis=1)
            out[:, 3:7] = continuous(out[:, 3:7])
        for j in self.hinges:
            out[:, self.body.model.jnt_qposadr[j]] += angle * float(self.body.model.jnt_axis[j] @ axis)
        if pivot is None:
            return out
        here = self.position(qpos)
        return self.shifted(out, pivot + turns.apply(here - pivot) - self.position(out))
