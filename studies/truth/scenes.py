# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""From an entry to a robot's text: where the model file is, with a floor, servos or without a gripper where it needs that.

An adapter file: MuJoCo ships no types.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import mujoco
import onnx

from studies.truth.robots import Entry

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

ARM_FORCES = {"joint1": 50.0, "joint2": 50.0, "joint3": 30.0, "joint4": 30.0, "joint5": 30.0, "joint6": 20.0, "joint7": 20.0}
"""Nm of xArm7's joints (its data sheet); the package moves its arm by a weld to a mocap body, without motors."""


class NotInstalled(Exception):
    """The package that a robot comes from is not there."""


def data() -> Path:
    """Return the folder of packages, scenes, motions and verdicts: IMITABLE_TRUTH, or `.truth` in the repository."""
    return Path(os.environ.get("IMITABLE_TRUTH") or ROOT / ".truth")


def install() -> None:
    """Install the packages of `packages.txt` without their dependencies into a folder of their own."""
    target = data() / "packages"
    options = ("--quiet", "--disable-pip-version-check", "--no-deps", "--upgrade", "--target", str(target))
    subprocess.run([sys.executable, "-m", "pip", "install", *options, "-r", str(HERE / "packages.txt")], check=True)


def robot_text(robot: Entry, *knobs: str) -> str:
    """Return the text of a robot with further knobs set; its scene is written when it is first needed."""
    settings = ",".join(text for text in (robot.settings, *knobs) if text)
    base = str(model_path(robot)) if "/" in robot.model else robot.model
    return f"{base}:{settings}" if settings else base


def model_path(robot: Entry) -> Path:
    """Return the model file of a robot that has one."""
    if robot.model.startswith("examples/"):
        return ROOT / robot.model
    if robot.model.startswith("models/"):
        return HERE / robot.model
    source = package_path(robot.model)
    if not robot.scene and not robot.policy:
        return source
    scene = data() / "scenes" / f"{robot.name}.xml"
    if not scene.exists():
        scene.parent.mkdir(parents=True, exist_ok=True)
        scene.write_text(_edited(robot, source))
    return scene


def package_path(path: str) -> Path:
    """Return a file of an installed package."""
    found = data() / "packages" / path
    if not found.exists():
        raise NotInstalled(f"{found} is missing: run `python -m studies.truth install`")
    return found


def policy_gains(robot: Entry) -> tuple[list[str], list[float], list[float]]:
    """Return joint names, kp and kd of a walking policy, from the metadata of its file."""
    table = {entry.key: entry.value for entry in onnx.load(str(package_path(robot.policy))).metadata_props}
    return json.loads(table["dof_names"]), json.loads(table["kp"]), json.loads(table["kd"])


def _edited(robot: Entry, source: Path) -> str:
    spec: Any = mujoco.MjSpec.from_file(str(source))
    spec.meshdir = str((source.parent / (spec.meshdir or ".")).resolve())
    spec.texturedir = spec.meshdir
    if robot.scene == "xarm7":
        _arm_alone(spec)
    if robot.scene == "radian":  # the file's compiler element is in a comment: its radians would be read as degrees
        spec.compiler.degree = False
    if robot.scene == "floor":
        spec.option.gravity = (0, 0, -9.81)
        spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=(0, 0, 0.05))
        for key in list(spec.keys):
            spec.delete(key)
    if robot.policy:
        _policy_servos(spec, robot)
    spec.compile()
    return re.sub(r' material="[^"]*"', "", str(spec.to_xml()))  # it may name materials that it leaves out


def _policy_servos(spec: Any, robot: Entry) -> None:
    """Put the servos that a policy was trained with where the motors were; explicit ones would be unstable."""
    gains = {name: (kp, kd) for name, kp, kd in zip(*policy_gains(robot), strict=True)}
    for actuator in spec.actuators:
        kp, kd = gains[str(actuator.target)]
        low, high = (float(x) for x in actuator.ctrlrange)
        actuator.gaintype, actuator.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
        actuator.gainprm[0], actuator.biasprm[1], actuator.biasprm[2] = kp, -kp, -kd
        actuator.forcerange, actuator.forcelimited = (low, high), mujoco.mjtLimited.mjLIMITED_TRUE
        joint = spec.joint(actuator.target)
        reach = high / kp  # a joint at its limit still has to push with all its force
        actuator.ctrlrange = (float(joint.range[0]) - reach, float(joint.range[1]) + reach)
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST


def _arm_alone(spec: Any) -> None:
    """Leave the seven joints of xArm7: no gripper (a closed chain), no mocap weld, no table; give them position servos."""
    for collection in (spec.actuators, spec.equalities, spec.excludes, spec.keys):
        for element in list(collection):
            spec.delete(element)
    arm = {spec.joint(name).parent.name for name in ARM_FORCES}
    bodies = [body for body in spec.bodies if body.name != "world"]
    for body in reversed(bodies):
        around = _with_parents(body)
        carries = any(name in arm for name in _with_children(body))
        if (not carries and not any(parent in arm for parent in around)) or any(j.name not in ARM_FORCES for j in body.joints):
            spec.delete(body)
    for name, force in ARM_FORCES.items():
        low, high = (float(x) for x in spec.joint(name).range)
        actuator = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.gaintype, actuator.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
        actuator.gainprm[0], actuator.biasprm[1], actuator.biasprm[2] = 1500.0, -1500.0, -60.0
        actuator.forcerange, actuator.forcelimited = (-force, force), mujoco.mjtLimited.mjLIMITED_TRUE
        actuator.ctrlrange, actuator.ctrllimited = (low, high), mujoco.mjtLimited.mjLIMITED_TRUE
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST


def _with_parents(body: Any) -> list[str]:
    names: list[str] = []
    while body is not None and body.name != "world":
        names.append(str(body.name))
        body = body.parent
    return names


def _with_children(body: Any) -> list[str]:
    return [str(body.name), *(name for child in body.bodies for name in _with_children(child))]
