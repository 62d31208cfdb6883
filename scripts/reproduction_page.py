# SPDX-License-Identifier: MIT
"""Write docs/reproduction.md, its figures and the README's table from the records of cells. Nothing is run."""

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from arm_figures import tried
from arm_real_page import PICTURE as ARM_REAL
from arm_real_page import body as arm_real
from arm_section import arm_section
from claims_section import grid, main_table
from lineage_section import lineages
from outcome_section import TABLES, outcomes
from reproduction_figures import TOGETHER, Against, Curves, Drawing, draw_together
from reproduction_notes import filled, notes_of
from settings_section import settings
from sweep_sections import beside, cost, demo_count, demo_return, limits, mapping, projected, total_steps, unrelated_count
from weighted_tables import in_brief

from imitable.experiments.arm_real_records import ArmRealRecord, read_arm_real
from imitable.experiments.captions import missing_text
from imitable.experiments.catalogue import Experiment, catalogue
from imitable.experiments.cell_records import CellRecord, read_cells
from imitable.experiments.cells import FEWER, Terms, cells_of, lacking
from imitable.experiments.estimates import BUDGET_HOURS, FIRST_GOAL, core_hours
from imitable.experiments.jobs import RunJob
from imitable.experiments.own_reward_records import OwnReward, read_own_reward
from imitable.experiments.paper_numbers import CLAIM, STEPS
from imitable.experiments.protocol import Protocol, read_protocol
from imitable.experiments.random_policy import read_random
from imitable.experiments.remade import Remade, RemadeCell, read_remade
from imitable.experiments.rows import TABLE_A, TABLE_B
from imitable.experiments.tables import Table, spent_hours, table_of

ROOT = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- weights in brief -->", "<!-- end -->"
"""Marks of the table in the README."""


@dataclass(frozen=True)
class Page:
    """What the page is made of."""

    tables: dict[str, Table]
    terms: Terms
    random: dict[str, float]
    """Returns of random policies by imitator."""
    images: Path
    real: ArmRealRecord | None = None
    """Of the arm through its real protocol."""
    own_reward: OwnReward | None = None
    """What bodies of `limits` return that learn from their own reward."""
    remade: Remade | None = None
    """Cells of earlier code, made again."""
    notes: Mapping[str, str] = field(default_factory=dict[str, str])
    """What was found, in words, by experiment; under the empty name, of all."""
    earlier: Mapping[str, Sequence[CellRecord]] = field(default_factory=dict[str, Sequence[CellRecord]])
    """Cells that the tables do not show, by what they were: their hours were spent, too."""

    @property
    def protocol(self) -> Protocol:
        """What is fixed."""
        return self.terms.protocol


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
    head = ["| setting | row | mean actions, each seed | sampled actions | falls, all seeds |", "|---|---|---|---|---|"]
    return ["<details markdown><summary>Every seed</summary>", "", *head, *lines, "", "</details>", ""] if lines else []


DRAWN = "Figure and tables of these records: `python scripts/reproduction_page.py`."
"""What draws them, without running anything."""


def section(page: Page, name: str, body: Sequence[str], drawing: Drawing | None = None) -> list[str]:
    """Return one experiment: what it is, its command, how complete it is, its figure and its tables.

    Cells of development were recorded before the protocol, and are on a page of their own.
    """
    table = page.tables[name]
    lines = [f"## {name}", "", f"*{table.experiment.about}*", ""]
    lines += [table.experiment.detail, ""] if table.experiment.detail else []
    lines += ["```", f"imitable reproduce {name} --records results/cells --out runs", "```", ""]
    if reasons := dict.fromkeys(filter(None, (lacking(entry, page.protocol) for entry in table.experiment.entries))):
        lines += [f"Some cells cannot be run yet: {'; '.join(reasons)}.", ""]
    if table.experiment.development:
        lines += ["What was tried before the protocol was fixed is on [results/development.md](../results/development.md).", ""]
    if not table.done:
        return [*lines, *([] if table.experiment.development else [f"Not recorded yet: {len(table.cells)} cells.", ""])]
    if missing := missing_text(table):
        lines += [f"**{missing}**", ""]
    if len(table.codes) > 1:
        lines += [f"**The code changed between these cells** (hashes {', '.join(sorted(table.codes))}).", ""]
    if table.protocols - {page.protocol.hash}:
        others = ", ".join(f"`{one}`" for one in sorted(table.protocols - {page.protocol.hash}))
        part = "Some" if page.protocol.hash in table.protocols else "All"
        lines += [f"**{part} of these cells were run under another protocol than this page's: {others}.**", ""]
    if name in page.notes:
        lines += [page.notes[name], ""]
    if drawing is not None and (picture := drawing(table)) is not None:
        _keep(page, f"{name}.svg", picture)
        lines += [f"![{table.experiment.about}](images/reproduction/{name}.svg)", "", drawing.caption, DRAWN, ""]
    return [*lines, *body, "", *seeds(table)]


