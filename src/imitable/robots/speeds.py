# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""Speed limits of joints, which MJCF cannot express: knobs `speed.JOINT`, whose defaults a URDF file gives.

An adapter file: MuJoCo ships no types.
"""

import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np

from imitable.robots.edits import Edit
from imitable.robots.family import Knob, Value
from imitable.robots.robot import Robot
from imitable.types import Floats

SPEED = "speed"
"""Group of the knobs."""


def speed_knobs(spec: Any, path: str) -> list[Knob]:
    """Return the knob of every joint of one degree of freedom: what a URDF file allows by default, otherwise no limit."""
    given, knobs = _urdf_limits(path), list[Knob]()
    kinds = {int(mujoco.mjtJoint.mjJNT_HINGE): "rad/s", int(mujoco.mjtJoint.mjJNT_SLIDE): "m/s"}
    for joint in spec.joints:
        if (name := str(joint.name)) and (unit := kinds.get(int(joint.type))):
            default = given.get(name, math.inf)
            about = "largest speed of the joint; verdicts use it, the simulator does not"
            knobs.append(Knob(f"{SPEED}.{name}", unit, default, 1e-6, 1e6, about, _no_edits))
    return knobs


def speed_limits(robot: Robot) -> Floats:
    """(nv) largest speeds, rad/s or m/s; infinite without a limit."""
    model = robot.model
    limits = np.full(int(model.nv), np.inf)
    for knob in robot.family.knobs:
        group, _, joint = knob.name.partition(".")
        if group == SPEED:
            value = robot.value(knob.name)
            assert isinstance(value, float)
            limits[int(model.joint(joint).dofadr[0])] = value
    return limits


def _no_edits(value: Value) -> tuple[Edit, ...]:
    del value
    return ()


def _urdf_limits(path: str) -> dict[str, float]:
    """Return the speed limits of a URDF file; none of any other file. In URDF a limit of 0 means that there is none."""
    if Path(path).suffix.lower() != ".urdf":
        return {}
    try:
        joints = ElementTree.parse(path).getroot().iter("joint")
        found = {str(joint.get("name")): joint.find("limit") for joint in joints}
        limits = {name: float(limit.get("velocity", 0)) for name, limit in found.items() if limit is not None}
    except (ElementTree.ParseError, ValueError):
        return {}
    return {name: limit for name, limit in limits.items() if 0 < limit < math.inf}
