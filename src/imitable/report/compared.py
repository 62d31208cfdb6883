# SPDX-License-Identifier: MIT
"""Rows beside those of other experiments, and the arm's trials one by one: tables that only some experiments have."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from imitable.experiments.arm_trials import trials
from imitable.experiments.intervals import interval
from imitable.experiments.protocol import PLAIN, PROJECTION
from imitable.experiments.rows import DIRECT, GAIL
from imitable.experiments.tables import Table

MAIN = {PLAIN: "mujoco-a", PROJECTION: "mujoco-b"}
"""Experiments with the usual rows, by learner."""


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


def arm_trials(table: Table) -> list[dict[str, Any]]:
    """Return what single trials of the arm came to, a row each."""
    if table.experiment.name != "arm":
        return []
    [place] = table.places
    return [{"row": row, **asdict(found)} for row in table.rows if (found := trials(table, place, row)) is not None]


def _brief(table: Table, place: str, row: str) -> dict[str, float] | None:
    """Return the mean return of a row, and all simulator steps that it took; None of no run."""
    records = table.at(place, row)
    if not records:
        return None
    steps = float(np.mean([record.spent.steps for record in records]))
    return {**asdict(interval([record.mean_actions.mean for record in records])), "steps": steps}
