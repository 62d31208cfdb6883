# SPDX-License-Identifier: MIT
"""The records of a store: which stand in which table, rows of a user's own scorers among them, and which are left out, and why.

Jobs of records are never named here: a name needs all settings of a scorer, and a user's own would be imported for them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from imitable.experiments.cases import STANDARD
from imitable.experiments.catalogue import Entry, Experiment
from imitable.experiments.cell_records import CellRecord, cell_paths
from imitable.experiments.cells import Cell, Terms, cells_of
from imitable.experiments.jobs import RunJob
from imitable.experiments.prediction import everything, first_outcomes
from imitable.experiments.protocol import Protocol
from imitable.experiments.records import read_record
from imitable.experiments.rows import likest, scored_by
from imitable.experiments.tables import Table

Records = Mapping[str, CellRecord]
"""Records by the names of their files."""


@dataclass(frozen=True)
class OwnRow:
    """A row of a user's own scorer in one place of an experiment."""

    experiment: str
    place: str
    name: str
    scorer: str
    """As text."""
    like: str
    """Row of the catalogue that it differs from in its scores only."""


@dataclass(frozen=True, eq=False)
class Shown:
    """What is shown of some records."""

    tables: tuple[Table, ...]
    """All experiments, whether anything of them is recorded or not."""
    own: tuple[OwnRow, ...]
    left_out: dict[str, int]
    """How many records no table has, by the reason."""


def read_records(folder: Path) -> Records:
    """Return all records of cells in a folder, the newest last."""
    paths = sorted(cell_paths(folder), key=lambda path: path.stat().st_mtime_ns)
    return {path.stem: read_record(CellRecord, path) for path in paths}


def scale_of(records: Records, protocol: Protocol) -> float:
    """Return the scale that most records of a protocol have; if none is of that protocol, that of most others."""
    groups = Counter((one.provenance.protocol, one.provenance.scale) for one in records.values())
    of_it = {group: count for group, count in groups.items() if group[0] == protocol.hash} or groups
    return max(of_it, key=lambda group: (of_it[group], group[1]))[1]


def shown_of(records: Records, terms: Terms) -> Shown:
    """Return the tables of some records under some terms."""
    outcomes = first_outcomes(terms, lambda job: _held(records, job))
    usual = [_usual_table(one, terms, records) for one in everything(tuple(terms.protocol.learners), outcomes)]
    known = {cell.job for table in usual for cell in table.cells}
    theirs = _own_records(records, terms, known, usual)
    own = _own_cells(usual, theirs)
    tables = tuple(_with_own(table, cells) for table, cells in zip(usual, own, strict=True))
    there = {id(record) for table in tables for record in table.records}
    known |= {cell.job for table in tables for cell in table.cells}
    reasons = Counter(_reason(record, terms, known) for record in records.values() if id(record) not in there)
    return Shown(tables, tuple(dict.fromkeys(row for cells in own for row, _ in cells)), dict(reasons))


def recorded(tables: Sequence[Table]) -> list[CellRecord]:
    """Return all records in some tables, those of shared cells once."""
    return list({id(record): record for table in tables for record in table.records if record is not None}.values())


def _usual_table(experiment: Experiment, terms: Terms, records: Records) -> Table:
    """Return the table of an experiment as the catalogue has it."""
    cells = cells_of([experiment], terms)
    return Table(experiment, tuple(cells), tuple(_held(records, cell.job) for cell in cells))


def _held(records: Records, job: RunJob) -> CellRecord | None:
    """Return the record of a job, unless another job's has its name."""
    found = records.get(job.name)
    return found if found is not None and found.job == job else None


def _own_records(records: Records, terms: Terms, known: set[RunJob], tables: Sequence[Table]) -> list[CellRecord]:
    """Return the records of scorers that have cells beside the catalogue's; of equal jobs the newest."""
    claimed = {id(record) for table in tables for record in table.records}
    frames = {frame for table in tables for frame in frames_of(table).values()}
    able = [one for one in records.values() if _may_be_own(one, terms) and all_but_scores(one.job) in frames]
    scorers = {_scorer(one.job) for one in able if one.job not in known}
    theirs = [one for one in able if _scorer(one.job) in scorers and (id(one) in claimed or one.job not in known)]
    return list({one.job: one for one in theirs}.values())


