# SPDX-License-Identifier: MIT
"""Distances to scores to weights: pure functions, checked by hand and by law."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imitable.errors import BadOption
from imitable.feasibility.ruler import Ruler, effective_horizon
from imitable.feasibility.weighting import (
    BORDERLINE,
    HARDER,
    LEAST_NOISE,
    MOST_NOISE,
    Measures,
    balanced,
    chosen_rows,
    first_divergence,
    is_balanced,
    log_score,
    log_scores,
    masses,
    noise_of,
    remarks,
    share_logs,
    temperature_text,
    thresholds,
    verdict_of_share,
    weight_logs,
)
from imitable.sim.kinematics import StateSpace
from imitable.types import Floats

numbers = st.lists(st.floats(0, 1e3), min_size=2, max_size=20)


def measures(distance: Floats, share: Floats | None = None) -> Measures:
    share = distance / 10 if share is None else share
    return Measures(distance, share, np.full(len(distance), 100), np.array([0.5, 1.0]), 0.05)


@given(
    numbers,
    st.sampled_from(["auto", "paper", "arm", "0.3", "7", "share:0.05", "score:1"]),
    st.sampled_from(["share", "calibrated", "sigmoid"]),
)
def test_scores_lie_in_the_unit_interval_and_weights_sum_to_one(values: list[float], temperature: str, rule: str) -> None:
    logs = log_scores(measures(np.array(values)), temperature, rule)
    scores, weights = np.exp(logs), masses(logs, np.full(len(values), 10))
    assert ((scores >= 0) & (scores <= 1)).all()
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    assert (weights >= 0).all()


@given(numbers, st.sampled_from(["auto", "paper", "arm", "0.3"]))
def test_a_smaller_distance_never_scores_less(values: list[float], temperature: str) -> None:
    distance = np.sort(np.array(values))
    assert (np.diff(log_scores(measures(distance), temperature, "share")) <= 1e-12).all()


@given(numbers)
def test_auto_is_absolute(values: list[float]) -> None:
    whole = np.array(values)
    part = log_scores(measures(whole[:1]), "auto", "share")
    np.testing.assert_array_equal(log_scores(measures(whole), "auto", "share")[:1], part)


def test_the_papers_formula_by_hand() -> None:
    logs = log_scores(measures(np.array([2.0, 7.0, 1000.0])), "paper", "share")
    np.testing.assert_allclose(logs, [0, -1, -50])


def test_a_number_is_the_papers_formula_without_the_cap() -> None:
    np.testing.assert_allclose(log_scores(measures(np.array([2.0, 7.0, 1002.0])), "10", "share"), [0, -0.5, -100])


def test_a_temperature_on_the_share() -> None:
    found = log_scores(measures(np.array([2.0, 7.0]), np.array([0.1, 0.4])), "share:0.1", "calibrated")
    np.testing.assert_allclose(found, [-1, -4])


def test_the_arms_temperature_is_a_tenth_of_the_gap_to_the_middle() -> None:
    distance = np.arange(10.0)
    sigma = np.mean(np.arange(1.0, 9.0)) / 10
    np.testing.assert_allclose(log_scores(measures(distance), "arm", "share"), -distance / sigma)
    shuffled = distance[[3, 1, 4, 0, 5, 9, 2, 6, 8, 7]]
    np.testing.assert_allclose(log_scores(measures(shuffled), "arm", "share"), -shuffled / sigma)


def test_calibrated_scores_are_id_feas_by_hand() -> None:
    scores = np.exp(log_scores(measures(np.array([0.4, 0.75, 3.0])), "auto", "calibrated"))
    np.testing.assert_allclose(scores, [1, 0.5, 0])
    above = np.exp(log_scores(measures(np.array([2.0, 4.5])), "auto", "calibrated"))
    np.testing.assert_allclose(above, [1 - 1.5 / 4, 0])


def test_extreme_distances_do_not_underflow_into_nonsense() -> None:
    logs = log_scores(measures(np.array([1e5, 2e5]), np.array([1e5, 2e5])), "auto", "share")
    np.testing.assert_allclose(masses(logs, np.array([10, 10])), [1, 0])


def test_long_demonstrations_weigh_more_at_the_same_score() -> None:
    np.testing.assert_allclose(masses(np.zeros(2), np.array([100, 300])), [0.25, 0.75])


def test_all_scores_zero_give_equal_weights() -> None:
    np.testing.assert_allclose(masses(np.array([-np.inf, -np.inf]), np.array([5, 5])), [0.5, 0.5])


def test_the_noise_is_what_is_left_of_own_movements_within_bounds() -> None:
    assert noise_of(np.zeros(0)) == noise_of(np.array([0.0, 0.01])) == LEAST_NOISE
    assert noise_of(np.full(8, -0.07 * np.log(0.07) / HARDER)) == pytest.approx(0.07, rel=1e-4)
    assert noise_of(np.full(8, 0.9)) == MOST_NOISE


@given(st.floats(LEAST_NOISE, MOST_NOISE), st.lists(st.floats(0, 2), min_size=2, max_size=20, unique=True))
def test_score_and_verdict_are_one_scale(noise: float, values: list[float]) -> None:
    shares = np.sort(np.array(values))
    scores = np.exp(log_score(shares, noise))
    feasible, borderline = thresholds(noise)
    expected = ["feasible" if one >= 0.5 else "borderline" if one >= BORDERLINE else "infeasible" for one in scores]
    found = [verdict_of_share(share, feasible, borderline) for share in shares.tolist()]
    clear = np.minimum(np.abs(shares - feasible), np.abs(shares - borderline)) > 1e-9  # on a threshold it may round either way
    assert all(found[i] == expected[i] for i in np.flatnonzero(clear))
    assert (np.diff(log_score(shares, noise)) <= 0).all()


def test_the_score_falls_strictly_with_the_share() -> None:
    assert (np.diff(log_score(np.linspace(0, 3, 1000), 0.05)) < 0).all()
    assert np.exp(log_score(np.zeros(1), 0.03))[0] > 0.95


def test_shares_that_differ_by_less_than_the_noise_weigh_nearly_the_same() -> None:
    """Of two that the imitator can follow, the luckier attempt must not win the other's weight."""
    one, other = np.exp(log_score(np.array([0.01, 0.04]), 0.05))
    assert other > 0.9 * one


