# SPDX-License-Identifier: MIT
"""Translating by dynamics cycle-consistency: what is known of linear systems, and the laws of a training."""

import subprocess
import sys
from dataclasses import asdict, fields, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from imitable.errors import BadOption
from imitable.imitation.learner import LearningJob
from imitable.imitation.methods.dcc import Dcc
from imitable.imitation.transitions import Sampler, weighted_transitions
from imitable.nn.translator import Balance, Fitted, Own, Scale, Theirs, fit
from imitable.robots.parse import parse_robot
from imitable.sim.babble import babble
from imitable.types import Floats, InMemory, Trajectory, Weights

SMALL = Dcc(transitions=400, forward_steps=10, map_steps=10, minibatch=16)
HOPPER, OTHER = parse_robot("hopper"), parse_robot("hopper:gravity=15")
BATCH = 64 * 32
STEPS = 400


def linear(gain: float, seed: int, n: int = 2000) -> tuple[Floats, Floats, Floats]:
    """Return states, actions and next states of s′ = R s + gain · B u: two slow rotations, each with a motor."""
    rng = np.random.default_rng(seed)
    turn = np.array([[np.cos(0.3), np.sin(0.3)], [-np.sin(0.3), np.cos(0.3)]])
    states, units = rng.normal(size=(n, 4)), rng.uniform(-1, 1, (n, 2))
    return states, units, states @ np.kron(np.eye(2), turn) + gain * units @ np.kron(np.eye(2), [[0.2, 1.0]])


@cache
def fitted(map_rate: float = 1e-3, gain: float = 1.0) -> Fitted:
    """Return the translator, to a body whose motors have the gain ½, of one that is three times as large."""
    before, units, after = linear(0.5, 0)
    x, _, x_after = linear(gain, 1)
    return fit(
        Own(before, units, after, Scale(before.mean(axis=0), before.std(axis=0))),
        Theirs(3 * x, 3 * x_after, Scale(3 * x.mean(axis=0), 3 * x.std(axis=0)), Sampler(np.ones(len(x))).draw),
        seed=0,
        forward_steps=STEPS,
        forward_rate=3e-3,
        map_steps=STEPS,
        map_rate=map_rate,
        minibatch=64,
        balance=Balance(adversarial=10, cycle=30, dynamics=100),
    )


def movements(count: int = 3) -> list[Trajectory]:
    own = babble(OTHER, count, 20, seed=5)
    return [replace(one, terminated=place == 0, total_return=1.0) for place, one in enumerate(own)]


def job_of(trajectories: list[Trajectory], weights: tuple[float, ...] | None = None, seed: int = 0) -> LearningJob:
    named = None if weights is None else Weights(tuple(one.hash for one in trajectories), np.array(weights))
    return LearningJob(InMemory(OTHER.layout, trajectories), HOPPER, named, 3 * BATCH, seed)


def assert_same_transitions(left: LearningJob, right: LearningJob) -> None:
    mine, others = (weighted_transitions(job.demos, job.weights, job.seed) for job in (left, right))
    for name, values in asdict(mine).items():
        np.testing.assert_array_equal(values, getattr(others, name))


def test_a_linear_system_is_predicted_and_the_dynamics_cycle_closes() -> None:
    learned = fitted()
    assert learned.forward[-20:].mean() < 0.05 < 0.5 < learned.forward[:5].mean()
    assert learned.dynamics[-20:].mean() < 0.5 * learned.dynamics[:20].mean()


def test_before_learning_entries_of_one_name_correspond() -> None:
    states = np.random.default_rng(2).normal(size=(50, 4))
    translator = fitted(map_rate=1e-12).translator
    moved = translator.own.mean + translator.own.std * (states - translator.theirs.mean) / translator.theirs.std
    np.testing.assert_allclose(translator(states), moved, atol=0.1)


def test_a_body_that_differs_in_size_alone_is_translated_by_size() -> None:
    states = np.random.default_rng(2).normal(size=(500, 4))
    assert np.abs(fitted(gain=0.5).translator(3 * states) - states).mean() < 0.2


