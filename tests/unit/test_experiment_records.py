# SPDX-License-Identifier: MIT
"""Records are read as they were written, strictly; every committed one is read, and is the record of a case."""

import json
import subprocess
import sys
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imitable.errors import BadRecord
from imitable.experiments.cases import LEARNING_CASES, SCORING_CASES
from imitable.experiments.cloning_records import CloningRecord, Curve, OwnClone, cloning_path, read_cloning
from imitable.experiments.feasibility_records import read_records, record_path
from imitable.experiments.imitation import GROUPS, missing_cases
from imitable.experiments.imitation_records import learning_path, read_learning
from imitable.experiments.ladders import LADDERS, ladders_path, read_ladders
from imitable.experiments.large_sets import large_sets_path, read_large_sets
from imitable.experiments.noise import noise_path, read_noise
from imitable.experiments.records import FLAT, from_json, read_record, record_or_skip, to_json, write_record
from imitable.experiments.settings import BY_NAME, SETTINGS
from imitable.experiments.training_records import experts_path, read_experts, read_throughput

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"


LONGER = "half_cheetah_front=0.01.half_cheetah_back=0.01"
"""Recorded before the steps of imitating one demonstrator alone were halved."""


@dataclass(frozen=True)
class Inner:
    x: int
    y: float = 0.5


@dataclass(frozen=True)
class Outer:
    flat: Inner = field(metadata=FLAT)
    pairs: tuple[tuple[int, float | None], ...]
    named: dict[str, Inner]
    word: str = field(metadata={"key": "return"})
    either: tuple[Inner, ...] | tuple[str, ...] = ()
    extra: dict[str, Any] | None = None


inners = st.builds(Inner, st.integers(), st.floats(allow_nan=False, allow_infinity=False))
outers = st.builds(
    Outer,
    inners,
    st.lists(st.tuples(st.integers(), st.none() | st.floats(allow_nan=False))).map(tuple),
    st.dictionaries(st.text(), inners),
    st.text(),
    st.lists(inners).map(tuple) | st.lists(st.text()).map(tuple),
    st.none() | st.just({"anything": [1, None]}),
)


@given(outers)
def test_a_record_survives_its_file(record: Outer) -> None:
    assert from_json(Outer, json.loads(json.dumps(to_json(record)))) == record


