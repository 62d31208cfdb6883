# SPDX-License-Identifier: MIT
"""Tables A and B on docs/reproduction.md: returns beside the paper's, what rows are, rows over all settings, the claim."""

from collections.abc import Mapping, Sequence

import numpy as np
from arm_section import number

from imitable.experiments.captions import returns_caption
from imitable.experiments.claim_text import (
    RELATED_MASSES,
    caveat_text,
    claim_text,
    outcome_texts,
    tests_text,
    together_text,
)
from imitable.experiments.jobs import WeightRule
from imitable.experiments.paper_numbers import Printed, highest_p, printed
from imitable.experiments.protocol import Protocol
from imitable.experiments.row_text import row_text
from imitable.experiments.rows import Row, baselines_in, tested_in
from imitable.experiments.tables import Aggregate, Table, aggregate, claims, improvement, regrets, related_masses


def grid(table: Table, rows: Sequence[str], places: Sequence[str]) -> list[str]:
    """Return a table of rows against places."""
    lines = [f"| {row} | {' | '.join(number(table.returns(place, row)) for place in places)} |" for row in rows]
    return [*head_of(places), *lines]


def head_of(places: Sequence[str]) -> list[str]:
    """Return the first two lines of a table of rows against places."""
    return [f"| row | {' | '.join(places)} |", "|---" * (len(places) + 1) + "|"]


def main_table(table: Table, rows: Sequence[Row], protocol: Protocol, random: Mapping[str, float]) -> list[str]:
    """Return Table A or B; `random` are the returns of random policies by imitator."""
    names = [row.name for row in rows]
    lines = grid(table, names, table.places)
    for method in ("GAIL", "SAIL", "ID-Feas", "Ours"):
        cells = [printed_text(printed(place, method)) for place in table.places]
        lines.append(f"| *paper: {method}* | {' | '.join(cells)} |")
    lines += ["", returns_caption(protocol.evaluation.mean), "", *row_definitions(rows, protocol.rule), ""]
    tests = [*_outcomes(table, protocol), *_claims(table)]
    return [*lines, *_aggregates(table, names, random), *tests, "", *_related(table, names)]


def row_definitions(rows: Sequence[Row], rule: WeightRule) -> list[str]:
    """Return what every row is: whose demonstrations, which scores, how they become weights, and what that takes."""
    lines = ["| row | demonstrations | scores | weights | needs access to |", "|---|---|---|---|---|"]
    for row, said in ((row, row_text(row, rule)) for row in rows):
        cells = (row.name, said.demonstrations, said.scores, said.weights, ", ".join(said.needs))
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def printed_text(one: Printed | None) -> str:
    """Return a number of the paper."""
    return "–" if one is None else f"{one.mean:,.0f} ± {one.std:,.0f}"


def _aggregates(table: Table, names: Sequence[str], random: Mapping[str, float]) -> list[str]:
    others = baselines_in(names)
    lines = [
        together_text(others, len(table.places)),
        "",
        "| row | settings | seeds | normalised: interquartile mean, 95 % interval | mean | worst | P | regret by setting |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in names:
        whole = aggregate(table, row, dict(random))
        if whole is None:
            continue
        better = [improvement(table, row, other) for other in others]
        chances = ", ".join("–" if one is None else f"{one:.0%}" for one in better)
        numbers = f"{_interval(whole)} | {whole.mean:.2f} | {whole.worst:.2f}"
        lines.append(f"| {row} | {whole.places} | {whole.fewest} | {numbers} | {chances} | {_regrets(table, row)} |")
    return [*lines, ""]


def _interval(whole: Aggregate) -> str:
    return f"{whole.iqm:.2f}" + ("" if np.isnan(whole.low) else f" ({whole.low:.2f} to {whole.high:.2f})")


def _regrets(table: Table, row: str) -> str:
    return "; ".join(f"{place} {round(value):,}" for place, value in regrets(table, row).items()) or "–"


def _related(table: Table, names: Sequence[str]) -> list[str]:
    """Return what part of the weights related demonstrators carry."""
    lines = [RELATED_MASSES, "", *head_of(table.places)]
    for row in names:
        if masses := related_masses(table, row):
            sizes = {place: [f"{one.effective_size:.0f}" for one in table.at(place, row)] for place in masses}
            shares = {place: [f"{100 * one:.0f}" for one in masses[place]] for place in masses}
            cells = [f"{', '.join(shares[at])} ({', '.join(sizes[at])})" if at in masses else "–" for at in table.places]
            lines.append(f"| {row} | {' | '.join(cells)} |")
    return lines


def _outcomes(table: Table, protocol: Protocol) -> list[str]:
    """Say what came of the claim, a sentence a row."""
    claim = f"**{claim_text(table.rows)}** {caveat_text(protocol)}"
    return [claim, "", *(f"* {text}" for text in outcome_texts(table, protocol)), ""]


def _claims(table: Table) -> list[str]:
    """Return the tests one by one."""
    baselines = baselines_in(table.rows)
    tests = [(row, one) for row in tested_in(table.rows) for one in claims(table, row, baselines)]
    if not tests:
        return []
    theirs = {place: p for place in table.places if (p := highest_p(table.experiment.name, place)) is not None}
    lines = [
        tests_text(len(table.places), paper=bool(theirs)),
        "",
        "| row | setting | least certain against | above all | p | after Holm | with all seeds | one-sided | paired |"
        f"{' paper |' if theirs else ''}",
        f"|---|---|---|---|---|---|---|---|---|{'---|' if theirs else ''}",
    ]
    for row, one in tests:
        paper = theirs.get(one.place)
        numbers = " | ".join(_p(value) for value in (one.claim.p, one.adjusted, one.foreseen, one.claim.one_sided, one.paired))
        last = f" {f'{paper[0]:.3g} ({paper[1]})' if paper else '–'} |" if theirs else ""
        above = "yes" if one.claim.above else "no"
        lines.append(f"| {row} | {one.place} | {one.claim.baseline} | {above} | {numbers} |{last}")
    return lines


def _p(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.2g}"
