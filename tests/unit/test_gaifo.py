# SPDX-License-Identifier: MIT
"""GAIfO: the discriminator's reward, absorbing states, presets."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from imitable.errors import BadOption
from imitable.imitation.features import features
from imitable.imitation.learner import LearningJob
from imitable.imitation.methods import parse_learner
from imitable.imitation.methods.gaifo import DiscriminatorReward, Gaifo
from imitable.imitation.transitions import weighted_transitions
from imitable.nn.networks import Mlp
from imitable.policies.acting import mean, normalised
from imitable.rl.agent import Agent, to_rows
from imitable.rl.experience import Experience
from imitable.rl.reward_model import Rewards, absorbing_steps, terminal_values
from imitable.sim.rollout import Collector, Segment
from imitable.sim.task import Locomotion
from imitable.types import InMemory, Trajectory
from tests.unit.small_imitation import CHEETAH, HOPPER, SMALL, walks


@pytest.mark.parametrize("constant", [-3.0, 0.0, 0.7, 100.0])
def test_under_a_constant_reward_falling_has_no_advantage(constant: float) -> None:
    segment = falling_segment()
    assert segment.absorbing.any()
    discount = 0.99
    rewards = Rewards(np.full(segment.rewards.shape, constant), constant)
    future = terminal_values(segment, rewards, discount)
    size = segment.inputs.shape[2]
    # the critic that is right: the same value everywhere
    critic = Mlp((jnp.zeros((size, 1)),), (jnp.full(1, constant / (1 - discount)),))
    actor = SMALL.begin(LearningJob(walks(body="hopper"), HOPPER, None, 1000, 0)).trainer.agent.actor
    batch = Experience(
        jnp.asarray(segment.inputs),
        jnp.asarray(segment.next_inputs),
        jnp.asarray(segment.units),
        jnp.zeros_like(jnp.asarray(segment.units)),
        jnp.asarray(rewards.rewards, jnp.float32),
        jnp.asarray(future, jnp.float32),
        jnp.asarray(segment.terminated),
        jnp.asarray(segment.terminated | segment.truncated),
        jnp.zeros(segment.terminated.shape[1], bool),
    )
    rows = to_rows(Agent(actor, critic, ()), batch, discount, 0.95)
    gains = rows.targets - critic(rows.inputs)[:, 0]
    np.testing.assert_allclose(gains, 0, atol=2e-5 * max(1.0, abs(constant) / (1 - discount)))


def falling_segment() -> Segment:
    job = LearningJob(walks(body="hopper"), HOPPER, None, 1000, 0)
    policy = SMALL.begin(job).policy
    return Collector(Locomotion(HOPPER), 8, 0).collect(dataclasses.replace(policy, log_std=policy.log_std + 2), 40)


def test_what_is_taken_off_every_reward_is_taken_off_the_absorbing_one_too() -> None:
    transitions = weighted_transitions(walks(body="hopper"), None, 0)
    seen = features(transitions, HOPPER, "delta", normalised=True, root=False)
    reward_model = DiscriminatorReward(SMALL, transitions, seen, 0)
    segment = falling_segment()
    for _ in range(5):
        rewards = reward_model(segment)
    assert abs(float(rewards.rewards.mean())) < 1e-6
    assert rewards.absorbing_reward == pytest.approx(rewards.metrics["reward_absorbed"] - rewards.metrics["reward"])


def test_the_discriminator_learns_to_tell_demonstrations_from_falls() -> None:
    transitions = weighted_transitions(walks(8, body="hopper:gravity=2"), None, 0)
    seen = features(transitions, HOPPER, "delta", normalised=True, root=False)
    reward_model = DiscriminatorReward(
        dataclasses.replace(SMALL, discriminator_steps=50, discriminator_rate=1e-2, penalty=0.1), transitions, seen, 0
    )
    segment = falling_segment()
    for _ in range(10):
        rewards = reward_model(segment)
    assert rewards.metrics["reward_demonstrated"] > rewards.metrics["reward"] + 1
    assert rewards.metrics["reward_absorbed"] < rewards.metrics["reward_demonstrated"] - 1


def test_who_falls_as_the_demonstrations_do_cannot_be_told_from_them() -> None:
    """Perfect imitation of a set in which everything falls: both sides hold absorbing pairs equally often."""
    discount, length, count = 0.95, 50, 4
    falls = [Trajectory(one.states, one.demonstrator, terminated=True) for one in walks(count, length, "hopper")]
    transitions = weighted_transitions(InMemory(HOPPER.layout, falls), None, 0)
    density = transitions.discriminator_density(discount, absorbing=True)
    ended = np.zeros((length, count), bool)
    ended[-1] = True
    segment = dataclasses.replace(falling_segment(), absorbing=ended)
    theirs = float(density[transitions.absorbing].sum() / density[~transitions.absorbing].sum())
    assert absorbing_steps(segment, discount) / ended.size == pytest.approx(theirs)


@pytest.mark.parametrize("weighting", ["sampling", "loss"])
def test_without_absorbing_states_no_absorbing_pair_is_shown(weighting: str) -> None:
    falls = [Trajectory(one.states, one.demonstrator, terminated=True) for one in walks(2, 30, "hopper")]
    transitions = weighted_transitions(InMemory(HOPPER.layout, falls), None, 0)
    assert (transitions.discriminator_density(0.99, absorbing=False)[transitions.absorbing] == 0).all()
    bare = weighted_transitions(walks(2, 30, "hopper"), None, 0)
    small = dataclasses.replace(SMALL, absorbing=False, weighting=weighting)
    rewards = []
    for demonstrated in (transitions, bare):
        seen = features(demonstrated, HOPPER, "delta", normalised=True, root=False)
        rewards.append(DiscriminatorReward(small, demonstrated, seen, 0)(falling_segment()).rewards)
    np.testing.assert_array_equal(*rewards)


def test_the_papers_preset_sees_raw_states() -> None:
    far = [Trajectory(one.states + np.eye(18)[0] * 150, one.demonstrator) for one in walks()]
    demos, paper = InMemory(CHEETAH.layout, far), parse_learner("gaifo:preset=paper,environments=4,length=10,minibatch=20")
    assert isinstance(paper, Gaifo)
    transitions = weighted_transitions(demos, None, 0)
    seen = features(transitions, CHEETAH, paper.features, normalised=False, root=True)
    np.testing.assert_allclose(seen.of(transitions)[:, :18], transitions.before, rtol=1e-6)
    policy = paper.begin(LearningJob(demos, CHEETAH, None, 1000, 0)).policy
    np.testing.assert_allclose(normalised(policy, transitions.before), transitions.before, rtol=1e-5)


def test_part_of_the_simulations_act_by_the_mean_in_turns() -> None:
    trainer = dataclasses.replace(SMALL, quiet_fraction=0.25).begin(LearningJob(walks(), CHEETAH, None, 10_000, 0)).trainer
    turns = []
    for _ in range(4):
        turns.append(trainer._quiet())  # pyright: ignore[reportPrivateUsage]
        trainer.iterate()
    np.testing.assert_array_equal(np.sum(turns, axis=0), 1)
    segment = trainer.collector.collect(trainer.policy, 3, turns[0])
    np.testing.assert_allclose(segment.units[:, turns[0]], mean(trainer.policy, segment.inputs[:, turns[0]]), atol=1e-6)
    assert not np.allclose(segment.units[:, ~turns[0]], mean(trainer.policy, segment.inputs[:, ~turns[0]]), atol=1e-3)


def test_a_batch_shows_all_parts_of_a_movement_where_nothing_falls() -> None:
    job = LearningJob(walks(), CHEETAH, None, 10**6, 0)
    ends = [
        dataclasses.replace(SMALL, environments=32, staggered=staggered).begin(job).trainer.collector._steps
        for staggered in (False, True)
    ]
    assert np.ptp(ends[0]) == 0
    assert np.ptp(ends[1]) > 500


def test_presets_are_tables_that_further_keys_differ_from() -> None:
    paper = parse_learner("gaifo:preset=paper,max_kl=0.02")
    assert isinstance(paper, Gaifo)
    assert (paper.algorithm, paper.observe_root, paper.max_kl, paper.discriminator_steps) == ("trpo", True, 0.02, 1)
    with pytest.raises(BadOption, match="default, paper, trpo"):
        parse_learner("gaifo:preset=mine")
