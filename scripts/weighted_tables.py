# SPDX-License-Identifier: MIT
"""Do weights win? The part of results/imitation.md that is made of the paper's cells: both learners, all six settings."""

from collections.abc import Sequence
from pathlib import Path

from arm_section import number
from claims_section import printed_text

from imitable.experiments.catalogue import PAPER
from imitable.experiments.cell_records import CellRecord
from imitable.experiments.cells import Terms
from imitable.experiments.paper_numbers import STEPS, printed
from imitable.experiments.protocol import PLAIN, PROJECTION, Protocol, read_protocol
from imitable.experiments.rows import DIRECT, GAIL, ID_FEAS, OURS, OWN_EXPERT, RELATED_ONLY, SAIL
from imitable.experiments.statistics import steps_to
from imitable.experiments.tables import Table, table_of

TABLES = {"mujoco-b": (PROJECTION, "With projection"), "mujoco-a": (PLAIN, "Plain")}
"""Experiments, the names of their learners, and headings."""

ROWS = {GAIL.name: "unweighted", DIRECT.name: "weighted", RELATED_ONLY.name: "related only", OWN_EXPERT.name: "own expert"}
"""Rows of the experiments, and what they are called here."""

IN_BRIEF = tuple(row.name for row in (GAIL, SAIL, ID_FEAS, OURS, DIRECT, RELATED_ONLY))
PAPER_IN_BRIEF = (GAIL.name, ID_FEAS.name, OURS.name)
"""Rows of the README's table, ours and the paper's."""

NEARLY_ALL = 0.95
"""Part of the demonstrated return that counts as learned."""


def weighted_tables(results: Path) -> list[str]:
    """Return a table a learner, as far as its cells are recorded; nothing if none is."""
    protocol = read_protocol(results / "protocol.json")
    tables = {one.name: table_of(one, Terms(protocol), results / "cells") for one in PAPER if one.name in TABLES}
    lines = [line for name in TABLES if tables[name].done for line in section(name, tables[name], protocol)]
    return lines + _first(results / "first_protocol")


def _first(folder: Path) -> list[str]:
    """Return the cells of the protocol that was fixed first, without those settings that have changed since."""
    protocol = read_protocol(folder / "protocol.json")
    lines = [
        "## As first fixed",
        "",
        "The same cells as they were run first: weights by the score, not by its square; the last policy, not the mean of the",
        "last twentieth; and all simulations in the same part of their episodes as long as nothing falls. What they showed led",
        "to the changes, which so are *post hoc*; they were tried on other imitators ([development](development.md)).",
        "",
        f"| learner | setting | {' | '.join(ROWS.values())} |",
        "|---" * (len(ROWS) + 2) + "|",
    ]
    for name, (learner, _) in TABLES.items():
        [experiment] = [one for one in PAPER if one.name == name]
        table = table_of(experiment, Terms(protocol), folder)
        for place in table.places:
            seeds = " | ".join(_seeds(table.at(place, row)) for row in ROWS)
            lines.append(f"| `{protocol.learners[learner]}` | {place} | {seeds} |")
    return [*lines, ""]


def in_brief(results: Path) -> list[str]:
    """Return the plain learner's means beside the paper's, for the README."""
    protocol = read_protocol(results / "protocol.json")
    [experiment] = [one for one in PAPER if one.name == "mujoco-a"]
    table = table_of(experiment, Terms(protocol), results / "cells")
    head = ("setting", *IN_BRIEF, *(f"paper: {name}" for name in PAPER_IN_BRIEF))
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for place in table.places:
        ours = [number(table.returns(place, row)) for row in IN_BRIEF]
        theirs = [printed_text(printed(place, row)) for row in PAPER_IN_BRIEF]
        lines.append(f"| {' | '.join([place, *ours, *theirs])} |")
    return lines


def section(name: str, table: Table, protocol: Protocol) -> list[str]:
    """Return the table of one learner."""
    learner, heading = TABLES[name]
    return [
        f"## {heading}: the paper's composition, weighted by `direct` and unweighted",
        "",
        f"`{protocol.learners[learner]}`, steps, seeds and weight rule of `protocol.json`. Each seed with mean actions, in",
        "brackets the falls in 100 episodes; then ratios of means. *Steps*: of projection and learning until episodes with",
        f"sampled actions return {NEARLY_ALL:.0%} of what is demonstrated, of the lowest and the highest seed, as a part of",
        "the paper's 7e7; demonstrated by all demonstrators, most of which are unrelated, or by the related ones. The command",
        f"`imitable reproduce {name}` makes what is missing; [the paper, reproduced](../docs/reproduction.md) has curves.",
        "Rows have equal steps of projection and learning. Scores come on top: nearly as much as learning on Swimmer, two to",
        "four times as much elsewhere. In the experiment `total-steps` rows without weights are given as many steps in all.",
        "",
        f"| setting | {' | '.join(ROWS.values())} | weighted ÷ related | weighted ÷ own "
        "| steps to all's | steps to the related's |",
        "|---|---|---|---|---|---|---|---|---|",
        *(_row(table, place) for place in table.places),
        "",
        *_targets(table),
        "",
        *_access(table, protocol),
    ]


