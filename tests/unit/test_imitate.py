# SPDX-License-Identifier: MIT
"""Weighted transitions, features, the discriminator's reward, the verb and its run folder."""

import dataclasses
import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from imitable.errors import BadOption, BadWeights, CannotResume, CannotWrite, NoRun, OutputExists
from imitable.files import Output
from imitable.imitation.features import LIMIT, features
from imitable.imitation.imitate import imitate
from imitable.imitation.learner import LearningJob
from imitable.imitation.methods import parse_learner
from imitable.imitation.methods.gaifo import DiscriminatorReward, Gaifo
from imitable.imitation.run import Run
from imitable.imitation.run_folder import RunFolder, runs_in
from imitable.imitation.training import imitation_task, normaliser_of
from imitable.imitation.transitions import Sampler, densities, weighted_transitions
from imitable.nn.networks import Mlp
from imitable.policies.acting import mean, normalised
from imitable.rl.agent import Agent, to_rows
from imitable.rl.experience import Experience
from imitable.rl.reward_model import Rewards, absorbing_steps, terminal_values
from imitable.robots.parse import parse_robot
from imitable.sim.babble import babble
from imitable.sim.rollout import Collector, Segment
from imitable.sim.task import Locomotion
from imitable.types import Demonstrations, InMemory, Trajectory, Weights

CHEETAH = parse_robot("half_cheetah:front=0.01")
HOPPER = parse_robot("hopper")
SMALL = Gaifo(
    environments=8,
    length=16,
    minibatch=64,
    hidden=(8, 8),
    discriminator_hidden=(16, 16),
    discriminator_minibatch=32,
    discriminator_steps=2,
)


def walks(count: int = 3, length: int = 30, body: str = "half_cheetah:front=0.01") -> InMemory:
    robot = parse_robot(body)
    return InMemory(robot.layout, [Trajectory(t.states, t.demonstrator) for t in babble(robot, count, length, 0)])


def weights_of(demos: Demonstrations, *values: float) -> Weights:
    return Weights(tuple(episode.hash for episode in demos.episodes), np.array(values) / sum(values))


# transitions


def test_rows_are_drawn_as_often_as_they_weigh() -> None:
    density = np.array([1.0, 0.0, 3.0, 0.5])
    rows = Sampler(density).draw(np.random.default_rng(0), (200_000,))
    fractions = np.bincount(rows, minlength=4) / len(rows)
    np.testing.assert_allclose(fractions, density / density.sum(), atol=0.005)
    assert fractions[1] == 0


def test_a_sampler_never_draws_behind_the_last_row() -> None:
    class Ones:
        def random(self, shape: tuple[int, ...]) -> np.ndarray:
            return np.full(shape, np.nextafter(1.0, 0.0))

    assert Sampler(np.full(10, 0.1)).draw(Ones(), (3,)).max() == 9  # type: ignore[arg-type]


def test_a_transition_has_its_demonstrations_mass_divided_by_its_length() -> None:
    robot = parse_robot("hopper")
    long, short = babble(robot, 1, 40, 0)[0], babble(robot, 1, 10, 1)[0]
    demos = InMemory(robot.layout, [long, short])
    np.testing.assert_allclose(densities(demos, weights_of(demos, 0.5, 0.5)), [0.25, 1.0])
    np.testing.assert_array_equal(densities(demos, None), [1.0, 1.0])
    np.testing.assert_array_equal(densities(demos, weights_of(demos, 40.0, 10.0)), [1.0, 1.0])


def test_a_fall_adds_one_absorbing_pair_and_a_weight_of_zero_takes_a_demonstration_out() -> None:
    demos = walks(3)
    fallen = InMemory(demos.layout, [dataclasses.replace(one, terminated=i == 0) for i, one in enumerate(demos)])
    transitions = weighted_transitions(fallen, weights_of(fallen, 1.0, 1.0, 0.0), 0)
    assert len(transitions) == 30 + 1 + 30
    np.testing.assert_array_equal(np.flatnonzero(transitions.absorbing), [30])
    np.testing.assert_array_equal(transitions.after[:30], demos[0].states[1:])
    np.testing.assert_array_equal(transitions.starts, [demos[0].states[0], demos[1].states[0]])


def test_a_large_set_is_drawn_beforehand_by_the_same_weights() -> None:
    demos = walks(2, length=200)
    transitions = weighted_transitions(demos, weights_of(demos, 1.0, 3.0), 0, most=300)
    assert len(transitions) == 300
    assert (transitions.density == 1).all()
    first = (transitions.before[:, None] == demos[0].states[:-1]).all(axis=2).any(axis=1)
    assert 0.15 < first.mean() < 0.35


