# SPDX-License-Identifier: MIT
"""Projection: whatever comes out, the imitator has done; and how much of a demonstration comes out."""

import json
from pathlib import Path

import numpy as np
import pytest

import imitable as im
from imitable.errors import BadOption, BadScores, BadWeights
from imitable.feasibility.methods.direct import window_begins
from imitable.feasibility.score import score, weigh
from imitable.feasibility.score_files import read_scores, write_scores
from imitable.imitation.imitate import imitate
from imitable.imitation.run import Run
from imitable.policies.shipped import policy_for
from imitable.projection import Projected, project
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.babble import babble, scales
from imitable.sim.batch import Batch
from imitable.sim.rollout import episodes
from imitable.sim.task import Locomotion, Moment
from imitable.tracking.reroll import LOST, PATIENCE, SHORTEST
from imitable.types import Demonstrations, InMemory, Trajectory
from tests.unit.test_cli import imitable, refused


def recorded(body: str, steps: int) -> InMemory:
    """Return the beginning of one episode of a shipped demonstrator, without its actions."""
    task = Locomotion(parse_robot(body))
    trajectory, _ = next(episodes(task, policy_for(task.robot), [3]))
    return InMemory(task.robot.layout, [Trajectory(trajectory.states[: steps + 1], body, seed=3)])


@pytest.fixture(scope="module")
def hopper() -> InMemory:
    return recorded("hopper", 60)


@pytest.fixture(scope="module")
def projected(hopper: InMemory) -> Projected:
    return project(hopper, "hopper:gravity=12", length=25, pieces=2)


@pytest.fixture
def slider(slider_path: Path) -> Robot:
    return parse_robot(str(slider_path))


def demonstrations(*trajectories: Trajectory, body: Robot) -> InMemory:
    return InMemory(body.layout, trajectories)


def assert_replays(trajectory: Trajectory, body: Robot) -> None:
    """Put the body into each state, let it take the action, and compare: the transitions are its own, bit for bit."""
    assert trajectory.actions is not None
    batch = Batch(body, len(trajectory))
    batch.set_state(trajectory.states[:-1])
    assert not batch.step(trajectory.actions).any()
    np.testing.assert_array_equal(batch.states, trajectory.states[1:])


def test_every_transition_is_one_of_the_imitator(projected: Projected) -> None:
    body = parse_robot("hopper:gravity=12")
    for trajectory in projected:
        assert_replays(trajectory, body)
        assert trajectory.demonstrator == str(body)


def test_actions_alone_replay_a_piece_from_its_start(projected: Projected) -> None:
    trajectory = projected[0]
    assert trajectory.actions is not None
    batch = Batch(parse_robot("hopper:gravity=12"), 1)
    batch.set_state(trajectory.states[:1])
    for action, state in zip(trajectory.actions[:10], trajectory.states[1:11], strict=True):
        batch.step(action[None])
        # the simulator's warm start goes on here, where projection restores states: contact forces differ by its tolerance
        np.testing.assert_allclose(batch.states[0], state, atol=1e-3)


def test_pieces_begin_in_demonstrated_states(hopper: InMemory, projected: Projected) -> None:
    for origin, trajectory in zip(projected.origins, projected, strict=True):
        np.testing.assert_array_equal(trajectory.states[0], hopper[origin.place].states[origin.begin])
        assert len(trajectory) == origin.length <= origin.meant == 25
    assert projected.origins[0].begin == 0
    assert projected[0].seed == 3
    assert projected[1].seed is None


def test_own_demonstrations_project_onto_themselves() -> None:
    demos = recorded("hopper:gravity=15", 40)
    found = project(demos, "hopper:gravity=15")
    assert [len(trajectory) for trajectory in found] == [40]
    assert found.origins[0].error < 0.01
    assert found.simulator_steps < 40 * 40


def test_the_return_is_the_imitators_own(projected: Projected) -> None:
    task, trajectory = Locomotion(parse_robot("hopper:gravity=12")), projected[0]
    assert trajectory.actions is not None
    steps, blank = np.arange(len(trajectory)), np.zeros((len(trajectory), 0), np.int64)
    before, after = Moment(trajectory.states[:-1], steps, blank), Moment(trajectory.states[1:], steps, blank)
    assert trajectory.total_return == task.reward(before, trajectory.actions, after).sum()


def test_a_slider_gives_back_the_pushes_that_were_recorded(slider: Robot) -> None:
    own = babble(slider, 1, 30, 0)[0]
    found = project(demonstrations(Trajectory(own.states, "someone"), body=slider), slider)
    assert own.actions is not None
    assert found[0].actions is not None
    # v' = (v + dt g u / m) / (1 + dt d / m): one push for every change of speed
    np.testing.assert_allclose(found[0].actions, own.actions, atol=0.02)
    np.testing.assert_allclose(found[0].states, own.states, atol=0.01)


