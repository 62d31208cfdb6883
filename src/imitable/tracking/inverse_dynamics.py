# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""The action that inverse dynamics asks for, and the generalised force behind it.

An adapter file: MuJoCo ships no types.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import mujoco
import numpy as np

from imitable.robots.robot import Robot
from imitable.sim.kinematics import state_space
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


def joints(robot: Robot) -> list[Joint]:
    """Return the joints of one degree of freedom; ball and free joints have no single force."""
    model, single = robot.model, list[Joint]()
    units = {int(mujoco.mjtJoint.mjJNT_HINGE): "Nm", int(mujoco.mjtJoint.mjJNT_SLIDE): "N"}
    for index in range(model.njnt):
        unit = units.get(int(model.jnt_type[index]))
        if unit is not None:
            limits = model.jnt_range[index] if model.jnt_limited[index] else (-np.inf, np.inf)
            place, dof = int(model.jnt_qposadr[index]), int(model.jnt_dofadr[index])
            single.append(Joint(robot.layout.qpos[place], place, dof, (float(limits[0]), float(limits[1])), unit))
    return single


def inverse_forces(robot: Robot, states: Floats, targets: Floats) -> Floats:
    """(N, S), (N, S) → (N, nv) forces that accelerate each state to its target's velocity within one control step.

    τ = mj_inverse(q, q̇, (q̇_target − q̇) / period): exact for a body whose acceleration is constant over the step.
    """
    nq = robot.model.nq
    return _forces(robot, states, targets[:, nq:] - states[:, nq:])


def inverse_actions(robot: Robot, states: Floats, targets: Floats) -> Floats:
    """(N, S), (N, S) → (N, A) controls of least squares whose joint forces are nearest to `inverse_forces`, not yet clipped.

    u = (τ / gear − bias) / gain for actuators on a joint (`biases`); others are asked for no force. Of a tool, the displacement
    to the target's.
    """
    if robot.tool is not None:
        return state_space(robot).difference(targets, states)
    return _controls(robot, states, inverse_forces(robot, states, targets))


def halfway_actions(robot: Robot, states: Floats, targets: Floats) -> Floats:
    """(N, S), (N, S) → (N, A) controls that exert the mean force of the step, not yet clipped; of a body without a tool.

    As `inverse_actions`, but at q ⊕ Δq / 2 and the speed Δq / period, Δq = q_target ⊖ q. Dry friction shows only in a joint
    that moves: one that a step finds and leaves at rest, and that moves in between, would be asked for no force at either end.
    """
    space, (nq, nv) = state_space(robot), (robot.model.nq, robot.model.nv)
    way, middles = space.difference(targets, states), states.copy()
    middles[:, :nq] = space.moved(states, way / 2)[:, :nq]
    middles[:, nq:] = way[:, :nv] / robot.layout.period_s
    return _controls(robot, middles, _forces(robot, middles, targets[:, nq:] - states[:, nq:]))


def _forces(robot: Robot, states: Floats, changes: Floats) -> Floats:
    """(N, S), (N, nv) → (N, nv) forces that change the velocities so much within one control step."""
    model, nq = robot.model, robot.model.nq
    data, forces = mujoco.MjData(model), np.empty((len(states), model.nv))
    for row, (state, change) in enumerate(zip(states, changes, strict=True)):
        data.qpos[:], data.qvel[:] = state[:nq], state[nq:]
        data.qacc[:] = change / robot.layout.period_s
        mujoco.mj_inverse(model, data)
        forces[row] = data.qfrc_inverse
    return forces


def _controls(robot: Robot, states: Floats, forces: Floats) -> Floats:
    """(N, S), (N, nv) → (N, A) controls that exert these forces there."""
    model, controls = robot.model, passive_actions(robot, states)
    for actuator in np.flatnonzero(linear(model)).tolist():
        strength = float(model.actuator_gainprm[actuator, 0] * model.actuator_gear[actuator, 0])
        if _on_joint(model, actuator) and strength:
            controls[:, actuator] += forces[:, _dof(model, actuator)] / strength
    return controls


def passive_actions(robot: Robot, states: Floats) -> Floats:
    """(N, S) → (N, A) controls of an imitator that does nothing: those that ask its actuators for no force, not yet clipped.

    u = −bias / gain: 0 of a motor, the joint's own position (and a little of its velocity) of a position servo. A tool is not
    displaced.
    """
    if robot.tool is not None:
        return np.zeros((len(states), len(robot.control_centre)))
    model = robot.model
    gains = np.where(linear(model), model.actuator_gainprm[:, 0], 1.0)
    return 0.0 - np.where(linear(model), biases(robot, states), 0.0) / gains


