# SPDX-License-Identifier: MIT
"""Verdicts where the truth is known: what a body did itself is feasible, what it was made to do by others is not."""

import numpy as np
import pytest
from tests.conftest import ROBOTS

from imitable.evaluation.returns import play
from imitable.experiments.known_movements import movements
from imitable.feasibility.score import score
from imitable.policies.shipped import policy_for
from imitable.robots.parse import parse_robot
from imitable.sim.task import Locomotion
from imitable.types import InMemory, Trajectory

BODIES = (
    str(ROBOTS / "servo_arm.xml"),
    str(ROBOTS / "floating.xml"),
    "swimmer:back=12",
    "walker2d",
    "half_cheetah:front=0.05",
    "hopper:gravity=15",
)


@pytest.mark.parametrize("body", BODIES)
def test_what_a_body_did_is_feasible_and_what_it_cannot_do_is_not(body: str) -> None:
    """Two movements of every kind; all bodies, eight of each kind, are in results/own_movements.md."""
    robot = parse_robot(body)
    kinds = movements(robot, 2)
    demos = [Trajectory(one.states, name) for name, (_, some) in kinds.items() for one in some]
    scores = score(InMemory(robot.layout, demos), robot)
    wrong = [
        (episode.demonstrator, share, verdict)
        for episode, share, verdict in zip(scores.episodes, scores.share.tolist(), scores.verdict, strict=True)
        if (verdict == "feasible") != kinds[episode.demonstrator][0]
    ]
    assert len(wrong) <= 0.05 * len(demos), wrong


SPLICES = (
    ("swimmer:back=20", "swimmer:front=10"),
    ("walker2d:friction=9.9", "walker2d:friction=0.7"),
    ("half_cheetah:back=0.05", "half_cheetah:front=0.05"),
    ("hopper:gravity=5", "hopper:gravity=20"),
)


@pytest.mark.parametrize(("body", "other"), SPLICES)
def test_a_last_third_that_is_infeasible_is_found_where_it_begins(body: str, other: str) -> None:
    own, stranger = (gait(text) for text in (body, other))
    cut = 2 * len(own) // 3
    states = np.concatenate([own[:cut], stranger[cut:]])
    robot = parse_robot(body)
    scores = score(InMemory(robot.layout, [Trajectory(states, "spliced"), Trajectory(own, "own")]), robot)
    assert scores.verdict[1] == "feasible"
    assert scores.verdict[0] != "feasible"
    begins = np.array(scores.lost_at[0])
    assert np.abs(begins - cut * robot.layout.period_s).min() < 0.5
    assert begins.min() > (cut - 1) * robot.layout.period_s - 0.5, "nothing is wrong before"
    assert 0.5 < scores.followed[0] < 0.9


def gait(text: str) -> np.ndarray:
    robot = parse_robot(text)
    return play(Locomotion(robot), policy_for(robot), 1, 3)[0].states