def test_moments_are_those_of_the_weighted_transitions() -> None:
    demos = walks(2)
    transitions = weighted_transitions(demos, weights_of(demos, 1.0, 3.0), 0)
    mean, std = transitions.moments(transitions.before)
    rows = np.concatenate([demos[0].states[:-1], *[demos[1].states[:-1]] * 3])
    np.testing.assert_allclose(mean, rows.mean(axis=0))
    np.testing.assert_allclose(std, rows.std(axis=0))


# features


@pytest.mark.parametrize("form", ["delta", "pair"])
def test_features_do_not_say_where_in_the_world_the_body_is(form: str) -> None:
    transitions = weighted_transitions(walks(), None, 0)
    seen = features(transitions, CHEETAH, form, normalised=True, root=False)
    moved = np.zeros(18)
    moved[0] = 123.0
    np.testing.assert_allclose(
        seen(transitions.before, transitions.after),
        seen(transitions.before + moved, transitions.after + moved),
        rtol=1e-4,
        atol=1e-4,
    )
    assert seen.of(transitions).shape == (len(transitions), seen.size)
    assert abs(float(seen.of(transitions)[:, : 18 - 1].mean())) < 1e-3


def test_the_absorbing_pair_is_unlike_any_transition() -> None:
    transitions = weighted_transitions(walks(), None, 0)
    seen = features(transitions, CHEETAH, "delta", normalised=True, root=False)
    assert (seen.of(transitions)[:, -1] == 0).all()
    assert seen.absorbing[-1] == LIMIT
    assert (seen.absorbing[:-1] == 0).all()


# absorbing states


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


# the learner


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


def test_weights_that_are_all_zero_are_refused() -> None:
    demos = walks()
    part = InMemory(CHEETAH.layout, [demos[1], demos[2]])
    with pytest.raises(BadWeights, match="weight zero"):
        imitate(part, CHEETAH, SMALL, weights_of(demos, 1.0, 0.0, 0.0), run=Run(steps=1000))


def test_presets_are_tables_that_further_keys_differ_from() -> None:
    paper = parse_learner("gaifo:preset=paper,max_kl=0.02")
    assert isinstance(paper, Gaifo)
    assert (paper.algorithm, paper.observe_root, paper.max_kl, paper.discriminator_steps) == ("trpo", True, 0.02, 1)
    with pytest.raises(BadOption, match="default, paper, trpo"):
        parse_learner("gaifo:preset=mine")


@pytest.mark.parametrize("text", ["gaifo:reward=money", "gaifo:discount=1", "gaifo:colour=red", "gaif", "my_lab.none.Such"])
def test_an_unknown_method_or_key_is_refused(text: str) -> None:
    with pytest.raises(BadOption):
        parse_learner(text)


def test_what_a_policy_observes_is_standardised_by_the_demonstrations() -> None:
    demos = walks()
    transitions = weighted_transitions(demos, None, 0)
    task, reference = imitation_task(LearningJob(walks(), CHEETAH, None, 1000, 0), transitions)
    assert reference is None
    np.testing.assert_allclose(normaliser_of(task, transitions).mean, transitions.before[:, 1:].mean(axis=0))


def test_a_body_without_a_task_starts_like_the_weighted_demonstrations(slider_path: Path) -> None:
    body = parse_robot(str(slider_path))
    still, moved = babble(body, 2, 20, 0)
    demos = InMemory(body.layout, [Trajectory(still.states, "x"), Trajectory(moved.states + 0.3, "x")])
    transitions = weighted_transitions(demos, weights_of(demos, 0.0, 1.0), 0)
    task, reference = imitation_task(LearningJob(demos, body, None, 1000, 0), transitions)
    assert reference is not None
    np.testing.assert_array_equal(reference.states, demos[1].states[:-1])
    starts = task.start(np.random.default_rng(0), 5).states
    np.testing.assert_array_equal(starts, np.tile(demos[1].states[0], (5, 1)))
    assert task.horizon == 20


# the verb and its folder


def run(tmp_path: Path, out: Output | None = None, weights: Weights | None = None, **changes: object) -> Path:
    settings = Run(**({"steps": 256, "episodes": 1} | changes))  # type: ignore[arg-type]
    imitate(walks(), "half_cheetah:front=0.01", SMALL, weights, run=settings, out=out or tmp_path / "run")
    return tmp_path / "run"


def resumed(tmp_path: Path) -> Output:
    return Output(tmp_path / "run", resume=True)


def test_a_run_folder_holds_setting_metrics_policy_and_evaluation(tmp_path: Path) -> None:
    folder = RunFolder(run(tmp_path))
    assert folder.complete
    assert folder.setting.imitator == "half_cheetah:front=0.01"
    assert [row["steps"] for row in folder.metrics()] == [128, 256]
    assert folder.setting.method.startswith("gaifo:environments=8,length=16")
    assert parse_learner(folder.setting.method) == SMALL
    assert [row["progress"] for row in folder.metrics()] == [0.5, 1.0]
    assert len(folder.evaluation.last.mean_actions.returns or ()) == 1
    assert folder.policy.about["robot"] == "half_cheetah:front=0.01"
    assert not (folder.path / "checkpoint").exists()
    for name in ("setting.json", "evaluation.json"):
        json.loads((folder.path / name).read_text(), parse_constant=lambda _: pytest.fail("not strict JSON"))
    assert [one.path for one in runs_in(folder.path)] == [folder.path]


