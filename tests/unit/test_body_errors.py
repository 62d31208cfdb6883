# SPDX-License-Identifier: MIT
"""Errors in metres and radians, success, and where an attempt is lost: closed forms first, then all built-in bodies."""

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from imitable.errors import BadOption
from imitable.feasibility.body_errors import body_errors
from imitable.feasibility.lost import HEIGHT_PART, JOINT_RAD, POSITION_PART, TILT_RAD, first_lost, lost, lost_thresholds
from imitable.robots.parse import ROBOTS, parse_robot
from imitable.robots.robot import Robot
from imitable.sim.babble import babble
from imitable.sim.poses import limited_joints, point_names, positions, size, uprights
from imitable.types import Floats

LENGTH = 0.8
PENDULUM = f"""
<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <body name="rod"><joint name="hinge" axis="0 1 0" limited="true" range="-1 1"/>
      <geom type="capsule" fromto="0 0 0 0 0 -{LENGTH}" size="0.02" mass="1"/>
      <site name="tip" pos="0 0 -{LENGTH}"/></body>
    <body name="wall" pos="2 0 0"><geom type="box" size="0.1 1 1"/></body>
  </worldbody>
  <actuator><motor joint="hinge" gear="2" ctrlrange="-1 1"/></actuator>
</mujoco>
"""
"""A rod of 80 cm on a hinge, a site at its tip, and a wall that never moves."""


@pytest.fixture
def pendulum(tmp_path: Path) -> Robot:
    (tmp_path / "pendulum.xml").write_text(PENDULUM)
    return parse_robot(str(tmp_path / "pendulum.xml"))


@pytest.fixture
def floating(floating_path: Path) -> Robot:
    return parse_robot(str(floating_path))


def moved(robot: Robot, entry: int, by: Floats) -> tuple[Floats, Floats]:
    """(1, H, S), (1, H, S) the start with one entry moved by (H), and the start."""
    demonstrated = np.tile(robot.start, (1, len(by), 1))
    followed = demonstrated.copy()
    followed[0, :, entry] += by
    return followed, demonstrated


def test_a_pendulum_is_off_by_the_chord_of_its_angle(pendulum: Robot) -> None:
    angles = np.array([0.0, 0.3, -1.2])
    followed, demonstrated = moved(pendulum, 0, angles)
    errors = body_errors(pendulum, followed, demonstrated)
    chord = 2 * np.abs(np.sin(angles / 2))
    assert errors.points == ("rod",), "a wall is no part of the body"
    np.testing.assert_allclose(errors.bodies_m[0, :, 0], LENGTH / 2 * chord, atol=1e-12)
    np.testing.assert_allclose(errors.joints_rad[0, :, 0], np.abs(angles))
    assert errors.joint_largest_rad[0] == pytest.approx(1.2)
    assert errors.joint_mean_rad[0] == pytest.approx(0.5)
    assert errors.slides_m.shape == (1, 3, 0)
    assert errors.slide_mean_m[0] == errors.slide_largest_m[0] == 0
    tip = body_errors(pendulum, followed, demonstrated, ["tip", "rod"])
    np.testing.assert_allclose(tip.bodies_m[0], np.stack([LENGTH * chord, LENGTH / 2 * chord], axis=1), atol=1e-12)
    assert tip.body_largest_m[0] == pytest.approx(LENGTH * chord.max())
    with pytest.raises(BadOption, match="did you mean 'tip'"):
        body_errors(pendulum, followed, demonstrated, ["tipp"])


def test_a_slider_is_off_in_metres(slider: Robot) -> None:
    followed, demonstrated = moved(slider, 0, np.array([0.1, -0.3]))
    errors = body_errors(slider, followed, demonstrated)
    np.testing.assert_allclose(errors.bodies_m[0, :, 0], [0.1, 0.3])
    assert errors.slides == ("slide",)
    assert errors.slide_largest_m[0] == pytest.approx(0.3)
    assert errors.joints == ()
    assert errors.joint_mean_rad[0] == 0


