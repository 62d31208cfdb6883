# SPDX-License-Identifier: MIT
import dataclasses
from pathlib import Path

import numpy as np
import pytest

from imitable import seeding
from imitable.policies.acting import act, controls
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.batch import Batch
from imitable.sim.rollout import EPISODES_AT_ONCE, Collector, Segment, episodes
from imitable.sim.task import End, Locomotion, Moment, Task
from imitable.types import Floats, Policy

ARRAYS = (
    "observations",
    "inputs",
    "next_inputs",
    "units",
    "rewards",
    "terminated",
    "truncated",
    "absorbing",
    "returns",
    "lengths",
)


def short_task(text: str, horizon: int = 12) -> Locomotion:
    """Return a task whose episodes end early."""
    body = parse_robot(text)
    assert body.family.rules is not None
    rules = dataclasses.replace(body.family.rules, horizon=horizon)
    return Locomotion(Robot(dataclasses.replace(body.family, rules=rules), body.values))


def random_policy(task: Task, seed: int = 0, log_std: float = -0.5) -> Policy:
    rng, size, width = np.random.default_rng(seed), task.observation_size, task.robot.control_range.shape[1]
    return Policy(
        weights=(rng.normal(size=(size, 16)) / 4, rng.normal(size=(16, width)) / 4),
        biases=(np.zeros(16), np.zeros(width)),
        log_std=np.full(width, log_std),
        observation_mean=np.zeros(size),
        observation_std=np.ones(size),
        action_centre=np.zeros(width),
        action_half_range=np.ones(width),
    )


def assert_same(one: Segment, other: Segment) -> None:
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    np.testing.assert_array_equal(one.moments.states, other.moments.states)
    np.testing.assert_array_equal(one.after.states, other.after.states)


class TestStaggered:
    def test_only_whole_episodes_are_reported(self) -> None:
        """All begin together and none falls: the clocks alone end the first ones, each after another number of steps."""
        task = short_task("swimmer", 12)
        collector = Collector(task, 40, seed=3, staggered=True)
        first = collector.collect(random_policy(task), 12)
        ends = np.argwhere(first.truncated)
        assert len(set(ends[:, 0])) > 6, "they end at different times"
        assert len(ends) > len(first.lengths), "of those, the first are cut"
        second = collector.collect(random_policy(task), 12)
        assert set(first.lengths) | set(second.lengths) == {12}
        assert len(second.lengths) == 40

    def test_a_snapshot_knows_which_are_cut(self) -> None:
        task = short_task("swimmer", 12)
        collector = Collector(task, 8, seed=3, staggered=True)
        collector.collect(random_policy(task), 5)
        kept = collector.snapshot()
        whole = collector.collect(random_policy(task), 14)
        again = Collector(task, 8, seed=3)
        again.restore(*kept)
        assert_same(again.collect(random_policy(task), 14), whole)