def biases(robot: Robot, states: Floats) -> Floats:
    """(N, S) → (N, A) what actuators exert at control zero: b₀ + b₁ · length + b₂ · velocity of a servo, 0 of a motor."""
    model = robot.model
    forces = np.zeros((len(states), model.nu))
    if not robot.has_servos:
        return forces
    data, nq = mujoco.MjData(model), model.nq
    affine = model.actuator_biastype == int(mujoco.mjtBias.mjBIAS_AFFINE)
    constant, by_length, by_velocity = (np.where(affine, model.actuator_biasprm[:, k], 0.0) for k in range(3))
    for row, state in enumerate(states):
        data.qpos[:], data.qvel[:] = state[:nq], state[nq:]
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        forces[row] = constant + by_length * data.actuator_length + by_velocity * data.actuator_velocity
    return forces


def bands(robot: Robot) -> Floats:
    """(A) how far a control moves from no force to the actuator's whole force, in half control ranges; 1 at most.

    A stiff servo is at its force limit almost everywhere in its range: to feel a slope one must look inside this band.
    """
    if robot.tool is not None:
        return np.ones(len(robot.control_centre))
    model = robot.model
    gains = np.where(linear(model), np.abs(model.actuator_gainprm[:, 0]), 0.0)
    limits = np.array([_force_limit(model, actuator) for actuator in range(model.nu)])
    with np.errstate(divide="ignore", invalid="ignore"):
        width = np.where((gains > 0) & np.isfinite(limits), limits / gains / robot.control_half_range, 1.0)
    return np.minimum(width, 1.0) if robot.has_servos else np.ones(model.nu)


ENDLESS = 30.0
"""A servo that could push with so many times what holds the body and starts it at 10 rad/s² has no meaningful limit."""


def actuator_limits(robot: Robot) -> Floats:
    """(nv) the largest force that actuators can put on every degree of freedom; 0 where nothing drives it, ∞ if unknown.

    Without a force limit a motor has its gain times its control range, and a servo the gain · control + bias that it gives
    with control and joint at opposite ends of their ranges. Unknown: such a servo that is `ENDLESS`ly strong, and whatever
    drives a degree of freedom by other ways than its joint or a tendon of fixed lever arms.
    """
    model = robot.model
    limits = np.zeros(model.nv)
    for actuator in range(model.nu):
        levers = _levers(model, actuator)
        if not levers:
            limits[_driven(model, actuator)] = np.inf
        for dof, lever in levers:
            limits[dof] += lever * _largest_force(robot, actuator, dof)
    for joint in np.flatnonzero(model.jnt_actfrclimited).tolist():
        dof = int(model.jnt_dofadr[joint])
        limits[dof] = min(limits[dof], float(np.abs(model.jnt_actfrcrange[joint]).max()))
    return limits


def strength_unknown(robot: Robot) -> str:
    """Return why it cannot be known whether a motion exceeds the robot's torque; empty if it can."""
    if robot.tool is not None:
        return ""
    names = [name.removesuffix("_velocity") for name in robot.layout.qvel]
    endless = [names[dof] for dof in np.flatnonzero(np.isinf(actuator_limits(robot))).tolist()]
    if not endless:
        return ""
    more = f" and {len(endless) - 3} more" if len(endless) > 3 else ""
    knobs = [f"{group}.{name}" for group in ("force", "strength") for name in robot.actuator_names]
    known = next((knob for knob in knobs if robot.family.knob(knob) is not None), "")
    remedy = f"; give the actuators a forcerange in the file{f' or set {known}' if known.startswith('force') else ''}"
    return f"no torque limit: joint {', '.join(endless[:3])}{more}{remedy}"


def _levers(model: Any, actuator: int) -> list[tuple[int, float]]:
    """Return degrees of freedom that an actuator drives with a fixed lever arm, and the arm; none if an arm changes."""
    gear = abs(float(model.actuator_gear[actuator, 0]))
    if _on_joint(model, actuator):
        return [(_dof(model, actuator), gear)]
    if int(model.actuator_trntype[actuator]) != int(mujoco.mjtTrn.mjTRN_TENDON):
        return []
    tendon = int(model.actuator_trnid[actuator, 0])
    first = int(model.tendon_adr[tendon])
    wraps = range(first, first + int(model.tendon_num[tendon]))
    if any(int(model.wrap_type[wrap]) != int(mujoco.mjtWrap.mjWRAP_JOINT) for wrap in wraps):
        return []
    return [(int(model.jnt_dofadr[model.wrap_objid[wrap]]), gear * abs(float(model.wrap_prm[wrap]))) for wrap in wraps]


