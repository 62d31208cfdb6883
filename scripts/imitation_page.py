# SPDX-License-Identifier: MIT
"""results/imitation.md from the records in results/imitation."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from older_policies import mark
from weighted_tables import weighted_tables

from imitable.experiments.cloning_records import CloningRecord, read_cloning
from imitable.experiments.imitation_records import GOALS, LearningRecord, demonstrated_fraction, reaches_goal, read_learning
from imitable.experiments.noise import NoiseRecord, read_noise
from imitable.types import Floats


def page(results: Path) -> str:
    """Return the page."""
    parts = ["# Imitation", "", *weighted_tables(results), *mark(results, "imitation"), _intro()]
    if records := read_learning(results, "own"):
        parts += _own(records)
    if records := read_learning(results, "weighted"):
        parts += _weighted(records)
    if cloned := read_cloning(results):
        parts += _cloning(cloned)
    if noise := read_noise(results):
        parts += _noise(noise)
    if records := read_learning(results, "learners"):
        parts += _learners(records)
    if records := read_learning(results, "utility"):
        parts += _utility(records)
    notes = results / "imitation" / "notes.md"
    return "\n".join(parts) + ("\n" + notes.read_text() if notes.exists() else "")


def _intro() -> str:
    return (
        "Returns with mean actions over 100 episodes of the *last* policy; no checkpoint was chosen. "
        "Made by `make imitation` from the records in `results/imitation`. ± is the deviation between seeds.\n"
    )


def _spread(values: Floats) -> str:
    return f"{values.mean():,.0f} ± {values.std(ddof=1):,.0f}" if len(values) > 1 else f"{values[0]:,.0f}"


def _each(values: Floats) -> str:
    return ", ".join(f"{value:,.0f}" for value in values)


def _own(records: Sequence[LearningRecord]) -> list[str]:
    rows = [
        f"| {record.case.imitator} | {record.case.steps:,} | {record.demonstrated_return:,.0f} | {_each(record.returns())} "
        f"| **{demonstrated_fraction(record):.0%}** | {GOALS[record.case.name]:.0%} "
        f"| {'yes' if reaches_goal(record) else '**no**'} | {_each(record.returns('sampled_actions'))} | {record.falls} |"
        for record in records
    ]
    return [
        "## Own body: 50 demonstrations of the imitator's own expert",
        "",
        "`gaifo` with its defaults, one recipe for all bodies. On Swimmer mean and sampled return must also agree within",
        "10 %. The paper's learner takes about 7e7 steps.",
        "",
        "| imitator | steps | demonstrated | each seed | part | goal | reached | sampled actions | falls in 300 |",
        "|---|---|---|---|---|---|---|---|---|",
        *rows,
        "",
    ]


def _weighted(records: Sequence[LearningRecord]) -> list[str]:
    by_name = {record.case.name: record for record in records}
    rows: list[str] = []
    for setting in dict.fromkeys(name.split(".")[0] for name in by_name):
        cells: list[str] = []
        for kind in ("unweighted", "weighted", "related", "own"):
            record = by_name.get(f"{setting}.{kind}")
            cells.append(f"{_spread(record.returns())} ({_each(record.returns('sampled_actions'))})" if record else "–")
        rows.append(f"| {setting} | {' | '.join(cells)} |")
    return [
        "## Weighted and unweighted",
        "",
        f"The paper's composition, weights by `direct` with its defaults, {records[0].case.steps:,} steps of `gaifo`, three",
        "seeds; in brackets each seed with sampled actions. Ceilings: *related only* has the first two demonstrators alone,",
        "*own expert* 50 demonstrations of the imitator's own.",
        "",
        "| setting | unweighted | weighted | related only | own expert |",
        "|---|---|---|---|---|",
        *rows,
        "",
    ]


def _cloning(records: Sequence[CloningRecord]) -> list[str]:
    rows = [
        f"| {record.name} | {record.what} | {record.simulator_steps} | {record.reached} | {record.to_goal} |"
        for record in records
    ]
    return [
        "## Cloning what the body itself can do",
        "",
        "| case | method | simulator steps | return of each seed | total steps to 95 % |",
        "|---|---|---|---|---|",
        *rows,
        "",
    ]


def _noise(record: NoiseRecord) -> list[str]:
    rows = [
        f"| {name} | {' | '.join(f'{value:,.1f}' for value in row.returns)} | {row.pauses:.0%} |"
        for name, row in record.rows.items()
    ]
    scales = " | ".join(f"× {scale:g}" for scale in record.scales)
    return [
        "## Swimmer: does the return depend on noise?",
        "",
        f"Returns over {record.episodes} episodes with 0, 0.1, 0.3 and 1 times the policy's own exploration. *Still*:",
        f"part of the time after step 300 in which no joint moves faster than {record.still} rad/s, with mean actions.",
        "",
        f"| policy | {scales} | still |",
        "|---|" + "---|" * (len(record.scales) + 1),
        *rows,
        "",
    ]


def _learners(records: Sequence[LearningRecord]) -> list[str]:
    rows = [
        f"| {record.case.name} | `{record.case.method}` | {record.case.steps:,} | {_each(record.returns())} "
        f"| {_each(record.returns('sampled_actions'))} | {record.demonstrated_return:,.0f} "
        f"| {_each(np.array([run.seconds for run in record.runs]))} |"
        for record in records
    ]
    return [
        "## The other learners",
        "",
        "`half_cheetah` and `swimmer`: 50 own demonstrations; `half_cheetah-1`: the paper's composition, weighted. Each seed",
        "on one core, beside another job, evaluation included: seconds are rough.",
        "",
        "| case | method | steps | mean actions | sampled actions | demonstrated | seconds |",
        "|---|---|---|---|---|---|---|",
        *rows,
        "",
    ]


def _utility(records: Sequence[LearningRecord]) -> list[str]:
    rows = [
        f"| {record.case.imitator} | {record.case.demonstrators[0]} | {record.case.steps:,} | {_each(record.returns())} "
        f"| {record.demonstrated_return:,.0f} | {record.falls} |"
        for record in records
    ]
    return [
        "## One demonstrator alone",
        "",
        "50 demonstrations of one demonstrator, imitated by `gaifo`, one seed, 25 episodes. `results/feasibility.md`",
        "correlates scores with these returns.",
        "",
        "| imitator | demonstrator | steps | return | demonstrated on its own body | falls in 25 |",
        "|---|---|---|---|---|---|",
        *rows,
        "",
    ]
