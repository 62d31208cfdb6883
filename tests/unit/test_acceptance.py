# SPDX-License-Identifier: MIT
"""Acceptance says what is wrong with a demonstrator, and nothing when nothing is."""

import numpy as np
import pytest

from imitable.evaluation.acceptance import PUSH_NEWTONS, Acceptance, Agreement, judge
from imitable.evaluation.returns import EpisodeReturns
from imitable.experiments.settings import SETTINGS
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


def test_every_robot_that_runs_has_its_push() -> None:
    assert set(PUSH_NEWTONS) == {name for name, family in ROBOTS.items() if family().rules is not None}


@pytest.mark.parametrize(
    ("returns", "spread", "agree"),
    [
        ({"a": 93.0, "b": 107.0, "c": 100.0}, 0.07, True),
        ({"a": 92.9, "b": 107.0}, 0.0705, False),
        ({"a": 50.0}, 0.0, True),
        ({"a": -2.0, "b": 1.0}, np.inf, False),
        ({"a": 0.0}, np.inf, False),
    ],
)
def test_bodies_of_a_setting_agree_within_seven_per_cent_of_their_middle(
    returns: dict[str, float], spread: float, agree: bool
) -> None:
    agreement = Agreement(returns, 100.0)
    assert agreement.spread == pytest.approx(spread, abs=1e-4)
    assert (agreement.refusals == ()) == agree
    assert agreement.from_paper == {body: pytest.approx(value / 100 - 1) for body, value in returns.items()}


def test_a_refusal_names_the_lowest_and_the_highest() -> None:
    [said] = Agreement({"a": 120.0, "b": 80.0, "c": 100.0}, 100.0).refusals
    assert said == "b returns 80.0, a 120.0: ±20.0% of the middle"


def test_the_paper_returns_of_the_settings() -> None:
    assert {setting.name: setting.paper_return for setting in SETTINGS} == {
        "swimmer": 106,
        "walker2d-1": 3098,
        "walker2d-2": 3720,
        "half_cheetah-1": 3229,
        "half_cheetah-2": 3337,
        "hopper": 3460,
    }