def _largest_force(robot: Robot, actuator: int, dof: int) -> float:
    """Return the largest force of an actuator before its lever arm; infinite if unknown."""
    model, most = robot.model, _force_limit(robot.model, actuator)
    gain, controls = float(model.actuator_gainprm[actuator, 0]), np.array(model.actuator_ctrlrange[actuator])
    if int(model.actuator_biastype[actuator]) == int(mujoco.mjtBias.mjBIAS_NONE):
        return min(most, abs(gain) * float(np.abs(controls).max()))
    if np.isfinite(most) or not linear(model)[actuator] or not _on_joint(model, actuator):
        return most
    constant, by_length = (float(model.actuator_biasprm[actuator, k]) for k in range(2))
    joint = int(model.actuator_trnid[actuator, 0])
    ends = model.jnt_range[joint] if model.jnt_limited[joint] else controls
    gear = float(model.actuator_gear[actuator, 0])
    force = max(abs(gain * control + constant + by_length * gear * end) for control in controls for end in ends)
    return force if force * abs(gear) < ENDLESS * _plain_load(robot)[dof] else np.inf


@lru_cache(maxsize=64)
def _plain_load(robot: Robot) -> Floats:
    """(nv) forces that hold the body at its start and in the middle of its ranges, and those that start it at 10 rad/s²."""
    model, load = robot.model, np.zeros(robot.model.nv)
    data, dense = mujoco.MjData(model), np.empty(model.nv)
    for qpos in (robot.start[: model.nq], model.qpos0):
        data.qpos[:] = qpos
        mujoco.mj_forward(model, data)
        load = np.maximum(load, np.abs(data.qfrc_bias))
    for dof in range(model.nv):
        mujoco.mj_mulM(model, data, dense, np.eye(model.nv)[dof])
        load[dof] += 10.0 * dense[dof]
    return load


def actuators_on(robot: Robot, joint: str) -> list[str]:
    """Return the motors and servos that drive a joint, by name."""
    model, [dof] = robot.model, [one.velocity for one in joints(robot) if one.name == joint]
    names = enumerate(robot.layout.actuators)
    return [name for a, name in names if _on_joint(model, a) and _dof(model, a) == dof]


def _force_limit(model: Any, actuator: int) -> float:
    """Return the largest force of an actuator before its gear; infinite without a limit."""
    limit = float(np.abs(model.actuator_forcerange[actuator]).max()) if model.actuator_forcelimited[actuator] else np.inf
    if _on_joint(model, actuator):
        joint, gear = int(model.actuator_trnid[actuator, 0]), abs(float(model.actuator_gear[actuator, 0]))
        if model.jnt_actfrclimited[joint] and gear:
            limit = min(limit, float(np.abs(model.jnt_actfrcrange[joint]).max()) / gear)
    return limit


def linear(model: Any) -> Any:
    """(A) whether force = gain · control + bias with a gain that never changes."""
    fixed = model.actuator_gaintype == int(mujoco.mjtGain.mjGAIN_FIXED)
    linear_bias = np.isin(model.actuator_biastype, [int(mujoco.mjtBias.mjBIAS_NONE), int(mujoco.mjtBias.mjBIAS_AFFINE)])
    return fixed & linear_bias & (model.actuator_gainprm[:, 0] != 0)


def _on_joint(model: Any, actuator: int) -> bool:
    """Whether an actuator drives a joint of one degree of freedom."""
    if int(model.actuator_trntype[actuator]) != int(mujoco.mjtTrn.mjTRN_JOINT):
        return False
    kind = int(model.jnt_type[model.actuator_trnid[actuator, 0]])
    return kind in (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))


def _dof(model: Any, actuator: int) -> int:
    return int(model.jnt_dofadr[model.actuator_trnid[actuator, 0]])


def _driven(model: Any, actuator: int) -> Any:
    """Return the degrees of freedom that an actuator moves from the model's start."""
    data = mujoco.MjData(model)
    mujoco.mj_fwdPosition(model, data)
    first = int(data.moment_rowadr[actuator])
    return data.moment_colind[first : first + int(data.moment_rownnz[actuator])]