def test_a_piece_ends_where_it_is_lost(slider: Robot) -> None:
    own = babble(slider, 1, 40, 1)[0]
    states = own.states.copy()
    states[21:, 1] += 3 * scales(slider).state[1]  # a speed that no push reaches in time
    found = project(demonstrations(Trajectory(states, "someone"), body=slider), slider)
    assert 20 <= len(found[0]) <= 24
    assert_replays(found[0], slider)


def test_a_short_loss_is_forgiven(slider: Robot) -> None:
    own = babble(slider, 1, 40, 1)[0]
    states = own.states.copy()
    states[20, 1] += 2 * LOST * scales(slider).state[1] * np.sqrt(2) + 1
    found = project(demonstrations(Trajectory(states, "someone"), body=slider), slider)
    assert PATIENCE > 1
    assert len(found[0]) == 40


def test_what_cannot_be_followed_is_left_out_and_named(slider: Robot) -> None:
    good, bad = (trajectory.states for trajectory in babble(slider, 2, 30, 2))
    bad = bad.copy()
    bad[1:, 1] += 10 * scales(slider).state[1]
    sets = demonstrations(Trajectory(bad, "far"), Trajectory(good, "near"), body=slider)
    found = project(sets, slider)
    assert [origin.episode.demonstrator for origin in found.origins] == ["near"]
    assert [(origin.place, origin.length) for origin in found.left_out] == [(0, 0)]
    with pytest.raises(BadOption, match="cannot follow a single one"):
        project(demonstrations(Trajectory(bad, "far"), body=slider), slider)


def test_a_fall_ends_a_piece(hopper: InMemory) -> None:
    # twice the gravity: it goes down where the demonstrator hops
    found = project(hopper, "hopper:gravity=20")
    trajectory, task = found[0], Locomotion(parse_robot("hopper:gravity=20"))
    ends = task.end(Moment(trajectory.states[1:], np.arange(len(trajectory)), np.zeros((len(trajectory), 0), np.int64)))
    assert not ends.terminated[:-1].any()
    assert ends.terminated[-1] == trajectory.terminated


def test_one_demonstration_does_not_depend_on_the_others(slider: Robot) -> None:
    sets = [Trajectory(trajectory.states, "someone") for trajectory in babble(slider, 3, 50, 4)]
    together = project(demonstrations(*sets, body=slider), slider, length=10, pieces=3, threads=2)
    alone = project(demonstrations(sets[1], body=slider), slider, length=10, pieces=3)
    assert [t.hash for t in alone] == [together[k].hash for k, o in enumerate(together.origins) if o.place == 1]
    assert [origin.place for origin in together.origins] == sorted(origin.place for origin in together.origins)


def test_pieces_of_the_whole_share_it_out(slider: Robot) -> None:
    sets = demonstrations(*babble(slider, 1, 50, 4), body=slider)
    found = project(sets, slider, pieces=5)
    assert [origin.meant for origin in found.origins] == [10] * 5
    begins = [origin.begin for origin in found.origins]
    assert begins == sorted(set(begins))
    # more pieces than places to begin: as many as there are
    assert len(project(sets, slider, length=49, pieces=5)) == 2


@pytest.fixture
def scored(slider: Robot, tmp_path: Path) -> tuple[Demonstrations, Path]:
    sets = demonstrations(*(Trajectory(t.states, "someone") for t in babble(slider, 3, 40, 5)), body=slider)
    out = tmp_path / "scores.parquet"
    score(sets, slider, "direct:windows=2,window_s=0.3", out=out)
    return sets, out


def test_rollouts_of_a_score_file_need_no_simulation(scored: tuple[Demonstrations, Path], slider: Robot) -> None:
    sets, out = scored
    found = project(sets, slider, scores=out)
    assert found.simulator_steps == 0
    assert [(origin.place, origin.begin) for origin in found.origins] == [
        (place, begin) for place in range(3) for begin in window_begins(sets[place], 15, 2).tolist()
    ]
    for trajectory in found:
        assert_replays(trajectory, slider)