class TestCollector:
    def test_a_segment_is_what_a_plain_batch_does(self) -> None:
        task = short_task("hopper", horizon=1000)
        policy, collector = random_policy(task), Collector(task, 4, seed=0)
        segment = collector.collect(policy, 8)
        assert not (segment.terminated | segment.truncated).any()
        batch, moments = Batch(task.robot, 4), segment.moments
        batch.set_state(moments.states[:4])
        for t in range(8):
            np.testing.assert_array_equal(batch.states, moments.states.reshape(8, 4, -1)[t])
            batch.step(controls(policy, segment.units[t]))
            np.testing.assert_array_equal(batch.states, segment.after.states.reshape(8, 4, -1)[t])
        expected = task.reward(moments, controls(policy, segment.units.reshape(32, -1)), segment.after)
        np.testing.assert_array_equal(segment.rewards.ravel(), expected)
        np.testing.assert_array_equal(segment.observations.reshape(32, -1), task.observe(moments))

    def test_truncates_at_the_horizon_and_restarts(self) -> None:
        task = short_task("swimmer")
        collector = Collector(task, 3, seed=0)
        segment = collector.collect(random_policy(task), 30)
        ends = np.flatnonzero(segment.truncated.any(axis=1))
        assert ends.tolist() == [11, 23]
        assert segment.truncated[ends].all()
        assert not segment.terminated.any()
        assert not segment.absorbing.any()
        steps = segment.moments.steps.reshape(30, 3)
        assert steps[:, 0].tolist() == [*range(12), *range(12), *range(6)]
        states = segment.moments.states.reshape(30, 3, -1)
        assert np.abs(states[12] - task.robot.start).max() < 1.0
        after = segment.after.states.reshape(30, 3, -1)
        assert not np.array_equal(after[11], states[12]), "the end is kept, not overwritten by the restart"
        np.testing.assert_array_equal(after[:11], states[1:12])
        assert segment.lengths.tolist() == [12] * 6

    def test_a_fall_terminates_and_is_absorbing(self) -> None:
        task = short_task("hopper", horizon=40)
        segment = Collector(task, 8, seed=1).collect(random_policy(task, log_std=0.0), 120)
        assert segment.terminated.any()
        assert segment.truncated.any()
        np.testing.assert_array_equal(segment.terminated, segment.absorbing)
        assert not (segment.terminated & segment.truncated).any()
        fallen = task.end(segment.after).terminated.reshape(120, 8)
        np.testing.assert_array_equal(segment.terminated, fallen)
        clock = segment.moments.steps.reshape(120, 8) == 39
        np.testing.assert_array_equal(segment.truncated, clock & ~fallen)

    def test_returns_and_lengths_equal_a_naive_count(self) -> None:
        task = short_task("hopper", horizon=30)
        policy, collector = random_policy(task, log_std=0.0), Collector(task, 5, seed=2)
        sums, counts = np.zeros(5), np.zeros(5, int)
        for _ in range(4):
            segment, returns, lengths = collector.collect(policy, 25), [], []
            for t in range(25):
                for i in range(5):
                    sums[i] += segment.rewards[t, i]
                    counts[i] += 1
                    if segment.terminated[t, i] or segment.truncated[t, i]:
                        returns.append(sums[i])
                        lengths.append(counts[i])
                        sums[i], counts[i] = 0.0, 0
            np.testing.assert_allclose(segment.returns, returns, rtol=1e-9)
            assert segment.lengths.tolist() == lengths

    def test_the_same_seed_gives_the_same_bits_on_any_threads(self) -> None:
        task = short_task("walker2d:noise=0.1")
        segments = [Collector(task, 6, seed=3, threads=n).collect(random_policy(task), 20) for n in (1, 1, 3)]
        assert_same(segments[0], segments[1])
        assert_same(segments[0], segments[2])
        other = Collector(task, 6, seed=4).collect(random_policy(task), 20)
        assert not np.array_equal(segments[0].rewards, other.rewards)

    def test_a_snapshot_goes_on_to_the_same_bits(self) -> None:
        task = short_task("hopper:noise=0.2", horizon=25)
        policy, collector = random_policy(task, log_std=0.0), Collector(task, 5, seed=5)
        collector.collect(policy, 33)
        snapshot = collector.snapshot()
        first = [collector.collect(policy, 40) for _ in range(2)]
        assert first[0].lengths.size > 5
        other = Collector(task, 5, seed=99)
        other.collect(policy, 7)
        for fresh in (other, collector):
            fresh.restore(*snapshot)
            for segment in first:
                assert_same(segment, fresh.collect(policy, 40))

    def test_noise_moves_the_body_but_not_the_recorded_action(self) -> None:
        quiet, noisy = short_task("hopper"), short_task("hopper:noise=0.3")
        policy = random_policy(quiet)
        one, other = (Collector(task, 4, seed=6).collect(policy, 5) for task in (quiet, noisy))
        np.testing.assert_array_equal(one.moments.states[:4], other.moments.states[:4])
        np.testing.assert_array_equal(one.units[0], other.units[0])
        assert not np.array_equal(one.after.states[:4], other.after.states[:4])
        cost = quiet.rules.control_cost * np.square(np.clip(controls(policy, other.units[0]), -1, 1)).sum(axis=1)
        speed = (other.after.states[:4, 0] - other.moments.states[:4, 0]) / quiet.robot.layout.period_s
        np.testing.assert_allclose(other.rewards[0], speed + 1.0 - cost, rtol=1e-12)


