# SPDX-License-Identifier: MIT
"""The verb `reproduce`: which cells there are, which are done, what is left and how long it takes; and making them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from imitable.experiments.catalogue import Entry, Experiment, Where
from imitable.experiments.cell_records import CellRecord, read_cell
from imitable.experiments.cells import Cell, Terms, lacking
from imitable.experiments.estimates import core_hours
from imitable.experiments.executors import Executor, Made
from imitable.experiments.jobs import RunJob
from imitable.experiments.protocol import Protocol, changed_experts, read_protocol
from imitable.experiments.records import write_record
from imitable.experiments.rows import Row, likest, scored_by
from imitable.experiments.store import RECORDS, Store
from imitable.experiments.work import Piece, Workshop, pieces_of

PROTOCOL_FILE = "protocol.json"
"""Copy of the protocol that the first cells of a store were run under."""


@dataclass(frozen=True)
class Standing:
    """How far an experiment is."""

    experiment: str
    about: str
    cells: int
    done: int
    core_hours: float
    """Of what is left, if it alone were run."""
    lacking: str
    """What its other cells lack before they can be run; empty if nothing."""


def workshop_at(out: Path, records: Path | None, terms: Terms) -> Workshop:
    """Return where the pieces of a store are made; records lie in it, too, unless another folder is named."""
    return Workshop(Store(out), out / RECORDS if records is None else records, terms.protocol.hash, terms.scale)


def with_methods(experiments: Sequence[Experiment], methods: Sequence[str]) -> list[Experiment]:
    """Return experiments with a further row a scorer, in every place, like a row there that has scores, or like the first."""
    return [replace(one, entries=(*one.entries, *_rows_of(methods, one))) for one in experiments]


def _rows_of(methods: Sequence[str], experiment: Experiment) -> Iterator[Entry]:
    there: dict[Where, list[Row]] = {}
    for entry in experiment.entries:
        there.setdefault(entry.where, []).append(entry.row)
    for where, rows in there.items():
        like = likest(rows)
        yield from (Entry(where, scored_by(method, like)) for method in methods if method not in {row.name for row in rows})


def standing(
    experiment: Experiment, made: Sequence[tuple[Cell, CellRecord | None]], terms: Terms, workshop: Workshop
) -> Standing:
    """Return how far an experiment is, these being its cells, and what they came to."""
    reasons = dict.fromkeys(reason for entry in experiment.entries if (reason := lacking(entry, terms.protocol)))
    return Standing(
        experiment.name,
        experiment.about,
        len(made),
        sum(record is not None for _, record in made),
        core_hours(piece.job for piece in left_of([cell for cell, _ in made], workshop)),
        "; ".join(reasons),
    )


def left_of(cells: Sequence[Cell], workshop: Workshop) -> list[Piece]:
    """Return the pieces that are left to make for some cells, shared ones once, seeds outermost."""
    return pieces_of([cell.job for cell in cells], workshop)


def records_of(cells: Sequence[Cell], records: Path) -> list[CellRecord | None]:
    """Return what cells came to, as far as they are done; cells of one job are read once."""
    jobs: dict[str, RunJob] = {cell.job.name: cell.job for cell in cells}
    found = {name: read_cell(records, job) for name, job in jobs.items()}
    return [found[cell.job.name] for cell in cells]


def protocol_changes(protocol: Protocol, out: Path) -> list[str]:
    """Return what has changed since the first cells of a store were run, and which demonstrators are not the protocol's."""
    first = out / PROTOCOL_FILE
    before = protocol.changes(read_protocol(first)) if first.exists() else []
    return [*before, *(line for line in changed_experts(protocol) if line not in before)]


def make_cells(cells: Sequence[Cell], workshop: Workshop, protocol: Protocol, executor: Executor) -> Iterator[Made]:
    """Make what is left of some cells; yield pieces as they end."""
    first = workshop.store.path / PROTOCOL_FILE
    if not first.exists():
        write_record(first, protocol, indent=1)
    yield from executor.make(left_of(cells, workshop), workshop)