def test_keys_of_a_flat_field_stand_among_the_others() -> None:
    content = to_json(Outer(Inner(1), (), {}, "word"))
    assert content == {"x": 1, "y": 0.5, "pairs": [], "named": {}, "return": "word", "either": []}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"z": 1}, "r: unknown key 'z'"),
        ({"x": "1"}, "r: x: expected int, there is '1'"),
        ({"x": True}, "r: x: expected int, there is True"),
        ({"pairs": [[1, 2, 3]]}, "r: pairs: 0: expected 2 values, there are 3"),
        ({"named": {"a": {}}}, "r: named: a: there is no 'x'"),
        ({"named": 3}, "r: named: expected"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_place(change: dict[str, Any], said: str) -> None:
    with pytest.raises(BadRecord) as error:
        from_json(Outer, to_json(Outer(Inner(1), (), {}, "word")) | change, "r")
    assert str(error.value).startswith(said)


def test_a_record_that_is_there_is_not_made_again(tmp_path: Path) -> None:
    made: list[int] = []

    def make() -> Inner:
        made.append(1)
        return Inner(len(made))

    for _ in range(2):
        record_or_skip(tmp_path / "inner.json", make)
    assert made == [1]
    assert read_record(Inner, tmp_path / "inner.json") == Inner(1)


def test_every_committed_feasibility_record_is_that_of_a_setting_and_a_case() -> None:
    records = read_records(RESULTS)
    names = {path.name for path in (RESULTS / "feasibility").glob("*.json")}
    assert {record_path(RESULTS, *key).name for key in records} == names - {"ladders.json", "many.json", "cost.json"}
    cases = {case.name: case for case in SCORING_CASES}
    for (setting, case), record in records.items():
        assert set(record.demonstrators) == set(BY_NAME[setting].demonstrators)
        assert record.method == cases[case].method
        own = record.recorded_certificate
        assert own is None or min(own.mean, own.sampled) >= 0.95, "what the imitator recorded itself is found again"


def test_the_paper_settings_have_records_of_all_scorers() -> None:
    there = set(read_records(RESULTS))
    once = {"direct, restart", "direct, l2", "direct, discount 0.9", "trajectory, discount 0.9"}
    once |= {"trajectory, initial-state, 4 times the budget"}
    assert {(s.name, c.name) for s in SETTINGS for c in SCORING_CASES if c.name not in once} <= there


def test_every_committed_learning_record_is_that_of_its_case() -> None:
    records = [record for group in GROUPS for record in read_learning(RESULTS, group)]
    by_path = {learning_path(RESULTS, case): case for case in LEARNING_CASES}
    assert {learning_path(RESULTS, record.case) for record in records} == set(by_path)
    for record in records:
        case = by_path[learning_path(RESULTS, record.case)]
        assert record.case == (replace(case, steps=400_000, episodes=100) if case.name == LONGER else case)
        assert tuple(run.seed for run in record.runs) == case.seeds
    assert missing_cases(GROUPS, "", RESULTS) == []


def test_every_committed_cloning_record_is_read() -> None:
    records = read_cloning(RESULTS)
    assert {cloning_path(RESULTS, record.name) for record in records} == set((RESULTS / "imitation").glob("cloning.*.json"))
    kinds = {record.name: {type(run) for run in record.runs} for record in records}
    assert kinds["hopper"] == {OwnClone}
    assert kinds["half_cheetah-1 gaifo"] == {Curve}


def test_the_single_records_are_read() -> None:
    ladders, sets, noise = read_ladders(RESULTS), read_large_sets(RESULTS), read_noise(RESULTS)
    assert ladders is not None
    assert {(one.imitator, one.knob): one.values for one in ladders.ladders} == LADDERS
    assert sets is not None
    assert [row.demonstrations for row in sets.rows] == [100, 1_000, 10_000]
    assert noise is not None
    assert all(len(row.returns) == len(noise.scales) for row in noise.rows.values())
    experts, throughput = read_experts(RESULTS), read_throughput(RESULTS)
    assert experts is not None
    assert all(row.mean >= row.goal for row in experts.rows.values())
    assert throughput is not None
    assert len(throughput.rows) == 14


def test_what_is_not_there_is_none(tmp_path: Path) -> None:
    readers = (read_ladders, read_large_sets, read_noise, read_experts, read_throughput)
    assert [read(tmp_path) for read in readers] == [None] * 5
    assert read_records(tmp_path) == {}
    assert read_cloning(tmp_path) == read_learning(tmp_path, "own") == []


@pytest.mark.parametrize("path", sorted((RESULTS / "imitation").glob("cloning.*.json")), ids=lambda path: path.name)
def test_a_record_is_written_as_it_was(path: Path, tmp_path: Path) -> None:
    write_record(tmp_path / path.name, read_record(CloningRecord, path), indent=1)
    assert json.loads((tmp_path / path.name).read_text()) == json.loads(path.read_text())


def test_single_records_lie_where_they_are_committed() -> None:
    assert all(path(RESULTS).is_file() for path in (ladders_path, large_sets_path, noise_path, experts_path))


def test_pages_are_those_of_the_records(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "scripts" / "write_results.py"), "--out", str(tmp_path)]
    subprocess.run(command, check=True, cwd=tmp_path)
    names = [
        "arm_real.md",
        "development.md",
        "development.svg",
        "feasibility.md",
        "g1.md",
        "imitation.md",
        "learning.md",
        "own_movements.md",
        "own_movements.svg",
        "throughput.md",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    for name in names:
        assert (tmp_path / name).read_text() == (RESULTS / name).read_text(), f"results/{name} is old: run write_results.py"


def test_the_page_of_the_reproduction_is_that_of_the_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run([sys.executable, str(ROOT / "scripts" / "reproduction_page.py"), "--out", str(tmp_path)], check=True)
    text = (tmp_path / "reproduction.md").read_text()
    assert text == (ROOT / "docs" / "reproduction.md").read_text(), "docs/reproduction.md is old: run reproduction_page.py"
    monkeypatch.syspath_prepend(ROOT / "scripts")
    brief = "\n".join(import_module("weighted_tables").in_brief(RESULTS))
    assert brief in (ROOT / "README.md").read_text(), "the README's table is old: run reproduction_page.py"
    for drawn in (tmp_path / "images" / "reproduction").iterdir():
        assert (ROOT / "docs" / "images" / "reproduction" / drawn.name).exists(), drawn.name
