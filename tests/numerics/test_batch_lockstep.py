# SPDX-License-Identifier: MIT
"""A batch gives the bits of a plain `mj_step` loop, whatever its threads, bodies, subsets and resets."""

import mujoco
import numpy as np
import pytest

from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.batch import Batch
from imitable.sim.task import Locomotion
from imitable.types import Floats

MIXED = {
    "swimmer": ("swimmer", "swimmer:back=10", "swimmer:front=10", "swimmer:front=50,back=20", "swimmer"),
    "walker2d": ("walker2d", "walker2d:friction=24.9", "walker2d:friction=0.7", "walker2d", "walker2d:friction=9.9"),
    "half_cheetah": ("half_cheetah:front=0.01", "half_cheetah", "half_cheetah:back=0.5", "half_cheetah", "half_cheetah:back=0"),
    "hopper": ("hopper:gravity=2", "hopper:gravity=15", "hopper", "hopper:gravity=20", "hopper:gravity=5"),
}
SIZE, STEPS = 5, 40


class PlainLoop:
    """One `MjData` a simulation, stepped one after the other: the reference."""

    def __init__(self, robots: list[Robot], states: Floats) -> None:
        self.robots = robots
        self.data = [mujoco.MjData(robot.model) for robot in robots]
        self.set_state(states, range(len(robots)))

    def set_state(self, states: Floats, ids: range | list[int]) -> None:
        for i, state in zip(ids, states, strict=True):
            model, data = self.robots[i].model, self.data[i]
            mujoco.mj_resetData(model, data)
            data.qpos[:], data.qvel[:] = state[: model.nq], state[model.nq :]

    def step(self, controls: Floats, ids: range | list[int]) -> None:
        for i, control in zip(ids, controls, strict=True):
            self.data[i].ctrl[:] = control
            for _ in range(self.robots[i].frame_skip):
                mujoco.mj_step(self.robots[i].model, self.data[i])

    @property
    def states(self) -> Floats:
        return np.array([np.concatenate([data.qpos, data.qvel]) for data in self.data])


def starts(robot: Robot, seed: int = 0, n: int = SIZE) -> Floats:
    return Locomotion(robot).start(np.random.default_rng(seed), n).states


def controls(robot: Robot, steps: int = STEPS, n: int = SIZE) -> Floats:
    low, high = robot.control_range
    return np.random.default_rng(1).uniform(1.5 * low, 1.5 * high, (steps, n, len(low)))


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("name", MIXED)
def test_one_body_on_any_number_of_threads(name: str, threads: int) -> None:
    body = parse_robot(name)
    batch, loop = Batch(body, SIZE, threads), PlainLoop([body] * SIZE, starts(body))
    batch.set_state(starts(body))
    for control in controls(body):
        assert not batch.step(control).any()
        loop.step(control, range(SIZE))
        np.testing.assert_array_equal(batch.states, loop.states)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("name", MIXED)
def test_a_body_of_its_own_for_every_simulation(name: str, threads: int) -> None:
    bodies = [parse_robot(text) for text in MIXED[name]]
    batch, loop = Batch(bodies, SIZE, threads), PlainLoop(bodies, starts(bodies[0]))
    batch.set_state(starts(bodies[0]))
    for control in controls(bodies[0]):
        batch.step(control)
        loop.step(control, range(SIZE))
    np.testing.assert_array_equal(batch.states, loop.states)
    ends = batch.states - starts(bodies[0])
    assert not np.array_equal(ends[0], ends[1])


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", MIXED)
def test_subsets_leave_the_others_alone(name: str, threads: int) -> None:
    bodies = [parse_robot(text) for text in MIXED[name]]
    batch, loop = Batch(bodies, SIZE, threads), PlainLoop(bodies, starts(bodies[0]))
    batch.set_state(starts(bodies[0]))
    subsets = ([0, 2, 4], [1], [0, 3], [0, 1, 2, 3, 4])
    for t, control in enumerate(controls(bodies[0])):
        ids = subsets[t % len(subsets)]
        batch.step(control[: len(ids)], np.array(ids))
        loop.step(control[: len(ids)], ids)
        np.testing.assert_array_equal(batch.states, loop.states)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", MIXED)
def test_a_state_that_is_set_starts_like_fresh_data(name: str, threads: int) -> None:
    bodies = [parse_robot(text) for text in MIXED[name]]
    batch, loop = Batch(bodies, SIZE, threads), PlainLoop(bodies, starts(bodies[0]))
    batch.set_state(starts(bodies[0]))
    for t, control in enumerate(controls(bodies[0])):
        if t % 10 == 9:
            ids = [t // 10, (t // 10 + 2) % SIZE]
            batch.set_state(starts(bodies[0], seed=t, n=2), np.array(ids))
            loop.set_state(starts(bodies[0], seed=t, n=2), ids)
        batch.step(control)
        loop.step(control, range(SIZE))
        np.testing.assert_array_equal(batch.states, loop.states)


@pytest.mark.parametrize("name", MIXED)
def test_set_state_forgets_time_warm_start_and_controls(name: str) -> None:
    body = parse_robot(name)
    used, fresh = Batch(body, SIZE), Batch(body, SIZE)
    used.set_state(starts(body))
    for control in controls(body):
        used.step(control)
    used.set_state(starts(body, seed=3))
    fresh.set_state(starts(body, seed=3))
    np.testing.assert_array_equal(used.rows, fresh.rows)


@pytest.mark.parametrize("name", MIXED)
def test_rows_go_on_to_the_same_bits(name: str) -> None:
    bodies, control = [parse_robot(text) for text in MIXED[name]], controls(parse_robot(name))
    batch, other = Batch(bodies, SIZE), Batch(bodies, SIZE, threads=2)
    batch.set_state(starts(bodies[0]))
    for row in control[: STEPS // 2]:
        batch.step(row)
    rows = batch.rows
    other.set_rows(rows)
    for row in control[STEPS // 2 :]:
        batch.step(row)
        other.step(row)
    np.testing.assert_array_equal(batch.rows, other.rows)
    assert not np.array_equal(rows, batch.rows), "a snapshot is a copy"


def test_a_state_alone_does_not_go_on_to_the_same_bits() -> None:
    """Why rows exist: contact solutions start from the last ones, and (qpos, qvel) does not hold them."""
    body = parse_robot("walker2d")
    batch, other = Batch(body, SIZE), Batch(body, SIZE)
    batch.set_state(starts(body))
    for row in controls(body):
        batch.step(row)
    other.set_state(batch.states)
    for row in controls(body):
        batch.step(row)
        other.step(row)
    np.testing.assert_allclose(batch.states[:, :3], other.states[:, :3], atol=0.1)
    assert not np.array_equal(batch.states, other.states)
