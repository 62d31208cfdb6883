# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""The controls that inverse dynamics with contacts asks for along a motion, through the law of its motors and servos.

An adapter file: MuJoCo ships no types.
"""

from typing import Any

import mujoco
import numpy as np
from scipy.optimize import nnls

from imitable.robots.robot import Robot
from imitable.sim.kinematics import state_space
from imitable.tracking.balance import Balance, balance, friction_losses
from imitable.tracking.inverse_dynamics import actuator_limits, biases, linear
from imitable.types import Floats

ROOT_FIRST = 30.0
"""What nothing drives must be balanced by contacts so many times as exactly as the forces of actuators are made small."""

LEAST_PUSH = 1e-3
"""Weight of the contacts' own pushes: of two ways to push, the one that pushes less."""

AT_REST = 0.05
"""Radians or metres per second at which half of a joint's dry friction acts."""


def feed_forward(imitator: Robot, states: Floats) -> Floats:
    """(T + 1, S) → (T, A) controls that exert the mean forces of each transition, not clipped to the control range.

    u = needed − supportsᵀ x   with   x = argmin_{x ≥ 0} ‖(needed − supportsᵀ x) / unit‖² + ε ‖x‖²,

    unit = an actuator's limit where one drives, and 1 / `ROOT_FIRST` of the usual one elsewhere: contacts carry the root.
    Then control = (f − bias) / gain, momentᵀ f = u, with a servo's bias at the mean of both states. An arm with a tool is
    controlled by the tool's displacement.
    """
    if imitator.tool is not None:
        return state_space(imitator).difference(states[1:], states[:-1])
    found, nq = balance(imitator, states), imitator.layout.nq
    speeds = (states[1:, nq:] + states[:-1, nq:]) / 2
    rubbing = friction_losses(imitator) * speeds / (np.abs(speeds) + AT_REST)
    joint_forces = _driven_forces(found, actuator_limits(imitator)) + rubbing
    model = imitator.model
    forces = np.matmul(joint_forces[:, None], np.linalg.pinv(_moments(model, states[:-1])))[:, 0]
    bias = biases(imitator, states)
    gains = np.where(linear(model), model.actuator_gainprm[:, 0], np.inf)
    return (forces - (bias[1:] + bias[:-1]) / 2) / gains


def _driven_forces(found: Balance, limits: Floats) -> Floats:
    """(nv) limits → (T, nv) forces of actuators, with contacts that make them small; 0 where nothing drives."""
    known = limits[np.isfinite(limits) & (limits > 0)]
    usual = float(np.median(known)) if len(known) else max(1e-9, float(np.abs(found.needed).max()))
    units = np.where(limits > 0, np.where(np.isfinite(limits), limits, usual), usual / ROOT_FIRST)
    forces = found.needed.copy()
    for row, (needed, supports) in enumerate(zip(found.needed, found.supports, strict=True)):
        used = supports[np.abs(supports).sum(axis=1) > 0]
        if len(used):
            columns = used.T / units[:, None]
            columns /= np.linalg.norm(columns, axis=0)
            pushes, _ = nnls(
                np.vstack([columns, LEAST_PUSH * np.eye(len(used))]), np.append(needed / units, np.zeros(len(used)))
            )
            forces[row] -= units * (columns @ pushes)
    return np.where(limits > 0, forces, 0.0)


def _moments(model: Any, states: Floats) -> Floats:
    """(T, S) → (T or 1, A, nv) what a unit of each actuator's force puts on each degree of freedom."""
    data, on_joints = mujoco.MjData(model), (model.actuator_trntype == int(mujoco.mjtTrn.mjTRN_JOINT)).all()
    seen = states[:1] if on_joints else states
    dense = np.zeros((len(seen), model.nu, model.nv))
    for row, state in enumerate(seen):
        data.qpos[:] = state[: model.nq]
        mujoco.mj_fwdPosition(model, data)
        mujoco.mju_sparse2dense(dense[row], data.actuator_moment, data.moment_rownnz, data.moment_rowadr, data.moment_colind)
    return dense
