# SPDX-License-Identifier: MIT
"""Tables A and B on docs/reproduction.md: returns beside the paper's, access, rows over all settings, and the paper's claim."""

from collections.abc import Mapping, Sequence

import numpy as np
from arm_section import number

from imitable.experiments.jobs import WeightRule
from imitable.experiments.paper_numbers import Printed, highest_p, printed
from imitable.experiments.rows import BASELINES, EXPLORATORY, OWN, PRIMARY, RELATED, Row
from imitable.experiments.tables import (
    CERTAIN,
    Aggregate,
    Table,
    aggregate,
    claims,
    improvement,
    outcome,
    regrets,
    related_masses,
)
from imitable.feasibility.methods import parse_scorer
from imitable.feasibility.weighting import PAPER_TEMPERATURE

UNSEEN = 2
"""The first seed of which nothing had been seen when the protocol was changed."""


def grid(table: Table, rows: Sequence[str], places: Sequence[str]) -> list[str]:
    """Return a table of rows against places."""
    lines = [f"| {row} | {' | '.join(number(table.returns(place, row)) for place in places)} |" for row in rows]
    return [*head_of(places), *lines]


def head_of(places: Sequence[str]) -> list[str]:
    """Return the first two lines of a table of rows against places."""
    return [f"| row | {' | '.join(places)} |", "|---" * (len(places) + 1) + "|"]


def main_table(table: Table, rows: Sequence[Row], rule: WeightRule, random: Mapping[str, float]) -> list[str]:
    """Return Table A or B; `rule` is the protocol's, `random` the returns of random policies by imitator."""
    names = [row.name for row in rows]
    lines = grid(table, names, table.places)
    for method in ("GAIL", "SAIL", "ID-Feas", "Ours"):
        cells = [printed_text(printed(place, method)) for place in table.places]
        lines.append(f"| *paper: {method}* | {' | '.join(cells)} |")
    lines += ["", "Mean ± deviation between seeds (number of seeds), mean actions of the final policy, 100 episodes.", ""]
    lines += [*row_definitions(rows, rule), ""]
    tests = [*_outcomes(table, names), *_claims(table, names)]
    return [*lines, *_aggregates(table, names, random), *tests, "", *_related(table, names)]


BY_ITSELF = {"share": "the square of the score", "calibrated": "the score, as published", "sigmoid": "the score"}
"""What `auto` weighs by, by the rule that scores."""

WHOSE = {RELATED: "related only", OWN: "own expert's"}
"""Demonstrations of rows that do not have all."""


def row_definitions(rows: Sequence[Row], rule: WeightRule) -> list[str]:
    """Return what every row is: whose demonstrations, which scores, how they become weights, and what that takes."""
    lines = ["| row | demonstrations | scores | weights | needs access to |", "|---|---|---|---|---|"]
    for row in rows:
        by = "–" if row.scoring is None else f"`{row.scoring.method}`"
        if row.scoring is not None and row.scoring.measuring.discount is not None:
            by += f", {row.scoring.measuring.distance}, discount {row.scoring.measuring.discount:g}"
        needs = ", ".join(row.needs(rule))
        lines.append(f"| {row.name} | {WHOSE.get(row.whose, 'all')} | {by} | {_weighed(row, rule)} | {needs} |")
    return lines


def _weighed(row: Row, usual: WeightRule) -> str:
    """Say how a row's scores become weights."""
    rule = row.weighed_by(usual)
    balance = ", balanced" if rule.balance == "demonstrator" else ""
    if row.scoring is None:
        return f"all the same{balance}"
    if rule.temperature == "paper":
        return f"exp(−D / {PAPER_TEMPERATURE:g}){balance}"
    if rule.temperature != "auto":
        return f"temperature {rule.temperature}{balance}"
    return f"{BY_ITSELF[row.scored_as or parse_scorer(row.scoring.method).rule]}{balance}"


def printed_text(one: Printed | None) -> str:
    """Return a number of the paper."""
    return "–" if one is None else f"{one.mean:,.0f} ± {one.std:,.0f}"


