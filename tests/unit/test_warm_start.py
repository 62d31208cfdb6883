# SPDX-License-Identifier: MIT
"""The warm start: three stages whose steps are counted, and that go on after a break as if there had been none."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from imitable.demos.collect import collect
from imitable.errors import BadOption, CannotResume
from imitable.evaluation.result import ProjectionCount
from imitable.files import Output
from imitable.imitation.imitate import imitate
from imitable.imitation.learner import LearningJob
from imitable.imitation.methods import learner_text, parse_learner
from imitable.imitation.methods.gaifo import Gaifo
from imitable.imitation.methods.warm_start import CLONED, WarmStart, WarmTraining
from imitable.imitation.run import Run
from imitable.imitation.run_folder import RunFolder
from imitable.policies.acting import act
from imitable.policies.shipped import policy_for
from imitable.rl.progress import Progress
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.babble import babble
from imitable.sim.task import Locomotion
from imitable.types import Demonstrations, InMemory, Policy, Trajectory
from tests.unit.pushed_slider import Heard
from tests.unit.reaching_arm import reaches
from tests.unit.small_imitation import SMALL as SMALL_GAIFO
from tests.unit.test_cloning import GAIN, starts, steered

SMALL = WarmStart(pieces=50, gradient_steps=1000, gaifo=replace(SMALL_GAIFO, log_std=-1.5, critic_steps=128))
STEPS = 10_000


def moves(body: Robot, count: int = 3) -> InMemory:
    return InMemory(body.layout, [Trajectory(one.states, "someone") for one in babble(body, count, 40, 0)])


def begun(body: Robot, method: WarmStart = SMALL, demos: Demonstrations | None = None, steps: int = STEPS) -> WarmTraining:
    return method.begin(LearningJob(demos or moves(body), body, None, steps, 0))


def finished(training: WarmTraining) -> tuple[Policy, list[Progress]]:
    reported: list[Progress] = []
    while not training.done:
        reported.append(training.iterate())
    return training.policy, reported


def test_steps_count_what_the_simulator_does(slider: Robot) -> None:
    training = begun(slider)
    _, reported = finished(training)
    projected = [one for one in reported if "pieces_kept" in one.metrics]
    cloned = [one for one in reported if "gradient_steps" in one.metrics]
    tuned = reported[len(projected) + len(cloned) :]
    spent = training.projection.steps
    assert [one.steps for one in projected][-1] == spent > 0
    assert {one.steps for one in cloned} == {spent}
    batch = SMALL.gaifo.least_steps
    assert [one.steps for one in tuned] == [spent + batch * (k + 1) for k in range(len(tuned))]
    assert STEPS - batch < tuned[-1].steps <= STEPS
    assert projected[-1].metrics == {"pieces_kept": training.projection.kept, "pieces_dropped": training.projection.dropped}
    assert training.projection.kept + training.projection.dropped == SMALL.pieces


def test_progress_goes_from_nothing_to_everything(slider: Robot) -> None:
    training = begun(slider)
    seen = [training.progress]
    while not training.done:
        training.iterate()
        seen.append(training.progress)
    assert seen[0] == 0
    assert seen == sorted(set(seen))
    assert seen[-1] == 1


@pytest.mark.parametrize("fade", [0.0, 0.5])
def test_a_break_after_any_iteration_changes_nothing(slider: Robot, tmp_path: Path, fade: float) -> None:
    method = replace(SMALL, pieces=100, fade=fade, gaifo=replace(SMALL.gaifo, length=64))
    whole, reported = finished(begun(slider, method))
    broken, again = begun(slider, method), list[Progress]()
    while not broken.done:
        again.append(broken.iterate())
        broken.save(tmp_path / "saved")
        resumed = begun(slider, method)
        resumed.load(tmp_path / "saved")
        assert resumed.progress == broken.progress
        assert resumed.policy.hash == broken.policy.hash
        broken = resumed
    assert broken.policy.hash == whole.hash
    assert [one.steps for one in again] == [one.steps for one in reported]
    assert {path.name for path in tmp_path.iterdir()} == {"saved", "slider.xml"}


def test_starts_inside_fade_out() -> None:
    """Only whole episodes are reported: where all begin inside there is none, until they begin at rest."""
    body = parse_robot("hopper")
    demos = InMemory(body.layout, collect(Locomotion(body), policy_for(body), 1, 0))
    method = replace(SMALL, pieces=16, gradient_steps=2, begin_anywhere=1.0)
    staying, fading = (finished(begun(body, replace(method, fade=fade), demos, 6_000))[1] for fade in (0.0, 0.3))
    assert np.isnan(staying[-1].mean_return)
    assert np.isfinite(fading[-1].mean_return)
    assert [one.steps for one in fading] == [one.steps for one in staying]


def test_gaifo_begins_from_the_clone(slider: Robot) -> None:
    made = steered(slider, starts(20, 0) * 0.5, GAIN)
    demos = InMemory(slider.layout, [Trajectory(one.states, "someone") for one in made])
    training = begun(slider, replace(SMALL, pieces=200), demos, steps=20_000)
    while training.progress < CLONED:
        training.iterate()
    cloned, states = training.policy, np.concatenate([one.states[:-1] for one in made])
    np.testing.assert_array_equal(cloned.log_std, np.float32(-1.5))
    np.testing.assert_allclose(act(cloned, states)[:, 0], states @ GAIN, atol=0.1)
    assert training.iterate().steps == training.projection.steps + SMALL.gaifo.critic_steps
    assert training.policy.hash == cloned.hash, "only the critic has learned yet"
    training.iterate()
    assert training.policy.hash != cloned.hash


def test_the_discriminator_is_shown_projected_or_original_transitions(slider_path: Path) -> None:
    weak, strong = parse_robot(f"{slider_path}:gear.push=1"), parse_robot(str(slider_path))
    demos = moves(strong)
    policies = {finished(begun(weak, replace(SMALL, demonstrated=which), demos))[0].hash for which in ("projected", "original")}
    assert len(policies) == 2


def test_a_robot_without_a_task_is_judged_by_its_demonstrations_not_by_pieces(slider: Robot) -> None:
    demos = moves(slider)
    reference = begun(slider, demos=demos).reference
    assert reference is not None
    assert reference.horizon == 40
    np.testing.assert_array_equal(reference.states, np.concatenate([one.states[:-1] for one in demos]))


def test_servos_are_warm_started(servo_arm_path: Path) -> None:
    arm = parse_robot(str(servo_arm_path))
    policy, _ = finished(begun(arm, demos=reaches(arm, count=3), steps=3000))
    assert policy.action_size == len(arm.layout.actuators)


@pytest.mark.parametrize("settings", ["gaifo.observe_root=1", "gaifo.normalised=0", "gaifo.algorithm=trpo", "piece_length=5"])
def test_settings_of_gaifo_go_with_a_clone(settings: str) -> None:
    body = parse_robot("hopper")
    method = parse_learner(f"{learner_text(SMALL)},{settings}")
    assert isinstance(method, WarmStart)
    policy, _ = finished(begun(body, method, steps=2000))
    assert policy.observation_limit == 10, "a clone knows its inputs in its own units"


def test_the_text_sets_every_stage() -> None:
    method = parse_learner("warm-start:pieces=9,demonstrated=original,gaifo.discount=0.9,gaifo.hidden=8x8,gaifo.log_std_end=-3")
    assert method == WarmStart(
        pieces=9, demonstrated="original", gaifo=Gaifo(discount=0.9, hidden=(8, 8), log_std=-1.5, log_std_end=-3.0)
    )
    assert learner_text(WarmStart()) == "warm-start"
    assert parse_learner(learner_text(method)) == method
    assert method.cloning.hidden == (8, 8)
    for text, right in {
        "gaifo.discount=2": "from 0 to",
        "gaifo.dicsount=0.9": "gaifo.discount",
        "gaifo=fast": "gaifo.discount",
        "discount=0.9": "gaifo.discount",
        "piece_length=1": "from 2",
        "demonstrated=none": "projected",
    }.items():
        with pytest.raises(BadOption, match=right):
            parse_learner(f"warm-start:{text}")


def test_steps_that_leave_gaifo_no_batch_are_refused_before_anything_is_done(slider: Robot, tmp_path: Path) -> None:
    least = SMALL.least_steps
    assert least > SMALL.reserved == 256
    with pytest.raises(BadOption, match=f"give at least {least}"):
        imitate(moves(slider), slider, SMALL, run=Run(steps=least - 1), out=tmp_path / "run")
    with pytest.raises(BadOption, match="give at least"):
        begun(slider, steps=SMALL.reserved + 1)
    with pytest.raises(BadOption, match="give at least"):
        begun(slider, steps=1)
    assert not (tmp_path / "run").exists()
    training = begun(slider, steps=SMALL.reserved + 500)
    _, reported = finished(training)
    assert training.projection.steps <= 500
    assert reported[-1].steps >= training.projection.steps + SMALL.reserved


def test_a_run_says_what_its_projection_took(slider: Robot, tmp_path: Path) -> None:
    heard, out = Heard(), tmp_path / "run"
    learned = imitate(moves(slider), slider, SMALL, run=Run(steps=STEPS, episodes=1), out=Output(out, observer=heard))
    count = learned.evaluation.projection
    assert count is not None
    assert heard.lines == [f"projection: {count.steps:,} steps, {count.kept} pieces kept, {count.dropped} dropped"]
    assert json.loads((out / "evaluation.json").read_text())["projection"] == vars(count)
    assert RunFolder(out).evaluation == learned.evaluation
    rows = RunFolder(out).metrics()
    assert rows[0]["pieces_kept"] == count.kept
    assert RunFolder(out).setting.method.startswith("warm-start:pieces=50,")
    plain = imitate(moves(slider), slider, SMALL_GAIFO, run=Run(steps=256, episodes=1), out=tmp_path / "plain")
    assert plain.evaluation.projection is None
    assert "projection" not in json.loads((tmp_path / "plain" / "evaluation.json").read_text())


def test_a_weak_beginning_is_said(slider: Robot) -> None:
    wild = [Trajectory(np.random.default_rng(seed).uniform(-1, 1, (60, 2)) * [0.9, 30], "someone") for seed in range(2)]
    lines = list[str]()
    demos = InMemory(slider.layout, [*moves(slider, 1), *wild])
    training = SMALL.begin(LearningJob(demos, slider, None, SMALL.reserved + 3000, 0, say=lines.append))
    while "pieces_kept" in training.iterate().metrics:
        pass
    count = training.projection
    assert count.kept < count.dropped
    assert isinstance(count, ProjectionCount)
    assert [line[0] for line in lines[1:]] == ["!", "!"]
    assert f"{SMALL.pieces - count.kept - count.dropped} more pieces" in lines[1]
    assert "cannot be followed" in lines[2]


def test_a_checkpoint_of_other_settings_is_refused(slider: Robot, tmp_path: Path) -> None:
    training = begun(slider)
    training.iterate()
    training.save(tmp_path / "saved")
    with pytest.raises(CannotResume, match="method"):
        begun(slider, replace(SMALL, gradient_steps=7)).load(tmp_path / "saved")
    with pytest.raises(CannotResume, match="pieces"):
        begun(slider, demos=moves(slider, 2)).load(tmp_path / "saved")
    with pytest.raises(CannotResume, match="budget"):
        begun(slider, steps=STEPS + 1).load(tmp_path / "saved")
