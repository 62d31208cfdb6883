# SPDX-License-Identifier: MIT
"""What the page says of a reproduction: returns, curves and claims of the experiments, from the records of their cells."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from imitable.command_text import command
from imitable.errors import BadOption
from imitable.experiments.catalogue import catalogue
from imitable.experiments.cell_records import CellRecord
from imitable.experiments.cells import Terms
from imitable.experiments.intervals import interval
from imitable.experiments.paper_numbers import printed
from imitable.experiments.protocol import read_protocol
from imitable.experiments.records import read_record
from imitable.experiments.reproduction import PROTOCOL_FILE, RECORDS
from imitable.experiments.rows import BASELINES, EXPLORATORY, PRIMARY, styles
from imitable.experiments.tables import Table, claims, outcome, table_of
from imitable.report.motion import rounded
from imitable.types import Floats

CELLS = "*.seed-*.*.json"
"""How the records of cells are named."""

PAPER_ROWS = ("GAIL", "SAIL", "ID-Feas", "Ours")
"""Methods that the paper prints numbers of."""


@dataclass(frozen=True)
class Reproduction:
    """A folder of records, and the terms that they were made on."""

    path: Path
    """As it was named."""
    records: Path
    terms: Terms


def reproduction_at(path: Path) -> Reproduction | None:
    """Return what `imitable reproduce` left in a folder: its OUT, or its folder of records; None if it is neither."""
    records = path / RECORDS if (path / RECORDS).is_dir() else path
    first = next(records.glob(CELLS), None)
    if first is None:
        if (path / PROTOCOL_FILE).exists():
            raise BadOption("PATH", path, "imitable reproduce left no record in it: name the folder of its --records")
        return None
    beside = path if records != path else path.parent
    protocol = read_protocol(beside / PROTOCOL_FILE)
    return Reproduction(path, records, Terms(protocol, scale=read_record(CellRecord, first).provenance.scale))


def reproduced(found: Reproduction) -> dict[str, Any]:
    """Return the experiments of which anything is recorded."""
    tables = [table_of(one, found.terms, found.records) for one in catalogue(tuple(found.terms.protocol.learners))]
    shown = [table for table in tables if table.done]
    return {
        "name": str(found.path),
        "experiments": [_experiment(table) for table in shown],
        "provenance": [
            ("records", str(found.records)),
            ("protocol", found.terms.protocol.hash),
            ("scale", f"{found.terms.scale:g}"),
            ("code", ", ".join(sorted({code for table in shown for code in table.codes}))),
            ("command", command("reproduce", ["all"], {"records": found.records})),
        ],
    }


def _experiment(table: Table) -> dict[str, Any]:
    paper = {place: one.mean for place in table.places if (one := printed(place, "Ours")) is not None}
    baselines = [row.name for row in BASELINES if row.name in table.rows]
    tested = [row for row in (*PRIMARY, *EXPLORATORY) if row in table.rows] if len(paper) == len(table.places) else []
    return {
        "name": table.experiment.name,
        "about": table.experiment.about,
        "cells": len(table.cells),
        "missing": table.missing,
        "mixed": len(table.codes) > 1,
        "rows": table.rows,
        "styles": styles(table.rows),
        "places": [_place(table, place) for place in table.places],
        "baselines": baselines,
        "outcomes": [{"row": row, **asdict(outcome(table, row, baselines, paper))} for row in tested],
        "claims": [
            {"row": row, "place": one.place, "adjusted": one.adjusted, **asdict(one.claim)}
            for row in tested
            for one in claims(table, row, baselines)
        ],
    }


def _place(table: Table, place: str) -> dict[str, Any]:
    """Return one setting: what is known of every row, and what the paper prints where the setting is its own."""
    numbers = [one for row in PAPER_ROWS if (one := printed(place, row)) is not None]
    known = {row: _cell(records) for row in table.rows if (records := table.at(place, row))}
    return {"name": place, "rows": known, "paper": [asdict(one) for one in numbers]}


def _cell(records: Sequence[CellRecord]) -> dict[str, Any]:
    """Return the seeds of a row in a place."""
    return {
        "seeds": [record.job.seed for record in records],
        "returns": rounded([record.mean_actions.mean for record in records]),
        "sampled": rounded([record.sampled_actions.mean for record in records]),
        "falls": [record.mean_actions.falls for record in records],
        **asdict(interval([record.mean_actions.mean for record in records])),
        "curve": _curve([record.curve for record in records]),
    }


def _curve(curves: Sequence[Sequence[tuple[int, float | None]]]) -> dict[str, Any] | None:
    """Return the mean of learning curves, and the range between them, where all of them are known."""
    known = [[(steps, value) for steps, value in curve if value is not None] for curve in curves]
    if not all(known):
        return None
    arrays: list[tuple[Floats, Floats]] = [(np.array(one)[:, 0], np.array(one)[:, 1]) for one in known]
    steps = arrays[0][0]
    steps = steps[(steps >= max(at[0] for at, _ in arrays)) & (steps <= min(at[-1] for at, _ in arrays))]
    values = np.array([np.interp(steps, *one) for one in arrays])
    return {
        "steps": [int(step) for step in steps],
        "mean": rounded(values.mean(axis=0).tolist()),
        "low": rounded(values.min(axis=0).tolist()),
        "high": rounded(values.max(axis=0).tolist()),
    }
