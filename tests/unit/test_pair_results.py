# SPDX-License-Identifier: MIT
"""What pairs came to and how well it was predicted: closed forms, and a page from whatever is recorded."""

import math
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from imitable.experiments import pair_scores
from imitable.experiments.cell_records import CellRecord, Occupied, read_cells, write_cell
from imitable.experiments.cells import Terms, cells_of, chosen
from imitable.experiments.halves import RANDOM_RETURNS, fixed_halves
from imitable.experiments.pair_results import (
    CHANCE,
    GAITS,
    KNOBS,
    Cluster,
    auroc_of,
    ceiling,
    clusters_of,
    estimated,
    merit,
    mixture_predictors,
    mixtures_of,
    pairs_of,
    predictors,
    regret_of,
    reliability,
    rho,
    rho_within,
)
from imitable.experiments.pair_scores import (
    Gaits,
    PairScores,
    ScoredDemonstrator,
    gaits_path,
    knob_difference,
    make_missing,
    random_prediction,
    read_gaits,
    score_pairs,
    scorers_for,
    scores_path,
)
from imitable.experiments.prediction import PAIRS, added, continuum, demonstrators_for, others_for
from imitable.experiments.protocol import default_protocol, read_protocol
from imitable.experiments.records import Places, write_record

ROOT = Path(__file__).parents[2]
TERMS = Terms(default_protocol())
HOPPER = "hopper:gravity=20"
"""Of the development half."""
ONE = Cluster("hopper", ((0.1, 0.0), (0.2, 0.5), (0.9, 1.0)))
TWO = Cluster("swimmer", ((0.9, 0.1), (0.5, 0.6), (0.1, 0.9)))


def test_within_families_and_over_all_pairs_are_two_things() -> None:
    """One family is ranked right, the other backwards; of all six pairs together little is left."""
    assert rho([ONE]) == pytest.approx(1)
    assert rho([TWO]) == pytest.approx(-1)
    assert rho_within([ONE, TWO]) == pytest.approx(0)
    assert rho_within([ONE, replace(ONE, imitator="hopper:gravity=20")]) == pytest.approx(1)
    assert math.isnan(rho([Cluster("hopper", ((0.5, 0.0), (0.5, 1.0), (0.5, 0.3)))]))
    assert math.isnan(rho([Cluster("hopper", ((0.1, 0.0), (0.5, 1.0)))]))


def test_auroc_and_regret_of_few_pairs() -> None:
    assert auroc_of([ONE], 0.8) == 1
    assert auroc_of([TWO], 0.8) == 0
    assert auroc_of([ONE, TWO], 0.8) == pytest.approx((3.5 + 0.5) / 8)
    assert math.isnan(auroc_of([ONE], 2.0))
    assert regret_of([ONE]) == 0
    assert regret_of([TWO]) == pytest.approx(0.8)
    assert regret_of([ONE, TWO]) == pytest.approx(0.4)
    tied = Cluster("hopper", ((0.5, 1.0), (0.5, 0.2), (0.1, 0.9)))
    assert regret_of([tied]) == pytest.approx(0.4), "of equal scores, either is picked"


def test_intervals_redraw_imitators() -> None:
    assert math.isnan(estimated([ONE, TWO], rho).low), "one imitator per family: nothing to redraw"
    backwards = Cluster("hopper:gravity=20", tuple((-score, outcome) for score, outcome in ONE.points))
    found = estimated([ONE, backwards], regret_of)
    assert (found.low, found.value, found.high, found.count) == (0, 0.5, 1, 6)


def test_bins_count_what_was_imitated() -> None:
    found = reliability([ONE, Cluster("swimmer", ((1.0, 0.9), (0.0, 0.9)))], 0.8, bins=2)
    assert [(one.low, one.high, one.count, one.imitated) for one in found] == [(0, 0.5, 3, 1), (0.5, 1, 2, 2)]


def test_trivial_predictors_know_nothing_but_bodies() -> None:
    assert knob_difference("hopper:gravity=20", "hopper:gravity=5") == pytest.approx(math.log(4))
    assert knob_difference("hopper", "hopper:gravity=9.81") == 0
    assert knob_difference("half_cheetah:front=0.5", "half_cheetah:back=0.5") == pytest.approx(2 * math.log(2))
    assert random_prediction("a", "b") == random_prediction("a", "b") != random_prediction("b", "a")
    assert 0 <= random_prediction("a", "b") < 1


def test_costly_scorers_score_the_reporting_half_only() -> None:
    assert scorers_for("hopper")[-2:] == ("trajectory", "one-step")
    assert not {"trajectory", "one-step"} & set(scorers_for(HOPPER))


@pytest.fixture(scope="module")
def template() -> CellRecord:
    return next(iter(read_cells(ROOT / "results" / "cells")))


Recorder = Callable[[Path, Callable[[str, str, int], float], int], None]


