# SPDX-License-Identifier: MIT
"""The f-MDP by hand, and the laws of what its trackers measure."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from imitable.errors import BadOption
from imitable.feasibility import tracker
from imitable.feasibility.fmdp import Fmdp, play
from imitable.feasibility.methods.one_step import OneStepFmdp
from imitable.feasibility.methods.trajectory import TrajectoryFmdp
from imitable.feasibility.ruler import ruler
from imitable.feasibility.scorer import Measured, ScoringJob
from imitable.feasibility.spread import spread_steps
from imitable.feasibility.tracker import LEARNER, Tracking, has_converged
from imitable.rl.train import Trainer
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.babble import babble
from imitable.sim.batch import Batch
from imitable.sim.rollout import Collector
from imitable.sim.task import Moment
from imitable.tracking.solver import Lanes
from imitable.types import InMemory, Trajectory
from tests.unit.pushed_slider import FORCE, Heard, pushed

QUICK = {"steps": 2 * LEARNER.batch, "trained": 3, "horizon": 8}
Form = TrajectoryFmdp | OneStepFmdp
FORMS = pytest.mark.parametrize("form", [TrajectoryFmdp, OneStepFmdp])
INPUTS = pytest.mark.parametrize("tracker_input", ["target", "initial-state"])


def demonstrations(body: Robot, count: int = 4, steps: int = 12, seed: int = 5) -> list[Trajectory]:
    return babble(body, count, steps, seed)


def task_of(
    body: Robot, trajectories: list[Trajectory], form: type[Form] = TrajectoryFmdp, tracker_input: str = "target"
) -> Fmdp:
    job = ScoringJob(InMemory(body.layout, trajectories), body, ruler(body, "l2", "all", 0.9), seed=1)
    return Tracking(job, form(horizon=8, tracker_input=tracker_input), form is OneStepFmdp).task(trajectories)


def slider_job(path: Path, **changes: object) -> ScoringJob:
    """A slider, its own demonstrations and those of one with a motor ten times as strong."""
    body, strong = parse_robot(str(path)), parse_robot(f"{path}:gear.push=10")
    trajectories = [*demonstrations(body), *demonstrations(strong)]
    job = ScoringJob(InMemory(body.layout, trajectories), body, ruler(body), seed=1)
    return replace(job, **changes)  # pyright: ignore[reportArgumentType]


def assert_equal(ours: Measured, theirs: Measured) -> None:
    assert (ours.distance, ours.share) == (theirs.distance, theirs.share)
    for name in ("steps", "attempts", "errors", "states", "actions"):
        np.testing.assert_array_equal(getattr(ours.trace, name), getattr(theirs.trace, name))


@INPUTS
def test_the_reward_is_minus_the_distance_by_hand(slider_path: Path, tracker_input: str) -> None:
    body = parse_robot(str(slider_path))
    trajectories = demonstrations(body)
    task = task_of(body, trajectories, tracker_input=tracker_input)
    before = Moment(np.array([[0.1, 0.2]]), np.array([3]), np.array([[2, 0]]))
    after = Moment(np.array([[0.3, -0.4]]), np.array([4]), np.array([[2, 0]]))
    expected = -np.linalg.norm(after.states[0] - trajectories[2].states[4])
    np.testing.assert_allclose(task.reward(before, np.zeros((1, 1)), after), [expected])
    seen = task.observe(before)[0]
    if tracker_input == "initial-state":
        np.testing.assert_array_equal(seen, [0.1, 0.2, *trajectories[2].states[0]])
    else:
        np.testing.assert_allclose(seen, [0.1, 0.2, *(trajectories[2].states[4] - before.states[0]), 3 / 8])
    assert len(seen) == task.observation_size


def test_the_target_input_does_not_see_where_in_the_world_the_root_is() -> None:
    body = parse_robot("hopper")
    trajectory = demonstrations(body, 1)[0]
    moved = replace(trajectory, states=trajectory.states + np.eye(len(body.start))[0] * 7)
    here, there = (task_of(body, [one]) for one in (trajectory, moved))
    np.testing.assert_allclose(here.observe(here.every_start()), there.observe(there.every_start()), atol=1e-12)
    assert here.observe(here.every_start()).shape[1] == here.observation_size


@pytest.mark.parametrize("body", ["hopper:gravity=15", "half_cheetah:front=0.01"])
def test_the_demonstrations_own_actions_are_paid_nothing(body: str) -> None:
    robot = parse_robot(body)
    trajectories = demonstrations(robot)
    task, batch = task_of(robot, trajectories), Batch(robot, len(trajectories))
    moment = task.every_start()
    batch.set_state(moment.states)
    for t in range(task.horizon):
        actions = np.stack([one.actions[t] for one in trajectories if one.actions is not None])
        batch.step(actions)
        after = Moment(batch.states, moment.steps + 1, moment.context)
        np.testing.assert_allclose(task.reward(moment, actions, after), 0, atol=1e-9)
        moment = after
    assert task.end(moment).terminated.all()


def test_an_episode_ends_exactly_with_its_demonstration(slider_path: Path) -> None:
    body = parse_robot(str(slider_path))
    long, short = demonstrations(body, 1, 12)[0], demonstrations(body, 1, 3)[0]
    task = task_of(body, [long, short])
    np.testing.assert_array_equal(task.lengths, [8, 3])
    for which, last in ((0, 8), (1, 3)):
        moments = Moment(np.zeros((9, 2)), np.arange(9), np.tile([which, 0], (9, 1)))
        np.testing.assert_array_equal(task.end(moments).terminated, np.arange(9) >= last)
        assert not task.end(moments).absorbing.any()


def test_one_step_episodes_last_one_step_and_begin_anywhere(slider_path: Path) -> None:
    body = parse_robot(str(slider_path))
    trajectories = [*demonstrations(body, 2, 12), demonstrations(body, 1, 3)[0]]
    task = task_of(body, trajectories, OneStepFmdp)
    policy = Trainer(task, LEARNER, LEARNER.batch, 0).policy
    segment = Collector(task, 16, seed=0).collect(policy, 20)
    assert segment.terminated.all()
    assert (segment.lengths == 1).all()
    steps = [spread_steps(one, 8) for one in trajectories]
    assert [len(one) for one in steps] == [8, 8, 3]
    demonstrated = np.concatenate([one.states[rows] for one, rows in zip(trajectories, steps, strict=True)])
    np.testing.assert_array_equal(task.every_start().states, demonstrated)
    assert set(segment.moments.context[:, 0].tolist()) == set(range(19))
    np.testing.assert_array_equal(segment.moments.states, demonstrated[segment.moments.context[:, 0]])


@FORMS
def test_playing_without_a_policy_is_a_passive_imitator(slider_path: Path, form: type[Form]) -> None:
    body = parse_robot(str(slider_path))
    trajectories = [*demonstrations(body, 1, 8), *demonstrations(body, 1, 3)]
    played = play(task_of(body, trajectories, form), Lanes(body, np.ones(2)), None)
    batch = Batch(body, 1)
    batch.set_state(trajectories[0].states[:1])
    for t in range(8):
        if form is OneStepFmdp:
            batch.set_state(trajectories[0].states[t : t + 1])
        batch.step(np.zeros((1, 1)))
        np.testing.assert_allclose(played.states[(t, 0) if form is OneStepFmdp else (0, t)], batch.states[0], atol=1e-9)
    if form is TrajectoryFmdp:
        np.testing.assert_array_equal(np.isfinite(played.states[1, :, 0]), np.arange(8) < 3)


@FORMS
def test_a_measure_depends_on_the_seed_and_the_demonstration_alone(slider_path: Path, form: type[Form]) -> None:
    job = slider_job(slider_path)
    trajectories = list(job.demos)
    measurer = form(**QUICK).prepared(job)
    found = measurer(trajectories)
    backwards = slider_job(slider_path, demos=InMemory(job.demos.layout, trajectories[::-1]))
    again = form(**QUICK).prepared(backwards)(trajectories[::-1])
    for ours, theirs in zip(found, again[::-1], strict=True):
        assert_equal(ours, theirs)
    assert_equal(found[5], measurer([trajectories[5]])[0])
    assert measurer([]) == []


def test_another_seed_learns_another_tracker(slider_path: Path) -> None:
    job = slider_job(slider_path)
    ours, theirs = (OneStepFmdp(**QUICK).prepared(replace(job, seed=seed))([job.demos[0]])[0] for seed in (1, 2))
    assert ours.distance != theirs.distance


@FORMS
def test_what_is_measured_adds_up(slider_path: Path, form: type[Form]) -> None:
    job = slider_job(slider_path)
    measurer = form(**QUICK).prepared(job)
    learned = measurer.spent
    found = measurer([job.demos[0]])[0]
    assert measurer.spent == learned + 2 * measurer.horizon == learned + 16
    assert learned >= 2 * QUICK["steps"]
    trace, rule = found.trace, job.ruler
    one_step = form is OneStepFmdp
    np.testing.assert_array_equal(trace.steps, 1 + (spread_steps(job.demos[0], 8) if one_step else np.arange(8)))
    np.testing.assert_allclose(trace.errors, rule.errors(trace.states, job.demos[0].states[trace.steps]))
    mass = (1 - rule.discount**8) / (1 - rule.discount)
    np.testing.assert_allclose(found.distance, trace.errors.mean() * mass if one_step else rule.discounted(trace.errors))
    assert len(set(trace.attempts.tolist())) == (8 if form is OneStepFmdp else 1)
    assert (np.abs(trace.actions) <= 1).all()
    assert set(measurer.about["converged"]) == {row.demonstrator for row in job.demos.episodes}  # pyright: ignore[reportArgumentType]


def test_a_stranger_is_followed_by_the_best_tracker(slider_path: Path) -> None:
    job = slider_job(slider_path)
    measurer = TrajectoryFmdp(**QUICK).prepared(job)
    names = sorted({row.demonstrator for row in job.demos.episodes})
    known = [measurer([replace(job.demos[0], demonstrator=name)])[0] for name in names]
    stranger = measurer([replace(job.demos[0], demonstrator="stranger")])[0]
    assert_equal(stranger, min(known, key=lambda one: one.distance))


def test_what_was_learned_is_not_learned_again(slider_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard = Heard()
    lines, job = heard.lines, slider_job(slider_path, models=tmp_path / "models", observer=heard)
    settings = TrajectoryFmdp(**QUICK)
    first = settings.prepared(job)
    found = first(list(job.demos))

    def never(trainer: Trainer) -> None:
        raise AssertionError("it learned again")

    monkeypatch.setattr(Trainer, "iterate", never)
    again = settings.prepared(job)
    for ours, theirs in zip(found, again(list(job.demos)), strict=True):
        assert_equal(ours, theirs)
    assert (again.spent, again.about) == (first.spent, first.about)
    assert lines[0].endswith(f"not converged after {QUICK['steps']:,} steps")
    assert lines[2] == f"{lines[0]} in an earlier job"
    grown = InMemory(job.demos.layout, [*job.demos, *demonstrations(job.imitator, seed=6)])
    settings.prepared(replace(job, demos=grown))
    with pytest.raises(AssertionError, match="learned again"):
        settings.prepared(replace(job, seed=2))
    for path in (tmp_path / "models").iterdir():
        path.write_bytes(b"damaged")
    with pytest.raises(AssertionError, match="learned again"):
        settings.prepared(job)


@FORMS
def test_own_demonstrations_are_followed_better_than_those_of_a_stronger_body(slider_path: Path, form: type[Form]) -> None:
    job = slider_job(slider_path)
    found = form(**QUICK | {"steps": 10 * LEARNER.batch}).prepared(job)(list(job.demos))
    shares = [one.share for one in found]
    assert max(shares[:4]) < 0.5 < 0.7 < min(shares[4:])


def test_a_movement_that_becomes_impossible_late_is_found_out_by_single_transitions(slider_path: Path) -> None:
    """Its first half is the imitator's own; discounted from the first step on, its second half was not judged at all."""
    body = parse_robot(str(slider_path))
    moves = demonstrations(body, 3, 400)
    job = slider_job(slider_path, demos=InMemory(body.layout, moves))
    late = moves[0].states.copy()
    late[200:] = late[200] + 10 * (late[200:] - late[200])
    settings = {"steps": 10 * LEARNER.batch, "trained": 3, "horizon": 40}
    found = OneStepFmdp(**settings).prepared(job)([moves[0], Trajectory(late, moves[0].demonstrator)])
    assert found[1].share > found[0].share + 0.2
    assert (found[0].trace.steps >= 300).sum() == 10


