# SPDX-License-Identifier: MIT
"""A servo layer over torque motors, and for models without any actuator."""

import json
from pathlib import Path

import mujoco
import numpy as np
import pytest

from imitable.errors import BadKnobValue, BadModel, BadOption, UnknownKnob
from imitable.feasibility.score import score
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.robots.servos import servo_advice
from imitable.sim.babble import babble
from imitable.tracking.inverse_dynamics import actuator_limits
from imitable.types import InMemory

ARM = """
<mujoco model="arm">
  <compiler angle="radian"/>
  <option timestep="0.005"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 0.1"/>
    <body name="upper" pos="0 0 1">
      <joint name="shoulder" axis="0 1 0" range="-1.5 1" {limit}/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="1"/>
      <body name="lower" pos="0.3 0 0">
        <joint name="elbow" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="0.5"/>
      </body>
    </body>
  </worldbody>
  {actuators}
</mujoco>
"""
MOTORS = """<actuator>
  <motor name="turn" joint="shoulder" gear="-20" ctrlrange="-1 0.5"/>
  <motor name="bend" joint="elbow" ctrlrange="-10 10" forcerange="-6 6"/>
</actuator>"""


@pytest.fixture
def motors(tmp_path: Path) -> str:
    path = tmp_path / "motors.xml"
    path.write_text(ARM.format(actuators=MOTORS, limit=""))
    return str(path)


@pytest.fixture
def bare(tmp_path: Path) -> str:
    path = tmp_path / "bare.xml"
    path.write_text(ARM.format(actuators="", limit='actuatorfrcrange="-8 8"'))
    return str(path)


def force(robot: Robot, qpos: list[float], qvel: list[float], control: list[float]) -> np.ndarray:
    """Forces of the actuators on the joints."""
    data = mujoco.MjData(robot.model)
    data.qpos[:], data.qvel[:], data.ctrl[:] = qpos, qvel, control
    mujoco.mj_forward(robot.model, data)
    return data.qfrc_actuator.copy()


def test_a_servo_pulls_by_kp_and_damps_by_kd(motors: str) -> None:
    servos = parse_robot(f"{motors}:kp.*=12,kd.*=0.5")
    assert servos.has_servos
    pulled = force(servos, [0.2, -0.1], [0.4, 2.0], [0.5, 0.1])
    np.testing.assert_allclose(pulled, [12 * 0.3 - 0.5 * 0.4, 12 * 0.2 - 0.5 * 2], rtol=1e-12)


def test_it_pushes_no_harder_than_its_motor(motors: str) -> None:
    servos, base = parse_robot(f"{motors}:kp.*=1000"), parse_robot(motors)
    np.testing.assert_allclose(servos.model.actuator_forcerange, [[-10, 20], [-6, 6]])
    np.testing.assert_array_equal(actuator_limits(servos), actuator_limits(base))
    assert parse_robot(f"{motors}:kp.*=1000,strength.bend=0.5").model.actuator_forcerange[1, 1] == 3.0
    assert parse_robot(f"{motors}:kp.*=1000,strength.*=0").model.actuator_forcerange.max() < 1e-6


def test_it_can_be_told_to_push_at_the_limit(motors: str) -> None:
    stiff, soft = (parse_robot(f"{motors}:kp.*={kp}").control_range for kp in (100, 1))
    np.testing.assert_allclose(stiff[:, 0], [-1.5 - 0.2, 1 + 0.2])
    np.testing.assert_allclose(soft[:, 0], [-1.5 - 2.5, 1 + 2.5], err_msg="a range farther at most")
    np.testing.assert_allclose(stiff[:, 1], [-np.pi, np.pi], err_msg="a joint without a range")


