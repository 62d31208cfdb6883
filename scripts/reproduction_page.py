# SPDX-License-Identifier: MIT
"""Write docs/reproduction.md and its figures from the records of cells: python scripts/reproduction_page.py. Nothing is run."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from arm_figures import tried
from arm_real_page import PICTURE as ARM_REAL
from arm_real_page import body as arm_real
from arm_section import arm_section, number
from reproduction_figures import Drawing, against, curves

from imitable.experiments.arm_real_records import ArmRealRecord, read_arm_real
from imitable.experiments.catalogue import BUDGETS, FIRST, PERCENTAGES, UNRELATED_COUNTS, catalogue
from imitable.experiments.cell_records import CellRecord
from imitable.experiments.cells import Terms, lacking
from imitable.experiments.estimates import core_hours
from imitable.experiments.paper_numbers import ARM, DEMONSTRATED, HIGHEST_P, MAPPING, STEPS, Printed, printed
from imitable.experiments.paper_numbers import PERCENTAGES as PRINTED_PERCENTAGES
from imitable.experiments.protocol import Protocol, read_protocol
from imitable.experiments.random_policy import read_random
from imitable.experiments.rows import BASELINES, TABLE_A, TABLE_B, Row
from imitable.experiments.statistics import falling, regret
from imitable.experiments.tables import Table, aggregate, claims, improvement, table_of

ROOT = Path(__file__).resolve().parents[1]
CLAIMS = ("Ours (paper)", "Ours", "direct")
"""Rows that are tested against the baselines."""


@dataclass(frozen=True)
class Page:
    """What the page is made of."""

    tables: dict[str, Table]
    protocol: Protocol
    random: dict[str, float]
    images: Path
    real: ArmRealRecord | None = None
    """Of the arm through its real protocol."""


def grid(table: Table, rows: Sequence[str], places: Sequence[str]) -> list[str]:
    """Return a table of rows against places."""
    lines = [f"| row | {' | '.join(places)} |", "|---" * (len(places) + 1) + "|"]
    lines += [f"| {row} | {' | '.join(number(table.returns(place, row)) for place in places)} |" for row in rows]
    return lines


def seeds(table: Table) -> list[str]:
    """Return every seed of every cell, folded away."""
    lines = [
        f"| {place} | {row} | {', '.join(f'{value:,.1f}' for value in table.returns(place, row))} "
        f"| {', '.join(f'{record.sampled_actions.mean:,.1f}' for record in table.at(place, row))} "
        f"| {sum(record.mean_actions.falls for record in table.at(place, row))} |"
        for place in table.places
        for row in table.rows
        if table.at(place, row)
    ]
    head = ["| setting | row | mean actions, each seed | sampled actions | falls |", "|---|---|---|---|---|"]
    return ["<details markdown><summary>Every seed</summary>", "", *head, *lines, "", "</details>", ""] if lines else []


def section(page: Page, name: str, body: Sequence[str], drawing: Drawing | None = None) -> list[str]:
    """Return one experiment: what it is, its command, how complete it is, its figure and its tables."""
    table = page.tables[name]
    lines = [f"## {name}", "", f"{table.experiment.about[0].upper()}{table.experiment.about[1:]}. Command:", ""]
    lines += ["```", f"imitable reproduce {name} --records results/cells --out runs", "```", ""]
    if reasons := dict.fromkeys(filter(None, (lacking(entry, page.protocol) for entry in table.experiment.entries))):
        lines += [f"Some cells cannot be run yet: {'; '.join(reasons)}.", ""]
    if not table.done:
        return [*lines, f"Not recorded yet: {len(table.cells)} cells.", ""]
    if table.missing:
        lines += [f"**{table.missing} of {len(table.cells)} cells are not recorded yet.**", ""]
    if len(table.codes) > 1:
        lines += [f"**The code changed between these cells** (hashes {', '.join(sorted(table.codes))}).", ""]
    if table.protocols - {page.protocol.hash}:
        lines += ["**Some of these cells were run under another protocol: they are post hoc.**", ""]
    if drawing is not None and (picture := drawing(table)) is not None:
        _keep(page, f"{name}.svg", picture)
        lines += [f"![{table.experiment.about}](images/reproduction/{name}.svg)", ""]
    return [*lines, *body, "", *seeds(table)]


def _keep(page: Page, name: str, picture: bytes) -> None:
    page.images.mkdir(parents=True, exist_ok=True)
    (page.images / name).write_bytes(picture)


def main_table(page: Page, name: str, rows: Sequence[Row]) -> list[str]:
    """Return Table A or B: returns, the paper's beside them, access, aggregates, claims."""
    table = page.tables[name]
    names = [row.name for row in rows]
    lines = grid(table, names, table.places)
    for method in ("GAIL", "SAIL", "ID-Feas", "Ours"):
        cells = [_printed(printed(place, method)) for place in table.places]
        lines.append(f"| *paper: {method}* | {' | '.join(cells)} |")
    lines += ["", "Mean ± deviation between seeds (number of seeds), mean actions of the last policy, 100 episodes.", ""]
    lines += ["| row | needs access to |", "|---|---|", *(f"| {row.name} | {', '.join(row.needs)} |" for row in rows), ""]
    return [*lines, *_aggregates(page, table, names), *_claims(table, names)]


