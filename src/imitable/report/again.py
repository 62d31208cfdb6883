# SPDX-License-Identifier: MIT
"""The command that makes recorded cells again: what is recorded, on the same terms, into the same folders."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from imitable.command_text import command
from imitable.experiments.catalogue import Entry
from imitable.experiments.cells import ANYTHING, Cell, Terms
from imitable.experiments.jobs import slug
from imitable.experiments.rows import likest
from imitable.experiments.scaling import WORK
from imitable.experiments.tables import Table
from imitable.report.recorded import OwnRow, frames_of
from imitable.spec_text import split


@dataclass(frozen=True)
class Again:
    """Where cells are made, and on which terms."""

    terms: Terms
    protocol: Path | None
    """File of the protocol; None: there is none, and it is that of this version."""
    records: Path | None
    """Folder of the records, if they do not lie in the store."""
    out: Path

    def command(self, names: Sequence[str], seeds: int, methods: Sequence[str]) -> str:
        """Return the command for some experiments; `methods` are further rows, as recorded."""
        scale = self.terms.scale
        options = {
            "methods": tuple(_before_scaling(method, scale) for method in methods),
            "seeds": seeds,
            "scale": f"{scale:g}",
            "protocol": self.protocol,
            "records": self.records,
            "out": self.out,
        }
        return command("reproduce", names, options, {"scale": "1"})


@dataclass(frozen=True, eq=False)
class RecordedCells:
    """Recorded cells of an experiment."""

    table: Table
    cells: tuple[Cell, ...]


def recorded_cells(tables: Sequence[Table]) -> list[RecordedCells]:
    """Return all recorded cells, shared ones with the first experiment that has them."""
    named: set[int] = set()
    found: list[RecordedCells] = []
    for table in tables:
        pairs = [(cell, id(one)) for cell, one in zip(table.cells, table.records, strict=True) if one is not None]
        if cells := tuple(cell for cell, record in pairs if record not in named):
            found.append(RecordedCells(table, cells))
        named |= {record for _, record in pairs}
    return found


def names_of(made: RecordedCells, own: Sequence[OwnRow]) -> list[str]:
    """Return as few texts EXPERIMENT[/SETTING[/ROW]] as name its cells, and those that rows of a user's are made like."""
    name, asked = made.table.experiment.name, _asked(made, own)
    there = asked | {(cell.where, cell.row) for cell, one in zip(made.table.cells, made.table.records, strict=True) if one}
    places: dict[str, list[str]] = {}
    for entry in _usual(made.table, own):
        places.setdefault(entry.row.name, []).append(entry.where.name)
    whole = [row for row, some in places.items() if all((place, row) in there for place in some)]
    if len(whole) == len(places):
        return [name]
    wanted = {row: [slug(place) for place in some if (place, row) in asked] for row, some in places.items()}
    short = {row: [ANYTHING] if row in whole else some for row, some in wanted.items() if some}
    return [f"{name}/{place}/{slug(row)}" for row, some in short.items() for place in some]


def _asked(made: RecordedCells, own: Sequence[OwnRow]) -> set[tuple[str, str]]:
    """Return the places and rows to name; a row of a user's needs none of its own where one is named that it is like."""
    theirs = {(row.place, row.name): row.like for row in own if row.experiment == made.table.experiment.name}
    asked = {(cell.where, cell.row) for cell in made.cells} - theirs.keys()
    frames, usual = frames_of(made.table), _usual(made.table, own)
    for place, row in {(cell.where, cell.row) for cell in made.cells} & theirs.keys():
        named = [entry.row for entry in usual if entry.where.name == place and (place, entry.row.name) in asked]
        if not named or frames.get((place, likest(named).name)) != frames[place, row]:
            asked.add((place, theirs[place, row]))
    return asked


def _usual(table: Table, own: Sequence[OwnRow]) -> list[Entry]:
    """Return the entries of the catalogue."""
    theirs = {(row.place, row.name) for row in own if row.experiment == table.experiment.name}
    return [entry for entry in table.experiment.entries if (entry.where.name, entry.row.name) not in theirs]


def seeds_of(every: Sequence[RecordedCells], terms: Terms) -> int:
    """Return the smallest number of seeds that has all recorded ones among them."""
    return next((count for count in range(1, terms.seeds) if _covers(replace(terms, seeds=count), every)), terms.seeds)


def _covers(terms: Terms, every: Sequence[RecordedCells]) -> bool:
    """Return whether these terms give all cells their seeds."""
    for made in every:
        experiment = made.table.experiment
        given = {(one.where.name, one.row.name): terms.seeds_of(experiment, one) for one in experiment.entries}
        if any(cell.seed not in given[cell.where, cell.row] for cell in made.cells):
            return False
    return True


def _before_scaling(method: str, scale: float) -> str:
    """Return a scorer's text such that scaling makes it what is recorded: round(scale · round(n / scale)) = n of scale ≤ 1."""
    name, settings = split(method)
    if scale == 1 or not settings.keys() & set(WORK):
        return method
    whole = {key: str(round(int(value) / scale)) if key in WORK else value for key, value in settings.items()}
    return f"{name}:{','.join(f'{key}={value}' for key, value in whole.items())}"
