# SPDX-License-Identifier: MIT
"""What single trials of the arm come to: arrivals, hits, and tests of `direct` against the other rows."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from imitable.experiments.cell_records import CellRecord
from imitable.experiments.rows import DIRECT
from imitable.experiments.statistics import welch
from imitable.experiments.tables import Table
from imitable.types import Floats

ARRIVED = -3000.0
"""Returns above this are those of trials that reach the goal: the clock alone costs 8000, a hit 10000."""

TESTED = DIRECT.name
"""The row that the others are tested against: it has most seeds."""


@dataclass(frozen=True)
class Trials:
    """The trials of one row, all seeds together."""

    std: float
    """Deviation between trials; 0 of one."""
    success: float
    """Part that reaches the goal."""
    hits: float
    """Part that hits something."""
    p_return: float
    p_success: float
    """Two-sided Welch tests of `TESTED` against the row, over seeds; NaN of itself and of fewer than two seeds."""


def trials(table: Table, place: str, row: str) -> Trials | None:
    """Return what the trials of a row came to; None of no run."""
    records, tested = table.at(place, row), table.at(place, TESTED)
    if not records:
        return None
    played = np.concatenate([record.mean_actions.returns for record in records])
    return Trials(
        std=float(played.std(ddof=1)) if len(played) > 1 else 0.0,
        success=float((played > ARRIVED).mean()),
        hits=sum(record.mean_actions.falls for record in records) / len(played),
        p_return=float("nan") if row == TESTED else _p(table.returns(place, TESTED), table.returns(place, row)),
        p_success=float("nan") if row == TESTED else _p(_successes(tested), _successes(records)),
    )


def _successes(records: Sequence[CellRecord]) -> Floats:
    """(seeds) part of the trials that reach the goal."""
    return np.array([float(np.mean(np.array(one.mean_actions.returns) > ARRIVED)) for one in records])


def _p(ours: Floats, theirs: Floats) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # seeds that nearly always succeed hardly deviate
        return welch(ours, theirs).two_sided