def _keep(page: Page, name: str, picture: bytes) -> None:
    page.images.mkdir(parents=True, exist_ok=True)
    (page.images / name).write_bytes(picture)


def together(page: Page) -> list[str]:
    """Return the picture of all rows over all settings; nothing if no row has runs in all of them."""
    picture = draw_together({title: page.tables[name] for name, title in TABLES.items()}, page.random)
    if picture is None:
        return []
    _keep(page, "together.svg", picture)
    return ["![all rows over all settings together](images/reproduction/together.svg)", "", TOGETHER, DRAWN, ""]


def plain(page: Page, name: str) -> list[str]:
    """Return rows against places."""
    table = page.tables[name]
    return grid(table, table.rows, table.places)


CURVES = (CLAIM, "mujoco-b", "distance", "discount", "long")
"""Experiments whose learning curves are drawn."""


def drawings(experiments: Iterable[Experiment]) -> dict[str, Drawing]:
    """Return the figure of every experiment that has one."""
    varied = {one.name: Against(one.amounts, one.varied) for one in experiments if one.varied}
    return {**{name: Curves(paper=name == CLAIM) for name in CURVES}, **varied}


def _planned(page: Page, count: int) -> set[RunJob]:
    """Return the runs of the paper's experiments with so many seeds."""
    paper = [table.experiment for table in page.tables.values() if not table.experiment.development]
    return {cell.job for cell in cells_of(paper, replace(page.terms, seeds=count))}


def _left(page: Page, count: int) -> str:
    """Say what is left of the paper's experiments with so many seeds: runs, and the scores that they need."""
    done = {record.job for table in page.tables.values() for record in table.done}
    left = _planned(page, count) - done
    scores = {job.scores for job in left if job.scores is not None} - {job.scores for job in done}
    return f"{len(left):,} runs, about {core_hours([*left, *scores]):.0f} core-hours by estimate"


def _first_goal(page: Page, done: Sequence[CellRecord]) -> list[str]:
    """Say what the first goal took, what it might take, and what is left of it."""
    planned = _planned(page, FIRST_GOAL)
    own = [record for record in done if record.job in planned]
    return [
        f"First goal: {FIRST_GOAL} seeds of the rows that the claims are about, one of all else, with a budget of",
        f"{BUDGET_HOURS} core-hours. Of the runs under this protocol, {len(own):,} are part of it and took",
        f"{spent_hours(own):.1f}; left of it are {_left(page, FIRST_GOAL)}.",
    ]


def _changed(protocol: Protocol) -> list[str]:
    """Say what was changed after cells had been seen."""
    if not protocol.post_hoc:
        return []
    changes = "; ".join(protocol.post_hoc)
    return [
        f"*Post hoc*, after cells of the six settings had been seen, this was changed, as tried on other imitators: {changes}.",
        "All cells on this page but the arm's are of the changed protocol. The earlier ones are kept in",
        "`results/first_protocol`, and shown in [results/imitation.md](../results/imitation.md).",
        "",
    ]


def _spent(page: Page, done: Sequence[CellRecord]) -> str:
    """Say what was spent: here, and on cells that are not shown here; scores that several share count once."""
    every, hours = list(done), [f"{len(done):,} runs, {spent_hours(done):.1f} core-hours"]
    for name, some in page.earlier.items():
        hours.append(f"{name} {spent_hours([*every, *some]) - spent_hours(every):.1f}")
        every += some
    return f"{'; '.join(hours)}; {spent_hours(every):.1f} in all"