@pytest.fixture
def record(template: CellRecord) -> Recorder:
    """Write what pairs of Hopper with gravity 20 and their mixtures came to, in parts of what was demonstrated."""

    def write(records: Path, outcome: Callable[[str, str, int], float], seeds: int) -> None:
        terms, zero = replace(TERMS, seeds=seeds), RANDOM_RETURNS[HOPPER]
        first = {(HOPPER, body): outcome(body, "", 0) for body in others_for(HOPPER)}
        for cell in cells_of([PAIRS, added(first)], terms):
            if cell.where == HOPPER:
                bodies = [one.body for one in cell.job.demos.recordings]
                gain = 1000 * outcome(bodies[-1], bodies[0] if len(bodies) > 1 else "", cell.seed)
                made = replace(template.mean_actions, mean=zero + gain)
                near = Occupied(0.25 * (cell.seed + 1), 0.1)
                whole = replace(template, job=cell.job, mean_actions=made, demonstrated_return=zero + 1000, occupancy=near)
                write_cell(records, whole)

    return write


def write_pair(records: Path, template: CellRecord, imitator: str, body: str) -> None:
    """Write that half of what was demonstrated is reached, with seed 0."""
    [cell] = cells_of(chosen([PAIRS], [f"pairs/{imitator}/{body} alone"]), replace(TERMS, seeds=1))
    zero = RANDOM_RETURNS[imitator]
    played = replace(template.mean_actions, mean=zero + 500)
    write_cell(records, replace(template, job=cell.job, mean_actions=played, demonstrated_return=zero + 1000))


def shares(body: str, best: str, seed: int) -> float:
    """Return an outcome by place among all demonstrators: the first is the best; mixtures halve with the place."""
    place = demonstrators_for(HOPPER).index(body)
    return (1.0 - 0.2 * place) * (0.9 if seed else 1.0) if not best else 0.5**place


def test_outcomes_of_pairs_and_mixtures(tmp_path: Path, record: Recorder) -> None:
    record(tmp_path, shares, 2)
    pairs = {pair.demonstrator: pair for pair in pairs_of(TERMS, tmp_path) if pair.imitator == HOPPER}
    bodies = demonstrators_for(HOPPER)
    assert list(pairs) == list(bodies)
    own = bodies.index(HOPPER)
    for place, body in enumerate(bodies):
        assert pairs[body].outcomes == {0: pytest.approx(1 - 0.2 * place), 1: pytest.approx(0.9 * (1 - 0.2 * place))}
        assert pairs[body].outcome == pytest.approx(0.95 * (1 - 0.2 * place))
        assert pairs[body].of_own == pytest.approx((1 - 0.2 * place) / (1 - 0.2 * own))
        assert pairs[body].occupancy == pytest.approx((0.25 + 0.5) / 2)
        assert pairs[body].is_own == (body == HOPPER)
    mixtures = [one for one in mixtures_of(TERMS, tmp_path, list(pairs.values())) if one.imitator == HOPPER]
    assert {one.best for one in mixtures} == {bodies[0]}
    assert [one.other for one in mixtures] == [body for body in others_for(HOPPER) if body != bodies[0]]
    for one in mixtures:
        alone = 0.5 ** bodies.index(one.other)
        assert one.outcomes == {0: pytest.approx(alone), 1: pytest.approx(alone / 0.9)}
    assert ceiling([pair for pair in pairs.values() if not pair.is_own]).value == pytest.approx(1)
    assert math.isnan(ceiling(list(pairs.values()), (0, 2)).value)


def predicted(results: Path) -> None:
    """Record scores of `direct` that are right, and gaits that are the more apart the better a demonstrator is."""
    bodies = demonstrators_for(HOPPER)
    scored = {
        body: ScoredDemonstrator((0.8 - 0.2 * place, 1.0 - 0.2 * place), (0.1, 0.1), ("feasible", "feasible"))
        for place, body in enumerate(bodies)
    }
    write_record(scores_path(results, HOPPER, "direct"), PairScores(HOPPER, "direct", 0, 1.0, "c0de", scored))
    between = {body: {other: 1.0 for other in bodies if other != body} for body in bodies}
    write_record(gaits_path(results, HOPPER), Gaits(HOPPER, {body: 1.0 - 0.1 * i for i, body in enumerate(bodies)}, between))


