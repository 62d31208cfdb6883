# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false
"""results/development.md: the trials on development imitators that learner and weight rule were chosen by, and their curves."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from reproduction_figures import COLOURS, draw_curve, panels_of, with_legend

from imitable.experiments.cell_records import CellRecord, read_cells
from imitable.experiments.jobs import RunJob, WeightRule
from imitable.experiments.rows import RULES
from imitable.experiments.settings import DEVELOPMENT

IMITATORS = tuple(setting.imitator for setting in DEVELOPMENT)
RELATED = {setting.imitator: setting.demonstrators[: setting.related] for setting in DEVELOPMENT}


def trials(results: Path) -> list[CellRecord]:
    """Return the records in results/development, those of one job by seed."""
    found = read_cells(results / "development")
    return sorted(found, key=lambda record: (record.job.learner, record.job.seed))


def page(results: Path) -> str:
    """Return the page."""
    records = trials(results)
    notes = results / "development" / "notes.md"
    parts = [
        "# Development: which learner, which weight rule?",
        "",
        "Trials on the four development imitators, none of which the paper's tables report. Return with mean actions over 100",
        "episodes of the final policy, a number a seed (from 100 on); in brackets falls in those episodes. Swimmer and",
        "Walker2d learn for 2 million steps, the others for 1 million, projection included.",
        "`imitable reproduce related development --learners …` runs what is missing.",
        "",
        *_section("Both related demonstrators, 50 demonstrations each", filter(_of_both, records), _learner_name),
        *_section("One related demonstrator alone, 50 demonstrations", filter(_of_one, records), _learner_name),
        *_section("Four demonstrators, 10, 10, 100, 100 demonstrations", filter(_of_all, records), _rule_name),
        *_section("The imitator's own expert, 50 demonstrations", filter(_own, records), _learner_name),
        "![Learning curves](development.svg)",
        "",
        "Return of episodes with sampled actions against steps, both related demonstrators; drawn by",
        "`python scripts/write_results.py`.",
        "",
    ]
    return "\n".join(parts) + ("\n" + notes.read_text() if notes.exists() else "")


def figure(results: Path) -> bytes:
    """Return the learning curves on both related demonstrators, a panel an imitator, as SVG."""
    records = [record for record in trials(results) if _of_both(record)]
    learners = list(dict.fromkeys(_learner_name(record.job) for record in records))
    drawn, panels = panels_of(len(IMITATORS))
    for imitator, panel in zip(IMITATORS, panels, strict=True):
        for colour, learner in zip(COLOURS, learners, strict=False):
            of_it = [one for one in records if one.job.imitator == imitator and _learner_name(one.job) == learner]
            draw_curve(panel, [record.curve for record in of_it], colour, learner.strip("`"))
        panel.set_title(imitator, fontsize=9)
        panel.set_xlabel("steps")
    return with_legend(drawn, panels, columns=1)


def _bodies(record: CellRecord) -> tuple[str, ...]:
    return tuple(recording.body for recording in record.job.demos.recordings)


def _of_both(record: CellRecord) -> bool:
    return _bodies(record) == RELATED[record.job.imitator]


def _of_one(record: CellRecord) -> bool:
    return len(_bodies(record)) == 1 and not _own(record)


def _of_all(record: CellRecord) -> bool:
    return len(_bodies(record)) > len(RELATED[record.job.imitator])


def _own(record: CellRecord) -> bool:
    return _bodies(record) == (record.job.imitator,)


def _learner_name(job: RunJob) -> str:
    return f"`{job.learner}`"


def _rule_name(job: RunJob) -> str:
    names = {rule: name for name, rule in RULES.items()}
    rule = "unweighted" if job.scores is None else names[WeightRule(job.rule.temperature, balance=job.rule.balance)]
    return f"{rule}, `{job.learner}`"


def _section(title: str, records: Iterable[CellRecord], name: Callable[[RunJob], str]) -> list[str]:
    """Return a table of trials, a row a name and a column an imitator, below it what was demonstrated; nothing without any."""
    there = list(records)
    if not there:
        return []
    rows = dict.fromkeys((name(record.job), _whose(record)) for record in there)
    lines = [f"## {title}", "", f"| trial | {' | '.join(IMITATORS)} |", "|---" * (len(IMITATORS) + 1) + "|"]
    for row, whose in rows:
        of_row = [one for one in there if name(one.job) == row and _whose(one) == whose]
        cells = [_seeds([one for one in of_row if one.job.imitator == imitator]) for imitator in IMITATORS]
        lines.append(f"| {row}{whose} | {' | '.join(cells)} |")
    shown = [_demonstrated(one for one in there if one.job.imitator == imitator) for imitator in IMITATORS]
    return [*lines, f"| *demonstrated* | {' | '.join(shown)} |", ""]


def _demonstrated(records: Iterable[CellRecord]) -> str:
    """Return the lowest and the highest mean return of the demonstrations."""
    returns = sorted({round(record.demonstrated_return) for record in records})
    return " to ".join(f"{value:,}" for value in dict.fromkeys((returns[0], returns[-1]))) if returns else "–"


def _whose(record: CellRecord) -> str:
    """Say whether a trial is of the first or the second related demonstrator, if it is of one alone."""
    related = RELATED[record.job.imitator]
    return f", {('first', 'second')[related.index(_bodies(record)[0])]}" if _of_one(record) else ""


def _seeds(records: Sequence[CellRecord]) -> str:
    episodes = [record.mean_actions for record in records]
    return ", ".join(f"{one.mean:,.0f}{f' ({one.falls})' if one.falls else ''}" for one in episodes) or "–"
