# SPDX-License-Identifier: MIT
"""Every experiment from demonstrations to page, at a tiny scale, in this one warm process.

All of them are moved to one body, so that everything has one shape and is compiled once; of each, the first place is run.
"""

from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from imitable.experiments.captions import missing_text
from imitable.experiments.catalogue import CHEETAH, Entry, Experiment, Where, catalogue
from imitable.experiments.cell_records import CellRecord
from imitable.experiments.cells import Cell, Terms, cells_of
from imitable.experiments.own_reward_records import OwnReward
from imitable.experiments.protocol import PLAIN, PROJECTION
from imitable.experiments.random_policy import random_returns
from imitable.experiments.remade import Remade, RemadeCell
from imitable.experiments.rows import TABLE_A, Row
from imitable.experiments.tables import Outcome, Table, aggregate, claims, improvement, outcome, strata, table_of
from imitable.spec_text import split
from tests.unit.small_cells import PROTOCOL, made

pytestmark = pytest.mark.xdist_group("every experiment")  # one process, so that equal shapes are compiled once

ROOT = Path(__file__).parents[2]
TWO = replace(CHEETAH, counts=(1, 0, 1, 0))
"""One related and one unrelated demonstrator."""

ALIKE = {"discount": 2, "sigma": 2, "distance": 2}
"""Experiments whose rows differ by one number: two of them are enough."""

LITTLE = {
    "direct": "window_s=0.05,windows=1,effort=quick,restart_budget=0",
    "trajectory": "horizon=5,trained=1",
    "one-step": "horizon=5,trained=1",
    "inverse-dynamics": "horizon=5,hidden=8,blocks=1",
    "neighbours": "horizon=5",
    "sail": "environments=8,length=16,minibatch=64,hidden=8x8,goal_hidden=8x8,inverse_hidden=8,inverse_blocks=1,epochs=1",
    "dcc": "minibatch=8",
}
"""Settings that take little time."""

TERMS = Terms(PROTOCOL, seeds=1, scale=1e-4)


def little(text: str) -> str:
    """Return a method with settings that take little time."""
    name, settings = split(text)
    if name not in LITTLE:
        return text
    _, smaller = split(f"{name}:{LITTLE[name]}")
    return f"{name}:{','.join(f'{key}={value}' for key, value in (settings | smaller).items())}"


def little_row(row: Row) -> Row:
    whose = "all" if "alone" in row.name else row.whose
    scoring = row.scoring and replace(row.scoring, method=little(row.scoring.method))
    return replace(row, whose=whose, scoring=scoring, learner=little(row.learner))


def on_one_body(place: Where) -> Where:
    noise = place.imitator.partition("noise=")[2]
    imitator = f"{TWO.imitator},noise={noise}" if noise else TWO.imitator
    return replace(place, setting=TWO, counts=TWO.counts, imitator=imitator, policies="a")


def moved(experiment: Experiment) -> Experiment:
    first = experiment.entries[0].where
    kept = [entry for entry in experiment.entries if entry.where == first][: ALIKE.get(experiment.name)]
    place = on_one_body(first)
    entries = (Entry(place, little_row(entry.row), entry.claimed, entry.seeds) for entry in kept)
    return replace(experiment, entries=tuple(entries))


EXPERIMENTS = [moved(experiment) for experiment in catalogue((PLAIN, PROJECTION))]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda one: one.name)
def test_an_experiment_runs_from_end_to_end(experiment: Experiment, runs: Path) -> None:
    cells = cells_of([experiment], TERMS)
    assert len(cells) == len(experiment.entries)
    errors = {one.failure.reason for one in made(cells, runs) if one.failure}
    # with one demonstration of each it may be that nothing is feasible, which is said
    assert [error for error in errors if "no demonstration is feasible" not in error] == []
    assert not errors or experiment.name == "soft"
    table = table_of(experiment, TERMS, runs / "records")
    assert table.missing == len(errors)
    assert len(table.codes) == len(table.protocols) == 1
    for place in table.places:
        for row in table.rows:
            assert len(table.returns(place, row)) == 1 or errors


