# SPDX-License-Identifier: MIT
"""The paper's sweeps on docs/reproduction.md: numbers of demonstrations, returns against demonstrations, mapping, cost."""

from collections.abc import Mapping

import numpy as np
from arm_section import PLACE as SHELF
from arm_section import number
from claims_section import head_of, printed_text

from imitable.experiments.arm_real_records import ArmRealRecord
from imitable.experiments.captions import ARMS, EXPERTS, LIMITS, OWN_EXPERT_ITSELF, OWN_REWARD, papers_steps
from imitable.experiments.catalogue import FIRST, PERCENTAGES, UNRELATED_COUNTS
from imitable.experiments.claim_text import decline_text
from imitable.experiments.own_reward_records import OwnReward
from imitable.experiments.paper_numbers import ARM, DEMONSTRATED, MAPPING, SIMULATED_ARM
from imitable.experiments.paper_numbers import PERCENTAGES as PRINTED_PERCENTAGES
from imitable.experiments.protocol import PLAIN, PROJECTION
from imitable.experiments.rows import OWN_EXPERT
from imitable.experiments.settings import BY_NAME
from imitable.experiments.statistics import Trend
from imitable.experiments.tables import Table, trends_of
from imitable.policies.lineage import lineage, training_steps


def total_steps(tables: Mapping[str, Table]) -> list[str]:
    """Return unweighted rows that learn as long as direct scores and learns, beside direct and the usual unweighted row."""
    longer = tables["total-steps"]
    lines = [
        "In the main tables all rows have equal steps of projection and learning. Scores of `direct` come on top: nearly as",
        "much as learning on Swimmer, two to four times as much elsewhere. Here the unweighted rows learn for that long, too.",
        "",
        "| setting | learner | GAIL | GAIL, as many steps in all as direct | direct | steps in all: GAIL, longer, direct |",
        "|---|---|---|---|---|---|",
    ]
    for place in longer.places:
        for learner, name in ((PLAIN, "mujoco-a"), (PROJECTION, "mujoco-b")):
            rows = [(tables[name], "GAIL"), (longer, f"GAIL, {learner}"), (tables[name], "direct")]
            records = [table.at(place, row) for table, row in rows]
            returns = " | ".join(number(table.returns(place, row)) for table, row in rows)
            steps = [f"{np.mean([one.spent.steps for one in some]) / 1e6:.1f} M" if some else "–" for some in records]
            lines.append(f"| {place} | {learner} | {returns} | {', '.join(steps)} |")
    return lines


def projected(table: Table) -> list[str]:
    """Return how many of the pieces that were drawn could be followed, and what is equal between rows."""
    lines = [
        "All rows draw the same number of pieces and have equal steps of projection and learning; what scores take comes on",
        "top, see total-steps. Pieces that could be followed, in per cent of those drawn, mean over seeds:",
        "",
        *head_of(table.places),
    ]
    return [
        "",
        *lines,
        *(f"| {row} | {' | '.join(_kept(table, place, row) for place in table.places)} |" for row in table.rows),
    ]


def _kept(table: Table, place: str, row: str) -> str:
    counts = [(one.spent.pieces_kept or 0, one.spent.pieces_dropped or 0) for one in table.at(place, row)]
    return f"{100 * np.mean([kept / max(kept + dropped, 1) for kept, dropped in counts]):.0f}" if counts else "–"


def unrelated_count(table: Table) -> list[str]:
    """Return the paper's claim that all decline, as a trend over single runs."""
    said = "Does the return fall with the number? Spearman's ρ over runs, one-sided p by permutation."
    trends, settings = trends_of(table), [setting.name for setting in FIRST]
    lines = [*grid_by_setting(table), "", said, "", *head_of(settings)]
    for row in table.rows:
        lines.append(f"| {row} | {' | '.join(_trend_text(trends.get((row, setting))) for setting in settings)} |")
    return [*lines, "", decline_text(list(trends.values()))]


def _trend_text(found: Trend | None) -> str:
    return "–" if found is None or np.isnan(found.p) else f"ρ {found.rho:.2f}, p {found.p:.2g}, {found.runs} runs"


def grid_by_setting(table: Table) -> list[str]:
    """Return a line a setting and row, a column a number of demonstrations."""
    lines = [f"| setting | row | {' | '.join(map(str, UNRELATED_COUNTS))} |", "|---" * (len(UNRELATED_COUNTS) + 2) + "|"]
    for setting in FIRST:
        for row in table.rows:
            cells = [number(table.returns(f"{setting.name}-{count}", row)) for count in UNRELATED_COUNTS]
            lines.append(f"| {setting.name} | {row} | {' | '.join(cells)} |")
    return lines


