# SPDX-License-Identifier: MIT
"""The settings of an experiment as plain data: what is known of every row there, and what rows are compared with."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from imitable.experiments.arm_real_records import ArmRealRecord
from imitable.experiments.captions import OWN_EXPERT_ITSELF, OWN_REWARD
from imitable.experiments.catalogue import Where
from imitable.experiments.cell_records import CellRecord
from imitable.experiments.curves import Curve, mean_curve
from imitable.experiments.intervals import interval
from imitable.experiments.own_reward_records import OwnReward
from imitable.experiments.paper_numbers import ARM, REAL_ARM, SIMULATED_ARM
from imitable.experiments.rows import ALL, OWN_EXPERT
from imitable.experiments.tables import Table
from imitable.report.measured import Measured
from imitable.report.motion import rounded
from imitable.report.printed import papers_level, printed_at


def shown_places(table: Table, tables: Mapping[str, Table], measured: Measured, *, paper: bool) -> list[dict[str, Any]]:
    """Return the settings of an experiment, the arm's columns of `demo-return` included.

    Args:
        table: of the experiment.
        tables: all by name.
        measured: once for all cells.
        paper: whether the paper's own numbers may stand beside ours.
    """
    wheres = {entry.where.name: entry.where for entry in table.experiment.entries}
    found = [_place(table, where, measured.own_reward, paper=paper) for where in wheres.values()]
    if table.experiment.name != "demo-return":
        return found
    return [*found, *_arms(table, tables["arm"], measured.real_arm, paper=paper)]


def _place(table: Table, where: Where, own_reward: OwnReward | None, *, paper: bool) -> dict[str, Any]:
    name = table.experiment.name
    return {
        "name": where.name,
        "rows": {row: _cell(records) for row in table.rows if (records := table.at(where.name, row))},
        "paper": [asdict(one) for one in printed_at(name, where)] if paper else [],
        "level": papers_level(name, where) if paper else None,
        "references": _references(table, where, own_reward),
    }


def _references(table: Table, where: Where, own_reward: OwnReward | None) -> dict[str, dict[str, Any]]:
    """Return returns that no row learned and rows are to be compared with, by their names."""
    name = table.experiment.name
    if name not in ("demo-return", "limits"):
        return {}
    of_all = dict.fromkeys(entry.row.name for entry in table.experiment.entries if entry.row.whose == ALL)
    demonstrated = _demonstrated(table, where.name, list(of_all))
    if name == "demo-return":
        return demonstrated
    expert = _demonstrated(table, where.name, [OWN_EXPERT.name], OWN_EXPERT_ITSELF)
    best = () if own_reward is None else own_reward.returns.get(where.imitator, ())
    return {**demonstrated, **expert, **({OWN_REWARD: asdict(interval(best))} if best else {})}


def _demonstrated(table: Table, place: str, rows: Sequence[str], name: str = "demonstrated") -> dict[str, dict[str, Any]]:
    """Return the mean return of what rows imitate, each demonstration on its own body."""
    returns = [record.demonstrated_return for row in rows for record in table.at(place, row)]
    return {name: asdict(interval([float(np.mean(returns))]))} if returns else {}


def _arms(table: Table, arm: Table, real: ArmRealRecord | None, *, paper: bool) -> list[dict[str, Any]]:
    """Return the columns of the arm: seeds in the simulator, trials through its real protocol; empty if none was run."""
    [shelf] = arm.places
    simulated = {row: _cell(records) for row in table.rows if (records := arm.at(shelf, row))}
    trials = {} if real is None else {row: some for row, some in real.rows.items() if row in table.rows and some}
    played = {row: _trials([one.total_return for one in some]) for row, some in trials.items()}
    columns = [(SIMULATED_ARM, simulated, _demonstrated(arm, shelf, arm.rows)), (REAL_ARM, played, dict[str, Any]())]
    theirs = {name: [asdict(one) for one in numbers] if paper else [] for name, numbers in ARM.items()}
    return [
        {"name": name, "rows": rows, "paper": theirs[name], "level": None, "references": shown}
        for name, rows, shown in columns
        if rows
    ]


def _trials(returns: Sequence[float]) -> dict[str, Any]:
    """Return trials of one policy in brief: they are no seeds, and nothing was learned in them."""
    nothing = {name: list[float]() for name in ("seeds", "returns", "sampled", "falls")}
    return {**nothing, **asdict(interval(returns)), "unit": "trials", "curve": None}


def _cell(records: Sequence[CellRecord]) -> dict[str, Any]:
    """Return the seeds of a row in a place."""
    return {
        "seeds": [record.job.seed for record in records],
        "returns": rounded([record.mean_actions.mean for record in records]),
        "sampled": rounded([record.sampled_actions.mean for record in records]),
        "falls": [record.mean_actions.falls for record in records],
        **asdict(interval([record.mean_actions.mean for record in records])),
        "curve": _curve([record.curve for record in records]),
    }


def _curve(curves: Sequence[Curve]) -> dict[str, Any] | None:
    """Return learning curves as one."""
    if (found := mean_curve(curves)) is None:
        return None
    return {
        "steps": [int(step) for step in found.steps],
        "mean": rounded(found.mean.tolist()),
        "low": rounded(found.low.tolist()),
        "high": rounded(found.high.tolist()),
        "end": found.end,
    }
