# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""The controls that inverse dynamics with contacts asks for along a motion, through the law of its motors and servos.

An adapter file: MuJoCo ships no types.
"""

from typing import Any

import mujoco
import numpy as np

from imitable.robots.robot import Robot
from imitable.sim.kinematics import state_space
from imitable.tracking.balance import balance, frame, friction_losses, least_effort
from imitable.tracking.inverse_dynamics import actuator_limits, biases, linear
from imitable.types import Floats

AT_REST = 0.05
"""Radians or metres per second at which half of a joint's dry friction acts."""


def feed_forward(imitator: Robot, states: Floats) -> Floats:
    """(T + 1, S) → (T, A) controls that exert the mean forces of each transition, not clipped to the control range.

    Contacts carry what they can: f is that of `least_effort`, and momentᵀ (forces of actuators) = f + dry friction.
    Then control = (force − bias) / gain, with a servo's bias at the mean of both states. An arm with a tool is
    controlled by the tool's displacement.
    """
    if imitator.tool is not None:
        return state_space(imitator).difference(states[1:], states[:-1])
    found, nq = balance(imitator, states), imitator.layout.nq
    speeds = (states[1:, nq:] + states[:-1, nq:]) / 2
    rubbing = friction_losses(imitator) * speeds / (np.abs(speeds) + AT_REST)
    limits = actuator_limits(imitator)
    joint_forces = np.where(limits > 0, least_effort(found, limits, frame(imitator, limits > 0).arms), 0.0) + rubbing
    model = imitator.model
    forces = np.matmul(joint_forces[:, None], np.linalg.pinv(_moments(model, states[:-1])))[:, 0]
    bias = biases(imitator, states)
    gains = np.where(linear(model), model.actuator_gainprm[:, 0], np.inf)
    return (forces - (bias[1:] + bias[:-1]) / 2) / gains


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