def test_a_state_is_translated_alike_wherever_it_stands() -> None:
    translator, states = fitted().translator, np.random.default_rng(2).normal(size=(50, 4))
    np.testing.assert_array_equal(translator(states)[7:20], translator(states[7:20]))


def test_translation_keeps_everything_but_states_without_root_position() -> None:
    job = job_of(movements())
    found = SMALL.translated(job).demos
    assert found.layout == job.demos.layout
    assert len(found) == len(job.demos)
    for place, (original, translated) in enumerate(zip(job.demos, found, strict=True)):
        root = HOPPER.root_entries
        np.testing.assert_array_equal(translated.states[:, :root], original.states[:, :root])
        assert not np.isclose(translated.states[:, root:], original.states[:, root:]).any()
        assert (translated.terminated, translated.demonstrator) == (original.terminated, original.demonstrator)
        assert translated.actions is None
        assert np.isnan(translated.total_return)
        assert found[place].hash == translated.hash == found.episodes[place].hash


def test_the_same_seed_translates_alike_and_another_seed_otherwise() -> None:
    first, again, other = (
        [row.hash for row in SMALL.translated(job_of(movements(), seed=seed)).demos.episodes] for seed in (0, 0, 1)
    )
    assert first == again
    assert not set(first) & set(other)


def test_demonstrations_of_weight_zero_have_no_influence() -> None:
    trajectories = movements()
    spoiled = [trajectories[0], Trajectory(100 * trajectories[1].states, "absurd"), trajectories[2]]
    with_it = SMALL.translated(job_of(spoiled, (0.75, 0.0, 0.25)))
    without = SMALL.translated(job_of([spoiled[0], spoiled[2]], (0.75, 0.25)))
    assert [row.index for row in with_it.demos.episodes] == [0, 2]
    assert_same_transitions(with_it, without)
    assert with_it.weights is not None
    np.testing.assert_array_equal(with_it.weights.values, [0.75, 0.25])


def test_demonstrated_actions_are_never_read() -> None:
    trajectories = movements()
    silent = [Trajectory(one.states, one.demonstrator, terminated=one.terminated) for one in trajectories]
    assert_same_transitions(SMALL.translated(job_of(trajectories)), SMALL.translated(job_of(silent)))


def test_random_movements_are_part_of_the_steps() -> None:
    training = SMALL.begin(replace(job_of(movements()), steps=SMALL.least_steps))
    assert training.iterate().steps == 400 + BATCH
    assert training.done
    assert replace(SMALL, transitions=10**6).babbled(20_000) == 5000


def test_a_resumed_training_ends_in_the_same_bits(tmp_path: Path) -> None:
    job = job_of(movements(), (0.5, 0.25, 0.25))
    whole = SMALL.begin(job)
    whole.iterate()
    whole.save(tmp_path / "checkpoint")
    whole.iterate()
    resumed = SMALL.begin(job)
    resumed.load(tmp_path / "checkpoint")
    resumed.iterate()
    assert resumed.policy.hash == whole.policy.hash


def test_a_body_without_a_task_is_served(arm_path: Path) -> None:
    arm = parse_robot(str(arm_path))
    demos = InMemory(arm.layout, [Trajectory(0.5 * one.states, "weaker") for one in babble(arm, 2, 20, seed=1)])
    said: list[str] = []
    # the sizes of the linear systems above, so that nothing is compiled anew
    method = Dcc(transitions=400, forward_steps=STEPS, map_steps=STEPS, minibatch=64)
    job = method.translated(LearningJob(demos, arm, None, BATCH, 0, say=said.append))
    assert job.weights is None
    assert len(job.demos) == 2
    assert "forward error" in said[0]


@pytest.mark.parametrize("name", [field.name for field in fields(Dcc) if field.name != "gaifo"])
def test_settings_outside_their_range_are_refused(name: str) -> None:
    with pytest.raises(BadOption, match=name):
        Dcc(**{name: -1})  # pyright: ignore[reportArgumentType]


def test_the_verb_needs_no_jax_before_a_learner_is_asked_for() -> None:
    names = "imitable.imitation.imitate, imitable.imitation.evaluate_run, imitable.cli.imitate, imitable.report.page"
    code = f"import sys, {names}; assert 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
