# SPDX-License-Identifier: MIT
"""Recording demonstrations: every episode by its own seed, in a stream, on real simulators."""

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from imitable.demos.collect import collect, episode_seed
from imitable.demos.store import read, write
from imitable.errors import BadOption, BadPolicy
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim import rollout
from imitable.sim.task import End, Locomotion, Moment
from imitable.types import Floats, Policy

HOPPER = Locomotion(parse_robot("hopper"))


@dataclass(frozen=True)
class Centre:
    """Keep a cart near the middle of its rail, for 20 steps or until it leaves ±0.9 m."""

    robot: Robot
    horizon: int = 20
    observation_size: int = 2

    def start(self, rng: np.random.Generator, n: int) -> Moment:
        return Moment(rng.uniform(-0.5, 0.5, (n, 2)), np.zeros(n, np.int64), np.zeros((n, 0), np.int64))

    def observe(self, moment: Moment) -> Floats:
        return moment.states

    def reward(self, moment: Moment, actions: Floats, after: Moment) -> Floats:
        return -np.square(after.states[:, 0])

    def end(self, after: Moment) -> End:
        out = np.abs(after.states[:, 0]) > 0.9
        return End(out, out)


def linear_policy(observations: int, actions: int, owner: str = "") -> Policy:
    rng = np.random.default_rng(0)
    return Policy(
        weights=(rng.normal(size=(observations, actions)),),
        biases=(np.zeros(actions),),
        log_std=np.full(actions, -1.0),
        observation_mean=np.zeros(observations),
        observation_std=np.ones(observations),
        action_centre=np.zeros(actions),
        action_half_range=np.ones(actions),
        about={"robot": owner} if owner else {},
    )


POLICY = linear_policy(HOPPER.observation_size, 3)


def hashes(task: Locomotion | Centre, policy: Policy, episodes: int, seed: int, **options: bool | int) -> list[str]:
    return [trajectory.hash for trajectory in collect(task, policy, episodes, seed, **options)]


def test_more_episodes_change_none_of_the_first() -> None:
    few, many = hashes(HOPPER, POLICY, 3, seed=7), hashes(HOPPER, POLICY, 9, seed=7)
    assert many[:3] == few
    assert len(set(many)) == 9
    assert hashes(HOPPER, POLICY, 3, seed=8)[0] != few[0]


def test_threads_change_nothing_and_noise_does() -> None:
    plain = hashes(HOPPER, POLICY, 4, seed=0)
    assert hashes(HOPPER, POLICY, 4, seed=0, threads=2) == plain
    sampled = hashes(HOPPER, POLICY, 4, seed=0, sampled=True)
    assert sampled == hashes(HOPPER, POLICY, 4, seed=0, sampled=True)
    assert not set(sampled) & set(plain)


def test_trajectories_say_where_they_come_from() -> None:
    task = Locomotion(parse_robot("hopper:gravity=15"))
    for index, trajectory in enumerate(collect(task, POLICY, 3, seed=1)):
        assert trajectory.demonstrator == "hopper:gravity=15"
        assert trajectory.seed == episode_seed(task, 1, index)
        assert trajectory.terminated == bool(task.end(Moment(trajectory.states[-1:], np.zeros(1), np.zeros((1, 0)))).terminated)
        assert np.isfinite(trajectory.total_return)
        played, rewards = next(rollout.episodes(task, POLICY, [trajectory.seed]))
        assert played.hash == trajectory.hash
        assert rewards.sum() == trajectory.total_return


def test_two_bodies_recorded_with_one_seed_start_differently() -> None:
    seeds = {
        episode_seed(Locomotion(parse_robot(text)), 0, index)
        for text in ("hopper", "hopper:gravity=15", "swimmer")
        for index in range(100)
    }
    assert len(seeds) == 300
    assert all(0 <= seed < 2**53 for seed in seeds)


def test_a_model_file_goes_by_its_name(slider_path: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere" / slider_path.name
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(slider_path.read_bytes())
    here, there = (Centre(parse_robot(f"{path}:gravity=3")) for path in (slider_path, elsewhere))
    policy = linear_policy(2, 1)
    assert hashes(here, policy, 5, seed=0) == hashes(there, policy, 5, seed=0)
    assert episode_seed(here, 0, 0) != episode_seed(Centre(parse_robot(str(slider_path))), 0, 0)


def test_episodes_stream_to_disk_and_back(slider_path: Path, tmp_path: Path) -> None:
    task, policy = Centre(parse_robot(str(slider_path))), linear_policy(2, 1)
    write(tmp_path / "demos", task.robot.layout, collect(task, policy, 150, seed=3, sampled=True))
    back = read(tmp_path / "demos")
    assert back.layout == task.robot.layout
    assert [episode.hash for episode in back.episodes] == hashes(task, policy, 150, seed=3, sampled=True)
    assert [trajectory.hash for trajectory in back] == [episode.hash for episode in back.episodes]
    assert {episode.demonstrator for episode in back.episodes} == {str(slider_path)}


def test_episodes_are_played_as_they_are_asked_for(slider_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollout, "EPISODES_AT_ONCE", 2)
    endless = collect(Centre(parse_robot(str(slider_path))), linear_policy(2, 1), 10_000, seed=0)
    assert len(list(islice(endless, 3))) == 3


def test_a_policy_of_another_robot_of_the_same_sizes_is_refused() -> None:
    walker = Locomotion(parse_robot("walker2d"))
    cheetah = linear_policy(walker.observation_size, 6, owner="half_cheetah:front=0.05")
    with pytest.raises(BadPolicy, match="another robot than walker2d"):
        collect(walker, cheetah, 1, seed=0)


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        (linear_policy(5, 3), "it maps 5 observations to 3 actions, but hopper has 11 and 3"),
        (linear_policy(11, 2), "it maps 11 observations to 2 actions, but hopper has 11 and 3"),
    ],
)
def test_a_policy_of_another_robot_is_refused_at_once(policy: Policy, reason: str) -> None:
    with pytest.raises(BadPolicy) as caught:
        collect(HOPPER, policy, 1, seed=0)
    assert reason in str(caught.value)


@pytest.mark.parametrize(("episodes", "seed"), [(0, 0), (-3, 0), (1, -1)])
def test_impossible_numbers_are_refused_at_once(episodes: int, seed: int) -> None:
    with pytest.raises(BadOption):
        collect(HOPPER, POLICY, episodes, seed)
