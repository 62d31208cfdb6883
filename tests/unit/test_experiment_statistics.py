# SPDX-License-Identifier: MIT
"""Statistics against closed forms and brute force."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imitable.experiments.cases import own_cases
from imitable.experiments.cloning_records import Curve, curve_record, steps_to
from imitable.experiments.feasibility_records import (
    DemonstratorScores,
    FeasibilityRecord,
    balanced_mass,
    effective_size,
    mean_scores,
    related_auroc,
    related_mass,
    share_correlation,
    total_variation,
)
from imitable.experiments.imitation_records import LearningRecord, LearningRun, Returns, demonstrated_fraction, reaches_goal
from imitable.experiments.intervals import Interval, interval
from imitable.experiments.ladders import Ladder
from imitable.experiments.settings import Setting
from imitable.experiments.statistics import auroc, rank_correlation
from imitable.feasibility.weighting import LEAST_NOISE

small = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=12).map(np.array)


@given(small, small)
def test_auroc_is_the_part_of_pairs_in_order_ties_counted_half(low: np.ndarray, high: np.ndarray) -> None:
    pairs = (low[:, None] < high).mean() + 0.5 * (low[:, None] == high).mean()
    assert auroc(low, high) == pytest.approx(pairs, abs=1e-12)
    assert auroc(low, high) + auroc(high, low) == pytest.approx(1, abs=1e-12)


def test_rank_correlation_sees_order_alone() -> None:
    x = np.arange(5.0)
    assert rank_correlation(x, np.exp(x)) == pytest.approx(1)
    assert rank_correlation(x, -(x**3)) == pytest.approx(-1)
    # ρ = 1 − 6 Σ d² / n (n² − 1)
    assert rank_correlation([1, 2, 3, 4], [1, 2, 4, 3]) == pytest.approx(1 - 6 * 2 / 60)


def test_an_interval_of_three_is_students() -> None:
    found = interval([1.0, 2.0, 3.0])
    half = 4.302652729911275 / 3**0.5  # t(0.975, 2)
    assert (found.mean, found.std, found.count) == (2, 1, 3)
    assert (found.low, found.high) == (pytest.approx(2 - half), pytest.approx(2 + half))


def test_an_interval_of_fewer_is_their_range() -> None:
    assert interval([4.0]) == Interval(4, 0, 4, 4, 1)
    assert interval([1.0, 3.0]) == Interval(2, pytest.approx(2**0.5), 1, 3, 2)


SETTING = Setting("toy", "imitator", ("a", "b", "c", "d"), (1, 1, 6, 6))


def record(shares: tuple[float, ...], rule: str = "share", **about: object) -> FeasibilityRecord:
    """A record with two demonstrations of each demonstrator, of equal share; the distance is a hundred times it."""
    scores = {
        body: DemonstratorScores((100 * share,) * 2, (share,) * 2, ("feasible",) * 2)
        for body, share in zip(SETTING.demonstrators, shares, strict=True)
    }
    about = {"rule": rule, "own_distance": [0.0, 1.0], "own_share": [0.0], "simulator_steps": 7} | about
    return FeasibilityRecord("toy", "direct", "direct", about, scores, 1.0, 1.0)


def test_related_auroc_counts_pairs_of_related_and_unrelated() -> None:
    assert related_auroc(record((0.1, 0.2, 0.3, 0.4)), SETTING, "share") == 1
    assert related_auroc(record((0.4, 0.3, 0.2, 0.1)), SETTING, "distance") == 0
    assert related_auroc(record((0.1, 0.3, 0.2, 0.4)), SETTING, "share") == pytest.approx(3 / 4)


def test_related_mass_follows_counts_and_scores() -> None:
    same = record((0.5,) * 4)
    assert related_mass(same, SETTING, "auto") == pytest.approx(2 / 14)
    assert related_mass(same, SETTING, "auto", (1, 1, 1, 1)) == pytest.approx(1 / 2)
    assert related_mass(same, SETTING, "auto", (0, 0, 1, 1)) == 0
    assert related_mass(same, SETTING, "auto", (3, 3, 0, 0)) == pytest.approx(1)
    # unrelated: share + ln 2 · 0.03, so half the score
    half = record((0.1, 0.1, 0.1 + 0.03 * np.log(2), 0.1 + 0.03 * np.log(2)))
    assert related_mass(half, SETTING, "share:0.03") == pytest.approx(2 / (2 + 12 / 2))
    # the paper's σ = 5 on the distance
    far = record((0.0, 0.0, 0.05, 0.05))
    assert related_mass(far, SETTING, "paper") == pytest.approx(2 / (2 + 12 * np.exp(-1)))


def test_mean_scores_are_one_a_demonstrator_and_calibrated_together() -> None:
    shares = np.array([0.0, 0.04, 0.08, 0.4])
    expected = 1 / (1 + LEAST_NOISE * np.exp(shares / LEAST_NOISE))
    assert mean_scores(record(tuple(shares.tolist())), SETTING) == pytest.approx(expected.tolist())
    calibrated = record((0.0, 0.005, 0.01, 0.3), "calibrated", calibration=[0.0, 1.0])
    assert mean_scores(calibrated, SETTING) == pytest.approx([1, 0.5, 0, 0])


def test_weights_of_the_composition() -> None:
    """Two related demonstrators of one demonstration each, two unrelated of six each, two recorded of each."""
    same, other = record((0.1,) * 4), record((0.1, 0.1, 10.0, 10.0))
    assert balanced_mass(same, SETTING) == pytest.approx(1 / 2)
    assert balanced_mass(other, SETTING) == pytest.approx(1)
    assert effective_size(same, SETTING) == pytest.approx(14)
    assert effective_size(other, SETTING) == pytest.approx(2)
    assert total_variation(same, same, SETTING) == 0
    assert total_variation(same, other, SETTING) == pytest.approx(12 / 14)


def test_share_correlation_of_a_record_with_itself_is_one() -> None:
    one = record((0.1, 0.2, 0.3, 0.4))
    assert share_correlation(one, one, SETTING) == pytest.approx(1)
    assert share_correlation(one, record((0.4, 0.3, 0.2, 0.1)), SETTING) == pytest.approx(-1)


def test_a_record_without_a_certificate_has_none() -> None:
    assert np.isnan(record((0.1,) * 4).certificate)
    assert record((0.1,) * 4, certificate=0.99).certificate == 0.99
    assert record((0.1,) * 4).simulator_steps == 7


def learned(robot: str, mean: float, sampled: float, demonstrated: float = 100.0) -> LearningRecord:
    case = next(case for case in own_cases() if case.name == robot)
    numbers = [Returns(100, value, 0.0, value, 1000.0, 1) for value in (mean, sampled)]
    run = LearningRun(0, demonstrated, numbers[0], numbers[1], numbers[0], 1, ())
    return LearningRecord(case, (run, replace(run, seed=1)))


@pytest.mark.parametrize(
    ("robot", "mean", "sampled", "reached"),
    [
        ("hopper", 95.0, 10.0, True),
        ("hopper", 94.0, 94.0, False),
        ("walker2d", 90.0, 0.0, True),
        ("swimmer", 100.0, 95.0, True),
        ("swimmer", 100.0, 80.0, False),
        ("swimmer", 89.0, 89.0, False),
    ],
)
def test_the_own_body_check_can_fail(robot: str, mean: float, sampled: float, reached: bool) -> None:
    result = learned(robot, mean, sampled)
    assert reaches_goal(result) is reached
    assert demonstrated_fraction(result) == pytest.approx(mean / 100)
    assert result.falls == 2


def test_a_curve_says_when_it_first_reaches_its_goal() -> None:
    looks = ((0, 0.0), (10, 95.0), (20, 90.0), (30, 99.0))
    assert steps_to(looks, 95) == 10
    assert steps_to(looks, 100) is None
    row = curve_record("x gaifo", "gaifo", 100.0, [Curve(0, looks), Curve(5, ((5, 1.0),))])
    assert (row.to_goal, row.simulator_steps, row.reached) == ("10, never (goal 95)", "30, 5", "99, 1")


def test_a_ladder_that_grows_is_steady() -> None:
    ladder = Ladder("hopper", "gravity", (1, 2, 3), ((0.1, 0.3), (0.4,), (0.5, 0.7)))
    assert ladder.means == pytest.approx([0.2, 0.4, 0.6])
    assert ladder.steadiness == pytest.approx(1)