def test_critical_damping_is_the_default(motors: str) -> None:
    servos = parse_robot(f"{motors}:kp.turn=40")
    data, answer = mujoco.MjData(servos.model), np.zeros((1, 2))
    mujoco.mj_forward(servos.model, data)
    mujoco.mj_solveM(servos.model, data, answer, np.array([[1.0, 0.0]]))
    kd = -servos.model.actuator_biasprm[0, 2]
    inertia = kd**2 / (4 * 40)
    assert 1 / answer[0, 0] <= inertia * 1.0001
    assert inertia <= servos.model.dof_M0[0]
    assert parse_robot(f"{motors}:kp.turn=40,kd.turn=critical") == servos
    assert servos.model.actuator_biastype.tolist() == [1, 0], "the other motor stays one"


def test_a_model_without_actuators_gets_them(bare: str) -> None:
    servos = parse_robot(f"{bare}:kp.*=50,kd.*=1,force.elbow=3")
    assert servos.layout.actuators == ("shoulder", "elbow")
    np.testing.assert_allclose(actuator_limits(servos), [8, 3])
    assert all(np.isfinite(movement.states).all() for movement in babble(servos, 2, 50, 0))
    with pytest.raises(BadModel, match=r"kp\.\*=100"):
        parse_robot(bare)


def test_only_some_joints_may_be_driven(bare: str) -> None:
    assert parse_robot(f"{bare}:kp.elbow=5").layout.actuators == ("elbow",)


def test_gains_from_a_file_are_those_in_the_text(motors: str, tmp_path: Path) -> None:
    path = tmp_path / "gains.json"
    path.write_text(json.dumps({"kp": {"turn": 40, "*": 10}, "kd": 0.5}))
    read = parse_robot(f"{motors}:servo={path}")
    named = parse_robot(f"{motors}:kp.turn=40,kp.bend=10,kd.*=0.5")
    assert read == named
    assert read.hash == named.hash
    assert "gains.json" not in str(read), "the file may change"
    assert parse_robot(f"{motors}:servo={path},kp.turn=30").value("kp.turn") == 30.0


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", "cannot be read"), ("[]", "give a table"), ('{"ki": 1}', "sets 'ki'"), ('{"kp": {"a": null}}', "give a number")],
)
def test_a_file_that_says_something_else(motors: str, tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "gains.json"
    path.write_text(content)
    with pytest.raises(BadOption, match=message):
        parse_robot(f"{motors}:servo={path}")


def test_a_missing_file(motors: str) -> None:
    with pytest.raises(BadOption, match="No such file"):
        parse_robot(f"{motors}:servo=none.json")


def test_damping_alone_is_no_servo(motors: str) -> None:
    with pytest.raises(BadModel, match=r"give kp\.turn, too"):
        parse_robot(f"{motors}:kd.turn=1")


@pytest.mark.parametrize("value", ["-1", "fast", "nan", "1e9"])
def test_damping_that_is_not_allowed(motors: str, value: str) -> None:
    with pytest.raises(BadKnobValue, match="give critical, or a number"):
        parse_robot(f"{motors}:kp.*=1,kd.*={value}")


def test_servos_of_the_file_stay_what_they_are(servo_arm_path: Path) -> None:
    with pytest.raises(UnknownKnob):
        parse_robot(f"{servo_arm_path}:kp.elbow=10")


def test_own_movements_of_a_servo_are_feasible(motors: str) -> None:
    servos = parse_robot(f"{motors}:kp.*=30")
    scores = score(InMemory(servos.layout, babble(servos, 2, 40, 3)), servos)
    assert scores.verdict == ("feasible", "feasible")
    assert scores.measurement.certificate is not None
    assert scores.measurement.certificate > 0.95


def test_advice_is_a_text_that_works(motors: str) -> None:
    advice = servo_advice(parse_robot(f"{motors}:gravity=3"))
    text = advice.rpartition(", ")[2]
    assert parse_robot(text).has_servos
    assert servo_advice(parse_robot(text)) == ""
    assert servo_advice(parse_robot("hopper")) == ""
