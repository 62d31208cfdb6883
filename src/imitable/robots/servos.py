# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""A servo layer: position servos (kp, kd) in the place of torque motors, or where a model has no actuator at all.

τ = kp · (control − q) − kd · q̇ on a joint, within the force that the motor had. A control is a position then, rad or m.
An adapter file: MuJoCo ships no types, so its specs pass through here as `Any`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import mujoco

from imitable.errors import BadModel
from imitable.robots.edits import Edit, actuator_names, is_servo
from imitable.robots.family import Knob, Value
from imitable.robots.robot import Robot

CRITICAL = "critical"
"""Damping of a servo that is not told its kd: 2 √(kp · inertia), with the inertia of the joint in the model's start."""

NO_FORCE = 1e-9
"""Force of a servo whose motor has none: MuJoCo refuses an empty range."""

KP, KD, FORCE = "kp", "kd", "force"
"""Groups of knobs of the servo layer."""


@dataclass(frozen=True)
class ServoGain:
    """Put a position servo where a motor was, or on a joint that nothing drives.

    The servo can be told positions beyond the joint's range, as far as its whole force at the limit needs, but at most a
    range farther: a humanoid's knee at its limit still has to push. Under Euler's rule stiff damping is unstable, so that
    the integrator becomes `implicitfast`.
    """

    name: str
    """Of the motor, or of the joint that has none."""
    kp: float

    def apply(self, spec: Any) -> None:
        """Write gain, bias, force limit and control range."""
        names = actuator_names(spec)
        drives = self.name in names
        actuator = spec.actuators[names.index(self.name)] if drives else _on_joint(spec, self.name)
        low, high = _forces(actuator) if drives else (-math.inf, math.inf)
        actuator.gaintype, actuator.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
        actuator.gear = (1.0, 0, 0, 0, 0, 0)
        actuator.gainprm[0], actuator.biasprm[1] = self.kp, -self.kp
        actuator.biasprm[2] = 1.0  # a ratio of damping, which MuJoCo turns into a kd when it compiles
        _limit_force(actuator, low, high)
        joint = spec.joint(actuator.target)
        reach = min(high, float(joint.actfrcrange[1])) if joint.actfrcrange[1] > 0 else high
        actuator.ctrlrange = _positions(spec, joint, reach / self.kp)
        actuator.ctrllimited = mujoco.mjtLimited.mjLIMITED_TRUE
        if spec.option.integrator == mujoco.mjtIntegrator.mjINT_EULER:
            spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST


@dataclass(frozen=True)
class ServoDamping:
    """Set the damping of a servo, Nm s/rad or N s/m."""

    name: str
    kd: float

    def apply(self, spec: Any) -> None:
        """Write the bias on the velocity."""
        _servo(spec, self.name, KD).biasprm[2] = -self.kd


@dataclass(frozen=True)
class ServoForce:
    """Limit the force of a servo, Nm or N."""

    name: str
    value: float

    def apply(self, spec: Any) -> None:
        """Write the force limit."""
        servo = _servo(spec, self.name, FORCE)
        joint, kp = spec.joint(servo.target), float(servo.gainprm[0])
        _limit_force(servo, -self.value, self.value)
        servo.ctrlrange = _positions(spec, joint, self.value / kp)


def servo_knobs(spec: Any) -> list[Knob]:
    """Return kp and kd of every motor that may become a servo; without any actuator, of every joint, and its force."""
    bare = not spec.actuators
    places = [str(joint.name) for joint in spec.joints if joint.name and _is_scalar(joint)] if bare else _motors(spec)
    knobs = [
        _knob(KP, place, "Nm/rad or N/m", 0.0, "stiffness of a servo in the motor's place; 0: none", ServoGain)
        for place in places
    ]
    knobs += [_damping_knob(place) for place in places]
    if bare:
        knobs += [_knob(FORCE, place, "Nm or N", math.inf, "largest force of the servo", ServoForce) for place in places]
    return knobs


def servo_advice(robot: Robot) -> str:
    """Return how a robot of torque motors would be given servos; empty if it has some, or can have none."""
    if robot.has_servos or not any(knob.name.startswith(f"{KP}.") for knob in robot.family.knobs):
        return ""
    joint = ":" if str(robot) == robot.family.name else ","
    return f"torques are held for {robot.layout.period_s:g} s each: servos may follow better, {robot}{joint}{KP}.*=100"


