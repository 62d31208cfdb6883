# SPDX-License-Identifier: MIT
"""Scales of bodies: the deviations of their babbling to the bit, unless that is absurd."""

from pathlib import Path

import numpy as np
import pytest

from imitable.robots.parse import ROBOTS, parse_robot
from imitable.sim.babble import absurd_joints, babble, scales
from imitable.sim.kinematics import state_space
from tests.unit.test_static_checks import HINGES, robot_of

KNOBS = ("half_cheetah:front=10,back=10", "half_cheetah:front=0.01", "hopper:gravity=0", "hopper:gravity=100")
MORE = ("walker2d:friction=24.9", "walker2d:friction=0", "swimmer:front=179,back=179", "swimmer:back=10")


@pytest.mark.parametrize("body", [*(name for name in ROBOTS if name != "panda"), *KNOBS, *MORE])
def test_scales_of_the_papers_bodies_are_those_of_babbling_to_the_bit(body: str) -> None:
    robot = parse_robot(body)
    assert absurd_joints(robot) == ()
    movements, space = [one.states for one in babble(robot, 32, 200, 0)], state_space(robot)
    own = scales(robot)
    expected = (np.concatenate(movements), np.concatenate([space.difference(one[1:], one[:-1]) for one in movements]))
    for found, rows in zip((own.coordinates, own.difference), (space.coordinates(expected[0]), expected[1]), strict=True):
        deviation = rows.std(axis=0)
        np.testing.assert_array_equal(found, np.maximum(deviation, 1e-3 * deviation.max()))


def test_hinges_that_babbling_spins_are_measured_by_a_plausible_swing(tmp_path: Path) -> None:
    """A sine of 1 rad at 2 Hz, not 20,000 rad/s."""
    robot = robot_of(HINGES, tmp_path)
    assert absurd_joints(robot) == ("a", "b", "c")
    own = scales(robot)
    np.testing.assert_allclose(own.coordinates, [np.sqrt(0.5)] * 3 + [4 * np.pi * np.sqrt(0.5)] * 3)
    np.testing.assert_array_equal(own.coordinates, own.state)
    assert own.difference[3:].max() < own.coordinates[3:].max()


def test_a_speed_limit_bounds_the_scale_of_a_speed(arm_path: Path) -> None:
    free, slow = (scales(parse_robot(f"{arm_path}{knobs}")).coordinates for knobs in ("", ":speed.elbow=0.5"))
    assert free[3] > 0.5
    np.testing.assert_array_equal(slow, np.minimum(free, [np.inf, np.inf, np.inf, 0.5]))
