# SPDX-License-Identifier: MIT
"""What three joints of an arm can follow of seven: verdicts are plain, and their reasons say which joint is missing."""

import re

import numpy as np
import pytest

from imitable.demos.waypoints import waypoint_demonstrations
from imitable.feasibility.explain import explain
from imitable.feasibility.reach import OUT_M, out_of_reach, reach_gaps
from imitable.feasibility.score import score
from imitable.feasibility.scores import Scores
from imitable.feasibility.static_checks import static_checks
from imitable.robots.parse import parse_robot
from imitable.sim.inverse_kinematics import posed
from imitable.types import InMemory

IMITATOR = "panda:dof=3"


@pytest.fixture(scope="module")
def demos() -> InMemory:
    seven, three = parse_robot("panda"), parse_robot(IMITATOR)
    modes = {"over": 2, "left": 1, "right": 1}
    made = [*waypoint_demonstrations(seven, modes, 0), *waypoint_demonstrations(three, {"over": 1}, 0)]
    return InMemory(seven.layout, made)


@pytest.fixture(scope="module")
def scores(demos: InMemory) -> Scores:
    return score(demos, IMITATOR, "direct:effort=quick,windows=1,restart_budget=0")


def test_over_is_feasible_and_nothing_else(demos: InMemory, scores: Scores) -> None:
    over = np.array(["over" in one.demonstrator for one in demos.episodes])
    assert [word == "feasible" for word in scores.verdict] == over.tolist()
    assert {word for word, good in zip(scores.verdict, over, strict=True) if not good} == {"infeasible"}
    assert scores.share[over].max() < 0.2 < 0.8 < scores.share[~over].min()
    assert scores.weight[~over].sum() < 1e-4


def test_reasons_name_the_joint_that_is_welded(demos: InMemory, scores: Scores) -> None:
    left = next(place for place, one in enumerate(demos.episodes) if "left" in one.demonstrator)
    lines = explain(scores, left, demos).lines
    [line] = [line for line in lines if "plane" in line]
    assert re.fullmatch(r"joint1 is fixed; the path leaves its plane by \d+ cm at \d\.\d s", line)
    assert any("dof ≥ 7" in line for line in lines)


def test_reach_is_that_of_the_plane(demos: InMemory) -> None:
    body = parse_robot(IMITATOR)
    for trajectory in demos:
        gaps = reach_gaps(body, trajectory.states)
        found = out_of_reach(body, trajectory)
        assert np.abs(gaps[:, [0, 2]]).max() < 0.02, "what it lacks is sideways"
        assert (found is None) == ("over" in trajectory.demonstrator)
        assert found is None or found.metres > OUT_M
        assert bool(static_checks(body, trajectory.states).spans) == (found is not None)
    assert out_of_reach(parse_robot("panda"), demos[2]) is None, "seven joints reach everything"


def test_a_start_of_seven_joints_is_taken_in_the_plane(demos: InMemory) -> None:
    body = parse_robot(IMITATOR)
    starts = np.stack([one.states[0] for one in demos])
    assert np.abs(posed(body, starts)[:, [0, 2, 4]]).max() == 0


def test_arms_are_compared_by_their_tools_alone(demos: InMemory) -> None:
    seven = parse_robot("panda")
    own = score(InMemory(seven.layout, [demos[2]]), seven, "neighbours")
    assert np.isfinite(own.share).all()
