# SPDX-License-Identifier: MIT
"""Cells that are made again."""

from dataclasses import replace
from pathlib import Path

import pytest

from imitable.experiments.cell_records import CellRecord, read_cells
from imitable.experiments.code_hash import code_hash
from imitable.experiments.remade import Remade, RemadeCell, chosen, joined, remake
from tests.unit.small_cells import cells, made


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> CellRecord:
    folder = tmp_path_factory.mktemp("first")
    made(cells("mujoco-a/half_cheetah-1/gail"), folder)
    [found] = read_cells(folder / "records")
    return found


def by(record: CellRecord, name: str, code: str, seconds: float, scores_code: str = "") -> CellRecord:
    return replace(
        record,
        job=replace(record.job, seed=len(name)),
        spent=replace(record.spent, learner_s=seconds),
        provenance=replace(record.provenance, code=code, scores_code=scores_code),
    )


def test_the_quickest_cell_of_every_other_version_is_chosen(record: CellRecord) -> None:
    slow, quick, both, new = (
        by(record, "a", "one", 9),
        by(record, "bb", "one", 2),
        by(record, "ccc", "two", 3, "three"),
        by(record, "dddd", "now", 1),
    )
    assert chosen([slow, quick, both, new], "now") == [quick, both]
    assert chosen([slow, quick, both, new], "now", ["three", "now"]) == [both]
    assert chosen([new], "now") == []


def test_what_is_known_of_other_cells_is_kept() -> None:
    first, second = RemadeCell("a", ("one",), True, (1.0, 1.0), "two"), RemadeCell("b", ("one",), True, (2.0, 2.0), "two")
    later = replace(second, same=False, by="three")
    assert joined(None, [first]) == Remade((first,))
    assert joined(Remade((first, second)), [later]) == Remade((first, later))


def test_the_same_code_makes_the_same_bits_and_a_difference_is_seen(record: CellRecord, tmp_path: Path) -> None:
    again = remake(record, tmp_path)
    assert again.same
    assert again.codes == (code_hash(),)
    assert again.returns[0] == again.returns[1]
    other = replace(record, provenance=replace(record.provenance, policy="0" * 16))
    assert not remake(other, tmp_path).same
