# SPDX-License-Identifier: MIT
"""Why a demonstration fails, and the ladder of knobs that would have to move."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from imitable.feasibility.explain import explain
from imitable.feasibility.ladders import ladders
from imitable.feasibility.score import score
from imitable.feasibility.score_files import read_scores
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.types import InMemory, Trajectory
from tests.unit.pushed_slider import FORCE, pushed
from tests.unit.reaching_arm import reaches

TWO_MOTORS = """
<mujoco>
  <option timestep="0.01" gravity="0 0 0"/>
  <worldbody>
    <body>
      <joint name="shoulder" axis="0 0 1"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="1" contype="0"/>
      <body pos="0.3 0 0">
        <joint name="elbow" axis="0 0 1"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="1" contype="0"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="shoulder" joint="shoulder" gear="20" ctrllimited="true" ctrlrange="-1 1"/>
    <motor name="elbow" joint="elbow" gear="10" ctrllimited="true" ctrlrange="-1 1"/>
  </actuator>
</mujoco>
"""


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
    shares = [rung.share for rung in ladder.rungs]
    assert all(after <= before + 1e-6 for before, after in pairwise(shares))
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
    assert ladder.knob == "strength.push"
    reached = float(ladder.sentence.split("≥ ")[1].split()[0])
    assert 3.5 < reached <= 6, "from about five times the force on"


def test_motors_that_are_all_weak_are_turned_together(tmp_path: Path) -> None:
    """One strong motor would not do: `strength.*` is one ladder, not one a motor."""
    arm = tmp_path / "arm.xml"
    arm.write_text(TWO_MOTORS)
    times = 0.02 * np.arange(41)[:, None]
    angles, speeds = 0.4 * (1 - np.cos(9 * times)) * [1, -1], 3.6 * np.sin(9 * times) * [1, -1]
    demos = InMemory(parse_robot(str(arm)).layout, [Trajectory(np.hstack([angles, speeds]), "a stranger")])
    weak = parse_robot(f"{arm}:strength.*=0.1")
    scores = score(demos, weak, "direct:effort=quick")
    assert scores.verdict != ("feasible",)
    [ladder] = ladders(demos[0], weak, scores)
    assert ladder.knob == "strength.*"
    assert ladder.sentence.startswith("feasible from strength.* ≥")
    [one] = ladders(demos[0], parse_robot(f"{arm}:strength.shoulder=0.1"), scores)
    assert one.knob == "strength.shoulder"


def test_a_demonstration_past_a_joints_stop_is_climbed_by_its_range(servo_arm_path: Path) -> None:
    """The servo is told angles within its joint's range: on a wider rung it can be told more."""
    whole, narrow = parse_robot(str(servo_arm_path)), parse_robot(f"{servo_arm_path}:range.elbow=0..100")
    demos = reaches(whole, count=1, goals=np.array([[0.5, -1.2, np.radians(140)]]))
    scores = score(demos, narrow)
    assert scores.verdict != ("feasible",)
    [ladder] = ladders(demos[0], narrow, scores)
    assert (ladder.knob, ladder.unit) == ("range.elbow", "degrees wide")
    assert ladder.rungs[0].share == pytest.approx(scores.share[0], rel=1e-3)
    assert [rung.value for rung in ladder.rungs] == pytest.approx(np.linspace(100, 179.9, 9), abs=0.1)
    assert ladder.sentence.startswith("feasible from range.elbow ≥ 0..1")
    assert "degrees wide (now 0..100)" in ladder.sentence
    reached = float(ladder.sentence.split("≥ 0..")[1].split(",")[0])
    assert 125 < reached <= 150, "about where the demonstration ends"


def test_a_stranger_past_a_joints_stop_is_climbed_by_the_range_that_it_takes(slider_path: Path) -> None:
    slider = parse_robot(str(slider_path))
    places, period = np.linspace(0, 1.5, 61), slider.layout.period_s
    stranger = Trajectory(np.stack([places, np.full(61, 1.5 / 60 / period)], axis=1), "human")
    [ladder] = ladders(stranger, slider, score(InMemory(slider.layout, [stranger]), slider))
    assert ladder.knob == "range.slide"
    assert ladder.rungs[0].text == "-1..1"
    assert ladder.rungs[-1].text == "-1..1.7", "what it takes and a tenth of the range: limits are soft"


def test_a_narrower_demonstrator_is_no_reason_to_lose_range(slider_path: Path) -> None:
    own, narrow = parse_robot(str(slider_path)), f"{slider_path}:range.slide=-0.2..0.2,gear.push=2"
    demos = InMemory(own.layout, [replace(pushed(1.8 * FORCE, 12), demonstrator=narrow)])
    assert [ladder.knob for ladder in ladders(demos[0], own, score(demos, own))] == ["gear.push"]