def test_success_is_every_frames_mean_or_every_body(slider: Robot) -> None:
    errors = body_errors(slider, *moved(slider, 0, np.array([0.1, 0.49])))
    assert errors.success().tolist() == [True]
    assert errors.success(0.4).tolist() == [False]
    hopper = parse_robot("hopper")
    tilted = body_errors(hopper, *moved(hopper, 2, np.array([0.0, 0.7])))
    between = (float(tilted.body_steps_m.max()) + float(tilted.body_largest_m[0])) / 2
    assert tilted.success(between).tolist() == [True]
    assert tilted.success(between, "largest").tolist() == [False]
    with pytest.raises(BadOption, match="largest"):
        tilted.success(0.5, "median")


def test_what_is_beyond_the_end_does_not_count_and_what_broke_down_is_lost(slider: Robot) -> None:
    followed, demonstrated = moved(slider, 0, np.full(4, 0.05))
    followed[0, 2:] = np.nan
    ended = body_errors(slider, followed, demonstrated)
    assert ended.success().tolist() == [True]
    assert ended.body_mean_m[0] == pytest.approx(0.05)
    assert np.isnan(ended.bodies_m[0, 2:]).all()
    assert lost(slider, ended, followed, demonstrated).steps.tolist() == [-1]
    broken = body_errors(slider, followed, demonstrated, lengths=np.array([4]))
    assert broken.success().tolist() == [False]
    assert lost(slider, broken, followed, demonstrated).steps.tolist() == [2]


def test_signs_of_quaternions_do_not_matter(floating: Robot) -> None:
    own, other = (one.states[None, :15] for one in babble(floating, 2, 20, 0))
    flipped = other.copy()
    flipped[..., 3:7] *= -1
    one, same = body_errors(floating, own, other), body_errors(floating, own, flipped)
    np.testing.assert_allclose(one.bodies_m, same.bodies_m, atol=1e-12)
    np.testing.assert_array_equal(one.joints_rad, same.joints_rad)
    assert one.joints == ("hull", "shoulder", "elbow")
    assert one.slides == ("hull_0", "hull_1", "hull_2")
    assert one.joints_rad.max() <= np.pi + 1e-9


def test_a_turn_of_a_free_body_is_its_angle(floating: Robot) -> None:
    demonstrated = np.tile(floating.start, (1, 1, 1))
    followed, turn = demonstrated.copy(), np.zeros(10)
    turn[3:6] = 0.6 * np.array([2.0, -1.0, 2.0]) / 3
    mujoco.mj_integratePos(floating.model, followed[0, 0, :12], turn, 1.0)
    errors = body_errors(floating, followed, demonstrated)
    np.testing.assert_allclose(errors.joints_rad[0, 0], [0.6, 0, 0], atol=1e-9)


@pytest.mark.parametrize("name", [name for name, family in ROBOTS.items() if family().rules is not None])
def test_nothing_is_off_from_itself_and_a_shift_is_a_shift(name: str) -> None:
    robot = parse_robot(name)
    states = np.stack([one.states for one in babble(robot, 2, 30, 1)])
    same = body_errors(robot, states, states)
    assert same.body_largest_m.max() == same.joint_largest_rad.max() == same.slide_largest_m.max() == 0
    assert (lost(robot, same, states, states).steps == -1).all()
    shifted = states.copy()
    shifted[..., 0] += 0.25
    errors = body_errors(robot, shifted, states)
    np.testing.assert_allclose(errors.bodies_m, 0.25, atol=1e-12)
    np.testing.assert_allclose(errors.slide_largest_m, 0.25)
    assert errors.joint_largest_rad.max() == 0
    assert len(errors.points) == robot.model.nbody - 1


