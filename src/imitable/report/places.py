# SPDX-License-Identifier: MIT
"""The settings of an experiment as plain data: what is known of every row there, and what stands beside the rows."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from imitable.experiments.arm_real_records import ArmRealRecord, read_arm_real
from imitable.experiments.captions import OWN_EXPERT_ITSELF, OWN_REWARD
from imitable.experiments.catalogue import Where
from imitable.experiments.cell_records import CellRecord
from imitable.experiments.curves import Curve, mean_curve
from imitable.experiments.intervals import interval
from imitable.experiments.own_reward_records import OwnReward, read_own_reward
from imitable.experiments.paper_numbers import ARM, REAL_ARM, SIMULATED_ARM
from imitable.experiments.random_policy import RandomReturns, read_random
from imitable.experiments.rows import ALL, OWN_EXPERT
from imitable.experiments.tables import Table
from imitable.report.motion import rounded
from imitable.report.printed import papers_level, printed_at


@dataclass(frozen=True)
class Measured:
    """What was measured once for all cells, and lies beside the protocol; None: not there."""

    random: RandomReturns | None
    own_reward: OwnReward | None
    real_arm: ArmRealRecord | None


def read_measured(folder: Path) -> Measured:
    """Return what lies in a folder."""
    return Measured(read_random(folder), read_own_reward(folder), read_arm_real(folder))


def places_of(table: Table, tables: Mapping[str, Table], measured: Measured, *, paper: bool) -> list[dict[str, Any]]:
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
        "beside": _beside(table, where, own_reward),
    }


def _beside(table: Table, where: Where, own_reward: OwnReward | None) -> dict[str, dict[str, Any]]:
    """Return what rows are to be compared with, and none of them learned, by its name."""
    all_rows = dict.fromkeys(entry.row.name for entry in table.experiment.entries if entry.row.whose == ALL)
    demonstrated = _demonstrated(table, where.name, list(all_rows))
    if table.experiment.name == "demo-return":
        return demonstrated
    if table.experiment.name != "limits":
        return {}
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
        {"name": name, "rows": rows, "paper": theirs[name], "level": None, "beside": shown}
        for name, rows, shown in columns
        if rows
    ]


def _trials(returns: Sequence[float]) -> dict[str, Any]:
    """Return trials of one policy in brief: they are no seeds, and nothing was learned in them."""
    return {"seeds": [], "returns": [], "sampled": [], "falls": [], **asdict(interval(returns)), "curve": None}


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
