# SPDX-License-Identifier: MIT
import os
import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from imitable.envs.gym_env import ENVIRONMENTS, LocomotionEnv, LocomotionVectorEnv, register
from imitable.errors import BadKnobValue, BadOption, ImitableError, UnknownKnob
from imitable.robots.parse import ROBOTS, parse_robot
from imitable.sim.task import Locomotion

BODIES = {
    "imitable/Swimmer-v0": ({"front": 50, "back": 10}, "swimmer:front=50,back=10"),
    "imitable/Walker2d-v0": ({"friction": 24.9}, "walker2d:friction=24.9"),
    "imitable/HalfCheetah-v0": ({"front": 0.01, "noise": 0.1}, "half_cheetah:front=0.01,noise=0.1"),
    "imitable/Hopper-v0": ({"gravity": 15, "noise": 0.2}, "hopper:gravity=15,noise=0.2"),
}


def assert_same(one: Any, other: Any, what: str = "") -> None:
    """Compare what environments return: keys, types and bits."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for name in one:
            assert_same(one[name], other[name], name)
    elif isinstance(one, tuple):
        for entry, (first, second) in enumerate(zip(one, other, strict=True)):
            assert_same(first, second, f"{what}[{entry}]")
    else:
        assert (one.dtype, one.shape) == (other.dtype, other.shape), what
        np.testing.assert_array_equal(one, other, err_msg=what)


def actions_of(envs: LocomotionVectorEnv | Any, steps: int) -> np.ndarray:
    shape = (steps, *envs.action_space.shape)
    return np.random.default_rng(0).uniform(-1.2, 1.2, shape).astype(np.float32)


def huge(env: Any) -> np.ndarray:
    """Return a state that no simulator survives."""
    return np.full(len(env.task.robot.start), 1e12)


class TestRegistry:
    @pytest.mark.parametrize("name", BODIES)
    def test_make_turns_the_knobs(self, name: str) -> None:
        knobs, text = BODIES[name]
        env = gymnasium.make(name, **knobs)
        assert env.unwrapped.task == Locomotion(parse_robot(text))
        envs = gymnasium.make_vec(name, num_envs=2, **knobs)
        assert isinstance(envs, LocomotionVectorEnv)
        assert envs.task == Locomotion(parse_robot(text))
        env.close()
        envs.close()

    def test_an_id_that_names_the_module_needs_no_import(self) -> None:
        made = "gymnasium.make('imitable.envs.gym_env:imitable/Hopper-v0', gravity=15)"
        program = f"import gymnasium; print({made}.unwrapped.task.robot)"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "hopper:gravity=15"

    def test_registering_twice_is_silent(self) -> None:
        before = dict(gymnasium.registry)
        register()
        assert dict(gymnasium.registry) == before

    def test_every_built_in_robot_is_there(self) -> None:
        assert sorted(ENVIRONMENTS.values()) == sorted(ROBOTS)

    @pytest.mark.parametrize("name", BODIES)
    def test_a_spec_makes_the_same_environment_again(self, name: str) -> None:
        knobs, _ = BODIES[name]
        env = gymnasium.make(name, rules="gymnasium", observe_root=True, **knobs)
        assert env.spec is not None
        again = gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json()))
        assert again.unwrapped.task == env.unwrapped.task


@pytest.mark.filterwarnings("ignore:.*Box observation space (min|max)imum value is -?infinity.*:UserWarning")
@pytest.mark.parametrize("rules", ["paper", "gymnasium"])
@pytest.mark.parametrize("name", BODIES)
def test_gymnasium_s_checker_passes(name: str, rules: str) -> None:
    knobs, _ = BODIES[name]
    check_env(gymnasium.make(name, rules=rules, **knobs).unwrapped, skip_render_check=True)


class TestOptions:
    def test_rules(self) -> None:
        assert LocomotionEnv("hopper").task == Locomotion(parse_robot("hopper"))
        task = LocomotionEnv("hopper", rules="gymnasium").task
        assert (task.clipped_cost, task.bonus_on_fall) == (False, False)

    def test_observe_root(self) -> None:
        hidden, seen = LocomotionEnv("swimmer"), LocomotionEnv("swimmer", observe_root=True)
        assert (hidden.observation_space.shape, seen.observation_space.shape) == ((8,), (10,))
        np.testing.assert_array_equal(hidden.reset(seed=0)[0], seen.reset(seed=0)[0][2:])
        assert seen.step(np.zeros(2))[0].shape == (10,)

    def test_a_knob_may_be_any_number(self) -> None:
        for value in (15, 15.0, np.float64(15), np.int64(15), np.float32(15), "15"):
            assert LocomotionEnv("hopper", gravity=value).task.robot == parse_robot("hopper:gravity=15")

    @pytest.mark.parametrize("make", [LocomotionEnv, lambda *args, **kwargs: LocomotionVectorEnv(2, *args, **kwargs)])
    @pytest.mark.parametrize(
        ("options", "kind", "words"),
        [
            ({"gravitty": 15}, UnknownKnob, ("did you mean 'gravity'?", "noise", "rules")),
            ({"friction": 1}, UnknownKnob, ("gravity",)),
            ({"observ_root": True}, UnknownKnob, ("did you mean 'observe_root'?",)),
            ({"gravity": 1000}, BadKnobValue, ("gravity=1000", "between 0 and 100")),
            ({"gravity": float("nan")}, BadKnobValue, ("gravity=nan",)),
            ({"gravity": None}, BadKnobValue, ("gravity=None",)),
            ({"gravity": "15,noise=1"}, BadKnobValue, ("gravity=15,noise=1",)),
            ({"noise": -0.1}, BadKnobValue, ("noise=-0.1",)),
            ({"rules": "papper"}, BadOption, ("did you mean 'paper'?", "gymnasium")),
            ({"render_mode": "ansi"}, BadOption, ("rgb_array",)),
            ({"max_episode_steps": 0}, BadOption, ("from 1 to 1000",)),
        ],
    )
    def test_refusals(self, make: Any, options: dict[str, Any], kind: type[ImitableError], words: tuple[str, ...]) -> None:
        with pytest.raises(kind) as caught:
            make("hopper", **options)
        assert all(word in str(caught.value) for word in words)
        assert "\n" not in str(caught.value)

    def test_refusals_come_through_make(self) -> None:
        with pytest.raises(UnknownKnob, match="gravity"):
            gymnasium.make("imitable/Hopper-v0", gravitty=15)
        with pytest.raises(BadOption, match="at least 1"):
            gymnasium.make_vec("imitable/Hopper-v0", num_envs=0)


class TestSingle:
    def test_a_state_of_one_s_own(self) -> None:
        env = LocomotionEnv("hopper")
        state = parse_robot("hopper").start + 0.01
        observation, info = env.reset(options={"state": state})
        np.testing.assert_array_equal(info["state"], state)
        np.testing.assert_array_equal(observation, state[1:])
        assert (info["absorbing"], info["unstable"]) == (False, False)

    @pytest.mark.parametrize(
        "options",
        [{"state": np.zeros(3)}, {"state": np.full(12, np.nan)}, {"states": np.zeros(12)}, {"reset_mask": np.ones(1, bool)}],
    )
    def test_options_that_are_not_allowed(self, options: dict[str, Any]) -> None:
        with pytest.raises(BadOption, match="reset option"):
            LocomotionEnv("hopper").reset(options=options)

    @pytest.mark.parametrize("action", [np.zeros(2), np.zeros((1, 3)), np.zeros(()), np.zeros(4)])
    def test_an_action_of_another_shape(self, action: np.ndarray) -> None:
        env = LocomotionEnv("hopper")
        env.reset(seed=0)
        with pytest.raises(BadOption, match="3 numbers"):
            env.step(action)

    def test_a_fall_is_terminated_and_absorbing(self) -> None:
        env = LocomotionEnv("hopper")
        env.reset(seed=0)
        while True:
            _, _, terminated, truncated, info = env.step(np.ones(3))
            if terminated:
                break
        assert not truncated
        assert (info["absorbing"], info["unstable"]) == (True, False)

    @pytest.mark.parametrize("state", [np.full(10, 1e12), np.full(10, 1e200)])
    def test_an_unstable_simulation_truncates_and_the_last_good_state_is_observed(self, state: np.ndarray) -> None:
        env = LocomotionEnv("swimmer")
        env.reset(seed=0, options={"state": state})
        observation, reward, terminated, truncated, info = env.step(np.zeros(2))
        assert (terminated, truncated) == (False, True)
        assert (info["absorbing"], info["unstable"]) == (False, True)
        np.testing.assert_array_equal(info["state"], state)
        assert np.isfinite(observation).all()
        assert np.isfinite(reward)
        env.reset(seed=0)
        fresh = LocomotionEnv("swimmer")
        fresh.reset(seed=0)
        for _ in range(5):
            np.testing.assert_array_equal(env.step(np.ones(2))[0], fresh.step(np.ones(2))[0])

    def test_an_action_that_is_no_number_is_unstable(self) -> None:
        env = LocomotionEnv("swimmer")
        env.reset(seed=0)
        _, _, _, truncated, info = env.step(np.array([np.nan, 0.0]))
        assert truncated
        assert info["unstable"]

    def test_noise_comes_from_the_seed(self) -> None:
        ends = []
        for seed in (0, 0, 1):
            env = LocomotionEnv("swimmer", noise=0.3)
            env.reset(seed=seed, options={"state": parse_robot("swimmer").start})
            ends.append([env.step(np.zeros(2))[0].tolist() for _ in range(3)][-1])
        assert ends[0] == ends[1]
        assert ends[0] != ends[2]

    def test_nothing_is_drawn_without_a_render_mode(self) -> None:
        env = LocomotionEnv("hopper")
        env.reset(seed=0)
        assert env.render() is None
        env.close()
        env.close()


class TestClock:
    def test_the_task_s_horizon_truncates_once(self) -> None:
        env = gymnasium.make("imitable/Swimmer-v0")
        assert env.spec is not None
        assert env.spec.max_episode_steps is None
        env.reset(seed=0)
        ends = [env.step(np.zeros(2))[2:4] for _ in range(1000)]
        assert ends[-1] == (False, True)
        assert not any(terminated or truncated for terminated, truncated in ends[:-1])

    def test_gymnasium_s_own_wrapper_may_cut_earlier(self) -> None:
        env = gymnasium.make("imitable/Swimmer-v0", max_episode_steps=7)
        env.reset(seed=0)
        assert [env.step(np.zeros(2))[3] for _ in range(7)] == [False] * 6 + [True]

    @pytest.mark.parametrize(("given", "limit"), [(7, 7), (-1, 1000), (5000, 1000)])
    def test_make_vec_may_cut_earlier_but_not_later(self, given: int, limit: int) -> None:
        envs = gymnasium.make_vec("imitable/Swimmer-v0", num_envs=1, max_episode_steps=given)
        envs.reset(seed=0)
        truncated = [bool(envs.step(np.zeros((1, 2)))[3][0]) for _ in range(limit)]
        assert truncated == [False] * (limit - 1) + [True]


class TestVector:
    @pytest.mark.parametrize("name", BODIES)
    def test_equals_single_environments_bit_for_bit(self, name: str) -> None:
        """One batch against Gymnasium's loop over single environments, through falls, cuts, restarts and noise."""
        knobs, _ = BODIES[name]
        shared: dict[str, Any] = {"num_envs": 5, "max_episode_steps": 45, **knobs}
        native = gymnasium.make_vec(name, vectorization_mode="vector_entry_point", threads=2, **shared)
        loop = gymnasium.make_vec(name, vectorization_mode="sync", **shared)
        assert native.observation_space == loop.observation_space
        assert native.action_space == loop.action_space
        assert_same(native.reset(seed=3), loop.reset(seed=3))
        cuts = falls = 0
        for action in actions_of(native, 100):
            one, other = native.step(action), loop.step(action)
            # Gymnasium's wrapper also calls a fall in the very last step truncated; ours keeps the two apart
            other = (*other[:3], other[3] & ~other[2], other[4])
            assert_same(one, other)
            falls, cuts = falls + one[2].sum(), cuts + one[3].sum()
        assert falls + cuts > 5
        assert_same(native.reset(seed=[9, None, 8, None, 7]), loop.reset(seed=[9, None, 8, None, 7]))
        assert_same(native.reset(), loop.reset())

    def test_the_step_after_an_end_restarts(self) -> None:
        envs = LocomotionVectorEnv(3, "swimmer", max_episode_steps=2)
        assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
        envs.reset(seed=0)
        envs.step(np.zeros((3, 2)))
        last, _, _, truncated, infos = envs.step(np.ones((3, 2)))
        assert truncated.all()
        assert "final_obs" not in infos, "the last observation is returned itself"
        np.testing.assert_array_equal(last, infos["state"][:, 2:])
        first, rewards, terminated, truncated, _ = envs.step(np.ones((3, 2)))
        assert not rewards.any()
        assert not (terminated | truncated).any()
        assert np.abs(first).max() <= 0.1
        assert envs.step(np.ones((3, 2)))[1].all()

    def test_an_unstable_simulation_ends_and_does_not_spread(self) -> None:
        sound, hurt = (LocomotionVectorEnv(4, "swimmer") for _ in range(2))
        states = np.tile(parse_robot("swimmer").start, (4, 1))
        sound.reset(seed=0, options={"state": states})
        states[2] = huge(hurt)
        hurt.reset(seed=0, options={"state": states})
        others = [0, 1, 3]
        for t, action in enumerate(actions_of(sound, 20)):
            one, other = sound.step(action), hurt.step(action)
            for first, second in zip(one[:4], other[:4], strict=True):
                np.testing.assert_array_equal(first[others], second[others])
            assert np.isfinite(other[0]).all()
            assert other[3].tolist() == [False, False, t == 0, False]
            assert other[4]["unstable"].tolist() == [False, False, t == 0, False]
            assert not other[2].any()
        assert np.abs(other[0][2]).max() < 50

    def test_all_may_end_at_once(self) -> None:
        envs = LocomotionVectorEnv(2, "swimmer", max_episode_steps=1)
        envs.reset(seed=0)
        ends = [envs.step(np.zeros((2, 2)))[3].tolist() for _ in range(4)]
        assert ends == [[True, True], [False, False]] * 2

    def test_a_mask_resets_some(self) -> None:
        """As Gymnasium's own vector environments do it."""
        native = gymnasium.make_vec("imitable/Hopper-v0", num_envs=3)
        loop = gymnasium.make_vec("imitable/Hopper-v0", num_envs=3, vectorization_mode="sync")
        for envs in (native, loop):
            envs.reset(seed=0)
            envs.step(np.ones((3, 3), np.float32))
        mask = np.array([True, False, True])
        results = [envs.reset(seed=5, options={"reset_mask": mask.copy()}) for envs in (native, loop)]
        assert_same(*results)
        assert_same(native.step(np.ones((3, 3), np.float32)), loop.step(np.ones((3, 3), np.float32)))

    @pytest.mark.parametrize(
        "options",
        [
            {"reset_mask": np.ones(2, bool)},
            {"reset_mask": np.zeros(3, bool)},
            {"reset_mask": np.ones(3)},
            {"mask": np.ones(3, bool)},
            {"state": np.zeros((2, 12))},
        ],
    )
    def test_options_that_are_not_allowed(self, options: dict[str, Any]) -> None:
        with pytest.raises(BadOption, match="reset option"):
            LocomotionVectorEnv(3, "hopper").reset(options=options)

    def test_seeds_of_another_number(self) -> None:
        with pytest.raises(BadOption, match="give one number, or 3"):
            LocomotionVectorEnv(3, "hopper").reset(seed=[1, 2])

    def test_one_state_may_start_all(self) -> None:
        envs = LocomotionVectorEnv(3, "hopper")
        start = parse_robot("hopper").start
        _, infos = envs.reset(options={"state": start})
        np.testing.assert_array_equal(infos["state"], np.tile(start, (3, 1)))
        assert infos["_state"].all()

    def test_what_was_returned_does_not_change_later(self) -> None:
        envs = LocomotionVectorEnv(3, "swimmer")
        kept = envs.reset(seed=0)
        copies = kept[0].copy(), kept[1]["state"].copy()
        envs.step(np.ones((3, 2)))
        np.testing.assert_array_equal(kept[0], copies[0])
        np.testing.assert_array_equal(kept[1]["state"], copies[1])

    def test_an_action_of_another_shape(self) -> None:
        envs = LocomotionVectorEnv(3, "hopper")
        envs.reset(seed=0)
        with pytest.raises(BadOption, match="3 numbers for each of 3 bodies"):
            envs.step(np.zeros(3))

    def test_gymnasium_s_statistics_count_returns(self) -> None:
        envs: Any = RecordEpisodeStatistics(gymnasium.make_vec("imitable/Hopper-v0", num_envs=2, max_episode_steps=10))
        envs.reset(seed=0)
        total = np.zeros(2)
        for _ in range(10):
            _, rewards, _, truncated, infos = envs.step(np.zeros((2, 3)))
            total += rewards
        assert truncated.all()
        np.testing.assert_allclose(infos["episode"]["r"], total)
        assert infos["episode"]["l"].tolist() == [10, 10]


RENDERING = """
import gymnasium, imitable.envs.gym_env
from imitable.errors import BadOption
env = gymnasium.make("imitable/Hopper-v0", render_mode="rgb_array")
env.reset(seed=0)
try:
    frame = env.render()
except BadOption as error:
    raise SystemExit(f"no drawing: {error}")
assert frame.shape == (480, 480, 3) and frame.std() > 1, frame.std()
env.close()
envs = gymnasium.make_vec("imitable/Hopper-v0", num_envs=2, render_mode="rgb_array")
envs.reset(seed=0)
assert len(envs.render()) == 2
envs.close()
print("drawn")
"""


def test_frames_are_drawn_where_the_machine_can() -> None:
    """In a process of its own: a drawing context is chosen once, before MuJoCo is imported."""
    environment = {**os.environ, "MUJOCO_GL": "egl"}
    done = subprocess.run([sys.executable, "-c", RENDERING], capture_output=True, text=True, check=False, env=environment)
    if "no drawing" in done.stderr or "OpenGL" in done.stderr or "EGL" in done.stderr:
        pytest.skip("no OpenGL on this machine")
    assert done.stdout.strip() == "drawn", done.stderr
