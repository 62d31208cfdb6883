# SPDX-License-Identifier: MIT
"""One experiment of a reproduction as plain data: returns, curves, and everything that is computed from them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from imitable.experiments.captions import missing_text
from imitable.experiments.cells import Terms, lacking
from imitable.experiments.row_text import row_text
from imitable.experiments.rows import styles
from imitable.experiments.tables import Table
from imitable.report.compared import arm_trials, beside
from imitable.report.measured import Measured
from imitable.report.places import shown_places
from imitable.report.recorded import OwnRow, recorded
from imitable.report.said import plain, said
from imitable.report.spent import costs
from imitable.report.tested import aggregates, claim_of, trends

SCORERS_OWN = "what its scorer asks for"
"""Access of a row that is not in the catalogue."""


def experiment(
    table: Table, tables: Mapping[str, Table], terms: Terms, measured: Measured, own: Sequence[OwnRow]
) -> dict[str, Any]:
    """Return what is known of an experiment.

    Args:
        table: its own.
        tables: all by name, for those that are compared with.
        terms: on which its cells were made.
        measured: once for all cells.
        own: rows of users' scorers, of all experiments.
    """
    paper = terms.scale == 1  # a trial has other numbers of demonstrations than the paper
    random = {} if measured.random is None else measured.random.returns
    theirs = {row.name for row in own if row.experiment == table.experiment.name}
    return {
        "name": table.experiment.name,
        "about": table.experiment.about,
        "detail": plain(table.experiment.detail),
        "remarks": _remarks(table, terms),
        "cells": len(table.cells),
        "missing": table.missing,
        "rows": table.rows,
        "styles": styles(table.rows),
        "places": shown_places(table, tables, measured, paper=paper),
        "sweep": _sweep(table),
        "definitions": _definitions(table, terms, theirs),
        "said": said(table, terms, paper=paper),
        **claim_of(table, terms.protocol, paper=paper),
        "aggregates": aggregates(table, random),
        "trends": trends(table, theirs),
        "costs": costs(table),
        "beside": beside(table, tables),
        "trials": arm_trials(table),
    }


def _remarks(table: Table, terms: Terms) -> list[str]:
    """Say what is to be known before its numbers are read."""
    made, found = recorded([table]), list[str]()
    if reasons := dict.fromkeys(filter(None, (lacking(entry, terms.protocol) for entry in table.experiment.entries))):
        found.append(f"Some cells cannot be run yet: {'; '.join(reasons)}.")
    if missing := missing_text(table):
        found.append(missing)
    if len(codes := {code for record in made for code in record.provenance.codes}) > 1:
        found.append(f"The code changed between these cells (hashes {', '.join(sorted(codes))}).")
    if {record.provenance.protocol for record in made} - {terms.protocol.hash}:
        found.append("Some of these cells were run under another protocol than the page's.")
    return found


def _sweep(table: Table) -> dict[str, Any] | None:
    """Return what is varied, and which places have which amounts, by setting; None if nothing is."""
    groups = [{"name": setting, "points": points} for setting, points in table.experiment.amounts.items()]
    return {"label": table.experiment.varied, "groups": groups} if groups else None


def _definitions(table: Table, terms: Terms, theirs: Collection[str]) -> list[dict[str, Any]]:
    """Return what every row is: whose demonstrations, which scores, how they become weights, and what that takes."""
    rows = {entry.row.name: row_text(entry.row, terms.protocol.rule) for entry in table.experiment.entries}
    return [
        {
            "row": row,
            "demonstrations": text.demonstrations,
            "scores": plain(text.scores),
            "weights": text.weights,
            "needs": [*text.needs, *([SCORERS_OWN] if row in theirs else [])],
        }
        for row, text in rows.items()
    ]