def _knob(group: str, place: str, unit: str, default: Value, about: str, edit: Callable[[str, float], Edit]) -> Knob:
    def edits(value: Value) -> tuple[Edit, ...]:
        return (edit(place, value),) if isinstance(value, float) else ()

    return Knob(f"{group}.{place}", unit, default, 0.0, 1e6, about, edits)


def _damping_knob(place: str) -> Knob:
    plain = _knob(KD, place, "Nm s/rad or N s/m", CRITICAL, "damping of the servo; critical: 2 √(kp · inertia)", ServoDamping)
    return replace(plain, choices=(CRITICAL,), or_number=True)


def _motors(spec: Any) -> list[str]:
    """Return the motors on one joint each, by name."""
    pairs = zip(spec.actuators, actuator_names(spec), strict=True)
    return [name for actuator, name in pairs if not is_servo(actuator) and _on_one_joint(spec, actuator)]


def _on_one_joint(spec: Any, actuator: Any) -> bool:
    fixed = actuator.gaintype == mujoco.mjtGain.mjGAIN_FIXED and actuator.dyntype == mujoco.mjtDyn.mjDYN_NONE
    if not fixed or actuator.trntype != mujoco.mjtTrn.mjTRN_JOINT:
        return False
    joint = spec.joint(actuator.target)
    return joint is not None and _is_scalar(joint)


def _is_scalar(joint: Any) -> bool:
    return int(joint.type) in (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))


def _on_joint(spec: Any, joint: str) -> Any:
    actuator = spec.add_actuator()
    actuator.name, actuator.target, actuator.trntype = joint, joint, mujoco.mjtTrn.mjTRN_JOINT
    return actuator


def _servo(spec: Any, name: str, group: str) -> Any:
    names = actuator_names(spec)
    servo = spec.actuators[names.index(name)] if name in names else None
    if servo is None or not is_servo(servo):
        raise BadModel(name, f"{group}.{name} is that of a servo: give {KP}.{name}, too")
    return servo


def _forces(motor: Any) -> tuple[float, float]:
    """Return the lowest and highest force of a motor on its joint, after its gear."""
    gear, low, high = float(motor.gear[0]), -math.inf, math.inf
    if _limited(motor.ctrllimited, motor.ctrlrange):
        low, high = (float(motor.gainprm[0] * control) for control in motor.ctrlrange)
        low, high = min(low, high), max(low, high)
    if _limited(motor.forcelimited, motor.forcerange):
        low, high = max(low, float(motor.forcerange[0])), min(high, float(motor.forcerange[1]))
    return (min(gear * low, gear * high), max(gear * low, gear * high)) if gear else (0.0, 0.0)


def _limited(flag: Any, limits: Any) -> bool:
    automatic = flag == mujoco.mjtLimited.mjLIMITED_AUTO and limits[0] < limits[1]
    return bool(flag == mujoco.mjtLimited.mjLIMITED_TRUE or automatic)


def _limit_force(actuator: Any, low: float, high: float) -> None:
    limited = math.isfinite(low) and math.isfinite(high)
    low, high = min(low, -NO_FORCE), max(high, NO_FORCE)
    actuator.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE if limited else mujoco.mjtLimited.mjLIMITED_FALSE
    actuator.forcerange = (low, high) if limited else (0, 0)


def _positions(spec: Any, joint: Any, reach: float) -> tuple[float, float]:
    """Return what a servo can be told: the joint's range, and beyond it what its whole force needs, at most as much again."""
    slide = int(joint.type) == int(mujoco.mjtJoint.mjJNT_SLIDE)
    if not _limited(joint.limited, joint.range):
        if slide:
            raise BadModel(str(joint.name), f"a servo on a joint that slides needs its range: give range.{joint.name}=LO..HI")
        return -math.pi, math.pi
    scale = 1.0 if slide or not spec.compiler.degree else math.pi / 180
    low, high = (float(end) * scale for end in joint.range)
    beyond = min(reach, high - low)
    return low - beyond, high + beyond