def test_score_files_of_others_are_refused(scored: tuple[Demonstrations, Path], slider: Robot, slider_path: Path) -> None:
    sets, out = scored
    with pytest.raises(BadScores, match="not of"):
        project(sets, f"{slider_path}:gear.push=8", scores=out)
    with pytest.raises(BadWeights, match="episode 0 of the set has none"):
        project(demonstrations(*babble(slider, 1, 40, 6), body=slider), slider, scores=out)
    score(sets, slider, "direct:form=restart,transitions=5", out=im.Output(out, overwrite=True))
    with pytest.raises(BadScores, match="no rollout of episode 0"):
        project(sets, slider, scores=out)
    assert project(sets, slider, scores=out, length=5).simulator_steps > 0, "other pieces are simulated"


def test_weights_go_on_to_the_pieces(scored: tuple[Demonstrations, Path], slider: Robot, tmp_path: Path) -> None:
    sets, out = scored
    known = weigh(read_scores(out), "0.5", "top:2")
    write_scores(tmp_path / "two.parquet", known)
    found = project(sets, slider, scores=tmp_path / "two.parquet", length=5, pieces=3)
    assert found.scores is not None
    assert {origin.place for origin in found.origins} == set(np.flatnonzero(known.weight).tolist())
    for row, origin in enumerate(found.origins):
        assert found.scores.share[row] == known.share[origin.place]
    # every transition weighs its demonstration's score: here all pieces and all demonstrations are of one length
    sums = np.bincount([origin.place for origin in found.origins], found.scores.weight, minlength=3)
    np.testing.assert_allclose(sums, known.weight, atol=1e-12)
    assert project(sets, slider).scores is None
    imitate(found, slider, "cloning:gradient_steps=2", found.scores.weights, run=Run(episodes=1))


def test_demonstrations_without_weight_are_skipped(scored: tuple[Demonstrations, Path], slider: Robot, tmp_path: Path) -> None:
    sets, out = scored
    known = weigh(read_scores(out), "0.5", "top:1")
    write_scores(tmp_path / "one.parquet", known)
    heaviest = int(np.argmax(known.weight))
    found = project(sets, slider, scores=tmp_path / "one.parquet", length=5, pieces=3)
    assert {origin.place for origin in (*found.origins, *found.left_out)} == {heaviest}
    assert found.skipped == 2
    alone = project(demonstrations(sets[heaviest], body=slider), slider, length=5, pieces=3)
    assert [one.hash for one in found] == [one.hash for one in alone]
    assert found.simulator_steps == alone.simulator_steps, "nothing is spent on those without a weight"
    assert alone.skipped == 0
    demos, projected = tmp_path / "demos", tmp_path / "projected"
    im.write(demos, slider.layout, sets)
    done = imitable(
        "project", demos, "--imitator", slider, "--scores", tmp_path / "one.parquet", "--length", "5", "--out", projected
    )
    assert "2 demonstrations have no weight and are skipped" in done.stderr


def test_without_a_task_a_body_is_evaluated_as_long_as_was_asked(scored: tuple[Demonstrations, Path], slider: Robot) -> None:
    pieces = project(scored[0], slider, length=2, pieces=6)
    for horizon, length in ((None, 2), (40, 40)):
        imitated = imitate(pieces, slider, "cloning:gradient_steps=2", run=Run(episodes=2, horizon=horizon))
        assert imitated.evaluation.last.mean_actions.length_mean == length
    with pytest.raises(BadOption, match="above 0"):
        imitate(pieces, slider, "cloning:gradient_steps=2", run=Run(horizon=0))


@pytest.mark.parametrize(("length", "pieces"), [(SHORTEST - 1, 1), (None, 0)])
def test_bad_sizes_are_refused(length: int | None, pieces: int, slider: Robot) -> None:
    with pytest.raises(BadOption, match="whole number"):
        project(demonstrations(*babble(slider, 1, 40, 6), body=slider), slider, length=length, pieces=pieces)


def test_the_command_line_writes_a_set_that_reads_back(slider: Robot, slider_path: Path, tmp_path: Path) -> None:
    demos, out = tmp_path / "demos", tmp_path / "out"
    im.write(demos, slider.layout, [Trajectory(t.states, "someone") for t in babble(slider, 2, 40, 7)])
    arguments = ("project", demos, "--imitator", slider_path, "--length", "10", "--pieces", "2", "--out", out)
    document = json.loads(imitable(*arguments, "--json").stdout)
    assert len(im.read(out)) == len(document["episodes"]) == 4
    assert document["simulator_steps"] > 0
    expected = project(im.read(demos), slider, length=10, pieces=2)
    assert [episode.hash for episode in im.read(out).episodes] == [trajectory.hash for trajectory in expected]
    assert "--overwrite" in refused(*arguments)
    shown = imitable(*arguments, "--overwrite").stderr
    assert "--method cloning" in shown
    assert "simulated steps" in shown