def _may_be_own(record: CellRecord, terms: Terms) -> bool:
    """Return whether a record is such as a user's own scorer makes under these terms, see `rows.scored_by`."""
    job, origin = record.job, record.provenance
    usual = job.scores is not None and replace(job.scores.scoring.measuring, rollouts=STANDARD.rollouts) == STANDARD
    same = (origin.protocol, origin.scale) == (terms.protocol.hash, terms.scale)
    return usual and same and job.rule == replace(terms.protocol.rule, scored_as="")


def _scorer(job: RunJob) -> str:
    return "" if job.scores is None else job.scores.scoring.method


def _own_cells(tables: Sequence[Table], theirs: Sequence[CellRecord]) -> list[list[tuple[OwnRow, CellRecord]]]:
    """Return which records of users' scorers stand where in every table: where they were asked for, else where they fit."""
    every = [list(_fitting(table, theirs)) for table in tables]
    home = {id(record) for pairs in every for row, record in pairs if row.name == row.scorer}
    return [[(row, record) for row, record in pairs if row.name == row.scorer or id(record) not in home] for pairs in every]


def _fitting(table: Table, theirs: Sequence[CellRecord]) -> Iterator[tuple[OwnRow, CellRecord]]:
    """Yield the rows of a table that records may stand in: all but the scores is as in a row there."""
    frames, there = frames_of(table), {cell.job for cell in table.cells}
    for place in table.places:
        entries = [entry for entry in table.experiment.entries if entry.where.name == place]
        usual = likest([entry.row for entry in entries]).name
        for record in theirs:
            alike = [entry for entry in entries if frames.get((place, entry.row.name)) == all_but_scores(record.job)]
            if alike and record.job not in there:
                scorer = _scorer(record.job)
                like = usual if usual in {entry.row.name for entry in alike} else likest([entry.row for entry in alike]).name
                name = scorer if like == usual else f"{scorer}, like {like}"
                yield OwnRow(table.experiment.name, place, name, scorer, like), record


def _with_own(table: Table, own: Sequence[tuple[OwnRow, CellRecord]]) -> Table:
    """Return a table with further rows."""
    entries = {(entry.where.name, entry.row.name): entry for entry in table.experiment.entries}
    added = [
        Entry(like.where, replace(scored_by(row.scorer, like.row), name=row.name))
        for row in dict.fromkeys(row for row, _ in own)
        if (like := entries[row.place, row.like])
    ]
    cells = [Cell(row.experiment, row.place, row.name, record.job.seed, record.job) for row, record in own]
    return Table(
        replace(table.experiment, entries=(*table.experiment.entries, *added)),
        (*table.cells, *cells),
        (*table.records, *(record for _, record in own)),
    )


def frames_of(table: Table) -> dict[tuple[str, str], tuple[object, ...]]:
    """Return what jobs have in common but for scores and seed, by place and row."""
    return {(cell.where, cell.row): all_but_scores(cell.job) for cell in table.cells}


def all_but_scores(job: RunJob) -> tuple[object, ...]:
    """Return what a user's row has in common with the row that it is like."""
    demos = tuple((one.body, one.count, one.setting, one.policies) for one in job.demos.recordings)
    asked = job.demos.acquisition is not None
    return job.imitator, demos, asked, job.learner, job.steps, job.scores_count, job.episodes


def _reason(record: CellRecord, terms: Terms, known: set[RunJob]) -> str:
    """Say why a record is in no table."""
    origin = record.provenance
    if origin.scale != terms.scale:
        return f"of scale {origin.scale:g}"
    if origin.protocol != terms.protocol.hash:
        return f"of another protocol ({origin.protocol})"
    if record.job in known:
        return "from before a default, a demonstrator or a scorer's file was changed"
    return "of no experiment here"
