# SPDX-License-Identifier: MIT
"""Feed-forward controls: closed forms, contacts that carry, tendons, and bodies that do with them what they did."""

from pathlib import Path

import numpy as np
import pytest

from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.babble import babble
from imitable.sim.batch import Batch
from imitable.tracking.feed_forward import feed_forward
from imitable.types import Floats
from tests.unit.pushed_slider import pushed

TABLE = """
<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <geom type="plane" size="9 9 1"/>
    <body pos="0 0 0.5"><freejoint/>
      <geom type="box" size="0.2 0.2 0.05" mass="8"/>
      <body pos="0.2 0 0"><joint name="near" axis="0 1 0" damping="0.1"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.46" size="0.04" mass="1"/></body>
      <body pos="-0.2 0.2 0"><joint name="left" axis="0 1 0" damping="0.1"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.46" size="0.04" mass="1"/></body>
      <body pos="-0.2 -0.2 0"><joint name="right" axis="0 1 0" damping="0.1"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.46" size="0.04" mass="1"/></body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="near" ctrllimited="true" ctrlrange="-20 20"/>
    <motor joint="left" ctrllimited="true" ctrlrange="-20 20"/>
    <motor joint="right" ctrllimited="true" ctrlrange="-20 20"/>
  </actuator>
</mujoco>
"""
"""A table of 11 kg on three legs with motors in their hips."""

SHARED = """
<mujoco>
  <option timestep="0.002" gravity="0 0 0"/>
  <worldbody>
    <body><joint name="a" axis="0 0 1"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass="1"/>
      <body pos=".3 0 0"><joint name="b" axis="0 0 1"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass="1"/></body>
    </body>
  </worldbody>
  <tendon><fixed name="both"><joint joint="a" coef="1"/><joint joint="b" coef="-2"/></fixed></tendon>
  <actuator>
    <motor tendon="both" ctrllimited="true" ctrlrange="-3 3"/>
    <motor joint="b" gear="2" ctrllimited="true" ctrlrange="-3 3"/>
    <position joint="b" kp="30" kv="1" ctrllimited="true" ctrlrange="-3 3"/>
  </actuator>
</mujoco>
"""
"""A motor on a tendon over two joints, and a motor and a servo on the same joint."""


def robot_of(text: str, folder: Path) -> Robot:
    (folder / "robot.xml").write_text(text)
    return parse_robot(str(folder / "robot.xml"))


def replayed(robot: Robot, states: Floats, controls: Floats) -> Floats:
    """(T) the largest error of a velocity after each transition, controls clipped as the simulator does."""
    batch = Batch(robot, len(controls))
    batch.set_state(states[:-1])
    batch.step(np.clip(controls, *robot.control_range))
    return np.abs(batch.states - states[1:])[:, robot.layout.nq :].max(axis=1)


@pytest.mark.parametrize("force", [0.5, -1.9, 5.0])
def test_a_slider_is_told_its_force_even_if_it_has_less(slider: Robot, force: float) -> None:
    np.testing.assert_allclose(feed_forward(slider, pushed(force, 20).states)[:, 0], force / 2, rtol=0.01)


def test_contacts_carry_a_table_so_that_its_motors_need_not(tmp_path: Path) -> None:
    robot = robot_of(TABLE, tmp_path)
    controls = feed_forward(robot, np.tile(robot.start, (30, 1)))
    assert np.abs(controls).max() < 0.05
    assert replayed(robot, np.tile(robot.start, (30, 1)), controls).max() < 0.2


def test_motors_that_share_joints_do_together_what_was_done(tmp_path: Path) -> None:
    does_again(robot_of(SHARED, tmp_path))


@pytest.mark.parametrize("body", ["examples/robots/servo_arm.xml", "examples/robots/floating.xml", "swimmer", "half_cheetah"])
def test_bodies_do_again_what_they_did(body: str) -> None:
    does_again(parse_robot(body))


def does_again(robot: Robot) -> None:
    """Over one step, at the median: an eighth of the error of controls at the centre of their range, or less."""
    for own in babble(robot, 2, 100, 5):
        centre = np.tile(robot.control_centre, (len(own), 1))
        error, without = (np.median(replayed(robot, own.states, one)) for one in (feed_forward(robot, own.states), centre))
        assert error < without / 8


def test_a_tool_is_told_its_displacement() -> None:
    robot = parse_robot("panda")
    [own] = babble(robot, 1, 30, 2)
    assert feed_forward(robot, own.states).shape == own.actions.shape