def test_a_complete_run_is_read_on_resume_and_refused_otherwise(tmp_path: Path) -> None:
    path = run(tmp_path)
    before = {file.name: file.read_bytes() for file in path.iterdir()}
    with pytest.raises(OutputExists):
        run(tmp_path)
    run(tmp_path, resumed(tmp_path))
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before
    run(tmp_path, Output(tmp_path / "run", overwrite=True))
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before


def test_an_interrupted_run_ends_like_an_uninterrupted_one(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", steps=1024)

    class Stop(Exception):
        pass

    class Impatient:
        def progress(self, done: int, total: int, note: str = "") -> None:
            assert "steps/s" in note
            if done > 0.6 * total:
                raise Stop

        def say(self, line: str) -> None:
            del line

    with pytest.raises(Stop):
        run(tmp_path, Output(tmp_path / "cut" / "run", observer=Impatient()), steps=1024, checkpoint_s=-1.0)
    cut = tmp_path / "cut" / "run"
    with (cut / "metrics.jsonl").open("a") as file:
        file.write('{"progress": 0.7')  # a line that a kill cut short
    run(tmp_path, resumed(tmp_path / "cut"), steps=1024)
    assert {file.name: file.read_bytes() for file in cut.iterdir()} == {f.name: f.read_bytes() for f in whole.iterdir()}


def test_a_run_of_another_setting_is_not_resumed_and_nothing_is_overwritten(tmp_path: Path) -> None:
    path = run(tmp_path)
    before = {file.name: file.read_bytes() for file in path.iterdir()}
    with pytest.raises(CannotResume, match="seed"):
        run(tmp_path, resumed(tmp_path), seed=1)
    with pytest.raises(CannotResume, match="steps"):
        run(tmp_path, resumed(tmp_path), steps=512)
    with pytest.raises(CannotResume, match="weights"):
        run(tmp_path, resumed(tmp_path), weights_of(walks(), 1.0, 2.0, 3.0))
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before


def test_a_folder_that_is_no_run_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.tex").write_text("years of work")
    with pytest.raises(CannotWrite, match="no run folder"):
        run(tmp_path, Output(tmp_path / "run", overwrite=True))
    with pytest.raises(NoRun):
        runs_in(tmp_path / "run")
    assert (tmp_path / "run" / "thesis.tex").read_text() == "years of work"


def test_foreign_weights_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(BadWeights):
        run(tmp_path, weights=weights_of(walks(body="half_cheetah"), 1.0, 1.0, 1.0))
    assert not (tmp_path / "run").exists()


def test_a_budget_without_room_for_a_batch_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="at least 128"):
        run(tmp_path, steps=100)
    assert not (tmp_path / "run").exists()


def test_the_best_policy_stands_beside_the_last(tmp_path: Path) -> None:
    demos = walks(body="hopper")
    imitated = imitate(demos, "hopper", SMALL, run=Run(steps=1024, episodes=2), out=tmp_path / "run")
    assert imitated.best is not None
    assert imitated.evaluation.best is not None
    assert imitated.evaluation.best.sampled_actions.episodes == 2
    folder = RunFolder(tmp_path / "run")
    assert folder.best is not None
    assert folder.evaluation == imitated.evaluation


def test_features_do_not_depend_on_the_sign_of_a_quaternion(tmp_path: Path) -> None:
    (tmp_path / "free.xml").write_text(
        '<mujoco><worldbody><body><freejoint name="f"/><geom type="sphere" size="0.1" mass="1"/></body>'
        '<body><joint name="j"/><geom type="sphere" size="0.1" pos="1 0 0" mass="1"/></body></worldbody>'
        '<actuator><motor name="m" joint="j" ctrllimited="true" ctrlrange="-1 1"/></actuator></mujoco>'
    )
    body = parse_robot(str(tmp_path / "free.xml"))
    rng = np.random.default_rng(0)
    states = rng.normal(size=(50, len(body.start)))
    flipped = states * np.where(rng.random((50, 1)) < 0.5, 1.0, np.r_[1, 1, 1, -1, -1, -1, -1, np.ones(states.shape[1] - 7)])
    seen = []
    for one in (states, flipped):
        transitions = weighted_transitions(InMemory(body.layout, [Trajectory(one, "x")]), None, 0)
        seen.append(features(transitions, body, "delta", normalised=True, root=False).of(transitions))
    np.testing.assert_allclose(*seen, atol=1e-5)
