# SPDX-License-Identifier: MIT
"""What a movement needs and what a body can give, in closed form and on all built-in bodies."""

from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.optimize import lsq_linear

from imitable.robots.parse import ROBOTS, parse_robot
from imitable.robots.robot import Robot
from imitable.sim.babble import babble
from imitable.tracking import balance as module
from imitable.tracking.balance import Balance, balance, frame, least_effort, missing_forces
from imitable.tracking.inverse_dynamics import actuator_limits
from imitable.types import Floats
from tests.unit.pushed_slider import DAMPING, pushed

BLOCK = """
<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <geom type="plane" size="9 9 1" friction="0.5 0.005 0.0001"/>
    <body name="block" pos="0 0 0.1">
      <freejoint/>
      <geom type="box" size="0.1 0.1 0.1" mass="2" friction="0.5 0.005 0.0001"/>
    </body>
    <body name="cart" pos="5 5 5"><joint name="rail" type="slide" axis="1 0 0"/><geom type="sphere" size="0.1" mass="1"/></body>
  </worldbody>
  <actuator><motor joint="rail" ctrlrange="-1 1"/></actuator>
</mujoco>
"""
"""A block of 2 kg that nothing drives, on a floor with a friction of 0.5; a cart elsewhere is what is controlled."""

GRAVITY, MASS, FRICTION = 9.81, 2.0, 0.5


@pytest.fixture
def block(tmp_path: Path) -> Robot:
    (tmp_path / "block.xml").write_text(BLOCK)
    return parse_robot(str(tmp_path / "block.xml"))


def sliding(robot: Robot, acceleration: tuple[float, float], height: float, steps: int = 20) -> Floats:
    """(steps + 1, S) the block at a height, accelerated along x and z."""
    period = robot.layout.period_s
    times = period * np.arange(steps + 1)
    states = np.tile(robot.start, (steps + 1, 1))
    for entry, velocity, speed_up in ((0, 8, acceleration[0]), (2, 10, acceleration[1])):
        states[:, entry] += speed_up * times**2 / 2
        states[:, velocity] = speed_up * times
    states[:, 2] += height
    return states


def missing_on(robot: Robot, states: Floats) -> Floats:
    found = balance(robot, states)
    return missing_forces(found, actuator_limits(robot), np.ones(found.needed.shape[1]))


def test_a_slider_needs_mass_times_acceleration_and_damping(slider: Robot) -> None:
    demonstrated = pushed(1.5, 20).states
    found = balance(slider, demonstrated)
    speeds = (demonstrated[1:, 1] + demonstrated[:-1, 1]) / 2
    expected = np.diff(demonstrated[:, 1]) / slider.layout.period_s + DAMPING * speeds
    np.testing.assert_allclose(found.needed[:, 0], expected, rtol=1e-9)
    # the closed form is that of an implicit step: the mean of both ends differs from it by damping over half a step
    np.testing.assert_allclose(found.needed[:, 0], 1.5, rtol=0.01)


def test_what_a_motor_lacks_is_missing_and_nothing_else(slider: Robot) -> None:
    """It has 2 N."""
    for force in (0.5, 1.9, -1.9):
        np.testing.assert_allclose(missing_on(slider, pushed(force, 20).states), 0.0, atol=1e-9)
    np.testing.assert_allclose(missing_on(slider, pushed(5.0, 20).states), 3.0, rtol=0.01)
    np.testing.assert_allclose(missing_on(slider, pushed(-5.0, 20).states), -3.0, rtol=0.01)


@pytest.mark.parametrize(("acceleration", "expected"), [(0.0, 0.0), (4.0, 0.0), (9.0, 9.0 - FRICTION * GRAVITY)])
def test_friction_carries_as_much_as_it_can(block: Robot, acceleration: float, expected: float) -> None:
    """In full contact a floor pushes sideways with 0.5 · weight and more only if it were pressed harder: nobody presses.

    What is missing sideways is least squares between pushing the block and pressing it down, never zero.
    """
    missing = missing_on(block, sliding(block, (acceleration, 0.0), 0.0))
    if expected == 0:
        np.testing.assert_allclose(missing, 0.0, atol=0.01 * MASS * GRAVITY)
    else:
        # the cone's edge is (1, 0.5): the distance of a force from it is cos(atan 0.5) times what lacks sideways
        sideways = MASS * expected * np.cos(np.arctan(FRICTION))
        np.testing.assert_allclose(np.linalg.norm(missing[:, :3], axis=1), sideways, rtol=0.1)


def test_nothing_holds_a_block_in_the_air(block: Robot) -> None:
    held = missing_on(block, sliding(block, (0.0, 0.0), 0.5))
    np.testing.assert_allclose(held[:, 2], MASS * GRAVITY, rtol=1e-6)
    falls = missing_on(block, sliding(block, (0.0, -GRAVITY), 0.5))
    np.testing.assert_allclose(falls, 0.0, atol=1e-6)
    pulled = missing_on(block, sliding(block, (0.0, -3 * GRAVITY), 0.5, steps=5))
    np.testing.assert_allclose(pulled[:, 2], -2 * MASS * GRAVITY, rtol=1e-6)


