# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""Any MJCF file as a family of robots, with knobs made from its own joints, actuators, geoms and bodies.

An adapter file: MuJoCo ships no types, so its specs pass through here as `Any`.
"""

import math
from collections.abc import Callable
from typing import Any

import mujoco

from imitable.errors import BadModel
from imitable.files import content_hash
from imitable.robots.compiling import check, compiled
from imitable.robots.edits import (
    BodyMass,
    Edit,
    GearFactor,
    Gravity,
    JointRange,
    SlidingFriction,
    Strength,
    actuator_names,
    is_servo,
)
from imitable.robots.family import NOISE, Knob, RobotFamily, Value
from imitable.robots.robot import Robot
from imitable.robots.servos import servo_knobs
from imitable.robots.speeds import speed_knobs

DEFAULT_PERIOD_S = 0.02
"""Control period of a file that is not told another: 50 Hz, or the file's time step if that is longer."""


def load(path: str, name: str | None = None, frame_skip: int | None = None, *, foreign: bool = True) -> RobotFamily:
    """Read an MJCF (or URDF) file as a family of robots, of another name than the path and another control rate, if given.

    A file that may be anybody's (`foreign`) is tried in a process of its own first.
    """
    if foreign:
        check(path)
    spec = mujoco.MjSpec.from_file(path)
    model = compiled(spec, path)
    if model.na:
        reason = (
            "its actuators have states of their own, so that (qpos, qvel) is not the whole state; use motors or position servos"
        )
        raise BadModel(path, reason)
    timestep = float(model.opt.timestep)
    frame_skip = frame_skip or max(1, round(DEFAULT_PERIOD_S / timestep))
    return RobotFamily(
        name=name or path,
        model_file=path,
        source_hash=content_hash(path),
        frame_skip=frame_skip,
        knobs=(*_model_knobs(spec, model), *speed_knobs(spec, path), _period_knob(timestep, frame_skip), NOISE),
    )


def check_controls(robot: Robot) -> None:
    """Refuse a body that cannot be controlled."""
    path, model = robot.family.name, robot.model
    if not model.nu:
        reason = f"it has no actuator, so nothing can be controlled; give its joints servos, {path}:kp.*=100,force.*=50, or"
        raise BadModel(path, f"{reason} add an <actuator> section")
    # the compiled model knows ranges that the file leaves to its defaults or to the joint
    for name, limited in zip(robot.actuator_names, model.actuator_ctrllimited, strict=True):
        if not limited:
            reason = f'actuator {name!r} has no control range; add ctrllimited="true" ctrlrange="LOW HIGH"'
            raise BadModel(path, f"{reason}, or make it a servo, kp.{name}=100")


def _number(make: Callable[[float], Edit]) -> Callable[[Value], tuple[Edit, ...]]:
    def edits(value: Value) -> tuple[Edit, ...]:
        assert isinstance(value, float)
        return (make(value),)

    return edits


def _interval(make: Callable[[float, float], Edit]) -> Callable[[Value], tuple[Edit, ...]]:
    def edits(value: Value) -> tuple[Edit, ...]:
        assert isinstance(value, tuple)
        return (make(*value),)

    return edits


def _model_knobs(spec: Any, model: Any) -> list[Knob]:
    knobs = [_gravity_knob(spec)]
    knobs.extend(_actuator_knobs(spec))
    knobs.extend(_range_knob(spec, joint) for joint in spec.joints if joint.name and _has_range(joint))
    knobs.extend(servo_knobs(spec))  # after strength and range, which say how far servos can push and be told to go
    for geom in spec.geoms:
        if name := str(geom.name):
            edits = _number(lambda value, name=name: SlidingFriction((name,), value))
            default = float(geom.friction[0])
            knobs.append(Knob(f"friction.{name}", "coefficient", default, 0.0, 1e3, "sliding friction", edits))
    for body in spec.bodies:
        if (name := str(body.name)) and name != "world" and float(model.body(name).mass[0]) > 0:
            edits = _number(lambda value, name=name: BodyMass(name, value))
            default = float(model.body(name).mass[0])
            knobs.append(Knob(f"mass.{name}", "kg", default, 1e-6, 1e6, "mass; inertia scales with it", edits))
    return knobs


def _actuator_knobs(spec: Any) -> list[Knob]:
    """Return how strong every actuator is, and the gears of motors: that of a servo would move the angle that it is told."""
    knobs: list[Knob] = []
    for actuator, name in zip(spec.actuators, actuator_names(spec), strict=True):
        edits = _number(lambda value, name=name: Strength(name, value))
        about = "force of the actuator; a servo keeps its angles" if is_servo(actuator) else "force of the actuator"
        knobs.append(Knob(f"strength.{name}", "× the file's force", 1.0, 0.0, 100.0, about, edits))
        if not is_servo(actuator):
            edits = _number(lambda value, name=name: GearFactor((name,), value))
            knobs.append(Knob(f"gear.{name}", "× the file's gear", 1.0, 0.0, 100.0, "gear of the motor", edits))
    return knobs


def _gravity_knob(spec: Any) -> Knob:
    default = -float(spec.option.gravity[2])
    return Knob("gravity", "m/s² downwards", default, -100.0, 100.0, "gravity", _number(Gravity))


def _has_range(joint: Any) -> bool:
    return int(joint.type) in (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))


def _range_knob(spec: Any, joint: Any) -> Knob:
    name, slide = str(joint.name), int(joint.type) == int(mujoco.mjtJoint.mjJNT_SLIDE)
    scale = 1.0 if slide or spec.compiler.degree else 180 / math.pi
    low, high = (float(x) * scale for x in joint.range)
    default = (low, high) if low < high else (-math.inf, math.inf)
    edits = _interval(lambda low, high: JointRange(name, low, high))
    unit, bound = ("metres", 1e3) if slide else ("degrees", 360.0)
    return Knob(f"range.{name}", unit, default, -bound, bound, "range of the joint", edits)


def _period_knob(timestep: float, frame_skip: int) -> Knob:
    def edits(value: Value) -> tuple[Edit, ...]:
        del value
        return ()

    about = (
        f"control period, a multiple of the file's time step {timestep:g}; to follow demonstrations, give their frame period"
    )
    return Knob("period", "seconds", timestep * frame_skip, timestep, 10.0, about, edits)
