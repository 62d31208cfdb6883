# SPDX-License-Identifier: MIT
"""Does a change of the code change results? One recorded cell of every version of the code, made again by this one.

python -m imitable.experiments.remade. Of the cells that a version had a part in, the quickest is made from its demonstrations
on, and compared bit for bit, on the kind of processor that made it: others differ in last bits. `--versions` makes those of
some versions alone. The record, RESULTS/remade.json, keeps what it has of others.
"""

import argparse
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from imitable.experiments.cell_records import CellRecord, read_cell, read_cells
from imitable.experiments.code_hash import code_hash
from imitable.experiments.options import add_places, places_of
from imitable.experiments.records import read_if_there, write_record
from imitable.experiments.store import Store
from imitable.experiments.work import Workshop, make, pieces_of
from imitable.workers import Workers


@dataclass(frozen=True)
class RemadeCell:
    """One cell, made twice."""

    name: str
    """Of its job."""
    codes: tuple[str, ...]
    """Hashes of the code that made it first."""
    same: bool
    """Whether the policy is the same to the last bit, and returns and weights as far as they are recorded."""
    returns: tuple[float, float]
    """Mean return of mean actions, first and again."""
    by: str
    """Hash of the code that made it again."""


@dataclass(frozen=True)
class Remade:
    """All of them."""

    cells: tuple[RemadeCell, ...]


def chosen(records: Sequence[CellRecord], code: str, versions: Collection[str] | None = None) -> list[CellRecord]:
    """Return the quickest cell of every version of the code but one, or of some, each cell once."""
    found: dict[str, CellRecord] = {}
    for record in sorted(records, key=lambda one: one.spent.score_s + one.spent.learner_s, reverse=True):
        wanted = record.provenance.codes - {code}
        found |= dict.fromkeys(wanted if versions is None else wanted.intersection(versions), record)
    return list({record.job.name: record for _, record in sorted(found.items())}.values())


def remake(record: CellRecord, out: Path) -> RemadeCell:
    """Make a cell again in a store of its own, or go on with it, and compare."""
    origin = record.provenance
    workshop = Workshop(Store(out), out / "records", origin.protocol, origin.scale)
    for piece in pieces_of([record.job], workshop):
        make(piece, workshop)
    again = read_cell(workshop.records, record.job)
    assert again is not None
    assert again.provenance.codes == {code_hash()}, "whatever lies in the store of one version was made by it"
    same = (origin.policy, _played(record), record.masses) == (again.provenance.policy, _played(again), again.masses)
    returns = (record.mean_actions.mean, again.mean_actions.mean)
    return RemadeCell(record.job.name, tuple(sorted(origin.codes)), same, returns, code_hash())


def joined(known: Remade | None, found: Sequence[RemadeCell]) -> Remade:
    """Return what is known of cells with what was found of some of them now, which counts."""
    cells = {cell.name: cell for cell in (*(known.cells if known else ()), *found)}
    return Remade(tuple(cells.values()))


def _played(record: CellRecord) -> tuple[float, ...]:
    return (*record.mean_actions.returns, *record.sampled_actions.returns)


def remade_path(results: Path) -> Path:
    """Return where the record lies."""
    return results / "remade.json"


def read_remade(results: Path) -> Remade | None:
    """Return the record, if it is there."""
    return read_if_there(Remade, remade_path(results))


def main() -> None:
    """Make them, one process a core."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_places(parser)
    parser.add_argument("--versions", nargs="+", metavar="HASH", help="of the code that made the cells; usually all but this")
    options = parser.parse_args()
    places = places_of(options)
    recorded, store = read_cells(places.results / "cells"), places.runs / "remade" / code_hash()
    versions = {code for record in recorded for code in record.provenance.codes}
    if unknown := set(options.versions or ()) - versions:
        parser.error(f"no recorded cell is of {', '.join(sorted(unknown))}; there are {', '.join(sorted(versions))}")
    records = chosen(recorded, code_hash(), options.versions)
    with Workers(preload=["imitable.experiments.work"]) as workers:
        found = dict(workers.run(remake, [(record, store) for record in records]))
    cells = [found[index] for index in range(len(records))]
    write_record(remade_path(places.results), joined(read_remade(places.results), cells), indent=1)


if __name__ == "__main__":
    main()
