# SPDX-License-Identifier: MIT
"""Our bodies and rewards are those of Gymnasium's v5 environments, but for differences with a name, each tested alone.

Bits agree only from equal solver states. Gymnasium's `set_state` calls `mj_forward`, which leaves a warm start behind; our
`set_state` leaves none. So the states below are written into data that `mj_resetData` has just cleared, without `mj_forward`.
"""

from typing import Any

import gymnasium
import mujoco
import numpy as np
import pytest

from imitable.envs.gym_env import LocomotionEnv
from imitable.robots.parse import parse_robot
from imitable.sim.task import Locomotion
from imitable.types import Floats

PAIRS = {
    "Swimmer-v5": ("swimmer", {}),
    "Walker2d-v5": ("walker2d", {"friction": 1.9}),
    "HalfCheetah-v5": ("half_cheetah", {}),
    "Hopper-v5": ("hopper", {}),
}
BONUS = ("Walker2d-v5", "Hopper-v5")


def theirs(name: str, **options: Any) -> Any:
    return gymnasium.make(name, **options).unwrapped


def put(env: Any, state: Floats) -> None:
    mujoco.mj_resetData(env.model, env.data)
    env.data.qpos[:], env.data.qvel[:] = state[: env.model.nq], state[env.model.nq :]


def drawn_state(env: LocomotionEnv, rng: np.random.Generator) -> Floats:
    return env.task.start(rng, 1).states[0]


def drawn_action(env: LocomotionEnv, rng: np.random.Generator) -> Floats:
    low, high = env.task.robot.control_range
    return rng.uniform(low, high)


def falling_hopper() -> Floats:
    """Return a state that is upright now and leans too far one control step later."""
    state = parse_robot("hopper").start.copy()
    state[2], state[8] = 0.19, 5.0
    return state


@pytest.mark.parametrize("root", [False, True])
@pytest.mark.parametrize("name", PAIRS)
def test_observation_reward_and_termination_are_equal(name: str, root: bool) -> None:
    text, knobs = PAIRS[name]
    ours = LocomotionEnv(text, rules="gymnasium", observe_root=root, **knobs)
    other = theirs(name, exclude_current_positions_from_observation=not root)
    rng, falls, new = np.random.default_rng(0), 0, True
    for _ in range(300):
        if new:
            state = drawn_state(ours, rng)
            ours.reset(options={"state": state})
            put(other, state)
        action = drawn_action(ours, rng)
        observation, reward, terminated, _, info = ours.step(action)
        expected, expected_reward, expected_end, _, _ = other.step(action)
        np.testing.assert_array_equal(observation, expected)
        np.testing.assert_array_equal(info["state"], other.state_vector())
        # the alive bonus is added after the control cost, not before: the last bit may differ
        assert reward == pytest.approx(expected_reward, abs=1e-12 if name in BONUS else 0.0, rel=0.0)
        assert terminated == expected_end
        assert info["absorbing"] == terminated
        falls, new = falls + terminated, terminated
    assert falls == 0 if name not in BONUS else falls > 3


@pytest.mark.parametrize("name", PAIRS)
def test_a_seed_starts_both_in_the_same_state(name: str) -> None:
    text, knobs = PAIRS[name]
    ours, other = LocomotionEnv(text, **knobs), theirs(name)
    for seed in (0, 7):
        np.testing.assert_array_equal(ours.reset(seed=seed)[0], other.reset(seed=seed)[0])
        np.testing.assert_array_equal(ours.reset()[0], other.reset()[0])


@pytest.mark.parametrize("name", PAIRS)
def test_the_spaces_are_equal(name: str) -> None:
    text, knobs = PAIRS[name]
    for root in (False, True):
        ours = LocomotionEnv(text, observe_root=root, **knobs)
        other = theirs(name, exclude_current_positions_from_observation=not root)
        assert ours.observation_space == other.observation_space
        assert ours.action_space == other.action_space
        assert ours.metadata["render_fps"] == other.metadata["render_fps"]