def _targets(table: Table) -> list[str]:
    """Say where the targets are met: weighted above unweighted in every seed, nearly as good as related only and own expert."""
    above = {place: found for place in table.places if (found := _above(table, place)) is not None}
    related = {place: found for place in table.places if (found := _part(table, place, RELATED_ONLY.name)) is not None}
    own = {place: found for place in table.places if (found := _part(table, place, OWN_EXPERT.name)) is not None}
    return [
        f"* Weighted above unweighted in every seed (aimed at with projection: on all six): {_met(above)}",
        f"* At least 95 % of related only (on all six): {_met({place: part >= 0.95 for place, part in related.items()})}",
        f"* At least 90 % of own expert (on four): {_met({place: part >= 0.9 for place, part in own.items()})}",
    ]


def _above(table: Table, place: str) -> bool | None:
    """Return whether weighted is above unweighted in every seed that both have; None without any."""
    ours, theirs = ({one.job.seed: one.mean_actions.mean for one in table.at(place, row)} for row in (DIRECT.name, GAIL.name))
    both = ours.keys() & theirs.keys()
    return all(ours[seed] > theirs[seed] for seed in both) if both else None


def _part(table: Table, place: str, other: str) -> float | None:
    """Return the mean of weighted as a part of another row's."""
    ours, theirs = table.returns(place, DIRECT.name), table.returns(place, other)
    return float(ours.mean() / theirs.mean()) if len(ours) and len(theirs) else None


def _met(places: dict[str, bool]) -> str:
    missed = [place for place, met in places.items() if not met]
    return f"{len(places) - len(missed)} of {len(places)} recorded" + (f", not on {', '.join(missed)}." if missed else ".")


def _access(table: Table, protocol: Protocol) -> list[str]:
    """Return what every row needs beside demonstrated states, and what projection kept, where there is one."""
    rows = {entry.row.name: entry.row for entry in table.experiment.entries}
    lines = ["| row | needs access to | pieces kept of those drawn, by setting |", "|---|---|---|"]
    for name, called in ROWS.items():
        kept = "; ".join(part for place in table.places if (part := _kept(place, table.at(place, name))))
        lines.append(f"| {called} | {', '.join(rows[name].needs(protocol.rule))} | {kept or '–'} |")
    return [*lines, ""]


def _kept(place: str, records: Sequence[CellRecord]) -> str:
    known = [(one.spent.pieces_kept, one.spent.pieces_dropped) for one in records]
    pairs = [(kept, kept + dropped) for kept, dropped in known if kept is not None and dropped is not None]
    return f"{place} {', '.join(f'{kept / drawn:.0%}' for kept, drawn in pairs)}" if pairs else ""


def _row(table: Table, place: str) -> str:
    each = {row: table.at(place, row) for row in ROWS}
    weighted = each[DIRECT.name]
    cells = [_seeds(records) for records in each.values()]
    parts = [_part(table, place, other) for other in (RELATED_ONLY.name, OWN_EXPERT.name)]
    cells += ["–" if part is None else f"{part:.0%}" for part in parts]
    related = [one.demonstrated_return for one in each[RELATED_ONLY.name]]
    cells.append(_steps(weighted, [one.demonstrated_return for one in weighted]))
    cells.append(_steps(weighted, related * len(weighted)) if related else "–")
    return f"| {place} | {' | '.join(cells)} |"


def _seeds(records: Sequence[CellRecord]) -> str:
    return ", ".join(f"{one.mean_actions.mean:,.0f} ({one.mean_actions.falls})" for one in records) or "–"


def _steps(records: Sequence[CellRecord], demonstrated: Sequence[float]) -> str:
    """Return steps until nearly all is learned, and the larger number as a part of the paper's."""
    taken = [steps_to(one.curve, NEARLY_ALL * goal) for one, goal in zip(records, demonstrated, strict=False)]
    known = [steps for steps in taken if steps is not None]
    if not records or len(known) < len(taken):
        return f"not in {len(taken) - len(known)} of {len(taken)} seeds" if records else "–"
    return f"{min(known):,} to {max(known):,}, {max(known) / STEPS['learner']:.1%}"
