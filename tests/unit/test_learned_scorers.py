# SPDX-License-Identifier: MIT
"""Scorers that learn: what they learn from is known, so that what they should say is known too."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

from imitable.errors import BadOption
from imitable.feasibility.features import features
from imitable.feasibility.methods.inverse_dynamics import InverseDynamics
from imitable.feasibility.methods.neighbours import Neighbours, nearest
from imitable.feasibility.methods.transferability import (
    LEARNER,
    Beginning,
    LooksReward,
    Transferability,
    cluster_centres,
    demonstrated,
)
from imitable.feasibility.ruler import ruler
from imitable.feasibility.scorer import Measured, Measurer, Scorer, ScoringJob
from imitable.feasibility.spread import spread_steps
from imitable.nn import discriminator, inverse_model
from imitable.nn.typed_jax import array, full
from imitable.rl.train import Trainer
from imitable.robots.parse import parse_robot
from imitable.sim.babble import babble
from imitable.sim.rollout import Collector
from imitable.types import Floats, InMemory, Trajectory

INVERSE = InverseDynamics(transitions=4000, hidden=32, blocks=1, passes=20, calibration=4, horizon=20)
BANK = Neighbours(transitions=2000, tries=4, horizon=20)
TRANSFERABILITY = Transferability(steps=2 * 2048, hidden=(16,), horizon=20)
ALL = [INVERSE, BANK, TRANSFERABILITY]


def named(scorer: Scorer) -> str:
    return type(scorer).__name__


def impossible(trajectory: Trajectory) -> Trajectory:
    """Return the same movement at five times the acceleration that the motor has."""
    return Trajectory(5 * trajectory.states, "stronger")


def job_on(path: Path, models: Path | None = None, *, backwards: bool = False) -> ScoringJob:
    imitator = parse_robot(str(path))
    own = babble(imitator, 3, 40, seed=7)
    demos = [replace(one, demonstrator="alike") for one in own] + [impossible(one) for one in own]
    demonstrations = InMemory(imitator.layout, demos[::-1] if backwards else demos)
    return ScoringJob(demonstrations, imitator, ruler(imitator, discount=0.95), seed=3, models=models)


def measured(measurer: Measurer, job: ScoringJob) -> list[Measured]:
    return measurer([job.demos[place] for place in range(len(job.demos))])


def assert_same(left: Measured, right: Measured) -> None:
    assert (left.distance, left.share) == (right.distance, right.share)
    for name in ("steps", "attempts", "errors", "states", "actions"):
        np.testing.assert_array_equal(getattr(left.trace, name), getattr(right.trace, name))


def test_the_inverse_of_a_linear_system_is_recovered() -> None:
    rng = np.random.default_rng(0)
    states, actions = rng.normal(size=(4000, 3)), rng.uniform(-1, 1, (4000, 2))
    changes = states @ rng.normal(size=(3, 3)) + actions @ rng.normal(size=(2, 3))
    inputs = np.concatenate([states, changes], axis=1)
    model = inverse_model.fit(
        inputs[:3500], actions[:3500], seed=0, hidden=64, blocks=2, passes=40, minibatch=128, learning_rate=3e-3
    )
    assert np.abs(model(inputs[3500:]) - actions[3500:]).mean() < 0.05
    reloaded = inverse_model.from_arrays(inverse_model.to_arrays(model))
    np.testing.assert_array_equal(reloaded(inputs[3500:]), model(inputs[3500:]))


def fitted_logits(first: Floats, second: Floats, penalty: float) -> tuple[Floats, Floats]:
    """Return the logits of the last 500 of 2000 rows of each class, after a fit to the others."""
    rows = np.random.default_rng(1).integers(1500, size=(2, 300, 64))
    rate, strength = array(1e-2, np.float32), array(penalty, np.float32)
    fresh = discriminator.fresh(0, 2, (16,))
    alike = full(rows[0].shape, 1.0)
    network = discriminator.fit(fresh, array(first[rows[0]]), array(second[rows[1]]), alike, rate, strength).network
    logits = discriminator.logits_demonstrated_is_high
    ours, theirs = (np.asarray(logits(network, array(x[1500:])), np.float64) for x in (first, second))
    return ours, theirs


def test_a_discriminator_separates_two_gaussians() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(1, 1, (2000, 2)), rng.normal(-1, 1, (2000, 2))
    ours, theirs = fitted_logits(first, second, 0.01)
    # the best there is: right for Φ(√2) = 92 % of the rows, and logit(x) = 2 (x_1 + x_2)
    assert min((ours > 0).mean(), (theirs < 0).mean()) > 0.88
    assert np.corrcoef(ours, first[1500:].sum(axis=1))[0, 1] > 0.95


def test_the_penalty_keeps_a_discriminator_from_being_sure() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(3, 0.1, (2000, 2)), rng.normal(-3, 0.1, (2000, 2))
    assert 0 < fitted_logits(first, second, 10.0)[0].mean() < 0.7 * fitted_logits(first, second, 0.0)[0].mean()


@pytest.mark.parametrize("count", [1, 4])
def test_neighbours_equal_those_of_a_tree(count: int) -> None:
    rng = np.random.default_rng(0)
    points, bank = rng.normal(size=(30, 7)), rng.normal(size=(500, 7))
    expected = cKDTree(bank).query(points, k=range(1, count + 1))[0].mean(axis=1)
    np.testing.assert_allclose(nearest(points, bank, count), expected)


def test_neighbours_judge_the_whole_demonstration_by_a_plain_mean(slider_path: Path) -> None:
    """A discounted sum over the first 20 of 40 steps did not see what comes later."""
    job = job_on(slider_path)
    own, rule = job.demos[0], job.ruler
    [found] = BANK.prepared(job)([own])
    steps = found.trace.steps - 1
    np.testing.assert_array_equal(steps, spread_steps(own, 20))
    still = np.linalg.norm(features(job.imitator).changes(own.states[steps], own.states[steps + 1]), axis=1)
    assert found.share == pytest.approx(found.trace.errors.sum() / still.sum())
    assert found.distance == pytest.approx(found.trace.errors.mean() * (1 - rule.discount**20) / (1 - rule.discount))


def test_staying_up_is_not_paid_for() -> None:
    """To a discriminator that tells nothing apart, falling is worth what living on is; ln(1 + e^0) a step was a bonus."""
    imitator = parse_robot("hopper")
    falling = babble(imitator, 4, 60, seed=7)
    task = Beginning(imitator, features(imitator), np.stack([one.states[0] for one in falling]), 40)
    reward = LooksReward(
        TRANSFERABILITY, features(imitator), demonstrated(features(imitator), falling, 40), np.random.default_rng(0)
    )
    blind = [reward.learner.network.weights[-1] * 0, reward.learner.network.biases[-1] * 0]
    network = replace(reward.learner.network, weights=(reward.learner.network.weights[0], blind[0]))
    reward.learner = replace(reward.learner, network=replace(network, biases=(network.biases[0], blind[1])))
    segment = Collector(task, 8, seed=0).collect(Trainer(task, LEARNER, LEARNER.batch, 0).policy, 60)
    assert segment.absorbing.any()
    given = reward(segment)
    assert not given.rewards.any()
    assert given.absorbing_reward == 0
    later = reward(segment)
    assert later.rewards.min() < 0 < later.rewards.max(), "it can be negative"


@pytest.mark.parametrize("terminated", [False, True])
def test_a_demonstrated_fall_is_seen_as_long_as_an_imitated_one(terminated: bool) -> None:
    imitator = parse_robot("hopper")
    [one] = babble(imitator, 1, 30, seed=7)
    fallen = replace(one, terminated=terminated)
    assert [len(demonstrated(features(imitator), [fallen], horizon)) - min(30, horizon) for horizon in (40, 20)] == [
        100 * terminated,
        0,
    ]


def test_modes_without_demonstrations_are_dropped(slider_path: Path) -> None:
    job = job_on(slider_path)
    same = InMemory(job.demos.layout, [job.demos[0]] * 3)
    assert replace(TRANSFERABILITY, clusters=2).prepared(replace(job, demos=same)).about == {"modes": ["0"]}


def test_k_means_finds_clear_clusters() -> None:
    rng = np.random.default_rng(0)
    middles = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    points = (middles[:, None] + rng.normal(scale=0.1, size=(3, 20, 2))).reshape(60, 2)
    centres = cluster_centres(points, 3, rng)
    assert np.square(centres[:, None] - middles).sum(axis=2).min(axis=0).max() < 0.1


@pytest.mark.parametrize("scorer", ALL, ids=named)
def test_own_movements_score_better_than_impossible_ones(scorer: Scorer, slider_path: Path) -> None:
    job = job_on(slider_path)
    found = measured(scorer.prepared(job), job)
    if not isinstance(scorer, Transferability):  # two updates teach a policy nothing
        assert max(one.share for one in found[:3]) < min(one.share for one in found[3:])
    assert all(len(one.trace.errors) == 20 and np.isfinite(one.trace.errors).all() for one in found)
    spread = isinstance(scorer, Neighbours)
    np.testing.assert_array_equal(found[0].trace.steps, 1 + (spread_steps(job.demos[0], 20) if spread else np.arange(20)))


def test_own_movements_lie_within_the_calibration(slider_path: Path) -> None:
    job = job_on(slider_path)
    measurer = replace(INVERSE, calibration=20).prepared(job)
    calibration, found = measurer.about["calibration"], measured(measurer, job)
    assert isinstance(calibration, list)
    assert max(one.distance for one in found[:3]) < 2 * max(calibration) < min(one.distance for one in found[3:])
    assert measurer.spent == 4000 + 20 * 20 + 2 * 20 * 20 + 2 * 6 * 20


@pytest.mark.parametrize("scorer", ALL, ids=named)
def test_neither_order_nor_company_changes_a_measure(scorer: Scorer, slider_path: Path) -> None:
    job, other = job_on(slider_path), job_on(slider_path, backwards=True)
    first, second = scorer.prepared(job), scorer.prepared(other)
    together = measured(first, job)
    for left, right in zip(together, measured(second, other)[::-1], strict=True):
        assert_same(left, right)
    assert_same(together[4], second([job.demos[4]])[0])


@pytest.mark.parametrize(
    "scorer", [INVERSE, TRANSFERABILITY, replace(TRANSFERABILITY, clusters=2)], ids=["inverse", "labels", "clusters"]
)
def test_what_was_learned_is_kept(scorer: Scorer, slider_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = job_on(slider_path, tmp_path / "models")
    first = scorer.prepared(job)
    monkeypatch.setattr("imitable.nn.inverse_model.fit", None)
    monkeypatch.setattr("imitable.nn.discriminator.fit_imitated_is_high", None)
    again = scorer.prepared(job)
    assert (again.spent, again.about) == (first.spent, first.about)
    for left, right in zip(measured(first, job), measured(again, job), strict=True):
        assert_same(left, right)


def test_a_damaged_file_is_learned_again(slider_path: Path, tmp_path: Path) -> None:
    job = job_on(slider_path, tmp_path)
    first = measured(INVERSE.prepared(job), job)
    (kept,) = tmp_path.glob("*.safetensors")
    kept.write_bytes(b"half a file")
    assert_same(first[0], measured(INVERSE.prepared(job), job)[0])


def test_another_seed_says_something_else(slider_path: Path) -> None:
    job = job_on(slider_path)
    first, other = (measured(BANK.prepared(one), one)[0] for one in (job, replace(job, seed=4)))
    assert first.distance != other.distance


def test_a_stranger_is_asked_of_all_discriminators(slider_path: Path) -> None:
    job = job_on(slider_path)
    measurer = TRANSFERABILITY.prepared(job)
    known = [replace(job.demos[0], demonstrator=name) for name in ("alike", "stronger")]
    found = measurer([replace(job.demos[0], demonstrator="nobody"), *known])
    assert found[0].distance == min(found[1].distance, found[2].distance)
    np.testing.assert_allclose(found[0].share, 1 / (1 + np.exp(-found[0].distance)))


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [
        (InverseDynamics, "jitter", -1.0),
        (InverseDynamics, "learning_rate", float("nan")),
        (Neighbours, "neighbours", 0),
        (Transferability, "steps", 1),
        (Transferability, "hidden", ()),
        (Transferability, "horizon", 0),
    ],
)
def test_bad_settings_are_refused(kind: type, key: str, value: object) -> None:
    with pytest.raises(BadOption, match=key):
        kind(**{key: value})
