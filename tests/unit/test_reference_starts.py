# SPDX-License-Identifier: MIT
"""Episodes that begin in the middle of a movement: the task is the same but for where they start and what is reported."""

from dataclasses import replace

import numpy as np
import pytest

import imitable as im
from imitable.rl.reward_model import Rewards
from imitable.rl.settings import Ppo
from imitable.rl.train import Trainer
from imitable.sim.reference_starts import ReferenceStarts
from imitable.sim.rollout import Collector, Segment, episodes
from imitable.sim.task import Locomotion, Moment
from imitable.tensors import Arrays
from imitable.types import Floats
from tests.unit.test_rollout import random_policy

TASK = Locomotion(im.robot("hopper"))
SMALL = Ppo(environments=8, length=16, minibatch=64, hidden=(8, 8))


class Nothing:
    """A reward of another kind than the task's: none."""

    def __call__(self, segment: Segment) -> Rewards:
        return Rewards(np.zeros(segment.rewards.shape))

    def snapshot(self) -> tuple[Arrays, dict[str, str]]:
        return {}, {}

    def restore(self, arrays: Arrays, generators: dict[str, str]) -> None:
        del arrays, generators


@pytest.fixture(scope="module")
def hopping() -> Floats:
    """(K, S) states in the middle of hopping."""
    [(trajectory, _)] = episodes(TASK, im.policy_for(TASK.robot), [0])
    return trajectory.states[200:400]


@pytest.mark.parametrize("fraction", [0.0, 0.5, 1.0])
def test_a_part_of_the_episodes_begins_in_the_states(hopping: Floats, fraction: float) -> None:
    start = ReferenceStarts(TASK, fraction, hopping).start(np.random.default_rng(0), 400)
    inside = (start.states[:, None] == hopping[None]).all(axis=2).any(axis=1)
    np.testing.assert_array_equal(inside, start.context[:, -1] == 1)
    assert inside.mean() == pytest.approx(fraction, abs=0.1)
    assert (np.abs(start.states[~inside] - TASK.robot.start) <= TASK.rules.start_noise).all()


def test_it_observes_and_ends_like_the_task_and_pays_what_can_be_compared(hopping: Floats) -> None:
    mixed = ReferenceStarts(TASK, 0.5, hopping)
    before = mixed.start(np.random.default_rng(1), 50)
    states = before.states + 0.2 * np.random.default_rng(2).standard_normal(before.states.shape)
    after = Moment(states, before.steps + 1, before.context)
    bare, bare_after = replace(before, context=before.context[:, :0]), replace(after, context=after.context[:, :0])
    actions = np.zeros((50, 3))
    np.testing.assert_array_equal(mixed.observe(after), TASK.observe(bare_after))
    np.testing.assert_array_equal(mixed.end(after).terminated, TASK.end(bare_after).terminated)
    inside = before.context[:, -1] == 1
    paid = mixed.reward(before, actions, after)
    assert np.isnan(paid[inside]).all()
    np.testing.assert_array_equal(paid[~inside], TASK.reward(bare, actions, bare_after)[~inside])


def test_other_states_are_another_task(hopping: Floats) -> None:
    assert ReferenceStarts(TASK, 0.5, hopping).settings == ReferenceStarts(TASK, 0.5, hopping.copy()).settings
    assert ReferenceStarts(TASK, 0.5, hopping).settings != ReferenceStarts(TASK, 0.5, hopping[1:]).settings
    assert ReferenceStarts(TASK, 0.5, hopping).settings != ReferenceStarts(TASK, 0.4, hopping).settings


def test_what_is_reported_are_whole_episodes(hopping: Floats) -> None:
    fallen = np.tile(hopping[:1], (2, 1))
    fallen[:, 1] = 0.71  # a moment before it counts as fallen: episodes of a few steps
    inside = Trainer(ReferenceStarts(TASK, 1.0, fallen), SMALL, 10_000, seed=0, reward_model=Nothing())
    mixed = Trainer(ReferenceStarts(TASK, 0.5, fallen), SMALL, 10_000, seed=0, reward_model=Nothing())
    assert np.isnan(inside.iterate().mean_return)
    progress = [mixed.iterate() for _ in range(6)][-1]
    assert progress.mean_return > 5  # steps of an alive bonus of 1: those that begin inside end at once
    assert progress.mean_length > 5  # of the same episodes


def test_an_episode_that_began_inside_does_not_hide_the_return_of_the_next(hopping: Floats) -> None:
    collector = Collector(ReferenceStarts(TASK, 0.5, hopping), 8, seed=0)
    segments = [collector.collect(random_policy(TASK), 40) for _ in range(8)]
    ended = [one.terminated | one.truncated for one in segments]
    inside = [
        (one.moments.context[:, -1] == 1).reshape(one.rewards.shape)[over] for one, over in zip(segments, ended, strict=True)
    ]
    assert 10 < np.concatenate(inside).sum() < len(np.concatenate(inside)) - 10
    np.testing.assert_array_equal(np.isnan(np.concatenate([one.returns for one in segments])), np.concatenate(inside))
