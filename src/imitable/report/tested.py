# SPDX-License-Identifier: MIT
"""What rows are worth beside others: the paper's claim, rows over all settings together, trends. Numbers as plain data."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from imitable.experiments.catalogue import FIRST, GROUPS
from imitable.experiments.paper_numbers import highest_p, printed
from imitable.experiments.rows import BASELINES, EXPLORATORY, PRIMARY
from imitable.experiments.tables import Table, aggregate, claims, improvement, outcome, regrets, related_masses, trend

CLAIMED_IN = GROUPS["mujoco"]
"""Experiments that the paper's claim is about."""


def claim_of(table: Table, *, paper: bool) -> dict[str, Any]:
    """Return what came of the paper's claim, by row and test by test, if the experiment is about it.

    Args:
        table: of the experiment.
        paper: whether the paper's own numbers may be compared with.
    """
    if table.experiment.name not in CLAIMED_IN:
        return {"baselines": [], "outcomes": [], "claims": []}
    baselines, rows = _baselines(table), [row for row in (*PRIMARY, *EXPLORATORY) if row in table.rows]
    returns = {place: one.mean for place in table.places if (one := printed(place, "Ours")) is not None}
    outcomes = [(row, asdict(outcome(table, row, baselines, returns))) for row in rows]
    return {
        "baselines": baselines,
        "outcomes": [
            {"row": row, "primary": row in PRIMARY, **found, **({} if paper else {"above_printed": None})}
            for row, found in outcomes
        ],
        "claims": [
            {
                "row": row,
                "place": one.place,
                "adjusted": one.adjusted,
                "paper": highest_p(table.experiment.name, one.place) if paper else None,
                **asdict(one.claim),
            }
            for row in rows
            for one in claims(table, row, baselines)
        ],
    }


def aggregates(table: Table, random: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return every recorded row of an experiment that a claim is about, over all its settings together.

    Args:
        table: of the experiment.
        random: returns of random policies by imitator, the zero of normalised returns.
    """
    if table.experiment.name not in CLAIMED_IN:
        return []
    rows = [row for row in table.rows if any(table.at(place, row) for place in table.places)]
    return [
        {
            "row": row,
            "normalised": None if (whole := aggregate(table, row, dict(random))) is None else asdict(whole),
            "improvement": {other: improvement(table, row, other) for other in _baselines(table)},
            "regret": regrets(table, row),
            "related": {place: masses.tolist() for place, masses in related_masses(table, row).items()},
        }
        for row in rows
    ]


def trends(table: Table) -> list[dict[str, Any]]:
    """Return whether returns fall with the number of unrelated demonstrations, by row and setting."""
    if table.experiment.name != "unrelated-count":
        return []
    found: list[dict[str, Any]] = []
    for row in table.rows:
        for setting in FIRST:
            if (falls := trend(table, setting.name, row)).runs:
                found.append({"row": row, "setting": setting.name, **asdict(falls)})
    return found


def _baselines(table: Table) -> list[str]:
    return [row.name for row in BASELINES if row.name in table.rows]