WORDS = (
    "Words: the *imitator* is the body that learns; *related* demonstrators are those that the paper says it can imitate. A",
    "*score* says how closely the imitator can follow a demonstration; *weights*, a probability of every demonstration, come",
    "from scores; *balanced* ones do not depend on how many demonstrations a demonstrator gave. The *effective number* of",
    "demonstrations is 1 / Σ w², as many as would count if all weighed the same. *Projection* replaces pieces of",
    "demonstrations by what the imitator can do nearest to them. An *f-MDP* rewards a tracker that stays near a demonstration.",
    "",
    "Rows: `GAIL` imitates all demonstrations as they are; as in the paper it sees states only, so that it is GAIfO, here",
    "with PPO, and so are all rows but `SAIL` (Liu et al., 2020) and, in one experiment, `DCC` (Zhang et al., 2021). `ID-Feas`",
    "(Cao and Sadigh, 2021) scores by an inverse model of random movements. `Ours (paper)` is the trajectory f-MDP as the",
    "paper describes it, `Ours` as we would use it, `direct` our scorer that asks the simulator and learns nothing. Ceilings:",
    "`related only` has the related ones alone, and must know which they are; `own expert` those of an expert of the imitator.",
    "Control rows, which tell the weight rule from the score: `ID-Feas (our weight rule)`; `GAIL (balanced)`;",
    "`neighbours`, which scores by how near the imitator's own random movements come.",
)
"""What a reader must know before the first table."""


def _again(page: Page) -> list[str]:
    """Say what became of cells that a later version of the code made again."""
    if page.remade is None:
        return []
    cells = page.remade.cells
    makers = tuple(dict.fromkeys(cell.by for cell in cells))
    return [
        "Cells were made over days, while the code was changed. Some were made again by later versions, from their",
        "demonstrations on (`python -m imitable.experiments.remade`).",
        *(line for by in makers for line in _made_by(by, [cell for cell in cells if cell.by == by])),
        *_unchecked(page, {code for cell in cells for code in cell.codes} | set(makers)),
        "",
    ]


def _made_by(by: str, cells: Sequence[RemadeCell]) -> list[str]:
    """Say what became of cells that one version made again."""
    same, versions = sum(cell.same for cell in cells), sorted({code for cell in cells for code in cell.codes} - {by})
    others = [f"{cell.name} ({cell.returns[0]:,.0f}, then {cell.returns[1]:,.0f})" for cell in cells if not cell.same]
    return [
        f"By version `{by}` the quickest cell of each of {', '.join(f'`{code}`' for code in versions)}:",
        f"{same} of {len(cells)} policies came out the same to the last bit{'; not ' if others else ''}{'; '.join(others)}.",
    ]


def _unchecked(page: Page, checked: set[str]) -> list[str]:
    """Name versions of the code that made cells and were not compared."""
    codes = {code for table in page.tables.values() for record in table.done for code in record.provenance.codes}
    others = ", ".join(f"`{code}`" for code in sorted(codes - checked))
    return [f"Not compared: {others}."] if others else []


