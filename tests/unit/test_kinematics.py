# SPDX-License-Identifier: MIT
"""How two states differ, against MuJoCo's own answer."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from imitable.feasibility.ruler import compared, ruler
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.babble import babble, scales
from imitable.sim.kinematics import state_space
from imitable.types import Floats

QUATERNIONS = (3, 7)


@pytest.fixture
def floating(floating_path: Path) -> Robot:
    return parse_robot(str(floating_path))


def random_states(body: Robot, count: int, seed: int = 0) -> Floats:
    states = np.random.default_rng(seed).normal(size=(count, len(body.start)))
    for first in QUATERNIONS:
        states[:, first : first + 4] /= np.linalg.norm(states[:, first : first + 4], axis=1, keepdims=True)
    return states


def flipped(states: Floats, seed: int = 0) -> Floats:
    """Change the sign of quaternions, each state's by a coin."""
    rng, other = np.random.default_rng(seed), states.copy()
    for first in QUATERNIONS:
        other[..., first : first + 4] *= rng.choice([-1.0, 1.0], size=(*states.shape[:-1], 1))
    return other


def test_differences_are_those_of_mujoco(floating: Robot) -> None:
    space, states, targets = state_space(floating), random_states(floating, 500), random_states(floating, 500, 1)
    targets[:100] = states[:100] + 1e-7 * targets[:100]
    targets[100:110] = states[100:110]
    assert (space.nq, space.nv, space.quaternions, space.size) == (12, 10, QUATERNIONS, 20)
    found, expected = space.difference(states, targets), np.empty(10)
    for row, state, target in zip(found, states, targets, strict=True):
        mujoco.mj_differentiatePos(floating.model, expected, 1.0, target[:12], state[:12])
        np.testing.assert_allclose(row[:10], expected, atol=1e-12)
        np.testing.assert_array_equal(row[10:], state[12:] - target[12:])


def test_differences_do_not_depend_on_the_signs_of_quaternions(floating: Robot) -> None:
    space, states, targets = state_space(floating), random_states(floating, 200), random_states(floating, 200, 1)
    states[0, 3:7], targets[0, 3:7] = (0, 1, 0, 0), (1, 0, 0, 0)  # half a turn: both ways are as short
    other = flipped(states, 2), flipped(targets, 3)
    np.testing.assert_array_equal(space.difference(*other), space.difference(states, targets))
    np.testing.assert_array_equal(space.coordinates(other[0]), space.coordinates(states))
    np.testing.assert_array_equal(space.one_sign(other[0]), space.one_sign(states))
    for kind in ("standardised", "l2", "l1", "cosine"):
        rule = ruler(floating, kind)
        np.testing.assert_array_equal(rule.errors(*other), rule.errors(states, targets))


def test_differences_broadcast_and_keep_what_is_not_a_number(floating: Robot) -> None:
    space, states = state_space(floating), random_states(floating, 12).reshape(3, 4, -1)
    found = space.difference(states, states[:, :1])
    assert found.shape == (3, 4, 20)
    np.testing.assert_array_equal(found[2, 3], space.difference(states[2, 3], states[2, 0]))
    np.testing.assert_array_equal(found[:, 0], 0)
    assert np.isnan(space.difference(np.full(22, np.nan), states[0, 0])).all()


@pytest.mark.parametrize("body", ["hopper", "half_cheetah:front=0.01", "walker2d", "swimmer:back=10"])
def test_without_quaternions_a_difference_is_a_subtraction(body: str) -> None:
    robot = parse_robot(body)
    space, (own, other) = state_space(robot), (one.states for one in babble(robot, 2, 20, 0))
    np.testing.assert_array_equal(space.difference(own, other), own - other)
    assert space.coordinates(own) is own
    assert space.names(robot.layout.state) == robot.layout.state
    np.testing.assert_array_equal(scales(robot).coordinates, scales(robot).state)
    np.testing.assert_array_equal(scales(robot).difference, scales(robot).change)


def test_entries_of_a_rotation_are_compared_together(floating: Robot) -> None:
    space = state_space(floating)
    names = np.array(space.names(floating.layout.state))
    assert names[space.tangent(compared(floating, "all"))].tolist() == names.tolist()
    assert space.tangent(compared(floating, "rootless")).tolist() == [False] * 3 + [True] * 17
    chosen = space.tangent(compared(floating, "shoulder_2,elbow"))
    assert names[chosen].tolist() == ["shoulder_rotation_x", "shoulder_rotation_y", "shoulder_rotation_z", "elbow"]


def test_scales_are_those_of_angles(floating: Robot) -> None:
    """Velocity times period is the change of a rotation, to first order: the scales must agree."""
    own = scales(floating)
    assert own.coordinates.shape == own.difference.shape == (20,)
    changes = np.concatenate([one.states[1:, 12:] for one in babble(floating, 32, 200, 0)]) * floating.layout.period_s
    np.testing.assert_allclose(own.difference[3:10], changes.std(axis=0)[3:], rtol=0.05)