def _printed(one: Printed | None) -> str:
    return "–" if one is None else f"{one.mean:,.0f} ± {one.std:,.0f}"


def _aggregates(page: Page, table: Table, names: Sequence[str]) -> list[str]:
    lines = [
        "| row | settings | normalised: interquartile mean, 95 % interval | P(better than GAIL) | regret to related only |",
        "|---|---|---|---|---|",
    ]
    for row in names:
        whole, better = aggregate(table, row, page.random), improvement(table, row, "GAIL")
        if whole is None:
            continue
        lost = [
            regret(table.returns(place, row), table.returns(place, "related only"))
            for place in table.places
            if len(table.returns(place, row)) and len(table.returns(place, "related only"))
        ]
        lines.append(
            f"| {row} | {whole.places} | {whole.iqm:.2f} ({whole.low:.2f} to {whole.high:.2f}) "
            f"| {'–' if better is None else f'{better:.0%}'} | {', '.join(f'{value:,.0f}' for value in lost) or '–'} |"
        )
    return [*lines, ""]


def _claims(table: Table, names: Sequence[str]) -> list[str]:
    """Return the primary test: above GAIL, SAIL and ID-Feas in every setting?"""
    lines = [
        "Above every baseline? Per setting the largest p over the baselines (Welch, two-sided; 1 where the mean is not above);",
        "Holm over the settings; one-sided beside it, as the paper seems to have tested. Fewer than two seeds give no p.",
        "",
        "| row | setting | least certain against | p | after Holm | one-sided | the paper's p |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in (row for row in CLAIMS if row in names):
        for one in claims(table, row, [baseline.name for baseline in BASELINES]):
            paper = HIGHEST_P.get(one.place)
            lines.append(
                f"| {row} | {one.place} | {one.claim.baseline} | {one.claim.p:.2g} | {one.adjusted:.2g} "
                f"| {one.claim.one_sided:.2g} | {f'{paper[0]:.3g} ({paper[1]})' if paper else '–'} |"
            )
    return lines


def unrelated_count(page: Page) -> list[str]:
    """Return the paper's claim that all decline, as a trend over single runs."""
    table = page.tables["unrelated-count"]
    lines = [*grid(table, table.rows, table.places), "", "Does the return fall with the number? Spearman's ρ over runs.", ""]
    lines += [f"| row | {' | '.join(setting.name for setting in FIRST)} |", "|---" * (len(FIRST) + 1) + "|"]
    for row in table.rows:
        cells: list[str] = []
        for setting in FIRST:
            runs = [(n, value) for n in UNRELATED_COUNTS for value in table.returns(f"{setting.name}-{n}", row)]
            trend = falling([n for n, _ in runs], [value for _, value in runs])
            cells.append("–" if np.isnan(trend.p) else f"ρ {trend.rho:.2f}, p {trend.p:.2g}")
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return lines


def demo_count(page: Page) -> list[str]:
    """Return ours beside the paper's table of varying numbers."""
    table = page.tables["demo-count"]
    lines = ["| setting | part | row | ours | paper |", "|---|---|---|---|---|"]
    for setting in FIRST:
        for percent in PERCENTAGES[setting.name]:
            theirs = {one.method: one for one in PRINTED_PERCENTAGES[setting.name][percent]}
            lines += [
                f"| {setting.name} | {percent} % | {row} | {number(table.returns(f'{setting.name}-{percent}', row))} "
                f"| {_printed(theirs.get(row))} |"
                for row in table.rows
            ]
    return lines


def demo_return(page: Page) -> list[str]:
    """Return demonstrations against ours, the arm's columns joined."""
    table = page.tables["demo-return"]
    head = "| setting | demonstrated | " + " | ".join(table.rows) + " | paper: demonstrated | paper: Ours |"
    lines = [head, "|---" * (len(table.rows) + 4) + "|"]
    for place in table.places:
        records = [record for row in table.rows for record in table.at(place, row)]
        own = f"{np.mean([record.demonstrated_return for record in records]):,.0f}" if records else "–"
        cells = " | ".join(number(table.returns(place, row)) for row in table.rows)
        lines.append(f"| {place} | {own} | {cells} | {' | '.join(_printed(one) for one in DEMONSTRATED[place])} |")
    for arm, (demos, spread, ours, deviation) in ARM.items():
        lines.append(f"| {arm} | – |{' – |' * len(table.rows)} {demos:,} ± {spread:,} | {ours:,} ± {deviation:,} |")
    return lines


def mapping(page: Page) -> list[str]:
    """Return ours beside the paper's table on Swimmer."""
    table, theirs = page.tables["mapping"], {one.method: one for one in MAPPING}
    rows = [f"| {row} | {number(table.returns('swimmer', row))} | {_printed(theirs.get(row))} |" for row in table.rows]
    return ["| row | ours | paper |", "|---|---|---|", *rows]


def cost(page: Page) -> list[str]:
    """Return simulator steps of scores and learner beside the paper's."""
    table = page.tables["cost"]
    lines = ["| setting | row | score | projection | learner | seconds of scoring, learning |", "|---|---|---|---|---|---|"]
    for place in table.places:
        for row in table.rows:
            if records := table.at(place, row):
                spent = [record.spent for record in records]
                means = [
                    np.mean([getattr(one, f"{kind}_steps") for one in spent]) for kind in ("score", "projection", "learner")
                ]
                took = f"{np.mean([one.score_s for one in spent]):,.0f}, {np.mean([one.learner_s for one in spent]):,.0f}"
                lines.append(f"| {place} | {row} | {' | '.join(f'{mean:,.0f}' for mean in means)} | {took} |")
    paper = f"The paper: about {STEPS['score']:,} steps for each of four f-MDPs, and {STEPS['learner']:,} of imitation."
    return [*lines, "", paper]


def plain(page: Page, name: str) -> list[str]:
    """Return rows against places."""
    table = page.tables[name]
    return grid(table, table.rows, table.places)


def _amounts(amounts: Callable[[str], Sequence[int]]) -> dict[str, list[tuple[float, str]]]:
    """Return a group a setting: amounts, and the places that have them."""
    return {setting.name: [(n, f"{setting.name}-{n}") for n in amounts(setting.name)] for setting in FIRST}


def drawings() -> dict[str, Drawing]:
    """Return the figure of every experiment that has one."""
    budgets = {"swimmer": [(float(budget), f"swimmer-{budget}") for budget in BUDGETS]}
    unrelated = _amounts(lambda _: UNRELATED_COUNTS)
    parts = _amounts(lambda setting: PERCENTAGES[setting])
    return {
        **{name: lambda table: curves(table, table.rows) for name in ("mujoco-a", "mujoco-b", "distance", "discount", "long")},
        "unrelated-count": lambda table: against(table, unrelated, table.rows, "demonstrations of each unrelated demonstrator"),
        "demo-count": lambda table: against(table, parts, table.rows, "% of all demonstrations"),
        "budget": lambda table: against(table, budgets, table.rows, "demonstrations asked for"),
    }


def introduction(page: Page) -> list[str]:
    """Return what is fixed, what was spent and what is left."""
    tables, protocol, rule = page.tables.values(), page.protocol, page.protocol.rule
    done = list({record.job.name: record for table in tables for record in table.done}.values())
    pairs = [pair for table in tables for pair in zip(table.cells, table.records, strict=True)]
    left = {cell.job.name: cell.job for cell, record in pairs if record is None}
    learners = ", ".join(f"{name} `{text}`" for name, text in protocol.learners.items())
    steps = ", ".join(f"{name} {count:,}" for name, count in protocol.steps.items())
    numbers = ", ".join(map(str, protocol.seeds.paper))
    return [
        "# The paper, reproduced",
        "",
        "Every simulation of Cao et al. (CoRL 2021), our numbers beside the paper's, from records in `results/cells`.",
        "`python scripts/reproduction_page.py` writes this page; every section names the command that makes its cells.",
        "",
        f"Protocol `{protocol.hash}`: learners {learners}; our weights by temperature {rule.temperature}, balance",
        f"{rule.balance}; steps {steps}; seeds {numbers}; {protocol.evaluation.mean} episodes with mean and",
        f"{protocol.evaluation.sampled} with sampled actions of the last policy. The six settings were looked at before it",
        "was fixed. Compositions are those of the paper's table, except HalfCheetah-2, where it prints 500, 500, 25, 25: only",
        "in the published order do unrelated demonstrations dominate.",
        "",
        f"Recorded: {len(done):,} runs, {_spent_hours(done):.1f} core-hours. Left: {len(left):,} runs, about",
        f"{core_hours(left.values()):.0f} core-hours of learning, by estimate.",
        "",
    ]


ILLUSTRATIONS = {
    "feasible": "One imitator, the first 1.6 s of two demonstrations, and its own attempts at them: the related demonstrator's "
    "gait is followed, the unrelated one's is not (`direct`; the paper's figure 1, with bodies instead of an arm).",
    "one-step-trajectory": "One demonstration in both f-MDPs, followed by the same tracker: begun anew in every demonstrated "
    "state, our robot misses the next one by a hundredth of a usual spread; when it must go on from its own state, it falls.",
    "bodies": "What the knobs change, drawn on the imitators in the middle of their own gaits, and the values that the six "
    "settings give them, with the demonstrations of each demonstrator.",
}
"""Pictures by name, and what each shows."""


def illustrations() -> list[str]:
    """Return the paper's illustrative pictures, drawn anew from rollouts."""
    lines = ["## The paper's pictures, in our drawing", "", "Bodies, poses and errors are those of rollouts in MuJoCo.", ""]
    for name, said in ILLUSTRATIONS.items():
        lines += [f"![{name.replace('-', ' ')}](images/paper-{name}.svg)", "", said, ""]
        lines += ["```", f"python scripts/draw_illustrations.py {name}", "```", ""]
    return lines


def _spent_hours(records: Sequence[CellRecord]) -> float:
    """Return the core-hours of runs, and of the scores that they share, once."""
    scores = {record.job.scores.name: record.spent.score_s for record in records if record.job.scores is not None}
    return (sum(record.spent.learner_s for record in records) + sum(scores.values())) / 3600


def page_text(page: Page) -> str:
    """Return the whole page."""
    special: dict[str, Callable[[Page], list[str]]] = {
        "mujoco-a": lambda page: main_table(page, "mujoco-a", TABLE_A),
        "mujoco-b": lambda page: main_table(page, "mujoco-b", TABLE_B),
        "unrelated-count": unrelated_count,
        "demo-count": demo_count,
        "demo-return": demo_return,
        "mapping": mapping,
        "cost": cost,
        "arm": lambda page: arm_section(page.tables["arm"], page.images),
    }
    figures, lines = drawings(), [*introduction(page), *illustrations()]
    for name in page.tables:
        body = special[name](page) if name in special else plain(page, name)
        lines += section(page, name, body, figures.get(name))
        if name == "arm" and page.real is not None:
            lines += ["## arm-real", "", *arm_real(page.real, "images/reproduction")]
            if (picture := tried(page.real)) is not None:
                _keep(page, ARM_REAL, picture)
    return "\n".join(lines)


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=ROOT / "results", help="folder with protocol.json and cells/")
    parser.add_argument("--records", type=Path, default=None, help="folder of the records; default: RESULTS/cells")
    parser.add_argument("--scale", type=float, default=1.0, help="that of the cells, for trials")
    parser.add_argument("--out", type=Path, default=ROOT / "docs", help="folder of the page")
    options = parser.parse_args()
    protocol, random = read_protocol(options.results / "protocol.json"), read_random(options.results)
    terms, records = Terms(protocol, scale=options.scale), options.records or options.results / "cells"
    tables = {one.name: table_of(one, terms, records) for one in catalogue(tuple(protocol.learners))}
    images, returns = options.out / "images" / "reproduction", {} if random is None else random.returns
    page = Page(tables, protocol, returns, images, read_arm_real(options.results))
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "reproduction.md").write_text(page_text(page))


if __name__ == "__main__":
    main()