def introduction(page: Page) -> list[str]:
    """Return what is fixed, what was spent and what is left."""
    tables, protocol, rule = page.tables.values(), page.protocol, page.protocol.rule
    done = list({record.job: record for table in tables for record in table.done}.values())
    learners = ", ".join(f"{name} `{text}`" for name, text in protocol.learners.items())
    steps = ", ".join(f"{name} {count:,}" for name, count in protocol.steps.items())
    numbers, fewer = ", ".join(map(str, protocol.seeds.paper)), len(protocol.seeds.paper) - FEWER
    times = [STEPS["learner"] // count for count in protocol.steps.values()]
    return [
        "# The paper, reproduced",
        "",
        "Every simulation of Cao et al. (CoRL 2021), our numbers beside the paper's, from records in `results/cells`.",
        "`python scripts/reproduction_page.py` writes this page; every section names the command that makes its cells.",
        "[method.md](method.md) has the formulas, [deviations.md](deviations.md) and the sections what is not as in the paper.",
        "",
        *WORDS,
        "",
        f"Protocol `{protocol.hash}`: learners {learners}; our weights by temperature {rule.temperature}, balance",
        f"{rule.balance}; steps {steps} (the paper's learner had {min(times)} to {max(times)} times as many);",
        f"seeds {numbers} for rows that the claims are about, the first {fewer} for others and in the sweeps,",
        f"which show {fewer} seeds even of cells that they share with `mujoco-a`;",
        f"{protocol.evaluation.mean} episodes with mean and {protocol.evaluation.sampled} with sampled actions of the final",
        "policy. The six settings were looked at before it was fixed. Compositions are those of the paper's table, except",
        "HalfCheetah-2, where it prints 500, 500, 25, 25: only in the published code's order do unrelated ones dominate.",
        "",
        *_changed(protocol),
        f"Recorded: {_spent(page, done)}.",
        "Not counted: recording demonstrations, what was killed, cells made again, experts.",
        *_first_goal(page, done),
        f"To all seeds: {_left(page, len(protocol.seeds.paper))}.",
        "",
        *_again(page),
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


def page_text(page: Page) -> str:
    """Return the whole page."""
    special: dict[str, Callable[[Page], list[str]]] = {
        "mujoco-a": lambda page: main_table(page.tables["mujoco-a"], TABLE_A, page.protocol, page.random),
        "mujoco-b": lambda page: [
            *main_table(page.tables["mujoco-b"], TABLE_B, page.protocol, page.random),
            *projected(page.tables["mujoco-b"]),
        ],
        "total-steps": lambda page: total_steps(page.tables),
        "unrelated-count": lambda page: unrelated_count(page.tables["unrelated-count"]),
        "demo-count": lambda page: demo_count(page.tables["demo-count"]),
        "demo-return": lambda page: demo_return(page.tables["demo-return"], page.tables["arm"], page.real),
        "mapping": lambda page: mapping(page.tables["mapping"]),
        "cost": lambda page: cost(page.tables["cost"]),
        "long": lambda page: beside(page.tables["long"], page.tables["mujoco-a"], "in the usual number of steps"),
        "other-experts": lambda page: beside(page.tables["other-experts"], page.tables["mujoco-a"], "with set a"),
        "limits": lambda page: limits(page.tables["limits"], page.own_reward),
        "arm": lambda page: arm_section(page.tables["arm"], page.images),
    }
    said = ["## What was found", "", page.notes[""], ""] if "" in page.notes else []
    experiments = [table.experiment for table in page.tables.values()]
    figures = drawings(experiments)
    outcome = [*outcomes(page.tables, page.random), *together(page)]
    lines = [*introduction(page), *outcome, *said, *settings(), *lineages(), *illustrations()]
    for name in page.tables:
        body = special[name](page) if name in special else plain(page, name)
        lines += section(page, name, body, figures.get(name))
        if name == "arm" and page.real is not None:
            lines += ["## arm-real", "", *arm_real(page.real, "images/reproduction")]
            if (picture := tried(page.real)) is not None:
                _keep(page, ARM_REAL, picture)
    return "\n".join(lines)


EARLIER = {"under the first protocol": "first_protocol", "on development imitators, as far as recorded": "development"}
"""Folders of other cells, by what they were."""


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
    notes = options.results / "cells" / "notes.md"
    of_these = options.records is None and options.scale == 1  # notes speak of the records beside them
    said = notes_of(filled(notes.read_text(), tables)) if of_these and notes.exists() else {}
    if unknown := said.keys() - tables.keys() - {""}:
        parser.error(f"{notes} has notes of {', '.join(sorted(unknown))}, which is no experiment")
    earlier = {name: read_cells(options.results / folder) for name, folder in EARLIER.items()}
    others = read_arm_real(options.results), read_own_reward(options.results), read_remade(options.results)
    page = Page(tables, terms, returns, images, *others, said, earlier)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "reproduction.md").write_text(page_text(page))
    if options.out == ROOT / "docs":
        readme = ROOT / "README.md"
        readme.write_text(with_block(readme.read_text(), in_brief(options.results)))


def with_block(text: str, lines: Sequence[str]) -> str:
    """Return a text with other lines between the two marks of the table in brief."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return "\n".join([f"{before}{BEGIN}", *lines, f"{END}{after}"])


if __name__ == "__main__":
    main()
