# SPDX-License-Identifier: MIT
"""Evaluations of runs as a table."""

from collections.abc import Sequence

from imitable.evaluation.evaluate import COLUMNS
from imitable.evaluation.result import RunEvaluation


def evaluation_table(
    names: Sequence[str], evaluations: Sequence[RunEvaluation]
) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Return columns and rows of several runs' evaluations."""
    first = evaluations[0].last.mean_actions
    # without a task nothing falls
    keys = [key for key in COLUMNS if getattr(first, key) is not None and not (key == "falls" and first.occupancy is not None)]
    rows: list[tuple[object, ...]] = [
        (name, policy, actions, *(_short(getattr(performance, key)) for key in keys))
        for name, evaluation in zip(names, evaluations, strict=True)
        for policy, actions, performance in evaluation.by_policy()
    ]
    return ("run", "policy", "actions", *(COLUMNS[key] for key in keys)), rows


def _short(value: float | None) -> float:
    return float("nan") if value is None else round(value, 3)