@pytest.mark.parametrize(("length", "count"), [(1000, 100), (130, 100), (100, 100), (7, 100), (1000, 1)])
def test_judged_transitions_are_spread_over_the_whole_demonstration(length: int, count: int) -> None:
    states = np.random.default_rng(length).normal(size=(length + 1, 2))
    steps = spread_steps(Trajectory(states, "x"), count)
    assert len(steps) == min(length, count)
    parts = np.arange(len(steps) + 1) * length // len(steps)
    assert ((parts[:-1] <= steps) & (steps < parts[1:])).all(), "one in each part"
    np.testing.assert_array_equal(steps, spread_steps(Trajectory(states, "x"), count))
    if length > 2 * count:
        assert (steps != spread_steps(Trajectory(states + 1, "x"), count)).any(), "the hash says which"


def test_judged_transitions_see_every_phase_of_a_gait() -> None:
    """At equal distances, of a gait as long as one part all would have one phase."""
    steps = spread_steps(Trajectory(np.random.default_rng(0).normal(size=(1001, 2)), "x"), 100)
    assert len(set((steps % 10).tolist())) == 10


def test_noise_is_averaged_over_rollouts_of_their_own_seeds(slider_path: Path) -> None:
    noisy = parse_robot(f"{slider_path}:noise=0.3")
    job = slider_job(slider_path, imitator=noisy, rollouts=3)
    measurer = TrajectoryFmdp(**QUICK).prepared(job)
    found = measurer(list(job.demos)[:2])
    assert_equal(found[1], measurer([job.demos[1]])[0])
    trace = found[1].trace
    np.testing.assert_array_equal(trace.attempts, np.repeat([0, 1, 2], 8))
    np.testing.assert_allclose(found[1].distance, job.ruler.discounted(trace.errors.reshape(3, 8)).mean())
    assert len(np.unique(trace.states[trace.steps == 8], axis=0)) == 3