@pytest.mark.parametrize(
    ("temperature", "rule", "even"),
    [
        ("auto", "share", True),
        ("score:1", "share", True),
        ("score:1", "sigmoid", False),
        ("share:0.1", "calibrated", True),
        ("auto", "calibrated", False),
        ("auto", "sigmoid", False),
        ("paper", "share", False),
        ("arm", "share", False),
        ("5", "share", False),
    ],
)
def test_only_scores_of_our_own_are_balanced_unless_that_is_asked_for(temperature: str, rule: str, even: bool) -> None:
    assert is_balanced("auto", temperature, rule) == even
    assert is_balanced("demonstrator", temperature, rule)
    assert not is_balanced("none", temperature, rule)


def test_balanced_masses_do_not_depend_on_how_many_a_demonstrator_gave() -> None:
    logs, lengths = np.log([0.9, 0.5, 0.1, 0.1, 0.1]), np.full(5, 10)
    names = ["good", "good", "bad", "bad", "bad"]
    mass = balanced(logs, lengths, names)
    assert mass.sum() == pytest.approx(1)
    assert mass[:2].sum() == pytest.approx(0.7 / 0.8)
    assert mass[0] / mass[1] == pytest.approx(0.9 / 0.5)
    more = balanced(np.append(logs, [np.log(0.1)] * 20), np.full(25, 10), [*names, *["bad"] * 20])
    assert more[:2].sum() == pytest.approx(0.7 / 0.8)


def test_auto_weighs_the_square_of_our_own_score_and_a_temperature_on_the_score_says_otherwise() -> None:
    shares, noise = np.array([0.1, 0.3]), 0.07
    logs = log_score(shares, noise)
    np.testing.assert_allclose(weight_logs(logs, "auto", "share"), 2 * logs)
    np.testing.assert_allclose(weight_logs(logs, "score:0.25", "sigmoid"), 4 * logs)
    for temperature, rule in (("auto", "calibrated"), ("score:1", "share"), ("paper", "share"), ("share:0.1", "share")):
        np.testing.assert_array_equal(weight_logs(logs, temperature, rule), logs)
    for temperature in ("auto", "score:1"):  # segments weigh by the same rule as whole demonstrations
        np.testing.assert_allclose(share_logs(shares, temperature, noise), weight_logs(logs, temperature, "share"))


def test_keeping() -> None:
    verdict, logs = ("feasible", "borderline", "feasible"), np.array([-1.0, -2.0, -0.5])
    names = ("arm:gear=2", "arm", "arm:gear=2")
    assert chosen_rows("feasible", verdict, logs, names).tolist() == [True, False, True]
    assert chosen_rows("top:1", verdict, logs, names).tolist() == [False, False, True]
    assert chosen_rows("arm", verdict, logs, names).tolist() == [False, True, False]
    assert chosen_rows("arm:gear=2", verdict, logs, names).tolist() == [True, False, True]
    with pytest.raises(BadOption, match="no demonstration is feasible"):
        chosen_rows("feasible", ("borderline",), logs[:1], names[:1])
    for wrong in ("top:0", "top:x", "best"):
        with pytest.raises(BadOption, match="top:K"):
            chosen_rows(wrong, verdict, logs, names)
    with pytest.raises(BadOption, match=r"did you mean 'arm:gear=2'\? Choose from: arm, arm:gear=2"):
        chosen_rows("arm:gear=3", verdict, logs, names)


