# SPDX-License-Identifier: MIT
"""Why a demonstration fails, and the ladder of knobs that would have to move."""

from dataclasses import replace
from pathlib import Path

import pytest

from imitable.feasibility.explain import explain
from imitable.feasibility.ladders import ladders
from imitable.feasibility.score import score
from imitable.feasibility.score_files import read_scores
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.types import InMemory, Trajectory
from tests.unit.pushed_slider import FORCE, pushed


def test_an_explanation_names_joint_force_and_knob(slider_path: Path, tmp_path: Path) -> None:
    weak, strong = parse_robot(f"{slider_path}:gear.push=0.2"), parse_robot(str(slider_path))
    demos = InMemory(weak.layout, [Trajectory(pushed(0.9 * FORCE, 40).states, str(strong))])
    out = tmp_path / "scores.parquet"
    scores = score(demos, weak, out=out)
    explanation = explain(scores, 0, demos)
    assert explain(read_scores(out), 0, demos) == explanation
    assert explain(replace(scores, path=None), 0, demos) == explanation, "without its steps it is measured again"
    assert explanation.verdict == "infeasible"
    assert explanation.first_divergence is not None
    assert explanation.forces[0].joint == "slide"
    assert explanation.forces[0].needed == pytest.approx(0.9 * FORCE, rel=0.1)
    assert explanation.forces[0].available == pytest.approx(0.2 * FORCE)
    (ladder,) = explanation.ladders
    assert ladder.knob == "gear.push"
    assert [rung.share for rung in ladder.rungs] == sorted((rung.share for rung in ladder.rungs), reverse=True)
    assert "feasible from gear.push ≥" in ladder.sentence
    assert ladder.rungs[0].share == scores.share[0]
    assert any("has 0.4" in line for line in explanation.lines)


def test_a_ladder_without_a_feasible_rung_says_so(slider_path: Path) -> None:
    weak = parse_robot(f"{slider_path}:gear.push=0.2")
    demos = InMemory(weak.layout, [Trajectory(pushed(5 * FORCE, 60).states, "a stranger")])
    scores = score(demos, weak)
    (ladder,) = ladders(demos[0], weak, scores)
    assert ladder.sentence.startswith("no gear.push from 0.2 to 1")


def test_a_strangers_demonstration_is_climbed_by_the_motor_that_lacks_strength(slider: Robot) -> None:
    """The imitator is as its file says and the demonstrator is no robot: nothing can be turned back."""
    stranger = replace(pushed(5 * FORCE, 12), demonstrator="human")
    scores = score(InMemory(slider.layout, [stranger]), slider)
    assert scores.verdict == ("infeasible",)
    [ladder] = ladders(stranger, slider, scores)
    assert ladder.knob == "gear.push"
    reached = float(ladder.sentence.split("≥ ")[1].split()[0])
    assert 3.5 < reached <= 6, "from about five times the force on"
