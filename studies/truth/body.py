# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""A body in plain MuJoCo: stepping with clipped controls, inverse dynamics, torque limits. None of the package's checks.

An adapter file: MuJoCo ships no types.
"""

from collections.abc import Callable
from functools import cached_property
from itertools import product
from typing import Any

import mujoco
import numpy as np

import imitable as im
from imitable.types import Bools, Floats, Ints

Control = Callable[[int, Any], Floats]
"""(step, MjData) → controls; clipped before they are used."""


class Body:
    """A robot's compiled model, and what the suite does with it."""

    def __init__(self, text: str) -> None:
        """Compile the robot that a text names."""
        self.robot = im.robot(text)
        self.model: Any = self.robot.model
        self.skip, self.period = self.robot.frame_skip, self.robot.layout.period_s
        self.data: Any = mujoco.MjData(self.model)

    @cached_property
    def free(self) -> Any:
        """The same model without contacts and limits: inverse dynamics of an arm alone."""
        model: Any = self.robot.model.__copy__()
        for flag in (mujoco.mjtDisableBit.mjDSBL_CONTACT, mujoco.mjtDisableBit.mjDSBL_LIMIT):
            model.opt.disableflags |= int(flag)
        return model

    @cached_property
    def dofs(self) -> Ints:
        """(J) velocity index of each hinge and slide, in the order of `joints`."""
        return np.array([self.model.jnt_dofadr[j] for j in self.joints])

    @cached_property
    def positions(self) -> Ints:
        """(J) position index of each hinge and slide."""
        return np.array([self.model.jnt_qposadr[j] for j in self.joints])

    @cached_property
    def joints(self) -> list[int]:
        """Hinges and slides that an actuator drives, by joint id."""
        model = self.model
        kinds = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
        driven = {int(model.actuator_trnid[a, 0]) for a in range(model.nu) if model.actuator_trntype[a] == 0}
        return [j for j in sorted(driven) if int(model.jnt_type[j]) in kinds]

    @cached_property
    def names(self) -> list[str]:
        """Names of `joints`."""
        return [str(self.model.joint(j).name) for j in self.joints]

    @cached_property
    def ranges(self) -> Floats:
        """(J, 2) joint ranges; ± infinity where there is none."""
        limited = self.model.jnt_limited[self.joints].astype(bool)
        return np.where(limited[:, None], self.model.jnt_range[self.joints], (-np.inf, np.inf))

    def actuator_of(self, joint: int) -> int:
        """Return the actuator of the joint at this place of `joints`."""
        drives = self.model.actuator_trnid[:, 0] == self.joints[joint]
        return int(np.flatnonzero(drives & (self.model.actuator_trntype == 0))[0])

    @cached_property
    def torques(self) -> Floats:
        """(J, 2) lowest and highest torque of each joint's actuator; ± infinity where nothing limits it."""
        model, limits = self.model, np.empty((len(self.joints), 2))
        for place, joint in enumerate(self.joints):
            a = self.actuator_of(place)
            low, high = -np.inf, np.inf
            if model.actuator_biastype[a] == 0 and model.actuator_ctrllimited[a]:
                low, high = (float(x) * float(model.actuator_gainprm[a, 0]) for x in model.actuator_ctrlrange[a])
            if model.actuator_forcelimited[a]:
                low, high = max(low, model.actuator_forcerange[a, 0]), min(high, model.actuator_forcerange[a, 1])
            ends = np.array([low, high]) * float(model.actuator_gear[a, 0])
            limits[place] = ends.min(), ends.max()
            if model.jnt_actfrclimited[joint]:
                limits[place] = np.clip(limits[place], *model.jnt_actfrcrange[joint])
        return limits

    def required(self, states: Floats, accelerations: Floats) -> Floats:
        """Return (T, J) torques that states and accelerations need without contacts and limits."""
        data, out = mujoco.MjData(self.free), np.empty((len(states), len(self.joints)))
        for k, (state, qacc) in enumerate(zip(states, accelerations, strict=True)):
            out[k] = self.inverse(data, state, qacc)[self.dofs]
        return out

    def inverse(self, data: Any, state: Floats, qacc: Floats) -> Floats:
        """Return the (V) generalised forces of one state and acceleration, without contacts and limits."""
        data.qpos[:], data.qvel[:], data.qacc[:] = state[: self.model.nq], state[self.model.nq :], qacc
        mujoco.mj_inverse(self.free, data)
        return np.array(data.qfrc_inverse)

    def torque_ratio(self, torques: Floats) -> Floats:
        """Return (T, J) required ÷ available torque."""
        low, high = self.torques.T
        return np.maximum(torques / high, torques / low)

    def simulate(self, start: Floats, control: Control, steps: int) -> tuple[Floats, Floats]:
        """Step the body; return (T + 1, S) states per control step, and (T · skip + 1, Q) positions per simulator step."""
        model, data = self.model, self.data
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = start[: model.nq], start[model.nq :]
        mujoco.mj_forward(model, data)
        low, high = model.actuator_ctrlrange.T
        states, fine = [start.copy()], [start[: model.nq].copy()]
        for k in range(steps):
            data.ctrl[:] = np.clip(control(k, data), low, high)
            for _ in range(self.skip):
                mujoco.mj_step(model, data)
                fine.append(np.array(data.qpos))
            states.append(np.concatenate([data.qpos, data.qvel]))
        return np.array(states), np.array(fine)

    def range_use(self, states: Floats) -> float:
        """Return the largest part of a joint's range that states use: 1 at its ends."""
        limited = np.isfinite(self.ranges).all(axis=1)
        low, high = self.ranges[limited].T
        away = np.abs(states[:, self.positions[limited]] - (low + high) / 2) / ((high - low) / 2)
        return float(away.max(initial=0.0))

    def times(self, steps: int) -> Floats:
        """Return (T + 1) seconds of so many control steps."""
        return self.period * np.arange(steps + 1, dtype=np.float64)

    def contacts(self, qpos: Floats) -> int:
        """Return how many contacts a pose has."""
        self.data.qpos[:], self.data.qvel[:] = qpos, 0
        mujoco.mj_forward(self.model, self.data)
        return int(self.data.ncon)

    def gravity_ratio(self, qpos: Floats) -> float:
        """Return the largest part of a torque that holding a pose takes."""
        state = np.concatenate([qpos, np.zeros(self.model.nv)])
        return float(self.torque_ratio(self.required(state[None], np.zeros((1, self.model.nv)))).max())

    def velocities(self, qpos: Floats, period: float) -> Floats:
        """Return (T + 1, V) velocities of positions by central differences, one-sided at the ends."""
        count, nv = len(qpos), self.model.nv
        steps, out = np.empty((count - 1, nv)), np.empty((count, nv))
        for k in range(count - 1):
            mujoco.mj_differentiatePos(self.model, steps[k], period, qpos[k], qpos[k + 1])
        out[0], out[-1] = steps[0], steps[-1]
        out[1:-1] = (steps[:-1] + steps[1:]) / 2
        return out

    def inertia(self, qpos: Floats) -> Floats:
        """Return the (V, V) joint-space inertia of a pose."""
        self.data.qpos[:], self.data.qvel[:] = qpos, 0
        mujoco.mj_forward(self.model, self.data)
        return inertia_of(self.model, self.data)

    def body_positions(self, qpos: Floats) -> Floats:
        """Return (T, B, 3) positions of all bodies but the world."""
        out = np.empty((len(qpos), self.model.nbody - 1, 3))
        for k, pose in enumerate(qpos):
            self.data.qpos[:] = pose
            mujoco.mj_kinematics(self.model, self.data)
            out[k] = self.data.xpos[1:]
        return out

    @cached_property
    def size(self) -> float:
        """The longest side of the box around the body at its start, metres."""
        corners = self.corners(self.robot.start[: self.model.nq])
        return float((corners.max(axis=0) - corners.min(axis=0)).max())

    def corners(self, qpos: Floats) -> Floats:
        """Return (8 G, 3) the corners of the boxes around the geoms that move, in the world."""
        model, data = self.model, self.data
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        moving = [g for g in range(model.ngeom) if model.body_weldid[model.geom_bodyid[g]]]
        signs = np.array(list(product((-1.0, 1.0), repeat=3)))
        local = model.geom_aabb[moving, None, :3] + signs * model.geom_aabb[moving, None, 3:]
        turns = data.geom_xmat[moving].reshape(-1, 3, 3)
        return (data.geom_xpos[moving, None] + np.einsum("gij,gcj->gci", turns, local)).reshape(-1, 3)

    @cached_property
    def turning(self) -> Bools:
        """(J) which joints turn, rather than slide."""
        return self.model.jnt_type[self.joints] == int(mujoco.mjtJoint.mjJNT_HINGE)


def inertia_of(model: Any, data: Any) -> Floats:
    """Return the (V, V) joint-space inertia at the data's pose; `mj_fullM` changed its arguments in MuJoCo 4."""
    columns = np.empty((model.nv, model.nv))
    for column, unit in zip(columns, np.eye(model.nv), strict=True):
        mujoco.mj_mulM(model, data, column, unit)
    return columns.T


def continuous(quaternions: Floats) -> Floats:
    """Return (T, 4) quaternions with the signs that make each the nearest to the one before."""
    signs = np.where((quaternions[1:] * quaternions[:-1]).sum(axis=1) < 0, -1.0, 1.0)
    return quaternions * np.cumprod(np.concatenate([[1.0], signs]))[:, None]