def _aggregates(table: Table, names: Sequence[str], random: Mapping[str, float]) -> list[str]:
    others = [row.name for row in BASELINES if row.name in names]
    lines = [
        "Rows over all settings together. Normalised: 0 is a random policy's return, 1 that of the row `own expert`, taken for",
        "certain. The interquartile mean leaves a quarter of the runs out at each end, failures among them; mean and worst",
        "setting leave out none. The interval is a bootstrap's within settings, and needs three seeds everywhere. P: the",
        f"probability that a run of the row is above one of {', '.join(others)}. Regret: how far the mean stays below that of",
        f"`related only`. A row of fewer than {len(table.places)} settings is not comparable with the others.",
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
    return "; ".join(f"{place} {value:,.0f}" for place, value in regrets(table, row).items()) or "–"


def _related(table: Table, names: Sequence[str]) -> list[str]:
    """Return what part of the weights related demonstrators carry."""
    lines = [
        "The part of the weights that related demonstrators carry, in per cent, each seed; in brackets: the effective number",
        "of demonstrations.",
        "",
        *head_of(table.places),
    ]
    for row in names:
        if masses := related_masses(table, row):
            sizes = {place: [f"{one.effective_size:.0f}" for one in table.at(place, row)] for place in masses}
            shares = {place: [f"{100 * one:.0f}" for one in masses[place]] for place in masses}
            cells = [f"{', '.join(shares[at])} ({', '.join(sizes[at])})" if at in masses else "–" for at in table.places]
            lines.append(f"| {row} | {' | '.join(cells)} |")
    return lines


def _tested(names: Sequence[str]) -> list[str]:
    return [row for row in (*PRIMARY, *EXPLORATORY) if row in names]


def _outcomes(table: Table, names: Sequence[str]) -> list[str]:
    """Say what came of the claim, a sentence a row."""
    baselines = [row.name for row in BASELINES if row.name in names]
    paper = {place: one.mean for place in table.places if (one := printed(place, "Ours")) is not None}
    lines = [
        f"**The claim: above {', '.join(baselines)} in every setting.** It holds if it holds in the least certain one. Primary",
        "rows were named beforehand; but the protocol was changed after seeds 0 and 1 of GAIL, `direct` and the ceilings had",
        f"been seen, so that seeds from {UNSEEN} on alone are new evidence. Conclusions hold for these demonstrators.",
        "",
    ]
    for row in _tested(names):
        found = outcome(table, row, baselines, paper)
        kind = "primary" if row in PRIMARY else "exploratory"
        if not found.compared:
            lines.append(f"* `{row}` ({kind}): not compared anywhere yet.")
            continue
        who = "where the row and all baselines have two seeds or more"
        test = f"with p < {CERTAIN} after Holm in {found.certain} of {found.tested} {who}"
        lines.append(
            f"* `{row}` ({kind}): above every baseline in {found.above} of {found.compared} settings that are recorded, of "
            f"{found.places}; {test if found.tested else 'no test yet: the row or a baseline has one seed'}; above the paper's "
            f"own return in {found.above_printed} of {found.recorded}.{_unseen(table, row, baselines, paper)}"
        )
    return [*lines, ""]


def _unseen(table: Table, row: str, baselines: Sequence[str], paper: Mapping[str, float]) -> str:
    """Say what seeds alone show that nobody had seen when the protocol was changed."""
    found = outcome(table.since(UNSEEN), row, baselines, paper)
    test = f", with p < {CERTAIN} in {found.certain} of {found.tested}" if found.tested else ""
    return f" Seeds from {UNSEEN} on alone: above in {found.above} of {found.compared}{test}." if found.compared else ""


def _claims(table: Table, names: Sequence[str]) -> list[str]:
    """Return the tests one by one."""
    baselines = [row.name for row in BASELINES if row.name in names]
    tests = [(row, one) for row in _tested(names) for one in claims(table, row, baselines)]
    if not tests:
        return []
    theirs = {place: p for place in table.places if (p := highest_p(table.experiment.name, place)) is not None}
    lines = [
        "Per setting the largest p over the baselines (Welch, two-sided; 1 where the mean is not above); Holm over all",
        f"{len(table.places)} settings, recorded or not; one-sided beside it. A row or a baseline with one seed has no p.",
        *(["Of the paper's p-values that can be recomputed, a one-sided test gives Swimmer's only."] if theirs else []),
        "",
        f"| row | setting | least certain against | above all | p | after Holm | one-sided |{' paper |' if theirs else ''}",
        f"|---|---|---|---|---|---|---|{'---|' if theirs else ''}",
    ]
    for row, one in tests:
        paper = theirs.get(one.place)
        numbers = " | ".join(_p(value) for value in (one.claim.p, one.adjusted, one.claim.one_sided))
        last = f" {f'{paper[0]:.3g} ({paper[1]})' if paper else '–'} |" if theirs else ""
        above = "yes" if one.claim.above else "no"
        lines.append(f"| {row} | {one.place} | {one.claim.baseline} | {above} | {numbers} |{last}")
    return lines


def _p(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.2g}"