class TestUnstable:
    @pytest.mark.parametrize("value", [np.nan, 1e12])
    def test_is_flagged_ended_and_restarted_and_does_not_spread(self, value: float) -> None:
        task = short_task("swimmer", horizon=1000)
        policy, sound, hurt = random_policy(task), Collector(task, 4, seed=0), Collector(task, 4, seed=0)
        for collector in (sound, hurt):
            collector.collect(policy, 5)
        good = hurt.batch.states[1].copy()
        hurt.batch.set_state(np.full((1, 10), value), np.array([1]))
        one, other = sound.collect(policy, 20), hurt.collect(policy, 20)
        assert (one.unstable, other.unstable) == (0, 1)
        assert not one.truncated.any()
        assert np.argwhere(other.truncated).tolist() == [[0, 1]]
        assert not other.terminated.any()
        assert not other.absorbing.any()
        others = [0, 2, 3]
        for name in ("observations", "next_inputs", "units", "rewards"):
            np.testing.assert_array_equal(getattr(one, name)[:, others], getattr(other, name)[:, others], err_msg=name)
        np.testing.assert_array_equal(
            one.after.states.reshape(20, 4, -1)[:, others], other.after.states.reshape(20, 4, -1)[:, others]
        )
        assert np.isfinite(other.after.states).all()
        np.testing.assert_array_equal(other.after.states[1], good, err_msg="it stands at its last good state")
        assert np.isfinite(other.rewards).all()
        assert other.lengths.tolist() == [6]
        assert other.moments.steps.reshape(20, 4)[:, 1].tolist() == [5, *range(19)]
        restarted = other.moments.states.reshape(20, 4, -1)[1, 1]
        assert np.abs(restarted - task.robot.start).max() < 1.0

    def test_an_episode_ends_before_it(self, slider_path: Path) -> None:
        slider_path.write_text(slider_path.read_text().replace('range="-1 1" damping="0.1"', 'stiffness="-1000"'))
        task = Runaway(parse_robot(str(slider_path)))
        policy = random_policy(task)
        for trajectory, rewards in episodes(task, policy, [0, 1]):
            assert 5 < len(trajectory) < task.horizon
            assert not trajectory.terminated
            assert len(rewards) == len(trajectory)
        segment = Collector(task, 2, seed=0).collect(policy, 100)
        assert segment.unstable == segment.truncated.sum() == segment.lengths.size > 2
        assert np.isfinite(segment.after.states).all()


@dataclasses.dataclass(frozen=True)
class Runaway:
    """A body whose spring pushes it away ever faster, under a task that never notices."""

    robot: Robot
    horizon: int = 500
    observation_size: int = 2

    def start(self, rng: np.random.Generator, n: int) -> Moment:
        return Moment(rng.uniform(0.1, 0.2, (n, 2)), np.zeros(n, np.int64), np.zeros((n, 0), np.int64))

    def observe(self, moment: Moment) -> Floats:
        return moment.states

    def reward(self, moment: Moment, actions: Floats, after: Moment) -> Floats:
        del moment, actions
        return after.states[:, 0]

    def end(self, after: Moment) -> End:
        never = np.zeros(len(after.states), bool)
        return End(never, never)