def demo_count(table: Table) -> list[str]:
    """Return ours beside the paper's table of varying numbers."""
    lines = ["| setting | part | row | ours | paper |", "|---|---|---|---|---|"]
    for setting in FIRST:
        for percent in PERCENTAGES[setting.name]:
            theirs = {one.method: one for one in PRINTED_PERCENTAGES[setting.name][percent]}
            lines += [
                f"| {setting.name} | {percent} % | {row} | {number(table.returns(f'{setting.name}-{percent}', row))} "
                f"| {printed_text(theirs.get(row))} |"
                for row in table.rows
            ]
    return lines


def demo_return(table: Table, arm: Table, real: ArmRealRecord | None) -> list[str]:
    """Return demonstrations against ours, the arm's columns joined."""
    head = "| setting | demonstrated | " + " | ".join(table.rows) + " | paper: demonstrated | paper: Ours |"
    lines = [head, "|---" * (len(table.rows) + 4) + "|"]
    for place in table.places:
        records = [record for row in table.rows for record in table.at(place, row)]
        own = f"{np.mean([record.demonstrated_return for record in records]):,.0f}" if records else "–"
        cells = " | ".join(number(table.returns(place, row)) for row in table.rows)
        lines.append(f"| {place} | {own} | {cells} | {' | '.join(printed_text(one) for one in DEMONSTRATED[place])} |")
    for name, theirs in ARM.items():
        cells = _simulated_arm(table, arm) if name == SIMULATED_ARM else _real_arm(table, real)
        lines.append(f"| {name} | {cells} | {' | '.join(printed_text(one) for one in theirs)} |")
    return [*lines, "", ARMS]


def _simulated_arm(table: Table, arm: Table) -> str:
    records = [record for row in arm.rows for record in arm.at(SHELF, row)]
    own = f"{np.mean([record.demonstrated_return for record in records]):,.0f}" if records else "–"
    return " | ".join([own, *(number(arm.returns(SHELF, row)) for row in table.rows)])


def _real_arm(table: Table, real: ArmRealRecord | None) -> str:
    trials = {} if real is None else real.rows
    returns = {row: [one.total_return for one in trials.get(row, ())] for row in table.rows}
    return " | ".join(["–", *(f"{np.mean(some):,.0f} ({len(some)} trials)" if some else "–" for some in returns.values())])


def beside(table: Table, usual: Table, called: str) -> list[str]:
    """Return the rows of a table, each beside the same row and setting of another one."""
    lines = [f"| setting | row | here | {called} |", "|---|---|---|---|"]
    for place in table.places:
        for row in table.rows:
            lines.append(f"| {place} | {row} | {number(table.returns(place, row))} | {number(usual.returns(place, row))} |")
    return lines


def limits(table: Table, own_reward: OwnReward | None) -> list[str]:
    """Return what is learned of demonstrators that can do less, beside what they and experts without a goal return."""
    bodies = {entry.where.name: entry.where.imitator for entry in table.experiment.entries}
    head = ("imitator", "demonstrated", *table.rows, OWN_EXPERT_ITSELF, OWN_REWARD)
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for place in table.places:
        shown, expert = (_demonstrated(table, place, row) for row in ("GAIL", OWN_EXPERT.name))
        best = np.array([] if own_reward is None else own_reward.returns.get(bodies[place], ()))
        cells = " | ".join([*(number(table.returns(place, row)) for row in table.rows), expert, number(best)])
        lines.append(f"| `{bodies[place]}` | {shown} | {cells} |")
    return [*lines, "", LIMITS]


def _demonstrated(table: Table, place: str, row: str) -> str:
    """Return the mean return of what a row imitates."""
    returns = [record.demonstrated_return for record in table.at(place, row)]
    return f"{np.mean(returns):,.0f}" if returns else "–"


def mapping(table: Table) -> list[str]:
    """Return ours beside the paper's table on Swimmer."""
    theirs = {one.method: one for one in MAPPING}
    rows = [f"| {row} | {number(table.returns('swimmer', row))} | {printed_text(theirs.get(row))} |" for row in table.rows]
    return ["| row | ours | paper |", "|---|---|---|", *rows]


def cost(table: Table) -> list[str]:
    """Return simulator steps of experts, scores and learner beside the paper's."""
    head = ("setting", "row", "experts", "score", "projection", "learner", "core-seconds of scoring, learning")
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for place in table.places:
        experts = training_steps(lineage(body, place) for body in BY_NAME[place].demonstrators)
        for row in table.rows:
            if records := table.at(place, row):
                spent = [record.spent for record in records]
                kinds = ("score", "projection", "learner")
                means = [np.mean([getattr(one, f"{kind}_steps") for one in spent]) for kind in kinds]
                took = ", ".join(
                    f"{np.mean([getattr(one, f'{kind}_s') for one in spent]):,.0f}" for kind in ("score", "learner")
                )
                lines.append(f"| {place} | {row} | {experts:,} | {' | '.join(f'{one:,.0f}' for one in means)} | {took} |")
    took = "Seconds of cells that were recorded first are wall time on a busy machine, those of later ones the process's own."
    return [*lines, "", f"{EXPERTS} {papers_steps()} {took}"]
