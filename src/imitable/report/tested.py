# SPDX-License-Identifier: MIT
"""What rows are worth beside others: the paper's claim, rows over all settings together, trends. Numbers as plain data."""

from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Any

from imitable.experiments.claim_text import decline_text, outcome_texts
from imitable.experiments.paper_numbers import highest_p
from imitable.experiments.protocol import Protocol
from imitable.experiments.rows import baselines_in, tested_in
from imitable.experiments.tables import Table, aggregate, claims, improvement, regrets, related_masses, trends_of
from imitable.report.motion import rounded
from imitable.report.said import CLAIMED_IN, plain


def claim_of(table: Table, protocol: Protocol, *, paper: bool) -> dict[str, Any]:
    """Return what came of the paper's claim, by row and test by test, if the experiment is about it.

    Args:
        table: of the experiment.
        protocol: that of the table.
        paper: whether the paper's own numbers may be compared with.
    """
    if table.experiment.name not in CLAIMED_IN:
        return {"baselines": [], "outcomes": [], "claims": []}
    baselines = baselines_in(table.rows)
    return {
        "baselines": baselines,
        "outcomes": [plain(text) for text in outcome_texts(table, protocol, paper=paper)],
        "claims": [
            {
                "row": row,
                "place": one.place,
                "above": one.claim.above,
                "adjusted": one.adjusted,
                "paper": highest_p(table.experiment.name, one.place) if paper else None,
                **asdict(one.claim),
                "paired": one.paired,
                "foreseen": one.foreseen,  # after Holm, as it is shown
            }
            for row in tested_in(table.rows)
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
    return [_together(table, row, random) for row in rows]


def _together(table: Table, row: str, random: Mapping[str, float]) -> dict[str, Any]:
    whole, related = aggregate(table, row, dict(random)), related_masses(table, row)
    return {
        "row": row,
        "normalised": None if whole is None else asdict(whole),
        "improvement": {other: improvement(table, row, other) for other in baselines_in(table.rows)},
        "regret": regrets(table, row),
        "related": {place: masses.tolist() for place, masses in related.items()},
        "effective": {place: rounded(record.effective_size for record in table.at(place, row)) for place in related},
    }


def trends(table: Table, theirs: Collection[str]) -> dict[str, Any]:
    """Return whether returns fall with the number of unrelated demonstrations, by row and setting, and what that says.

    Args:
        table: of the experiment.
        theirs: rows of users' scorers, of which the paper claims nothing.
    """
    if table.experiment.name != "unrelated-count":
        return {"tests": [], "said": ""}
    found = trends_of(table)
    tests = [{"row": row, "setting": setting, **asdict(falls)} for (row, setting), falls in found.items() if falls.runs]
    return {"tests": tests, "said": decline_text([falls for (row, _), falls in found.items() if row not in theirs])}
