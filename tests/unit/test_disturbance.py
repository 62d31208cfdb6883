# SPDX-License-Identifier: MIT
"""Pushes: as strong, as long and as often as asked, along what the body can move in."""

import mujoco
import numpy as np
import pytest

from imitable.errors import BadOption
from imitable.robots.parse import parse_robot
from imitable.sim.batch import Batch
from imitable.sim.disturbance import Pusher, Pushes, one_push, push_steps

BODIES = pytest.mark.parametrize("body", ["swimmer", "walker2d", "hopper", "half_cheetah"])


@BODIES
def test_a_push_is_an_outer_force_on_the_root_body_and_ends_with_a_new_state(body: str) -> None:
    robot = parse_robot(body)
    model, data = robot.model, mujoco.MjData(robot.model)
    data.qpos[:], data.qvel[:] = robot.start[: model.nq], robot.start[model.nq :]
    data.xfrc_applied[1, :2] = (30.0, -20.0)
    batch = Batch(robot, 2)
    batch.set_state(np.tile(robot.start, (2, 1)))
    batch.push(np.array([[30.0, -20.0]]), np.array([1]))
    batch.step(np.zeros((2, model.nu)))
    mujoco.mj_step(model, data, robot.frame_skip)
    np.testing.assert_array_equal(batch.states[1], np.concatenate([data.qpos, data.qvel]))
    assert (batch.states[0] != batch.states[1]).any()
    batch.set_state(np.tile(robot.start, (2, 1)))
    batch.step(np.zeros((2, model.nu)))
    np.testing.assert_array_equal(batch.states[0], batch.states[1])


@BODIES
def test_pushes_in_practice_are_as_many_as_long_and_as_strong_as_asked(body: str) -> None:
    robot = parse_robot(body)
    pusher = Pusher(Pushes(4, 60), robot, 200, 1000, seed=0)
    forces = np.stack([pusher.forces() for _ in range(1000)])
    strength = np.linalg.norm(forces, axis=2)
    assert 50 < strength.max() <= 60
    acting = strength > 0
    assert acting.sum(axis=0).mean() / push_steps(robot) == pytest.approx(4, rel=0.15)
    assert (forces[..., 1] == 0).all() == (body != "swimmer")
    assert abs(forces[acting].mean(axis=0)).max() < 5


def test_a_push_lasts_a_tenth_of_a_second_and_a_new_episode_is_left_alone() -> None:
    robot = parse_robot("walker2d")
    assert push_steps(robot) == 12
    pusher = Pusher(Pushes(1000, 60), robot, 3, 1000, seed=0)
    first = pusher.forces()
    for _ in range(11):
        np.testing.assert_array_equal(pusher.forces(), first)
    assert (pusher.forces() != first).any()
    rare = Pusher(Pushes(1e-9, 60), robot, 3, 1000, seed=0)
    rare._left[:] = 5
    rare._forces[:] = 7.0
    rare.stop(np.array([1]))
    assert (rare.forces()[[0, 2]] == 7.0).all()
    assert (rare.forces()[1] == 0.0).all()


def test_each_tested_episode_is_pushed_once_by_its_own_seed() -> None:
    robot = parse_robot("swimmer")
    many, alone = one_push(robot, 50.0, [3, 4, 5], 1000), one_push(robot, 50.0, [4], 1000)
    np.testing.assert_array_equal(many.vectors[1], alone.vectors[0])
    assert many.begins[1] == alone.begins[0]
    acting = np.stack([np.linalg.norm(many.forces(t), axis=1) for t in range(1000)])
    np.testing.assert_allclose(acting.max(axis=0), 50.0)
    np.testing.assert_array_equal((acting > 0).sum(axis=0), push_steps(robot))


@pytest.mark.parametrize("wrong", [(0, 50), (2, -1), (np.inf, 50)])
def test_pushes_that_cannot_be_drawn_are_refused(wrong: tuple[float, float]) -> None:
    with pytest.raises(BadOption, match="newtons"):
        Pushes(*wrong)
