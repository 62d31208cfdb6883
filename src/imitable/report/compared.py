# SPDX-License-Identifier: MIT
"""Rows beside those of other experiments, and the arm's trials one by one: tables that only some experiments have."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from imitable.experiments.cell_records import CellRecord
from imitable.experiments.intervals import interval
from imitable.experiments.protocol import PLAIN, PROJECTION
from imitable.experiments.rows import DIRECT, GAIL
from imitable.experiments.statistics import welch
from imitable.experiments.tables import Table
from imitable.types import Floats

MAIN = {PLAIN: "mujoco-a", PROJECTION: "mujoco-b"}
"""Experiments with the usual rows, by learner."""

ARRIVED = -3000.0
"""Returns of the arm above this are those of trials that reach the goal: the clock alone costs 8000, a hit 10000."""


def beside(table: Table, tables: Mapping[str, Table]) -> list[dict[str, Any]]:
    """Return rows of an experiment beside those that they are to be compared with, `tables` being all by name."""
    pairs: list[tuple[str, str, str]] = []
    if table.experiment.name == "total-steps":
        pairs = [(f"{GAIL.name}, {learner}", name, row.name) for learner, name in MAIN.items() for row in (GAIL, DIRECT)]
    if table.experiment.name in ("long", "other-experts"):
        pairs = [(row, MAIN[PLAIN], row) for row in table.rows]
    return [
        {
            "place": place,
            "row": row,
            "here": _brief(table, place, row),
            "experiment": name,
            "other": other,
            "there": _brief(tables[name], place, other),
        }
        for place in table.places
        for row, name, other in pairs
        if table.at(place, row)
    ]


def trials(table: Table) -> list[dict[str, Any]]:
    """Return what single trials of the arm came to, and two-sided tests of `direct` against every other row, over seeds."""
    if table.experiment.name != "arm":
        return []
    [place] = table.places
    known = {row: records for row in table.rows if (records := table.at(place, row))}
    ours = known.get(DIRECT.name, [])
    return [
        {
            "row": row,
            "std": float(np.std([value for record in records for value in record.mean_actions.returns])),
            "success": float(_success(records).mean()),
            "hits": float(np.mean([record.mean_actions.falls / len(record.mean_actions.returns) for record in records])),
            "p": None if row == DIRECT.name else _p(_returns(ours), _returns(records)),
            "p_success": None if row == DIRECT.name else _p(_success(ours), _success(records)),
        }
        for row, records in known.items()
    ]


def _brief(table: Table, place: str, row: str) -> dict[str, float] | None:
    """Return the mean return of a row, and all simulator steps that it took; None of no run."""
    records = table.at(place, row)
    if not records:
        return None
    steps = float(np.mean([record.spent.steps for record in records]))
    return {**asdict(interval([record.mean_actions.mean for record in records])), "steps": steps}


def _returns(records: Sequence[CellRecord]) -> Floats:
    return np.array([record.mean_actions.mean for record in records])


def _success(records: Sequence[CellRecord]) -> Floats:
    """(seeds) part of the trials that reach the goal."""
    parts = [sum(value > ARRIVED for value in one.mean_actions.returns) / len(one.mean_actions.returns) for one in records]
    return np.array(parts)


def _p(ours: Floats, theirs: Floats) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # seeds that nearly always succeed hardly deviate
        return welch(ours, theirs).two_sided
