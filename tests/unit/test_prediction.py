# SPDX-License-Identifier: MIT
"""Pairs, mixtures and the split of the imitators: what is fixed beforehand, and what recorded pairs settle."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from imitable.experiments.cell_records import read_cell, read_cells, write_cell
from imitable.experiments.cells import Terms, cells_of, chosen, job_of, lacking
from imitable.experiments.halves import IMITATORS, RANDOM_RETURNS, family_of, fixed_halves
from imitable.experiments.prediction import (
    PAIRS,
    added,
    best_for,
    continuum,
    everything,
    first_outcomes,
    normalised_return,
    oracle_masses,
    others_for,
)
from imitable.experiments.protocol import PLAIN, PROJECTION, default_protocol, read_protocol
from imitable.experiments.random_policy import RandomReturns, random_path, random_returns
from imitable.experiments.records import from_json, read_record, to_json
from imitable.experiments.settings import SETTINGS
from imitable.experiments.work import Workshop
from tests.unit.small_cells import PROTOCOL, TINY, made, workshop

ROOT = Path(__file__).parents[2]
WHOLE = Terms(default_protocol())
KNOWN = {
    (imitator, body): place / 10
    for imitator in IMITATORS
    for place, body in enumerate(reversed(others_for(imitator)), start=-1)
}
"""Outcomes as if all pairs were recorded: the first of the others is the best one, the last one is worse than random."""


def test_halves_are_those_of_the_protocol_and_have_every_family() -> None:
    halves = fixed_halves()
    assert read_protocol(ROOT / "results" / "protocol.json").halves == halves
    assert set(halves.development) | set(halves.reporting) == set(IMITATORS)
    assert not set(halves.development) & set(halves.reporting)
    families = {family_of(body) for body in IMITATORS}
    assert len(families) == 4
    for half in (halves.development, halves.reporting):
        assert {family_of(body) for body in half} == families
    assert {"hopper:gravity=12.5", "walker2d:friction=3"} <= set(halves.development)
    assert halves.continuum == ("half_cheetah:front=0.3", "hopper", "swimmer:back=30", "walker2d:friction=9.9")
    assert set(halves.continuum) <= set(halves.reporting) - {setting.imitator for setting in SETTINGS}


def test_the_split_changes_no_protocol_that_cells_were_made_under() -> None:
    protocol = default_protocol()
    assert protocol.hash == replace(protocol, halves=None).hash == "2e6046950e359828"


def test_the_zero_of_outcomes_is_what_a_random_policy_returns() -> None:
    recorded = read_record(RandomReturns, random_path(ROOT / "results")).returns
    assert {body: recorded[body] for body in IMITATORS} == RANDOM_RETURNS
    body = "hopper:gravity=12.5"
    assert round(float(random_returns(body).mean()), 2) == RANDOM_RETURNS[body]


def test_every_recorded_cell_is_still_the_cell_of_some_experiment() -> None:
    """Names are made of all that a cell depends on: a change of a job's fields or defaults would orphan the records."""
    records = ROOT / "results" / "cells"
    outcomes = first_outcomes(WHOLE, partial(read_cell, records))
    names = {cell.job.name for cell in cells_of(everything((PLAIN, PROJECTION), outcomes), WHOLE)}
    recorded = {path.stem for path in records.glob("*.json")}
    assert len(recorded) >= 508
    assert recorded <= names


def test_pairs_are_all_demonstrators_of_a_family_with_each_imitator() -> None:
    cells = cells_of([PAIRS], replace(WHOLE, seeds=3))
    assert len(cells) == 3 * 115
    assert [cell.seed for cell in cells] == [0] * 115 + [1] * 115 + [2] * 115
    assert [family_of(cell.where) for cell in cells[:115]] == sorted(family_of(cell.where) for cell in cells[:115])
    job = next(cell.job for cell in cells if cell.path == "pairs/hopper-gravity=12.5/hopper-alone")
    assert [(one.body, one.count) for one in job.demos.recordings] == [("hopper", 20)]
    assert (job.steps, job.learner, job.scores, job.rule.masses) == (1_000_000, "gaifo", None, None)
    assert sum(cell.where == cell.row.removesuffix(" alone") for cell in cells[:115]) == 12
    assert cells_of([PAIRS], replace(WHOLE, seeds=5)) == cells


def test_mixtures_wait_for_the_pairs_that_settle_them() -> None:
    partly = {pair: value for pair, value in KNOWN.items() if pair[0] == "hopper" or pair == ("hopper:gravity=5", "hopper")}
    entries = added(partly).entries
    assert {entry.where.name for entry in entries if lacking(entry, WHOLE.protocol) is None} == {"hopper"}
    [reason] = {lacking(entry, WHOLE.protocol) for entry in entries if entry.where.name != "hopper"}
    assert reason is not None
    assert "19 of 20" in reason
    assert {cell.where for cell in cells_of([added(partly)], WHOLE)} == {"hopper"}
    assert all(entry.missing for entry in continuum({}).entries if entry.row.name == "oracle")
    assert len(cells_of([continuum({})], WHOLE)) == 4 * 5 * 5


