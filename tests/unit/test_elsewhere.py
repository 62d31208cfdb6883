# SPDX-License-Identifier: MIT
"""Robots that others keep: URDF files, Gymnasium's environments, a checkout of the Menagerie."""

import shutil
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from imitable.errors import BadModel, BadSpec, UnknownRobot
from imitable.robots.parse import parse_robot
from imitable.sim.batch import Batch
from imitable.tracking.inverse_dynamics import actuator_limits

URDF = """
<robot name="two">
  <link name="base"/>
  <link name="upper">
    <inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="12" velocity="3"/>
  </joint>
</robot>
"""


def test_a_urdf_moves_by_servos_within_its_efforts(tmp_path: Path) -> None:
    path = tmp_path / "two.urdf"
    path.write_text(URDF)
    robot = parse_robot(f"{path}:kp.*=40")
    assert robot.layout.actuators == ("shoulder",)
    assert actuator_limits(robot).tolist() == [12]
    with pytest.raises(BadModel, match=r"two\.urdf:kp\.\*=100"):
        parse_robot(str(path))


def test_an_environment_is_stepped_as_gymnasium_steps_it() -> None:
    robot, environment = parse_robot("InvertedPendulum-v5"), gymnasium.make("InvertedPendulum-v5").unwrapped
    assert str(parse_robot("InvertedPendulum-v5:gravity=3")) == "InvertedPendulum-v5:gravity=3"
    environment.reset(seed=0)
    start = np.concatenate([environment.data.qpos, environment.data.qvel])
    batch = Batch(robot, 1)
    batch.set_state(start[None])
    for _ in range(5):
        environment.step(np.array([0.7], np.float32))
        batch.step(np.array([[np.float32(0.7)]], float))
    np.testing.assert_array_equal(batch.states[0], np.concatenate([environment.data.qpos, environment.data.qvel]))


def test_environments_that_are_no_robots() -> None:
    with pytest.raises(BadModel, match="no MuJoCo environment of Gymnasium's own"):
        parse_robot("CartPole-v1")
    with pytest.raises(UnknownRobot):
        parse_robot("lab/Arm-v0")
    with pytest.raises(BadModel, match="Gymnasium cannot make it"):
        parse_robot("Nothing-v3")
    with pytest.raises(UnknownRobot, match="Ant-v5"):
        parse_robot("Nothing")


@pytest.fixture
def menagerie(tmp_path: Path, slider_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "menagerie"
    for name in ("lab_slider/scene.xml", "lab_slider/slider.xml", "lab_pair/left.xml", "lab_pair/right.xml", "one/only.xml"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(slider_path, root / name)
    monkeypatch.setenv("MENAGERIE_ROOT", str(root))
    return root


def test_a_robot_of_the_menagerie(menagerie: Path) -> None:
    robot = parse_robot("menagerie:lab_slider:gear.push=2")
    assert str(robot) == "menagerie:lab_slider:gear.push=2"
    assert parse_robot(str(robot)) == robot
    assert robot.family.model_file == str(menagerie / "lab_slider" / "scene.xml")
    assert parse_robot("menagerie:one").family.model_file.endswith("only.xml")
    assert parse_robot("menagerie:lab_pair/right").family.model_file.endswith("right.xml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("menagerie:lab_slyder", "did you mean 'lab_slider'"),
        ("menagerie:", "Choose from"),
        ("menagerie:lab_pair", "several models"),
        ("menagerie:../menagerie", "no such folder"),
    ],
)
@pytest.mark.usefixtures("menagerie")
def test_a_robot_that_is_not_there(text: str, message: str) -> None:
    with pytest.raises(BadModel, match=message):
        parse_robot(text)


@pytest.mark.usefixtures("menagerie")
def test_a_malformed_setting() -> None:
    with pytest.raises(BadSpec):
        parse_robot("menagerie:one:gear")


def test_no_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MENAGERIE_ROOT", raising=False)
    with pytest.raises(BadModel, match="MENAGERIE_ROOT"):
        parse_robot("menagerie:unitree_g1")