def test_remarks_name_what_is_wrong_with_weights() -> None:
    good = (1.0, np.full(8, 0.01))
    assert "no demonstration is feasible" in remarks(np.full(4, 0.25), ("infeasible",) * 4, *good)[0]
    assert any("rest on" in line for line in remarks(np.array([1.0] + [0.0] * 9), ("feasible",) * 10, *good))
    assert any("uniform" in line for line in remarks(np.full(10, 0.1), ("feasible",) * 10, *good))


def test_remarks_doubt_a_tracker_that_fails_on_its_own_body() -> None:
    weight, verdict = np.array([0.7, 0.3]), ("feasible", "borderline")
    assert remarks(weight, verdict, 0.95, np.full(8, 0.1)) == []
    assert "finds 94%" in remarks(weight, verdict, 0.94, np.full(8, 0.1))[0]
    assert "a share of 0.80" in remarks(weight, verdict, 1.0, np.full(8, 0.8))[0]
    assert "1 of 2" in remarks(weight, ("feasible", "unknown"), 0.95, np.full(8, 0.1))[0]
    assert remarks(weight, verdict, None, np.full(8, 0.8)) == [], "learned from demonstrations, it knows no other movements"


@pytest.mark.parametrize("wrong", ["0", "-1", "nan", "inf", "hot", "share:", "share:0", "score:", "score:0", "share:score:1"])
def test_temperatures_are_checked(wrong: str) -> None:
    with pytest.raises(BadOption, match="temperature"):
        temperature_text(wrong)


def test_divergence_is_where_the_error_stays_above() -> None:
    steps, one = np.arange(1, 7), np.zeros(6, np.int64)
    assert first_divergence(np.array([0, 5, 0, 5, 5, 5.0]), steps, one, 1.0) == 4
    assert first_divergence(np.array([0, 5, 0, 5, 5, 0.0]), steps, one, 1.0) == -1
    assert first_divergence(np.full(6, 5.0), steps, one, 1.0) == 1
    two = np.array([0, 0, 0, 1, 1, 1])
    assert first_divergence(np.array([0, 0, 5, 0, 5, 5.0]), steps, two, 1.0) == 3


def ruler(kind: str, discount: float = 0.9) -> Ruler:
    space = StateSpace(nq=2, nv=1, quaternions=(), origin=np.zeros(3))
    return Ruler(kind, np.array([True, True, False]), np.array([1.0, 2.0, 3.0]), np.ones(3), discount, space)


def test_distances_by_hand() -> None:
    a, b = np.array([3.0, 0.0, 9.0]), np.array([0.0, 4.0, -9.0])
    assert ruler("l2").errors(a, b) == pytest.approx(5)
    assert ruler("l1").errors(a, b) == pytest.approx(7)
    assert ruler("cosine").errors(a, b) == pytest.approx(1)
    assert ruler("standardised").errors(a, b) == pytest.approx(np.sqrt((9 + 4) / 2))


@given(st.sampled_from(["standardised", "l2", "l1", "cosine"]), st.lists(st.floats(-10, 10), min_size=3, max_size=3))
def test_a_state_is_at_no_distance_from_itself(kind: str, values: list[float]) -> None:
    state = np.array(values) + np.array([20.0, 0, 0])
    assert ruler(kind).errors(state, state) == pytest.approx(0, abs=1e-9)


def test_discounted_sums_begin_at_one_and_ignore_what_is_missing() -> None:
    assert ruler("l2", 0.5).discounted(np.array([1.0, 1.0, 1.0])) == pytest.approx(1.75)
    assert ruler("l2", 0.5).discounted(np.array([1.0, 1.0, np.nan])) == pytest.approx(1.5)


def test_the_effective_horizon_holds_99_percent() -> None:
    assert effective_horizon(0.9) == 44
    assert effective_horizon(0.99) == 459
    for discount in (0.5, 0.9, 0.97):
        held = effective_horizon(discount)
        assert 1 - discount**held >= 0.99 > 1 - discount ** (held - 1)


@given(numbers, st.floats(-1e3, 1e3))
def test_the_shift_of_eqn_3_changes_no_weight(distances: list[float], shift: float) -> None:
    """C only keeps exponents small: p_w of exp((−D − C) / σ) is the same for every C."""
    distance, lengths = np.array(distances), np.arange(1, len(distances) + 1)
    np.testing.assert_allclose(masses((-distance - shift) / 5, lengths), masses(-distance / 5, lengths), rtol=1e-9, atol=1e-15)
