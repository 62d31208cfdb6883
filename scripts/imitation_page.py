# SPDX-License-Identifier: MIT
"""results/imitation.md from the records in results/imitation."""

import json
from pathlib import Path
from typing import Any

import numpy as np

GOALS = {"half_cheetah": 0.95, "hopper": 0.95, "swimmer": 0.9, "walker2d": 0.9}
"""Share of the demonstrations' return that the own-body check asks for."""

TOLERANCE = 0.1
"""Swimmer's mean and sampled returns shall agree within this."""

Record = dict[str, Any]


def page(folder: Path) -> str:
    """Return the page."""
    records = [json.loads(path.read_text()) for path in sorted(folder.glob("*.*.json"))]
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(record["group"], []).append(record)
    parts = ["# Imitation", "", _intro()]
    for name, table in (
        ("own", _own),
        ("weighted", _weighted),
        ("cloning", _cloning),
        ("noise", _noise),
        ("learners", _learners),
        ("utility", _utility),
    ):
        if name in groups:
            parts += table(groups[name])
    notes = folder / "notes.md"
    return "\n".join(parts) + ("\n" + notes.read_text() if notes.exists() else "")


def _intro() -> str:
    return (
        "Returns with mean actions over 100 episodes of the *last* policy; no checkpoint was chosen. "
        "Made by `make imitation` from the records in `results/imitation`. ± is the deviation between seeds.\n"
    )


def returns(record: Record, kind: str = "mean_actions") -> np.ndarray:
    """Return the mean return of every seed."""
    return np.array([run[kind]["return_mean"] for run in record["runs"]])


def _spread(values: np.ndarray) -> str:
    return f"{values.mean():,.0f} ± {values.std(ddof=1):,.0f}" if len(values) > 1 else f"{values[0]:,.0f}"


def _each(values: np.ndarray) -> str:
    return ", ".join(f"{value:,.0f}" for value in values)


def _falls(record: Record) -> int:
    return sum(run["mean_actions"]["falls"] for run in record["runs"])


def _own(records: list[Record]) -> list[str]:
    rows = []
    for record in records:
        mean, sampled, shown = returns(record), returns(record, "sampled_actions"), record["runs"][0]["demonstrated_return"]
        share, goal = mean.mean() / shown, GOALS[record["name"]]
        agree = record["name"] != "swimmer" or abs(mean.mean() - sampled.mean()) <= TOLERANCE * abs(sampled.mean())
        rows.append(
            f"| {record['imitator']} | {record['steps']:,} | {shown:,.0f} | {_each(mean)} | **{share:.0%}** | {goal:.0%} "
            f"| {'yes' if share >= goal and agree else '**no**'} | {_each(sampled)} | {_falls(record)} |"
        )
    return [
        "## Own body: 50 demonstrations of the imitator's own expert",
        "",
        "`gaifo` with its defaults, one recipe for all bodies. On Swimmer mean and sampled return must also agree within",
        "10 %. The paper's learner takes about 7e7 steps.",
        "",
        "| imitator | steps | demonstrated | each seed | share | goal | reached | sampled actions | falls in 300 |",
        "|---|---|---|---|---|---|---|---|---|",
        *rows,
        "",
    ]


def _weighted(records: list[Record]) -> list[str]:
    by_name = {record["name"]: record for record in records}
    rows = []
    for setting in dict.fromkeys(name.split(".")[0] for name in by_name):
        cells = []
        for kind in ("unweighted", "weighted", "related", "own"):
            record = by_name.get(f"{setting}.{kind}")
            cells.append(f"{_spread(returns(record))} ({_each(returns(record, 'sampled_actions'))})" if record else "–")
        rows.append(f"| {setting} | {' | '.join(cells)} |")
    return [
        "## Weighed and unweighted",
        "",
        f"The paper's composition, weights by `direct` with its defaults, {records[0]['steps']:,} steps of `gaifo`, three",
        "seeds; in brackets each seed with sampled actions. Ceilings: *related only* has the first two demonstrators alone,",
        "*own expert* 50 demonstrations of the imitator's own.",
        "",
        "| setting | unweighted | weighted | related only | own expert |",
        "|---|---|---|---|---|",
        *rows,
        "",
    ]


def _cloning(records: list[Record]) -> list[str]:
    rows = [
        f"| {record['name']} | {record['what']} | {record['simulator_steps']} | {record['reached']} | {record['to_goal']} |"
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


def _noise(records: list[Record]) -> list[str]:
    [record] = records
    rows = [
        f"| {name} | {' | '.join(f'{value:,.1f}' for value in row['returns'])} | {row['pauses']:.0%} |"
        for name, row in record["rows"].items()
    ]
    scales = " | ".join(f"× {scale:g}" for scale in record["scales"])
    return [
        "## Swimmer: does the return depend on noise?",
        "",
        f"Returns over {record['episodes']} episodes with 0, 0.1, 0.3 and 1 times the policy's own exploration. *Still*:",
        f"part of the time after step 300 in which no joint moves faster than {record['still']} rad/s, with mean actions.",
        "",
        f"| policy | {scales} | still |",
        "|---|" + "---|" * (len(record["scales"]) + 1),
        *rows,
        "",
    ]


def _learners(records: list[Record]) -> list[str]:
    rows = [
        f"| {record['name']} | `{record['method']}` | {record['steps']:,} | {_each(returns(record))} "
        f"| {_each(returns(record, 'sampled_actions'))} | {record['runs'][0]['demonstrated_return']:,.0f} "
        f"| {_each(np.array([run['seconds'] for run in record['runs']]))} |"
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


def _utility(records: list[Record]) -> list[str]:
    rows = [
        f"| {record['imitator']} | {record['demonstrators'][0]} | {record['steps']:,} | {_each(returns(record))} "
        f"| {record['runs'][0]['demonstrated_return']:,.0f} | {_falls(record)} |"
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