def test_tables_say_what_rows_are_worth_together(runs: Path) -> None:
    [main] = [one for one in EXPERIMENTS if one.name == "mujoco-a"]
    made(cells_of([main], TERMS), runs)
    table = table_of(main, TERMS, runs / "records")
    assert table.rows == [row.name for row in TABLE_A]
    random = {TWO.imitator: -1000.0}
    whole = aggregate(table, "own expert", random)
    assert whole is not None
    assert (whole.iqm, whole.mean, whole.worst, whole.places) == (pytest.approx(1), pytest.approx(1), pytest.approx(1), 1)
    assert whole.fewest == 1
    assert np.isnan(whole.low), "one run says nothing of its spread"
    assert aggregate(table, "own expert", {}) is None
    assert improvement(table, "GAIL", "GAIL") == 0.5
    assert strata(table, "GAIL", random)[table.places[0]] == pytest.approx(
        (table.returns(table.places[0], "GAIL") + 1000) / (table.returns(table.places[0], "own expert") + 1000)
    )
    found = outcome(table, "direct", ["GAIL"], {table.places[0]: -1e9})
    above = table.returns(table.places[0], "direct") > table.returns(table.places[0], "GAIL")
    assert found == Outcome(
        places=1, compared=1, tested=0, above=int(above[0]), certain=0, foreseen=0, recorded=1, above_printed=1
    )
    [one] = claims(table, "direct", ["GAIL", "SAIL", "ID-Feas"])
    assert one.claim.baseline in ("GAIL", "SAIL", "ID-Feas")
    assert claims(table, "nobody", ["GAIL"]) == []


