# SPDX-License-Identifier: MIT
"""Acceptance says what is wrong with a demonstrator, and nothing when nothing is."""

import numpy as np
import pytest

from imitable.evaluation.acceptance import PUSH_NEWTONS, Acceptance, judge
from imitable.evaluation.returns import EpisodeReturns
from imitable.robots.parse import ROBOTS, parse_robot
from imitable.sim.task import Locomotion
from tests.unit.test_train import SMALL, trained


def episodes(mean: float, deviation: float = 0.0, falls: int = 0) -> EpisodeReturns:
    returns = mean + deviation * np.tile([-1.0, 1.0], 50)
    return EpisodeReturns(returns, np.full(100, 1000), np.arange(100) < falls)


GOOD = episodes(1000.0)


@pytest.mark.parametrize(
    ("mean", "sampled", "pushed", "said"),
    [
        (GOOD, GOOD, GOOD, None),
        (GOOD, episodes(971.0, 48.0), episodes(901.0, 0.0, 5), None),
        (episodes(1000.0, 0.0, 1), GOOD, GOOD, "1 falls with mean"),
        (GOOD, episodes(1000.0, 0.0, 2), GOOD, "2 falls with sampled"),
        (GOOD, episodes(969.0), GOOD, "sampled actions return 969.0"),
        (GOOD, episodes(1000.0, 51.0), GOOD, "deviate by 51.0"),
        (GOOD, GOOD, episodes(1000.0, 0.0, 6), "94 of 100 pushes"),
        (GOOD, GOOD, episodes(899.0), "0 of 100 pushes"),
    ],
)
def test_what_acceptance_refuses(
    mean: EpisodeReturns, sampled: EpisodeReturns, pushed: EpisodeReturns, said: str | None
) -> None:
    refusals = Acceptance(mean, sampled, pushed, 50.0).refusals
    assert len(refusals) == (said is not None)
    assert said is None or said in refusals[0]


def test_a_policy_that_has_learned_nothing_is_refused_and_its_card_says_how_hard_it_was_pushed() -> None:
    acceptance = judge(Locomotion(parse_robot("hopper")), trained(SMALL["ppo"], 1).policy, newtons=30.0)
    assert "100 falls with mean actions" in acceptance.refusals
    assert acceptance.summary()["pushed"]["newtons"] == 30.0


def test_every_robot_has_its_push() -> None:
    assert set(PUSH_NEWTONS) == set(ROBOTS)
