# SPDX-License-Identifier: MIT
"""The arm of the paper: a learner that is told what is feasible arrives, one that is not does not."""

import numpy as np
import pytest

from imitable.demos.waypoints import mode_counts, waypoint_demonstrations
from imitable.experiments.arm_trials import ARRIVED
from imitable.feasibility.score import score
from imitable.imitation.imitate import imitate
from imitable.imitation.run import Run
from imitable.robots.parse import parse_robot
from imitable.types import InMemory, Weights


@pytest.fixture(scope="module")
def demos() -> InMemory:
    arms = [(parse_robot("panda"), 43), (parse_robot("panda:dof=3"), 5)]
    made = [one for arm, count in arms for one in waypoint_demonstrations(arm, mode_counts(arm, count), 0)]
    return InMemory(arms[0][0].layout, made)


def arrived(demos: InMemory, weights: Weights | None, seed: int) -> float:
    run = Run(steps=0, seed=seed, episodes=(100, 1))
    returns = imitate(demos, "panda:dof=3", "state-vae", weights, run=run).evaluation.last.mean_actions.returns
    assert returns is not None
    return float((np.array(returns) > ARRIVED).mean())


@pytest.mark.slow
@pytest.mark.parametrize("method", ["direct:effort=quick,restart_budget=50", "trajectory:steps=40960"])
def test_over_scores_above_all_others_and_the_weighted_learner_arrives(demos: InMemory, method: str) -> None:
    scores = score(demos, "panda:dof=3", method)
    over = np.array(["over" in one.demonstrator for one in demos.episodes])
    assert scores.score[over].min() > scores.score[~over].max()
    assert arrived(demos, scores.weights, 0) >= 0.95


@pytest.mark.slow
def test_the_unweighted_learner_does_not(demos: InMemory) -> None:
    assert arrived(demos, None, 0) < 0.8