def test_a_frame_knows_weight_and_size(block: Robot, slider: Robot, tmp_path: Path) -> None:
    rider = '<body><joint name="rail" type="slide" axis="1 0 0"/><geom type="sphere" size="0.01" mass="1e-7"/></body></body>'
    head, _, rest = BLOCK.partition("</body>")
    path = tmp_path / "driven.xml"
    path.write_text(head + rider + rest[rest.index("</worldbody>") :])
    hung = frame(parse_robot(str(path)), np.arange(7) == 6)
    assert hung.weight == pytest.approx(MASS * GRAVITY, rel=1e-6)
    assert hung.travel.tolist() == [True] * 3 + [False] * 4
    assert not frame(block, np.arange(7) == 6).travel.any(), "a block that nothing drives is no robot"
    assert hung.translations.tolist() == [True] * 3 + [False] * 3 + [True]
    np.testing.assert_allclose(hung.down, [0, 0, -MASS * GRAVITY, 0, 0, 0, 0], atol=1e-6)
    # a cube of side a: I = m a² / 6 about every axis, and Σ m r² is half the sum of the three
    assert hung.radius == pytest.approx(np.sqrt(0.2**2 / 4), rel=1e-6)
    bolted = frame(slider, np.array([True]))
    assert bolted.weight == 0
    assert not bolted.travel.any()


def test_missing_forces_are_the_least_squares_of_an_oracle() -> None:
    """Against random small problems of none to eleven supports."""
    rng = np.random.default_rng(0)
    supports, needed = rng.normal(size=(36, 11, 5)), rng.normal(size=(36, 5)) * 3
    supports[np.arange(11) >= np.arange(36)[:, None] % 12] = 0
    available = np.array([0.0, 0.0, 0.5, 1.0, np.inf])
    found = Balance(needed, supports, np.zeros(37))
    missing = missing_forces(found, available, np.ones(5))
    least = np.array([_oracle(*problem, available) for problem in zip(supports, needed, strict=True)])
    np.testing.assert_allclose(np.linalg.norm(missing, axis=1), least, atol=0.12)
    assert (least[::12] > 1).all(), "without supports much is missing"


def test_least_effort_is_least_squares_and_spares_what_is_too_weak() -> None:
    """Against an oracle where nothing is beyond its limit; where something is, no more than least squares ask for."""
    rng = np.random.default_rng(1)
    supports, needed = rng.normal(size=(24, 9, 5)), rng.normal(size=(24, 5)) * 3
    available, arms = np.array([0.0, 0.0, 5.0, 9.0, np.inf]), np.ones(5)
    found = least_effort(Balance(needed, supports, np.zeros(25)), available, arms)
    units = np.array([7 / 30, 7 / 30, 5, 9, 7])
    for row in range(24):
        columns = (supports[row] / units).T
        expected = lsq_linear(columns, needed[row] / units, (0, np.inf), method="bvls", tol=1e-12)
        plain = needed[row] - supports[row].T @ expected.x
        excess, least = (np.maximum(0, np.abs(one[2:4]) - available[2:4]).sum() for one in (found[row], plain))
        assert excess <= least + 1e-6
        if not least:
            np.testing.assert_allclose(found[row], plain, atol=1e-4)


def _oracle(supports: Floats, needed: Floats, available: Floats) -> float:
    """Return the least norm by bounded least squares over the supports' weights and what actuators give."""
    driven = available > 0
    columns = np.concatenate([supports, np.eye(len(needed))[driven]]).T
    low = np.concatenate([np.zeros(len(supports)), -available[driven]])
    high = np.concatenate([np.full(len(supports), np.inf), available[driven]])
    return float(np.sqrt(2 * lsq_linear(columns, needed, (low, high), tol=1e-12).cost))


@pytest.mark.parametrize("name", ROBOTS)
def test_own_movements_lack_little(name: str) -> None:
    """Under a tenth of the weight at the median step, and exactly nothing that motors have."""
    robot = parse_robot(name)
    available = actuator_limits(robot)
    weight = frame(robot, available > 0).weight or 100.0
    units = np.where(available > 0, 0.25 * available, 0.5 * weight)
    for own in babble(robot, 3, 60, 5):
        missing = missing_forces(balance(robot, own.states), available, units)
        assert (np.median(np.abs(missing), axis=0) < 0.1 * weight).all()
        assert (np.abs(missing[:, available > 0]) <= np.abs(balance(robot, own.states).needed[:, available > 0])).all()


def test_states_between_follow_the_cubic(floating_path: Path) -> None:
    """Also for quaternions: the ends are kept, and the middle of a turn at constant speed is half way."""
    robot = parse_robot(str(floating_path))
    states = np.tile(robot.start, (2, 1))
    period, spin = robot.layout.period_s, np.array([0.0, 0.0, 2.0])
    states[:, 12 + 3 : 12 + 6] = spin
    mujoco.mj_integratePos(robot.model, states[1, :12], states[0, 12:], period)
    fine = module._between(robot, states, 4)  # pyright: ignore[reportPrivateUsage]
    assert fine.shape == (5, 22)
    np.testing.assert_array_equal(fine[[0, 4]], states)
    for piece in range(5):
        expected = states[0, :12].copy()
        mujoco.mj_integratePos(robot.model, expected, states[0, 12:], piece / 4 * period)
        np.testing.assert_allclose(fine[piece, :12], expected, atol=1e-12)
