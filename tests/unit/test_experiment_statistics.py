# SPDX-License-Identifier: MIT
"""Statistics against closed forms and brute force."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtr

from imitable.experiments.cases import own_cases
from imitable.experiments.cloning_records import Curve, curve_record
from imitable.experiments.feasibility_records import (
    DemonstratorScores,
    FeasibilityRecord,
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
from imitable.experiments.statistics import (
    Claim,
    Welch,
    auroc,
    claim,
    falling,
    foreseen,
    holm,
    interquartile_mean,
    normalised,
    paired,
    probability_of_improvement,
    rank_correlation,
    regret,
    steps_to,
    stratified_interval,
    welch,
)
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


def runs(mean: float, std: float, count: int = 5) -> np.ndarray:
    """Numbers of exactly this mean and deviation."""
    shape = np.arange(count) - (count - 1) / 2
    return mean + std * shape / shape.std(ddof=1)


def five_each(ours: np.ndarray, baselines: dict[str, np.ndarray]) -> Claim:
    """Return the claim, with five runs of all planned."""
    return claim(ours, baselines, 5, dict.fromkeys(baselines, 5))


def test_welch_is_the_textbooks() -> None:
    ours, theirs = np.array([1.0, 2.0, 4.0]), np.array([0.0, 0.5, 0.5, 3.0])
    parts = [one.var(ddof=1) / len(one) for one in (ours, theirs)]
    t = (ours.mean() - theirs.mean()) / sum(parts) ** 0.5
    freedom = sum(parts) ** 2 / sum(part**2 / (len(one) - 1) for part, one in zip(parts, (ours, theirs), strict=True))
    found = welch(ours, theirs)
    assert found.one_sided == pytest.approx(1 - stdtr(freedom, t))
    assert found.two_sided == pytest.approx(2 * (1 - stdtr(freedom, t)))
    assert welch(theirs, ours).two_sided == pytest.approx(found.two_sided)
    assert welch(theirs, ours).one_sided == pytest.approx(1 - found.one_sided)


def test_the_papers_p_on_swimmer_is_one_sided() -> None:
    assert welch(runs(74.3, 20.1), runs(48.2, 39.0)).one_sided == pytest.approx(0.116, abs=5e-4)


def test_welch_without_deviation_or_with_one_run() -> None:
    assert welch(np.ones(3), np.zeros(3)) == Welch(0, 0)
    assert welch(np.zeros(3), np.ones(3)) == Welch(0, 1)
    assert welch(np.ones(3), np.ones(3)) == Welch(1, 0.5)
    assert np.isnan(welch(np.ones(1), np.zeros(3)).two_sided)
    rounded = np.full(3, 0.1)
    assert rounded.std() > 0
    assert welch(rounded, np.zeros(3)) == Welch(0, 0), "equal numbers whose mean rounds do not deviate either"


def test_the_paired_test_counts_sign_patterns() -> None:
    """Differences 1, 2, −1: |Σ s d| ≥ 2 for six of eight patterns; of n equal ones only two of 2ⁿ patterns are as large."""
    assert paired(np.array([1.0, 2.0, 0.0]), np.array([0.0, 0.0, 1.0])) == pytest.approx(6 / 8)
    for seeds in (2, 5, 10):
        assert paired(np.full(seeds, 3.0), np.zeros(seeds)) == pytest.approx(2 / 2**seeds)
    assert paired(np.zeros(5), np.full(5, 3.0)) == pytest.approx(2 / 32), "in either direction"
    assert paired(np.ones(5), np.ones(5)) == 1
    assert np.isnan(paired(np.ones(1), np.zeros(1)))
    shared = np.array([0.0, 1000.0, 2000.0, 3000.0, 4000.0])
    assert paired(shared + 1, shared) < 0.1 < welch(shared + 1, shared).two_sided, "what seeds have in common is no noise"


def test_a_claim_rests_on_its_least_certain_baseline() -> None:
    ours, weak, strong = runs(10, 1), runs(0, 1), runs(9, 1)
    found = five_each(ours, {"weak": weak, "strong": strong})
    assert (found.baseline, found.p) == ("strong", welch(ours, strong).two_sided)
    assert found.one_sided == welch(ours, strong).one_sided
    above = five_each(ours, {"weak": weak, "better": runs(20, 1)})
    assert (above.baseline, above.p) == ("better", 1.0), "a small p in the wrong direction speaks for nothing"
    assert above.foreseen == 1, "and more runs of it speak for no more"
    assert (found.above, above.above) == (True, False)
    unknown = five_each(ours, {"weak": weak, "single": np.array([0.0])})
    assert unknown.baseline == "single"
    assert np.isnan(unknown.p)
    assert np.isnan(unknown.foreseen)
    alone = five_each(np.array([1.0]), {"weak": weak, "strong": strong})
    assert alone.baseline == "strong", "of those of which nothing is known, the highest"
    assert np.isnan(alone.p)
    assert not alone.above


def test_a_claim_foresees_the_runs_that_are_planned_of_each_side() -> None:
    ours, strong = runs(10, 1, 3), runs(9, 1, 3)
    found = claim(ours, {"strong": strong}, 3, {"strong": 5})
    assert found.foreseen == pytest.approx(welch(ours, runs(9, 1, 5)).two_sided)


def test_a_claim_names_the_baselines_that_are_not_beaten() -> None:
    ours = runs(10, 1)
    found = five_each(ours, {"untested": np.array([0.0]), "beaten": runs(5, 1), "better": runs(12, 1), "equal": ours})
    assert found.unbeaten == ("better", "equal")
    assert found.baseline == "untested", "of which least is known, though it is beaten"


def test_what_more_runs_would_show_is_welch_of_runs_with_the_same_means_and_deviations() -> None:
    ours, theirs = np.array([3.0, 4.0, 6.0]), np.array([1.0, 2.0, 2.5])
    assert foreseen(ours, theirs, (3, 3)) == pytest.approx(welch(ours, theirs).two_sided)
    more = [np.resize((one - one.mean()) * np.sqrt((6 - 1) / (6 / 3 * 2)) + one.mean(), 6) for one in (ours, theirs)]
    assert [one.std(ddof=1) for one in more] == pytest.approx([one.std(ddof=1) for one in (ours, theirs)])
    assert foreseen(ours, theirs, (6, 6)) == pytest.approx(welch(*more).two_sided)
    assert foreseen(ours, theirs, (6, 6)) < foreseen(ours, theirs, (3, 3))
    assert foreseen(ours, theirs, (3, 6)) == pytest.approx(welch(ours, more[1]).two_sided), "sides have their own numbers"
    assert foreseen(np.ones(3), np.zeros(3), (5, 5)) == 0, "no deviation at all"
    assert np.isnan(foreseen(np.ones(1), theirs, (5, 5)))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_its_definition(p: list[float]) -> None:
    found = holm(p)
    order = np.argsort(p, kind="stable")
    for rank, place in enumerate(order):
        expected = max(min(1.0, (len(p) - below) * p[order[below]]) for below in range(rank + 1))
        assert found[place] == pytest.approx(expected)
    assert all(one >= other for one, other in zip(found, p, strict=True))
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_holm_counts_what_is_not_known() -> None:
    found = holm([0.01, float("nan")])
    assert found[0] == pytest.approx(0.02)
    assert np.isnan(found[1])


def test_the_interquartile_mean_leaves_a_quarter_out_at_each_end() -> None:
    assert interquartile_mean(np.array([7.0, 0, 6, 1, 5, 2, 4, 300])) == pytest.approx((2 + 4 + 5 + 6) / 4)
    assert interquartile_mean(np.array([1.0, 2.0])) == 1.5


def test_a_stratified_interval_redraws_within_strata() -> None:
    certain = [np.full(3, 1.0), np.full(5, 9.0)]
    assert stratified_interval(certain, lambda all_of: all_of.mean(axis=-1)) == (6.0, 6.0), "3 and 5 of them, every time"
    loose = [np.array([0.0, 1.0]), np.array([0.0, 1.0])]
    low, high = stratified_interval(loose, lambda all_of: all_of.mean(axis=-1))
    assert (low, high) == (0.0, 1.0), "of 16 redraws, one has mean 0 and one has mean 1"
    wide = [np.arange(50.0)]
    spread = 1.96 * wide[0].std() / 50**0.5
    found = stratified_interval(wide, lambda all_of: all_of.mean(axis=-1), seed=3)
    assert found == pytest.approx((24.5 - spread, 24.5 + spread), abs=0.1 * spread)
    assert found == stratified_interval(wide, lambda all_of: all_of.mean(axis=-1), seed=3)
    assert found != stratified_interval(wide, lambda all_of: all_of.mean(axis=-1), seed=4)


def test_probability_of_improvement_counts_pairs_within_strata() -> None:
    ours, theirs = [np.array([1.0, 3.0]), np.array([100.0])], [np.array([2.0, 3.0]), np.array([0.0])]
    # 1 > 2 no, 1 > 3 no, 3 > 2 yes, 3 = 3 half; the second setting always
    assert probability_of_improvement(ours, theirs) == pytest.approx((1.5 / 4 + 1) / 2)
    assert probability_of_improvement(theirs, ours) == pytest.approx(1 - (1.5 / 4 + 1) / 2)


def test_normalised_returns_and_regret() -> None:
    assert normalised(np.array([-5.0, 95.0, 45.0]), -5, 95).tolist() == [0, 1, 0.5]
    assert regret(np.array([1.0, 3.0]), np.array([4.0, 6.0])) == 3


def test_a_trend_is_that_of_ranks() -> None:
    three = falling([0, 100, 500], [3.0, 2.0, 1.0])
    assert (three.rho, three.p, three.runs) == (pytest.approx(-1), pytest.approx(1 / 6), 3), "one order of six"
    # of 15 ways to share 6 runs out among three pairs of equal amounts ... 90 arrangements, one of which is this one
    assert falling([0, 0, 1, 1, 2, 2], [6, 5, 4, 3, 2, 1]).p == pytest.approx(1 / 90)
    many = falling([0] * 5 + [1] * 5 + [2] * 5, [float(-n) for n in range(15)])
    assert many.p < 1e-3
    assert many == falling([0] * 5 + [1] * 5 + [2] * 5, [float(-n) for n in range(15)]), "the same every time"
    up, down = falling([0, 0, 1, 1, 2], [1, 2, 3, 4, 5]), falling([0, 0, 1, 1, 2], [5, 4, 3, 2, 1])
    assert down.p < 0.05 < 0.95 < up.p
    assert down.p == pytest.approx(down.least_p), "no runs fall more steadily"
    assert falling([0, 0, 1, 1, 2], [5, 5, 4, 3, 1]).least_p == pytest.approx(2 * 2 / 120)
    assert np.isnan(falling([1, 1], [1.0, 2.0]).p)


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
    assert related_mass(same, SETTING) == pytest.approx(1 / 2), "balanced"
    assert related_mass(same, SETTING, balance="none") == pytest.approx(2 / 14)
    assert related_mass(same, SETTING, counts=(1, 1, 1, 1), balance="none") == pytest.approx(1 / 2)
    for balance in ("none", "demonstrator"):
        assert related_mass(same, SETTING, counts=(0, 0, 1, 1), balance=balance) == 0
        assert related_mass(same, SETTING, counts=(3, 3, 0, 0), balance=balance) == pytest.approx(1)
    # unrelated: share + ln 2 · 0.03, so half the score
    half = record((0.1, 0.1, 0.1 + 0.03 * np.log(2), 0.1 + 0.03 * np.log(2)))
    assert related_mass(half, SETTING, "share:0.03", balance="none") == pytest.approx(2 / (2 + 12 / 2))
    assert related_mass(half, SETTING, "share:0.03") == pytest.approx(2 / 3)
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
    assert related_mass(same, SETTING) == pytest.approx(1 / 2)
    assert related_mass(other, SETTING) == pytest.approx(1)
    assert effective_size(same, SETTING) == pytest.approx(1 / (2 / 4**2 + 12 / 24**2))
    assert effective_size(other, SETTING) == pytest.approx(2)
    assert total_variation(same, same, SETTING) == 0
    assert total_variation(same, other, SETTING) == pytest.approx(1 / 2)


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
    assert steps_to(((0, None), *looks), 95) == 10
    assert steps_to(looks, 100) is None
    row = curve_record("x gaifo", "gaifo", 100.0, [Curve(0, looks), Curve(5, ((5, 1.0),))])
    assert (row.to_goal, row.simulator_steps, row.reached) == ("10, never (goal 95)", "30, 5", "99, 1")


def test_a_ladder_that_grows_is_steady() -> None:
    ladder = Ladder("hopper", "gravity", (1, 2, 3), ((0.1, 0.3), (0.4,), (0.5, 0.7)))
    assert ladder.means == pytest.approx([0.2, 0.4, 0.6])
    assert ladder.steadiness == pytest.approx(1)