def test_the_page_is_written_from_records_alone(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    script = import_module("reproduction_page")
    for experiment in EXPERIMENTS:
        made(cells_of([experiment], TERMS), runs)

    def text(records: Path) -> str:
        tables = {one.name: table_of(one, TERMS, records) for one in EXPERIMENTS}
        notes = script.notes_of("Of all.\n\n## budget\n\nOf one.\n")
        random, own_reward = {TWO.imitator: -1000.0}, OwnReward((0, 1), {TWO.imitator: (4000.0, 6000.0)})
        kept = RemadeCell("a", ("b",), True, (1.0, 1.0), "c0de")
        lost = RemadeCell("d", ("b", "e"), False, (1.0, 2000.0), "c0de")
        remade = Remade((kept, replace(kept, codes=("c0de",), by="f00d"), lost))
        images = tmp_path / "images"
        shown = script.Page(tables, TERMS, random, images, own_reward=own_reward, remade=remade, notes=notes)
        return script.page_text(shown)

    page, empty = text(runs / "records"), text(tmp_path / "none")
    for experiment in EXPERIMENTS:
        for one in (page, empty):
            assert f"\n## {experiment.name}\n" in one
            assert f"imitable reproduce {experiment.name} " in one
        assert f"images/reproduction/{experiment.name}.svg" in page or experiment.name not in script.drawings(EXPERIMENTS)
    assert ("images/reproduction/together.svg" in page, "images/reproduction/together.svg" in empty) == (True, False)
    drawn = (tmp_path / "images" / "together.svg").read_text()
    assert all(f"<!-- {title} -->" in drawn for title in script.TABLES.values())
    assert empty.count("Not recorded yet") == sum(not one.development for one in EXPERIMENTS)
    assert "| A: the plain learner | `Ours` | 0 | 0 of 0 | no test yet | – | 0 of 0 | – |" in empty
    assert "that all rows decline is not tested yet" in page
    assert "| walker2d-2 | `walker2d` | 10 × `walker2d:friction=1.1`, 10 × `walker2d:friction=0.7` | 500 × " in page
    assert "Not recorded yet" not in page
    assert "| *paper: Ours* | 74 ± 20 |" in page
    assert "\nBy version `c0de` the quickest cell of each of `b`, `e`:\n" in page
    assert "\n1 of 2 policies came out the same to the last bit; not d (1, then 2,000).\n" in page
    assert "\nBy version `f00d` the quickest cell of each of `c0de`:\n1 of 1 policies came out the same" in page
    assert " | 5,000 ± 1,414 (2) |" in page
    assert "\n## What was found\n\nOf all.\n" in page
    assert page.index("\n## budget\n") < page.index("\nOf one.\n") < page.index("\n## distance\n")
    assert "| swimmer | back=10 | back=10 → back=12; back=10 → back=20 | swimmer; front=10 |" in page
    assert "| walker2d-2 | walker2d → walker2d for walker2d-2 |" in page
    assert "\nRows as in mujoco-a; the first demonstrations of each demonstrator.\n" in page
    assert "nan" not in page
    assert all(path.read_bytes().startswith(b"<?xml") for path in (tmp_path / "images").iterdir())


def with_returns(table: Table, returns: dict[str, tuple[float, ...]]) -> Table:
    """Return a table whose rows have these returns in its first place, a run a seed."""
    made: list[tuple[Cell, CellRecord]] = []
    known = {cell.row: (cell, record) for cell, record in zip(table.cells, table.records, strict=True) if record is not None}
    for row, values in returns.items():
        cell, record = known[row]
        for seed, value in enumerate(values):
            played = replace(record.mean_actions, mean=value)
            made.append((replace(cell, seed=seed), replace(record, mean_actions=played, job=replace(record.job, seed=seed))))
    return Table(table.experiment, tuple(cell for cell, _ in made), tuple(record for _, record in made))


def test_what_is_missing_is_said_to_be_further_seeds_if_it_is(runs: Path) -> None:
    [main] = [one for one in EXPERIMENTS if one.name == "mujoco-a"]
    made(cells_of([main], TERMS), runs)
    whole, planned = table_of(main, TERMS, runs / "records"), table_of(main, replace(TERMS, seeds=3), runs / "records")
    assert missing_text(whole) == ""
    said = f"{planned.missing} of {len(planned.cells)} planned cells are not recorded yet"
    assert missing_text(planned) == f"{said}: further seeds of rows that have at least one."
    empty = replace(planned, records=(None,) * len(planned.cells))
    assert missing_text(empty) == f"{len(planned.cells)} of {len(planned.cells)} planned cells are not recorded yet."


def test_the_page_says_what_came_of_the_claim(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    script = import_module("claims_section")
    [main] = [one for one in EXPERIMENTS if one.name == "mujoco-a"]
    made(cells_of([main], TERMS), runs)
    known = table_of(main, TERMS, runs / "records")
    worse = {"GAIL": (1.0, 2.0, 3.0), "SAIL": (0.0, 1.0, 0.0), "ID-Feas": (2.0, 2.5, 3.0), "own expert": (100.0,)}
    table = with_returns(known, worse | {"Ours": (90.0, 91.0, 92.0), "direct": (2.0, 2.0, 2.2), "Ours (paper)": (5.0,)})
    text = "\n".join(script.main_table(table, TABLE_A, PROTOCOL, {TWO.imitator: 0.0}))
    said = "above every baseline in 1 of 1 settings that are recorded, of 1; with p < 0.01 after Holm in 1 of 1 where"
    assert f"* `Ours` (primary): {said}" in text
    said = "above every baseline in 0 of 1 settings that are recorded, of 1; with p < 0.01 after Holm in 0 of 1 where"
    assert f"* `direct` (primary): {said}" in text
    assert "* `Ours (paper)` (exploratory): above every baseline in 1 of 1" in text
    assert "no test yet: the row or a baseline has one seed; above the paper's own return in 0 of 1." in text
    assert "| Ours (paper) | swimmer | ID-Feas | yes | – | – | – | – | – | 0.116 (ID-Feas) |" in text
    assert "| direct | swimmer | ID-Feas | no | 1 | 1 | 1 |" in text
    assert "| Ours | 1 | 3 | 0.91 (0.90 to 0.92) | 0.91 | 0.91 | 100%, 100%, 100% | – |" in text
    assert "| ID-Feas | all | `inverse-dynamics` | the score, as published | usual starts, first-state resets |" in text
    assert "| related only | related only | – | all the same | usual starts, who is related |" in text
    masses = known.at("swimmer", "Ours (paper)")[0]
    related = 100 * sum(masses.masses.get(body, 0) for body in TWO.demonstrators[: TWO.related])
    assert f"| Ours (paper) | {related:.0f} ({masses.effective_size:.0f}) |" in text
    assert "nan" not in text


def test_numbers_of_notes_are_those_of_the_records(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    script = import_module("reproduction_notes")
    [main] = [one for one in EXPERIMENTS if one.name == "mujoco-a"]
    made(cells_of([main], TERMS), runs)
    tables = {"mujoco-a": with_returns(table_of(main, TERMS, runs / "records"), {"Ours (paper)": (-2000.0, 4000.0)})}
    path = "mujoco-a/swimmer/ours-paper"
    assert script.filled(f"{{{path}}}, {{{path}@0}}, {{{path}@1}}", tables) == "1,000, −2,000, 4,000"
    assert script.filled(f"{{{path}@0-1}}; {{{path}@each}}", tables) == "1,000; −2,000 and 4,000"
    [record, _] = tables["mujoco-a"].at("swimmer", "Ours (paper)")
    said = script.filled(f"{{{path} falls}} {{{path}@0 demonstrated}} {{{path} related}}", tables)
    related = 100 * sum(record.masses.get(body, 0) for body in TWO.demonstrators[: TWO.related])
    assert said.replace("−", "-") == f"{record.mean_actions.falls} {record.demonstrated_return:,.0f} {related:.0f}"
    with pytest.raises(LookupError, match="seed 7, which is not recorded"):
        script.filled(f"{{{path}@7}}", tables)
    with pytest.raises(LookupError, match="seed 2, which is not recorded"):
        script.filled(f"{{{path}@1-3}}", tables)


def test_seeds_that_nobody_had_seen_are_told_apart(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    script = import_module("claims_section")
    [main] = [one for one in EXPERIMENTS if one.name == "mujoco-a"]
    made(cells_of([main], TERMS), runs)
    low = dict.fromkeys(("GAIL", "SAIL", "ID-Feas"), (1.0, 2.0, 3.0, 4.0))
    table = with_returns(table_of(main, TERMS, runs / "records"), low | {"Ours": (90.0, 91.0, 0.0, 1.0), "direct": (5.0, 6.0)})
    assert table.since(2).returns("swimmer", "Ours").tolist() == [0, 1]
    text = "\n".join(script.main_table(table, TABLE_A, PROTOCOL, {TWO.imitator: 0.0}))
    [ours], [direct] = ([line for line in text.splitlines() if line.startswith(f"* `{row}`")] for row in ("Ours", "direct"))
    assert "above every baseline in 1 of 1" in ours
    assert ours.endswith("Seeds from 2 on alone: above in 0 of 1, with p < 0.01 in 0 of 1.")
    assert "Seeds from" not in direct
    never_changed = replace(PROTOCOL, post_hoc=())
    text = "\n".join(script.main_table(table, TABLE_A, never_changed, {TWO.imitator: 0.0}))
    assert "Primary rows were named beforehand. Conclusions hold" in text
    assert "Seeds from" not in text


def test_holm_counts_settings_that_are_not_recorded_yet(runs: Path) -> None:
    [main] = [one for one in EXPERIMENTS if one.name == "mujoco-a"]
    made(cells_of([main], TERMS), runs)
    known = table_of(main, TERMS, runs / "records")
    table = with_returns(known, {"GAIL": (1.0, 2.0, 3.0), "direct": (90.0, 91.0, 93.0)})
    elsewhere = [Entry(replace(entry.where, name="elsewhere"), entry.row) for entry in main.entries]
    wider = Table(replace(main, entries=(*main.entries, *elsewhere)), table.cells, table.records)
    [alone], [one_of_two] = (claims(some, "direct", ["GAIL"]) for some in (table, wider))
    assert alone.adjusted == alone.claim.p
    assert one_of_two.adjusted == pytest.approx(2 * alone.claim.p)


@pytest.mark.parametrize("name", ["mujoco-a", "mujoco-b"])
def test_weighted_and_unweighted_runs_are_compared_from_records(runs: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    script = import_module("weighted_tables")
    [experiment] = [one for one in EXPERIMENTS if one.name == name]
    made(cells_of([experiment], TERMS), runs)
    table = table_of(experiment, TERMS, runs / "records")
    lines = script.section(name, table, PROTOCOL)
    weighted = table.at(table.places[0], "direct")[0].mean_actions
    head, line = (next(one for one in lines if one.startswith(f"| {start} |")) for start in ("setting", table.places[0]))
    assert f"| {weighted.mean:,.0f} ({weighted.falls}) |" in line
    assert line.count("|") == head.count("|"), "as many cells as headings"
    [access] = [one for one in lines if one.startswith("| weighted |")]
    assert "labels of demonstrators" in access
    assert ("%" in access) == (name == "mujoco-b"), "what projection kept"


def test_a_random_policy_is_paid_until_it_falls() -> None:
    """Hopper pays one for each step that it stands, so that short episodes return little; the same every time."""
    returns = random_returns("hopper", 8)
    assert (returns > 0).all()
    assert (returns < 300).all()
    np.testing.assert_array_equal(returns, random_returns("hopper", 8))
