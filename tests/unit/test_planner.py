# SPDX-License-Identifier: MIT
"""Following with plans."""

import numpy as np
import pytest

from imitable.feasibility.ruler import Ruler, ruler
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.tracking.follow import Followed, carry_out, follow
from imitable.tracking.planner import Bound, Planner, follow_with_plans
from imitable.tracking.solver import Lanes, Solver
from imitable.types import Bools, Floats, Ints
from tests.unit.thrown_bodies import thrown

STEPS, PLANNER = 12, Planner()


def case(body: str, demonstrator: str) -> tuple[Robot, Ruler, Floats, Ints]:
    imitator, other = parse_robot(body), parse_robot(demonstrator)
    ahead = PLANNER.ahead(imitator.layout.period_s)
    states = np.stack([one.states for one in thrown(other, 3, STEPS + ahead, 1)])
    return imitator, ruler(imitator), states, np.array([STEPS, STEPS, STEPS - 5])


def planned(lanes: Lanes, targets: Floats, lengths: Ints, bound: Bound | None = None) -> tuple[Followed, Bools]:
    greedy = follow(Lanes(lanes.robot, lanes.scale), Solver(restart_budget=50), targets[:, : STEPS + 1], lengths, 0)
    return follow_with_plans(lanes, PLANNER, targets, lengths, greedy.actions, bound=bound)


@pytest.mark.parametrize("body", ["half_cheetah:front=0.01", "hopper"])
def test_an_attempt_does_not_notice_the_others(body: str) -> None:
    imitator, rule, targets, lengths = case(body, body)
    together, _ = planned(Lanes(imitator, rule.scale), targets, lengths)
    for row in range(3):
        alone, _ = planned(Lanes(imitator, rule.scale), targets[row : row + 1], lengths[row : row + 1])
        np.testing.assert_array_equal(together.states[row], alone.states[0])


def test_states_are_where_the_actions_lead() -> None:
    imitator, rule, targets, lengths = case("half_cheetah:front=0.01", "half_cheetah:front=0.05")
    lanes = Lanes(imitator, rule.scale)
    followed, whole = planned(lanes, targets, lengths)
    assert whole.all()
    now = targets[:, 0]
    for t in range(STEPS - 5):
        now = carry_out(lanes, now, followed.actions[:, t])
        # a plan is simulated in one go, with the solver's warm start: the last digits differ
        np.testing.assert_allclose(followed.states[:, t], now, rtol=1e-3, atol=1e-3)
    assert np.isnan(followed.states[2, -1]).all()


def test_an_attempt_that_cannot_win_is_given_up() -> None:
    imitator, rule, targets, lengths = case("half_cheetah:front=0.01", "half_cheetah:back=0.01")
    free, bound = Lanes(imitator, rule.scale), Lanes(imitator, rule.scale)
    _, whole = planned(free, targets, lengths)
    _, won = planned(bound, targets, lengths, Bound(rule, np.full((3, STEPS), 1e-9)))
    assert whole.all()
    assert not won.any()
    assert bound.spent < 0.3 * free.spent


def test_foresight_beats_greed_where_a_motor_must_begin_early() -> None:
    """Own movements of a weak body at speed: the plan that looks ahead leaves less than the best action of every step."""
    imitator = parse_robot("half_cheetah:front=0.01")
    rule, ahead = ruler(imitator), PLANNER.ahead(imitator.layout.period_s)
    targets = np.stack([one.states for one in thrown(parse_robot("half_cheetah:front=0.05"), 8, 16 + ahead, 2)])
    lengths = np.full(8, 16)
    greedy = follow(Lanes(imitator, rule.scale), Solver(), targets[:, :17], lengths, 0)
    followed, _ = follow_with_plans(Lanes(imitator, rule.scale), PLANNER, targets, lengths, greedy.actions)
    before, after = (rule.discounted(rule.errors(one.states, targets[:, 1:17])) for one in (greedy, followed))
    assert np.minimum(before, after).mean() < 0.9 * before.mean()


def test_a_plan_is_a_fifth_of_a_second_whatever_the_period() -> None:
    for body in ("half_cheetah", "hopper", "swimmer"):
        period = parse_robot(body).layout.period_s
        assert PLANNER.ahead(period) * period == pytest.approx(0.2, abs=0.05)


def test_noise_is_added_when_a_plan_is_carried_out() -> None:
    imitator, rule, targets, lengths = case("half_cheetah:front=0.01", "half_cheetah:front=0.01")
    lanes = Lanes(imitator, rule.scale)
    greedy = follow(lanes, Solver(restart_budget=50), targets[:, : STEPS + 1], lengths, 0)
    noise = 0.1 * np.random.default_rng(0).standard_normal((3, STEPS, 6))
    quiet, _ = follow_with_plans(lanes, PLANNER, targets, lengths, greedy.actions)
    noisy, _ = follow_with_plans(lanes, PLANNER, targets, lengths, greedy.actions, disturbances=noise)
    assert np.nanmax(np.abs(noisy.states[:, 0] - quiet.states[:, 0])) > 1e-3
