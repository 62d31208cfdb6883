# SPDX-License-Identifier: MIT
"""The verb `imitate`: methods by name, tasks and starts, the run folder."""

import json
from pathlib import Path

import numpy as np
import pytest

from imitable.errors import BadOption, BadWeights, CannotResume, CannotWrite, NoRun, OutputExists
from imitable.evaluation.evaluate import first_episode
from imitable.evaluation.reference import task_of
from imitable.files import Output
from imitable.imitation import hashed_json, setting
from imitable.imitation.imitate import imitate
from imitable.imitation.learner import LearningJob
from imitable.imitation.methods import parse_learner
from imitable.imitation.run import Run
from imitable.imitation.run_folder import RunFolder, runs_in
from imitable.imitation.training import imitation_task, normaliser_of
from imitable.imitation.transitions import transitions_of, weighted_transitions
from imitable.robots.parse import parse_robot
from imitable.sim.babble import babble
from imitable.sim.task import Task
from imitable.types import InMemory, Trajectory, Weights
from tests.unit.small_imitation import CHEETAH, SMALL, walks, weights_of


def test_weights_that_are_all_zero_are_refused() -> None:
    demos = walks()
    part = InMemory(CHEETAH.layout, [demos[1], demos[2]])
    with pytest.raises(BadWeights, match="weight zero"):
        imitate(part, CHEETAH, SMALL, weights_of(demos, 1.0, 0.0, 0.0), run=Run(steps=1000))


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


def starts_of(task: Task) -> set[bytes]:
    return {state.tobytes() for state in task.start(np.random.default_rng(0), 500).states}


@pytest.mark.parametrize(("count", "kept"), [(10, 2), (3, 1), (2, 1), (1, 1)])
def test_a_policy_is_judged_from_starts_that_its_training_never_drew(slider_path: Path, count: int, kept: int) -> None:
    body = parse_robot(str(slider_path))
    moves = [Trajectory(one.states + 0.01 * k, "x") for k, one in enumerate(babble(body, count, 20, 0))]
    sets = [InMemory(body.layout, rows) for rows in (moves, moves[::-1])]
    jobs = [LearningJob(demos, body, None, 1000, 0) for demos in sets]
    (task, reference), (_, backwards) = (imitation_task(job, transitions_of(job)) for job in jobs)
    assert reference is not None
    assert backwards is not None
    practised, judged = starts_of(task), starts_of(task_of(body, reference, held_out=True))
    assert practised | judged == {one.states[0].tobytes() for one in moves}
    assert len(judged) == kept
    assert practised.isdisjoint(judged) or count == 1
    assert starts_of(task_of(body, backwards, held_out=True)) == judged, "the order of the set is nothing"
    assert first_episode(body, SMALL.begin(jobs[0]).policy, reference).states[0].tobytes() in judged


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


def test_an_evaluation_plays_what_is_asked_for_and_no_more(tmp_path: Path) -> None:
    demos, out = walks(), tmp_path / "run"
    brief = Run(steps=256, episodes=(3, 2), evaluate_best=False)
    last = imitate(demos, CHEETAH, SMALL, run=brief, out=out).evaluation.last
    assert (last.mean_actions.episodes, last.sampled_actions.episodes) == (3, 2)
    folder = RunFolder(out)
    assert folder.evaluation.best is None
    assert (folder.setting.episodes, folder.setting.evaluate_best) == ((3, 2), False)
    again = imitate(demos, CHEETAH, SMALL, run=brief, out=Output(out, resume=True)).evaluation
    assert again == folder.evaluation
    with pytest.raises(CannotResume, match="episodes"):
        imitate(demos, CHEETAH, SMALL, run=Run(steps=256, episodes=3), out=Output(out, resume=True))
    whole = imitate(demos, CHEETAH, SMALL, run=Run(steps=256, episodes=3)).evaluation
    assert whole.last.mean_actions == last.mean_actions, "the same episodes, however many are played beside them"


@pytest.mark.parametrize("episodes", [0, (0, 5), (5, 0)])
def test_an_evaluation_without_episodes_is_refused(episodes: int | tuple[int, int]) -> None:
    with pytest.raises(BadOption, match="episodes"):
        imitate(walks(), CHEETAH, SMALL, run=Run(steps=256, episodes=episodes))


def test_a_setting_of_an_earlier_version_evaluated_the_best_policy(tmp_path: Path) -> None:
    imitate(walks(), CHEETAH, SMALL, run=Run(steps=256, episodes=1), out=tmp_path / "run")
    content = hashed_json.read_json(tmp_path / "run" / "setting.json")
    del content["evaluate_best"]
    assert setting.from_json(content).evaluate_best