class TestEpisodes:
    def play(
        self, task: Locomotion, seeds: list[int], sampled: bool = False, threads: int = 1
    ) -> list[tuple[Floats, Floats, Floats]]:
        played = episodes(task, random_policy(task, log_std=0.0), seeds, sampled=sampled, threads=threads)
        return [(trajectory.states, trajectory.actions, rewards) for trajectory, rewards in played]

    @pytest.mark.parametrize("sampled", [False, True])
    def test_an_episode_depends_on_its_own_seed_alone(self, sampled: bool) -> None:
        task = short_task("hopper:noise=0.1", horizon=60)
        seeds = list(range(100, 100 + EPISODES_AT_ONCE + 6))
        many = self.play(task, seeds, sampled)
        assert len({len(states) for states, _, _ in many}) > 1, "some fall earlier than others"
        for position in (0, 3, 6, 7, 11, EPISODES_AT_ONCE - 1, EPISODES_AT_ONCE, EPISODES_AT_ONCE + 5):
            alone = self.play(task, [seeds[position]], sampled)[0]
            reordered = self.play(task, [7, 8, seeds[position]], sampled, threads=2)[2]
            for one, other, third in zip(many[position], alone, reordered, strict=True):
                np.testing.assert_array_equal(one, other)
                np.testing.assert_array_equal(one, third)

    def test_a_trajectory_tells_where_it_came_from(self) -> None:
        task = short_task("hopper:gravity=15", horizon=200)
        for seed, (trajectory, rewards) in zip((3, 4), episodes(task, random_policy(task), [3, 4]), strict=True):
            assert trajectory.demonstrator == "hopper:gravity=15"
            assert trajectory.seed == seed
            assert trajectory.total_return == pytest.approx(rewards.sum())
            assert trajectory.terminated == bool(len(trajectory) < 200)
            assert len(rewards) == len(trajectory)

    def test_the_clock_does_not_terminate(self) -> None:
        task = short_task("swimmer")
        trajectory, _ = next(iter(episodes(task, random_policy(task), [0])))
        assert len(trajectory) == 12
        assert not trajectory.terminated

    def test_actions_are_the_policy_s_and_noise_is_not_recorded(self) -> None:
        task = short_task("hopper:noise=0.3")
        policy = random_policy(task)
        (trajectory, rewards), (quiet, _) = (next(iter(episodes(each, policy, [11]))) for each in (task, short_task("hopper")))
        steps = np.arange(len(trajectory))
        before = Moment(trajectory.states[:-1], steps, np.zeros((len(steps), 0), np.int64))
        after = Moment(trajectory.states[1:], steps + 1, before.context)
        np.testing.assert_allclose(trajectory.actions, act(policy, task.observe(before)), atol=1e-6)
        np.testing.assert_array_equal(rewards, task.reward(before, trajectory.actions, after))
        np.testing.assert_array_equal(trajectory.states[0], quiet.states[0])
        np.testing.assert_array_equal(trajectory.actions[0], quiet.actions[0])
        assert not np.array_equal(trajectory.states[1], quiet.states[1])

    def test_the_noise_is_that_of_the_knob(self) -> None:
        """u = a + noise · half_range · ξ, ξ drawn from the episode's own seed."""
        task = short_task("hopper:noise=0.3")
        trajectory, _ = next(iter(episodes(task, random_policy(task), [11])))
        batch, draws = Batch(task.robot, 1), seeding.generator(11, "actuation").standard_normal((12, 3))
        batch.set_state(trajectory.states[:1])
        for t, action in enumerate(trajectory.actions):
            batch.step((action + 0.3 * draws[t])[None])
            np.testing.assert_array_equal(batch.states[0], trajectory.states[t + 1])

    def test_sampled_actions_differ_from_mean_ones(self) -> None:
        task = short_task("swimmer")
        sampled, mean = self.play(task, [0], sampled=True)[0], self.play(task, [0])[0]
        np.testing.assert_array_equal(sampled[0][0], mean[0][0])
        assert not np.array_equal(sampled[1][0], mean[1][0])
