# SPDX-License-Identifier: MIT
"""Pieces drawn by weight and re-rolled: where they begin, what is kept of them, what it costs."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from imitable.errors import BadEpisode, BadOption
from imitable.imitation.learner import LearningJob
from imitable.imitation.projecting import Piece, Projecting, drawn_pieces
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.babble import babble
from imitable.sim.task import Locomotion, moment_of
from imitable.tracking.reroll import Reroller
from imitable.types import Demonstrations, Floats, InMemory, Trajectory, Weights
from tests.unit.small_imitation import weights_of
from tests.unit.test_project import assert_replays

ROOM = 10**6


def moves(body: Robot, *lengths: int) -> InMemory:
    """Return movements that have no state in common."""
    made = [babble(body, 1, length, seed)[0].states + 0.01 * seed for seed, length in enumerate(lengths)]
    return InMemory(body.layout, [Trajectory(states, "someone") for states in made])


def job_of(demos: Demonstrations, body: Robot, weights: Weights | None = None, seed: int = 0) -> LearningJob:
    return LearningJob(demos, body, weights, ROOM, seed)


def ended(job: LearningJob, pieces: list[Piece]) -> Projecting:
    projecting = Projecting(job, pieces, ROOM)
    while not projecting.done:
        projecting.iterate()
    return projecting


def begins(demos: Demonstrations, pieces: list[Piece]) -> list[tuple[int, int, int]]:
    """Return demonstration, step and times of every piece, found by its first state."""
    places = {state.tobytes(): (i, t) for i, one in enumerate(demos) for t, state in enumerate(one.states)}
    return [(*places[piece.targets[0].tobytes()], piece.times) for piece in pieces]


def test_pieces_are_drawn_by_weight(slider: Robot) -> None:
    demos = moves(slider, 20, 60, 30)
    found = begins(demos, drawn_pieces(job_of(demos, slider, weights_of(demos, 5, 3, 2)), 20_000, 2))
    drawn = np.zeros((3, 60))
    for place, step, times in found:
        drawn[place, step] += times
    assert drawn.sum() == 20_000
    # a deviation of √(20,000 · 0.25) = 70 at most; the last transition begins no piece of two
    shares = np.array([5 * 19 / 20, 3 * 59 / 60, 2 * 29 / 30])
    np.testing.assert_allclose(drawn.sum(axis=1), 20_000 * shares / shares.sum(), atol=4 * 70)
    np.testing.assert_allclose(drawn[0, :19], drawn[0].sum() / 19, rtol=0.25)
    assert not drawn[0, 19:].any()


def test_without_weights_every_transition_is_as_likely(slider: Robot) -> None:
    demos = moves(slider, 10, 90)
    found = begins(demos, drawn_pieces(job_of(demos, slider), 10_000, 2))
    first = sum(times for place, _, times in found if place == 0)
    np.testing.assert_allclose(first, 10_000 * 9 / 98, rtol=0.15)


def test_segments_without_weight_begin_no_piece(slider: Robot) -> None:
    demos = moves(slider, 30)
    weights = replace(weights_of(demos, 1), segments=(((0, 0.0), (20, 3.0)),))
    assert {step for _, step, _ in begins(demos, drawn_pieces(job_of(demos, slider, weights), 500, 2))} == set(range(20, 29))


class _Guarded(InMemory):
    """Demonstrations of which the first must not be read."""

    def __getitem__(self, position: int) -> Trajectory:
        assert position, "a demonstration without a weight was read"
        return super().__getitem__(position)

    def __iter__(self) -> Iterator[Trajectory]:
        raise AssertionError("all demonstrations were read")


def test_a_demonstration_without_weight_is_never_read(slider: Robot) -> None:
    demos = moves(slider, 30, 30)
    weights = weights_of(demos, 0, 1)
    pieces = drawn_pieces(job_of(_Guarded(demos.layout, list(demos)), slider, weights), 100, 2)
    assert {place for place, _, _ in begins(demos, pieces)} == {1}


def test_a_demonstration_shorter_than_a_piece_is_one(slider: Robot) -> None:
    demos = moves(slider, 3, 3)
    pieces = drawn_pieces(job_of(demos, slider), 50, 10)
    assert [len(piece.targets) for piece in pieces] == [4, 4]
    assert sum(piece.times for piece in pieces) == 50


def test_what_is_kept_the_imitator_has_done(slider_path: Path) -> None:
    weak = parse_robot(f"{slider_path}:gear.push=1")
    strong = parse_robot(str(slider_path))
    job = job_of(moves(strong, 40, 40), weak)
    projecting = ended(job, drawn_pieces(job, 60, 3))
    for trajectory in projecting.demos:
        assert_replays(trajectory, weak)
        assert trajectory.demonstrator == str(weak)
    count = projecting.count
    assert count.kept + count.dropped == 60
    assert count.kept == len(projecting.demos)


def test_a_piece_that_was_drawn_twice_is_followed_once_and_counts_twice(slider: Robot) -> None:
    job = job_of(moves(slider, 30), slider)
    piece = drawn_pieces(job, 1, 2)[0]
    once, twice = ended(job, [piece]), ended(job, [replace(piece, times=2)])
    assert twice.count.steps == once.count.steps
    assert (once.count.kept, twice.count.kept) == (1, 2)
    assert [one.hash for one in twice.demos] == [once.demos[0].hash] * 2


def test_a_piece_begins_at_a_stop_that_it_would_begin_beyond(slider: Robot, slider_path: Path) -> None:
    narrow = parse_robot(f"{slider_path}:range.slide=-0.1..0.1")
    states = np.stack([0.2 * slider.layout.period_s * np.arange(76), np.full(76, 0.2)], axis=1)
    job = job_of(InMemory(slider.layout, [Trajectory(states, "someone")]), narrow)
    pieces = drawn_pieces(job, 500, 2)
    firsts = np.array(sorted(piece.targets[0, 0] for piece in pieces))
    np.testing.assert_allclose(firsts.max(), 0.1, atol=0.003)  # a hundredth of the range may be passed
    assert (firsts == 0.1).sum() > 20
    projecting = ended(job, pieces)
    # beyond the stop there is nothing to follow
    assert projecting.count.dropped > 100
    assert max(one.states[:, 0].max() for one in projecting.demos) < 0.12


def fall() -> tuple[Robot, Floats]:
    """Return a Hopper and its states until it falls."""
    body = parse_robot("hopper")
    states = babble(body, 1, 200, 3)[0].states
    fallen = Locomotion(body).end(moment_of(states)).terminated
    assert fallen.any()
    return body, states[: int(fallen.argmax()) + 1]


def test_a_fall_is_learned_from_only_where_it_was_demonstrated() -> None:
    body, states = fall()
    last = Piece(states[-3:], 1, falls=True)
    job = job_of(InMemory(body.layout, [Trajectory(states, "someone", terminated=True)]), body)
    assert [one.terminated for one in ended(job, [last]).demos] == [True]
    upright = Piece(states[-5:-2], 1, falls=False)
    found = ended(job, [upright, replace(last, falls=False)])
    assert [one.terminated for one in found.demos] == [False]
    assert (found.count.kept, found.count.dropped) == (1, 1)
    drawn = drawn_pieces(job, 5_000, 2)
    assert [piece.falls for piece in drawn].count(True) == 1
    assert next(piece for piece in drawn if piece.falls).targets.tobytes() == states[-3:].tobytes()


def test_clipped_velocities_are_refused_by_name(slider: Robot) -> None:
    states = np.zeros((30, 2))
    states[:, 0], states[:, 1] = np.linspace(0, 0.9, 30), 0.1
    job = job_of(InMemory(slider.layout, [Trajectory(states, "someone")]), slider)
    with pytest.raises(BadEpisode, match="clipped"):
        drawn_pieces(job, 10, 2)


def test_nothing_to_follow_is_said(slider: Robot) -> None:
    states = np.random.default_rng(0).uniform(-1, 1, (30, 2)) * [0.9, 30]
    job = job_of(InMemory(slider.layout, [Trajectory(states, "someone")]), slider)
    with pytest.raises(BadOption, match="cannot follow a single one"):
        _ = ended(job, drawn_pieces(job, 10, 2)).demos


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(room=st.integers(-9, 4000), seed=st.integers(0, 9))
def test_it_never_takes_more_steps_than_there_is_room_for(room: int, seed: int, slider: Robot) -> None:
    wild = np.random.default_rng(seed).uniform(-1, 1, (30, 2)) * [0.9, 30]
    job = job_of(InMemory(slider.layout, [*moves(slider, 30), Trajectory(wild, "someone")]), slider, seed=seed)
    pieces = drawn_pieces(job, 30, 2)
    most = Reroller(slider, 0).most_steps(2)
    if room < most:
        with pytest.raises(BadOption, match=f"give at least {ROOM - room + most}"):
            Projecting(job, pieces, room)
        return
    projecting = Projecting(job, pieces, room)
    while not projecting.done:
        projecting.iterate()
        assert 0 < projecting.count.steps <= room
    assert projecting.progress == 1.0


@pytest.mark.parametrize("body", ["half_cheetah", "hopper:gravity=5", "servo"])
@pytest.mark.parametrize("length", [2, 45])
def test_a_piece_takes_no_more_steps_than_the_bound_says(body: str, length: int, servo_arm_path: Path) -> None:
    robot = parse_robot(str(servo_arm_path) if body == "servo" else body)
    own = babble(robot, 1, length, 0)[0].states
    leaps = own + np.random.default_rng(0).normal(size=own.shape)  # where new beginnings spend their whole budget
    for targets in (own, leaps):
        reroller = Reroller(robot, 0)
        followed = reroller.follow([targets] * 3)
        for one in followed:
            reroller.kept(one, targets)
        assert 0 < reroller.spent <= 3 * reroller.most_steps(length)


def test_a_break_changes_nothing(slider: Robot) -> None:
    job = job_of(moves(slider, 200, 300), slider)
    pieces = drawn_pieces(job, 2000, 2)
    assert len(pieces) > 256
    whole, broken = ended(job, pieces), Projecting(job, pieces, ROOM)
    while not broken.done:
        broken.iterate()
        again = Projecting(job, pieces, ROOM)
        again.restore(broken.snapshot())
        assert (again.count, again.progress) == (broken.count, broken.progress)
        broken = again
    assert [one.hash for one in broken.demos] == [one.hash for one in whole.demos]
    assert [one.terminated for one in broken.demos] == [one.terminated for one in whole.demos]
    assert broken.count == whole.count


def test_runs_that_draw_the_same_pieces_share_what_became_of_them(
    slider: Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = job_of(moves(slider, 200, 300), slider)
    job, pieces = replace(alone, projections=tmp_path / "shared"), drawn_pieces(alone, 2000, 2)
    assert len(pieces) > 256
    whole, first = ended(alone, pieces), ended(job, pieces)
    [file] = (tmp_path / "shared").iterdir()
    other = replace(job, seed=1)
    ended(other, drawn_pieces(other, 2000, 2))
    assert len(list((tmp_path / "shared").iterdir())) == 2, "another seed is another projection"
    file.rename(tmp_path / "kept")
    file.write_bytes(b"damaged")
    assert ended(job, pieces).count == whole.count, "and is made again"
    assert file.read_bytes() == (tmp_path / "kept").read_bytes()
    monkeypatch.setattr(Reroller, "follow", None)  # whoever simulates now fails
    again = ended(job, pieces)
    for one in (first, again):
        assert one.count == whole.count
        assert [each.hash for each in one.demos] == [each.hash for each in whole.demos]


def test_a_run_with_less_room_takes_what_it_has_room_for(slider: Robot, tmp_path: Path) -> None:
    alone = job_of(moves(slider, 200, 300), slider)
    shared, pieces = replace(alone, projections=tmp_path / "shared"), drawn_pieces(alone, 2000, 2)
    room = ended(shared, pieces).steps // 2
    found: list[Projecting] = []
    for job in (alone, shared):
        projecting = Projecting(job, pieces, room)
        while not projecting.done:
            projecting.iterate()
        found.append(projecting)
    assert found[0].count == found[1].count
    assert 0 < found[0].count.steps <= room


def test_robots_that_fall_by_other_rules_share_nothing(tmp_path: Path) -> None:
    """Their dynamics are the same."""
    robots = [parse_robot("hopper"), parse_robot("Hopper-v5")]
    assert robots[0].hash == robots[1].hash
    demos = InMemory(robots[0].layout, babble(robots[0], 2, 60, 0))
    for robot in robots:
        job = replace(job_of(demos, robot), projections=tmp_path / "shared")
        pieces = drawn_pieces(job, 40, 2)
        assert ended(job, pieces).count == ended(job_of(demos, robot), pieces).count
    assert len(list((tmp_path / "shared").iterdir())) == 2


def test_checkpoints_of_earlier_versions_are_read(slider: Robot) -> None:
    job = job_of(moves(slider, 200, 300), slider)
    pieces = drawn_pieces(job, 2000, 2)
    whole, begun = ended(job, pieces), Projecting(job, pieces, ROOM)
    begun.iterate()
    earlier = begun.snapshot()
    earlier["spent"] = earlier.pop("blocks")[:, 1].sum()
    again = Projecting(job, pieces, ROOM)
    again.restore(earlier)
    while not again.done:
        again.iterate()
    assert again.count == whole.count
    assert [one.hash for one in again.demos] == [one.hash for one in whole.demos]