@pytest.mark.parametrize("name", PAIRS)
def test_difference_warm_start(name: str) -> None:
    """Gymnasium's own `set_state` differs by what the contact solver leaves open, not by the state."""
    text, knobs = PAIRS[name]
    ours, other = LocomotionEnv(text, rules="gymnasium", **knobs), theirs(name)
    rng = np.random.default_rng(1)
    for _ in range(20):
        state = drawn_state(ours, rng)
        ours.reset(options={"state": state})
        other.set_state(state[: other.model.nq], state[other.model.nq :])
        action = drawn_action(ours, rng)
        np.testing.assert_allclose(ours.step(action)[0], other.step(action)[0], atol=1e-6)


@pytest.mark.parametrize("name", PAIRS)
def test_difference_clipped_control_cost(name: str) -> None:
    """Beyond the control range the body feels the clipped action; the paper charges what it feels, Gymnasium what was asked."""
    text, knobs = PAIRS[name]
    paper, ours, other = LocomotionEnv(text, **knobs), LocomotionEnv(text, rules="gymnasium", **knobs), theirs(name)
    rng = np.random.default_rng(2)
    low, high = ours.task.robot.control_range
    state, action = drawn_state(ours, rng), np.where(np.arange(len(low)) % 2, 2.5 * low, 1.5 * high)
    for env in (paper, ours):
        env.reset(options={"state": state})
    put(other, state)
    observation, reward, *_ = paper.step(action)
    raw_observation, raw_reward, *_ = ours.step(action)
    np.testing.assert_array_equal(observation, raw_observation)
    assert raw_reward == pytest.approx(other.step(action)[1], abs=1e-12)
    cost = paper.task.rules.control_cost
    excess = np.square(action).sum() - np.square(np.clip(action, -1, 1)).sum()
    assert excess > 1.0
    assert reward - raw_reward == pytest.approx(cost * excess, abs=1e-12)


def test_difference_alive_bonus_on_the_fall_step() -> None:
    """The paper, like Gymnasium up to v4, pays the alive bonus on the step that falls; v5 does not."""
    paper, ours, other = LocomotionEnv("hopper"), LocomotionEnv("hopper", rules="gymnasium"), theirs("Hopper-v5")
    for env in (paper, ours):
        env.reset(options={"state": falling_hopper()})
    put(other, falling_hopper())
    action = np.zeros(3)
    _, paid, fell, _, _ = paper.step(action)
    _, unpaid, fell_too, _, _ = ours.step(action)
    assert fell
    assert fell_too
    assert unpaid == pytest.approx(other.step(action)[1], abs=1e-12)
    assert paid - unpaid == pytest.approx(1.0, abs=1e-12)


def test_difference_foot_friction() -> None:
    """The paper's Walker2d has 0.9 under both feet, Gymnasium's v5 1.9; nothing else differs."""
    model = theirs("Walker2d-v5").model
    feet = [model.geom("foot_geom").id, model.geom("foot_left_geom").id]
    np.testing.assert_array_equal(model.geom_friction[feet, 0], 1.9)
    ours = parse_robot("walker2d").model.geom_friction.copy()
    np.testing.assert_array_equal(ours[feet, 0], 0.9)
    ours[feet, 0] = 1.9
    np.testing.assert_array_equal(ours, model.geom_friction)
    np.testing.assert_array_equal(parse_robot("walker2d:friction=1.9").model.geom_friction, model.geom_friction)


@pytest.mark.parametrize("name", PAIRS)
def test_difference_observed_root(name: str) -> None:
    """The paper's policies see the root position; Gymnasium hides it by default, and so do we."""
    text, _ = PAIRS[name]
    hidden, seen = Locomotion(parse_robot(text)), Locomotion(parse_robot(text), observe_root=True)
    moment = hidden.start(np.random.default_rng(3), 4)
    entries = {"Swimmer-v5": 2}.get(name, 1)
    np.testing.assert_array_equal(seen.observe(moment)[:, entries:], hidden.observe(moment))
    np.testing.assert_array_equal(seen.observe(moment)[:, :entries], moment.states[:, :entries])
    assert theirs(name).observation_structure["skipped_qpos"] == entries