@pytest.mark.parametrize(
    ("looks", "converged"),
    [([1.0] * 3, False), ([1.0] * 4, True), ([9, 5, 1, 1, 1, 1], True), ([1, 1, 2, 2], False), ([2, 2, 1, 1], False)],
)
def test_converged_means_no_change(looks: list[float], converged: bool) -> None:
    assert has_converged(looks, 10.0, 2, 0.01) == converged


@pytest.mark.parametrize(
    ("looks", "converged"),
    [([1.0] * 9, False), ([1.0, 0.97, 0.97, 0.97, 0.97], False), ([1.0, *[0.94] * 4], True), ([0.0] * 5, True)],
)
def test_a_plateau_where_learning_began_is_no_convergence(looks: list[float], converged: bool) -> None:
    """A demonstration at rest, followed from the first look on, has converged."""
    assert has_converged(looks, looks[0], 2, 0.01) == converged


def test_a_tracker_that_cannot_gain_spends_its_budget(slider_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The demonstration is beyond all reach, so that the distance hardly moves from the first look on."""
    monkeypatch.setattr(tracker, "LOOK_STEPS", LEARNER.batch)
    body = parse_robot(f"{slider_path}:gear.push=0.001")
    far = InMemory(body.layout, [replace(pushed(100 * FORCE, 20), demonstrator="far")])
    method = TrajectoryFmdp(steps=6 * LEARNER.batch, trained=1, horizon=8, patience=1)
    about = method.prepared(ScoringJob(far, body, ruler(body), seed=1)).about
    assert about == {"converged": {"far": False}, "trained_steps": {"far": 6 * LEARNER.batch}}


@pytest.mark.parametrize("kind", [TrajectoryFmdp, OneStepFmdp])
def test_a_demonstration_at_rest_has_a_share(slider_path: Path, kind: type[TrajectoryFmdp] | type[OneStepFmdp]) -> None:
    """A passive imitator follows it exactly: what a tracker leaves is a share of the floor, not of nothing."""
    body, rest = parse_robot(str(slider_path)), Trajectory(np.tile([0.3, 0.0], (13, 1)), "still")
    rule = ruler(body)
    job = ScoringJob(InMemory(body.layout, [rest]), body, rule, seed=1)
    [measured] = kind(steps=LEARNER.batch, horizon=8).prepared(job)([rest])
    floor = rule.step_floor if kind is OneStepFmdp else rule.floor
    assert measured.distance > 0
    assert measured.share == pytest.approx(measured.distance / rule.discounted(np.full(8, floor)))


@pytest.mark.parametrize(
    "wrong", [{"tracker_input": "goal"}, {"steps": 1}, {"trained": 0}, {"horizon": 0}, {"patience": 0}, {"tolerance": 1.5}]
)
def test_bad_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(BadOption, match=next(iter(wrong))):
        OneStepFmdp(**wrong)  # pyright: ignore[reportArgumentType]