def test_mixtures_add_every_other_demonstrator_to_the_best_one() -> None:
    cells = cells_of([added(KNOWN)], replace(WHOLE, seeds=1))
    assert len(cells) == sum(len(others_for(body)) - 1 for body in IMITATORS) == 83
    for cell in cells:
        best, other = cell.job.demos.recordings
        assert (best.body, best.count) == (best_for(cell.where, KNOWN), 50)
        assert (other.body, other.count) == (cell.row.removeprefix("with 500 of "), 500)
        assert cell.where not in (best.body, other.body)


def test_the_oracle_weighs_by_the_square_of_outcomes() -> None:
    masses = dict(oracle_masses("hopper", {("hopper", body): value for body, value in _four(0.5, -1.0, 3.0, 1.0)}))
    assert list(masses.values()) == [pytest.approx(weight, abs=1e-4) for weight in (0.25 / 2.25, 0, 1 / 2.25, 1 / 2.25)]
    assert set(dict(oracle_masses("hopper", {("hopper", body): -1.0 for body in others_for("hopper")})).values()) == {0.25}
    [one, other] = (
        next(cell.job for cell in cells_of([continuum(known)], WHOLE) if cell.row == "oracle")
        for known in (KNOWN, {pair: value / 2 + 0.1 for pair, value in KNOWN.items()})
    )
    assert one.name != other.name
    assert from_json(type(one), json.loads(json.dumps(to_json(one)))) == one


def _four(*values: float) -> list[tuple[str, float]]:
    return list(zip(others_for("hopper"), values, strict=True))


def test_an_outcome_is_zero_for_a_random_policy_and_one_for_the_demonstrated_return() -> None:
    record = next(iter(read_cells(ROOT / "results" / "cells")))
    zero = RANDOM_RETURNS[record.job.imitator]

    def outcome(mean: float) -> float:
        return normalised_return(replace(record, mean_actions=replace(record.mean_actions, mean=mean)))

    assert outcome(zero) == 0
    assert outcome(record.demonstrated_return) == 1
    assert outcome((zero + record.demonstrated_return) / 2) == pytest.approx(0.5)


def test_extra_seeds_are_those_of_the_main_table_and_not_seen_before() -> None:
    terms = replace(WHOLE, seeds=5)
    extra = cells_of(chosen(everything(), ["more-seeds"]), terms)
    assert len(extra) == 3 * 5 * 5
    assert [cell.seed for cell in extra[:16]] == [5] * 15 + [6]
    usual = {cell.job.hash for cell in cells_of(chosen(everything(), ["mujoco-a"]), terms)}
    assert not usual & {cell.job.hash for cell in extra}
    [main] = chosen(everything(), ["mujoco-a/hopper/direct"])
    [cell] = [one for one in extra if (one.where, one.row, one.seed) == ("hopper", "direct", 7)]
    assert cell.job == job_of(main.entries[0], 7, terms)


def test_pairs_settle_mixtures_from_end_to_end(tmp_path: Path) -> None:
    """With one demonstration of each and one batch; only of Hopper with gravity 5, all else of one shape."""
    imitator = "hopper:gravity=5"
    first = cells_of(chosen(everything(), [f"pairs/{imitator}"]), TINY)
    assert not [one.failure for one in made(first, tmp_path) if one.failure]
    place: Workshop = workshop(tmp_path)
    outcomes = first_outcomes(TINY, partial(read_cell, place.records))
    assert set(outcomes) == {(imitator, cell.row.removesuffix(" alone")) for cell in first}
    for cell in first:
        record = read_cell(place.records, cell.job)
        assert record is not None
        assert record.occupancy is not None
        assert record.occupancy.distance > 0
        assert record.occupancy.floor is None
    mixtures = cells_of(chosen(everything((PLAIN,), outcomes), [f"added/{imitator}"]), TINY)
    assert len(mixtures) == len(others_for(imitator)) - 1
    assert not [one.failure for one in made(mixtures[:1], tmp_path) if one.failure]
    best = max(outcomes, key=lambda pair: (pair[1] != imitator, outcomes[pair]))[1]
    record = read_cell(place.records, mixtures[0].job)
    assert record is not None
    assert best in record.masses


def test_fixed_masses_become_weights(tmp_path: Path) -> None:
    outcomes = {("hopper", body): value for body, value in _four(0.5, -1.0, 3.0, 1.0)}
    [cell] = cells_of(chosen(everything((PLAIN,), outcomes), ["continuum/hopper/oracle"]), Terms(PROTOCOL, 1, TINY.scale))
    assert not [one.failure for one in made([cell], tmp_path) if one.failure]
    record = read_cell(workshop(tmp_path).records, cell.job)
    assert record is not None
    wanted = dict(cell.job.rule.masses or ())
    assert record.masses == {body: pytest.approx(mass, abs=1e-3) for body, mass in wanted.items()}
    write_cell(tmp_path / "again", record)
    assert read_cell(tmp_path / "again", cell.job) == record
    assert np.isclose(sum(wanted.values()), 1, atol=1e-3)