@pytest.mark.parametrize("name", ROBOTS)
def test_positions_are_those_of_mujoco(name: str) -> None:
    robot = parse_robot(name)
    [own] = babble(robot, 1, 10, 2)
    data, found = mujoco.MjData(robot.model), positions(robot, own.states)
    moving = [place for place in range(1, robot.model.nbody) if robot.model.body_weldid[place]]
    assert found.shape == (11, len(point_names(robot)), 3)
    for state, row in zip(own.states, found, strict=True):
        data.qpos[:] = state[: robot.model.nq]
        mujoco.mj_forward(robot.model, data)
        np.testing.assert_allclose(row, data.xipos[moving], atol=1e-12)
    assert np.isnan(positions(robot, np.full((2, own.states.shape[1]), np.nan))).all()


def test_sizes_are_those_of_the_body_alone(pendulum: Robot, slider: Robot) -> None:
    assert size(pendulum) == pytest.approx(LENGTH + 0.04)
    assert size(slider) == pytest.approx(0.2)


def test_an_arm_has_no_root_to_tilt(pendulum: Robot) -> None:
    limits = lost_thresholds(pendulum)
    assert limits.height_m == limits.tilt_rad == np.inf
    assert limits.position_m == pytest.approx(POSITION_PART * (LENGTH + 0.04))


@pytest.mark.parametrize(
    ("entry", "by", "cause"),
    [(1, 1.1 * HEIGHT_PART * 1.46, "height"), (2, 1.05 * TILT_RAD, "tilt"), (4, 1.1 * JOINT_RAD, "joint")],
)
def test_an_attempt_is_lost_where_one_error_stays(entry: int, by: float, cause: str) -> None:
    """Hopper is 1.46 m tall."""
    hopper = parse_robot("hopper")
    assert size(hopper) == pytest.approx(1.46)
    steps = np.array([0, 1, 0, 1, 1, 1])
    followed, demonstrated = moved(hopper, entry, by * steps)
    errors = body_errors(hopper, followed, demonstrated)
    anywhere = replace(lost_thresholds(hopper), position_m=np.inf)
    found = lost(hopper, errors, followed, demonstrated, anywhere)
    assert (found.steps.tolist(), found.causes) == ([3], (cause,))
    assert lost(hopper, errors, followed, demonstrated, anywhere, for_good=False).steps.tolist() == [1]
    nearly = moved(hopper, entry, 0.85 * by * steps)
    assert lost(hopper, body_errors(hopper, *nearly), *nearly, anywhere).steps.tolist() == [-1]


def test_far_from_the_way_is_lost_and_heading_is_no_tilt() -> None:
    swimmer = parse_robot("swimmer")
    far = moved(swimmer, 0, np.array([0.0, 2.0]))
    found = lost(swimmer, body_errors(swimmer, *far), *far)
    assert (found.steps.tolist(), found.causes) == ([1], ("position",))
    turned, straight = moved(swimmer, 2, np.array([3.0]))
    np.testing.assert_allclose(uprights(swimmer, turned), uprights(swimmer, straight), atol=1e-12)


def test_first_lost_in_closed_form() -> None:
    nan = np.nan
    ratios = np.array([[0, 2, 2, 0], [0, 2, 2, 2], [2, 0, 2, nan], [0, 0, 0, nan], [nan, nan, nan, nan], [2, 2, 2, 2]])
    assert first_lost(ratios).tolist() == [-1, 1, 2, -1, -1, 0]
    assert first_lost(ratios, for_good=False).tolist() == [1, 1, 0, -1, -1, 0]


def test_excess_is_beyond_the_range(pendulum: Robot, floating: Robot) -> None:
    states = np.array([[0.5, 0.0], [1.0, 0.0], [1.25, 0.0], [-1.5, 0.0]])
    np.testing.assert_allclose(limited_joints(pendulum).excess(states)[:, 0], [0, 0, 0.25, 0.5])
    assert limited_joints(floating).excess(np.zeros((3, 22))).shape == (3, 0)