def test_predictions_meet_outcomes(tmp_path: Path, record: Recorder) -> None:
    record(tmp_path / "cells", shares, 1)
    predicted(tmp_path)
    known = predictors(tmp_path, [HOPPER, "hopper"])
    assert list(known) == ["direct", KNOBS, GAITS, CHANCE]
    bodies = demonstrators_for(HOPPER)
    assert known["direct"][HOPPER, bodies[1]] == pytest.approx(0.7)
    assert known[GAITS][HOPPER, bodies[0]] == -1.0
    outcomes = {
        (HOPPER, pair.demonstrator): pair.outcome
        for pair in pairs_of(TERMS, tmp_path / "cells")
        if pair.imitator == HOPPER and not pair.is_own
    }
    found = merit(known["direct"], outcomes, 0.8)
    assert (found.within.value, found.overall.value, found.area.value, found.regret.value) == (
        pytest.approx(1),
        pytest.approx(1),
        1,
        0,
    )
    assert found.families == {"hopper": pytest.approx(1)}
    assert merit(known[GAITS], outcomes, 0.8).within.value == pytest.approx(-1)
    assert clusters_of(known["direct"], {("hopper", "swimmer"): 1.0}) == []
    mixtures = mixtures_of(TERMS, tmp_path / "cells", pairs_of(TERMS, tmp_path / "cells"))
    assert set(mixture_predictors(tmp_path, mixtures)[GAITS].values()) == {-1.0}


LITTLE = "inverse-dynamics:horizon=5,hidden=8,blocks=1,transitions=1000,passes=1,calibration=8"


def test_all_demonstrators_of_a_family_are_scored_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_scores, "SCORED", 1)
    scored = score_pairs(HOPPER, LITTLE, tmp_path)
    assert list(scored.demonstrators) == list(demonstrators_for(HOPPER))
    assert all(len(one.scores) == len(one.residuals) == len(one.verdicts) == 1 for one in scored.demonstrators.values())
    assert all(0 <= one.scores[0] <= 1 for one in scored.demonstrators.values())
    assert scored.seconds > 0
    assert replace(score_pairs(HOPPER, LITTLE, tmp_path), seconds=scored.seconds) == scored, "the score file is there"


def test_what_is_recorded_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_scores, "SCORED", 1)
    places = Places(tmp_path, tmp_path / "runs")
    predicted(tmp_path)
    make_missing(places, [HOPPER], ["direct", "trajectory"])
    assert not places.runs.exists(), "direct and gaits are there, and trajectory is not for this half"
    gaits_path(tmp_path, HOPPER).unlink()
    make_missing(places, [HOPPER], [])
    gaits = read_gaits(tmp_path, HOPPER)
    assert gaits is not None
    assert list(gaits.babble) == list(demonstrators_for(HOPPER))
    assert gaits.between["hopper"]["hopper:gravity=2"] == gaits.between["hopper:gravity=2"]["hopper"] > 0


def test_the_page_is_written_from_whatever_is_recorded(
    tmp_path: Path, record: Recorder, template: CellRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    script, images = import_module("prediction_page"), tmp_path / "images"
    protocol = read_protocol(ROOT / "results" / "protocol.json")
    write_record(tmp_path / "protocol.json", protocol)

    def text(*, reporting: bool = False) -> str:
        return script.page_text(script.found_in(tmp_path, tmp_path / "cells", reporting=reporting), images)

    empty = text()
    assert "**Not known yet:**" in empty
    assert "recorded for 0 of 103 pairs of different bodies (0 of 345 runs)" in empty
    assert not images.exists()
    record(tmp_path / "cells", shares, 1)
    predicted(tmp_path)
    page = text()
    assert "recorded for 4 of 103 pairs of different bodies (5 of 345 runs)" in page
    assert "| direct | 4 | 1.00 | 1.00 | 1.00 | 0.00 | hopper 1.00 |" in page
    assert "On the development half, `direct` ranks a family's demonstrators with a Spearman's ρ of 1.00" in page
    assert "of 3 recorded mixtures of the development half" in page
    assert {path.name for path in images.iterdir()} == {"outcomes-hopper.svg", "scatter.svg", "reliability.svg"}
    assert (images / "outcomes-hopper.svg").read_bytes().startswith(b"<?xml")
    assert np.all([f"images/prediction/{path.name}" in page for path in images.iterdir()])
    assert "nan" not in page
    assert page.count("Not recorded yet.") == 1, "continuum"
    assert "No pair of this half is recorded yet." in text(reporting=True), "what was recorded is of the other half"
    imitator = fixed_halves().continuum[0]
    returns = {"direct": 900.0, "ID-Feas (our weight rule)": 700.0, "neighbours": 800.0, "oracle": 1000.0}
    settled = {(imitator, body): 0.5 for body in others_for(imitator)}
    for one, other in settled:
        write_pair(tmp_path / "cells", template, one, other)
    for cell in cells_of([continuum(settled)], replace(TERMS, seeds=2)):
        if cell.where == imitator and cell.row in returns:
            mean = RANDOM_RETURNS[imitator] + returns[cell.row] + cell.seed
            played = replace(template.mean_actions, mean=mean)
            write_cell(tmp_path / "cells", replace(template, job=cell.job, mean_actions=played))
    assert f"* {imitator}: `direct` is above both baselines; p " in (weighed := text())
    assert "paired 0.5, least certain against neighbours; 90% of the oracle." in weighed
