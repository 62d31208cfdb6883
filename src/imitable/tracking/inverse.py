# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""The action that inverse dynamics asks for, and the generalised force behind it.

An adapter file: MuJoCo ships no types.
"""

from dataclasses import dataclass

import mujoco
import numpy as np

from imitable.dynamics.variant import Variant
from imitable.types import Floats


@dataclass(frozen=True)
class Joint:
    """A joint of one degree of freedom."""

    name: str
    position: int
    """Its entry in the state."""
    velocity: int
    """Its degree of freedom."""
    limits: tuple[float, float]
    """Lowest and highest position; infinite where the joint has none."""
    force_unit: str


def joints(variant: Variant) -> list[Joint]:
    """Return the joints of one degree of freedom; ball and free joints have no single force."""
    model, found = variant.model, list[Joint]()
    units = {int(mujoco.mjtJoint.mjJNT_HINGE): "Nm", int(mujoco.mjtJoint.mjJNT_SLIDE): "N"}
    for index in range(model.njnt):
        unit = units.get(int(model.jnt_type[index]))
        if unit is not None:
            limits = model.jnt_range[index] if model.jnt_limited[index] else (-np.inf, np.inf)
            place, dof = int(model.jnt_qposadr[index]), int(model.jnt_dofadr[index])
            found.append(Joint(variant.layout.qpos[place], place, dof, (float(limits[0]), float(limits[1])), unit))
    return found


def inverse_forces(variant: Variant, states: Floats, targets: Floats) -> Floats:
    """(N, S), (N, S) → (N, nv) forces that accelerate each state to its target's velocity within one control step.

    τ = mj_inverse(q, q̇, (q̇_target − q̇) / period): exact for a body whose acceleration is constant over the step.
    """
    model = variant.model
    data = mujoco.MjData(model)
    nq, period = model.nq, variant.layout.period_s
    forces = np.empty((len(states), model.nv))
    for row, (state, target) in enumerate(zip(states, targets, strict=True)):
        data.qpos[:], data.qvel[:] = state[:nq], state[nq:]
        data.qacc[:] = (target[nq:] - state[nq:]) / period
        mujoco.mj_inverse(model, data)
        forces[row] = data.qfrc_inverse
    return forces


def inverse_actions(variant: Variant, states: Floats, targets: Floats) -> Floats:
    """(N, S), (N, S) → (N, A) controls of least squares whose joint forces are nearest to `inverse_forces`, not yet clipped.

    Only actuators whose force is gain · control on a joint are inverted; others get the middle of their range.
    """
    model = variant.model
    forces = inverse_forces(variant, states, targets)
    controls = np.tile(variant.control_range.mean(axis=0), (len(states), 1))
    for actuator in range(model.nu):
        joint_driven = int(model.actuator_trntype[actuator]) == int(mujoco.mjtTrn.mjTRN_JOINT)
        plain_motor = int(model.actuator_biastype[actuator]) == int(mujoco.mjtBias.mjBIAS_NONE)
        strength = float(model.actuator_gainprm[actuator, 0] * model.actuator_gear[actuator, 0])
        if joint_driven and plain_motor and strength:
            dof = int(model.jnt_dofadr[model.actuator_trnid[actuator, 0]])
            controls[:, actuator] = forces[:, dof] / strength
    return controls


def actuator_limits(variant: Variant) -> Floats:
    """(nv) the largest force that actuators can put on every degree of freedom; 0 where nothing drives it."""
    model = variant.model
    limits = np.zeros(model.nv)
    for actuator in range(model.nu):
        if int(model.actuator_trntype[actuator]) != int(mujoco.mjtTrn.mjTRN_JOINT):
            continue
        strength = abs(float(model.actuator_gainprm[actuator, 0] * model.actuator_gear[actuator, 0]))
        limits[int(model.jnt_dofadr[model.actuator_trnid[actuator, 0]])] += (
            strength * np.abs(variant.control_range[:, actuator]).max()
        )
    return limits
