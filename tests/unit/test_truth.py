# SPDX-License-Identifier: MIT
"""The truth suite, in small: what it says of motions is true by its own inverse dynamics, and stays the same."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import imitable as im
from imitable.seeding import generator
from studies.truth.arms import Arm, made_impossible, slowest_deviation
from studies.truth.body import Body
from studies.truth.floating import SPLICES, Floating
from studies.truth.judge import VERDICTS, Judged, chosen, judge, read_rows
from studies.truth.make import make
from studies.truth.motion import WAYS, Truth, read_truths
from studies.truth.page import located, right_cause
from studies.truth.recorder import MAY_CHANGE_RAD, RECORDERS, recorded
from studies.truth.reference import Reference
from studies.truth.robots import ROBOTS, entry
from studies.truth.scenes import robot_text
from studies.truth.shortage import smallest_deviation
from studies.truth.tool_arm import ToolArm


@pytest.fixture(scope="module")
def hinges() -> Arm:
    return Arm(entry("hinges"))


@pytest.fixture(scope="module")
def hull() -> Floating:
    return Floating(entry("floating"))


def test_both_halves_have_every_kind() -> None:
    kinds = {split: {robot.kind for robot in ROBOTS if robot.split == split} for split in ("development", "reporting")}
    assert kinds["development"] == kinds["reporting"] == {"torque arm", "servo arm", "legged"}
    assert len(ROBOTS) >= 14
    assert len({robot.name for robot in ROBOTS}) == len(ROBOTS)


@pytest.mark.parametrize(
    ("size", "hertz", "ratio", "part"), [(1.0, 0.5, 0.1, 0.0), (1.0, 3.0, 3.3, 0.82), (1.5, 4.0, 8.8, 1.0)]
)
def test_torque_of_known_waves(size: float, hertz: float, ratio: float, part: float) -> None:
    body = Body(robot_text(entry("hinges")))
    wave = size * (1 - np.cos(2 * np.pi * hertz * body.times(150))) / 2
    states, accelerations = Reference(np.stack([wave, -wave, 0 * wave], axis=1), body.period).states(body)
    ratios = body.torque_ratio(body.required(states, accelerations)).max(axis=1)
    assert ratios.max() == pytest.approx(ratio, rel=0.1)
    assert (ratios > 1).mean() == pytest.approx(part, abs=0.05)
    deviation, largest, _ = smallest_deviation(body, states, accelerations)
    assert largest == ratios.max()
    assert (deviation > 1) == (hertz > 1)


def test_own_motions_need_no_more_than_there_is(hinges: Arm) -> None:
    for index in range(4):
        states = hinges.own(index).states
        accelerations = np.gradient(states[:, 3:], hinges.body.period, axis=0)
        assert smallest_deviation(hinges.body, states, accelerations)[0] < 0.1
    assert hinges.own(1).use > 0.9


@pytest.mark.parametrize("made", ["torque", "range", "strength", "mass", "speed"])
def test_impossible_motions_of_an_arm(hinges: Arm, made: str) -> None:
    for motion in islice(filter(None, made_impossible(hinges, made)), 3):
        assert motion.span is not None
        assert 0 <= motion.span[0] <= motion.span[1] <= 3
        assert motion.magnitude > 0
        assert motion.part in hinges.body.names
    once, again = (next(filter(None, made_impossible(Arm(entry("hinges")), made))) for _ in range(2))
    assert np.array_equal(once.states, again.states)


def test_deviation_under_a_speed_limit() -> None:
    frames = np.arange(21.0)
    ramp = np.interp(frames, [5, 15], [0.0, 1.0])  # 0.1 per frame
    assert slowest_deviation(ramp, 0.1) == pytest.approx(0, abs=1e-12)
    assert slowest_deviation(ramp, 0.06) == pytest.approx((1 - 0.6) / 2)


def test_splices_change_nothing_outside_their_span(hull: Floating) -> None:
    for kind in SPLICES:
        if not hull.can(kind):
            continue
        motion = next(filter(None, hull.spliced(kind)))
        first = round(motion.span[0] / hull.body.period) if motion.span else 0
        bases = [hull.own(10_000 + index).states for index in range(2)]
        same = [np.array_equal(motion.states[: first - 1], base[: first - 1]) for base in bases]
        assert same[0], kind
        assert not np.array_equal(motion.states[first : first + 30], bases[0][first : first + 30])


def test_an_arm_of_the_repository_led_by_its_tool() -> None:
    arm = ToolArm(entry("panda"))
    assert arm.own(0).span is None
    plane, hurry, cut = (
        next(filter(lambda made: made.magnitude > 1, arm.impossible(made))) for made in ("plane", "hurry", "cut")
    )
    assert plane.amount > 0.05
    assert hurry.amount > 1.5
    assert cut.span is not None
    assert cut.span[1] - cut.span[0] < 0.2


def test_a_shipped_body_plays_without_ending_early() -> None:
    cheetah = Floating(entry("half_cheetah"))
    made = cheetah.own(0)
    assert made.fine is not None
    assert np.array_equal(made.fine[:: cheetah.body.skip], made.states[:, :9])
    assert made.use > 0.9


def test_recorders_keep_the_motion(hull: Floating) -> None:
    made = hull.own(1)
    assert made.fine is not None
    for recorder in RECORDERS:
        states = recorded(hull.body, made.fine, recorder, generator(0, "test"))
        assert states is None or np.abs(states[:, 11] - made.states[:, 11]).max() < MAY_CHANGE_RAD


def test_a_robot_is_made_once_and_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMITABLE_TRUTH", str(tmp_path))
    robot = replace(entry("hinges"), name="small")
    truths = make(robot, each=5)
    assert make(robot, each=50) == truths
    written, notes = read_truths(tmp_path / "motions" / "small" / "truth.json")
    assert written == truths
    assert notes == []
    for truth in truths:
        demos = im.read(tmp_path / "motions" / "small" / truth.group)
        assert demos.episodes[truth.index].demonstrator == truth.name
        assert bool(truth.knob) == (truth.group != "base")
    assert {truth.made for truth in truths if truth.label == "impossible"} == {"torque", "range", "strength", "mass", "speed"}
    picked = chosen(truths, 2)
    assert [sum(truth.label == label for truth in picked) for label in ("feasible", "impossible")] == [2, 2]


def test_spans_and_causes_are_compared_with_the_truth() -> None:
    truth = Truth("a/jump/000", "a", "base", "", 0, "impossible", "jump", span=(1.0, 1.2), magnitude=4)
    row = Judged(truth, "infeasible", ((0.8, 1.4),), "jump", {}, None, 5.0, 1.0)
    assert located(row)
    assert right_cause(row)
    assert not located(replace(row, spans=((0.4, 1.4),)))
    assert not located(replace(row, spans=()))
    assert not right_cause(replace(row, cause="torque"))
    assert set(SPLICES) < set(WAYS)


def test_rows_belong_to_their_motions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMITABLE_TRUTH", str(tmp_path))
    robot = replace(entry("floating"), name="small")
    make(robot, each=5)
    judge(robot, 4, "direct:effort=quick", tmp_path / "small.json")
    rows, _ = read_rows(tmp_path / "small.json")
    demos = im.read(tmp_path / "motions" / "small" / "base")
    assert [row.truth.index for row in rows] == sorted(row.truth.index for row in rows)
    for row in rows:
        assert demos.episodes[row.truth.index].demonstrator == row.truth.name
        assert row.verdict in VERDICTS
    own = [row.columns["share"] for row in rows if row.truth.made == "own"]
    assert max(own) < 0.01
