# SPDX-License-Identifier: MIT
"""What cells took: simulator steps and seconds of one core, by place and row."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from imitable.experiments.cell_records import Spent
from imitable.experiments.settings import BY_NAME
from imitable.experiments.tables import Table
from imitable.policies.lineage import lineage, training_steps


def costs(table: Table) -> list[dict[str, Any]]:
    """Return the mean cost of every row in every place."""
    known = {(place, row): table.at(place, row) for place in table.places for row in table.rows}
    return [
        {"place": place, "row": row, "experts": _expert_steps(table, place), **_means([one.spent for one in records])}
        for (place, row), records in known.items()
        if records
    ]


def _means(spent: Sequence[Spent]) -> dict[str, float | None]:
    pieces = [(one.pieces_kept, one.pieces_dropped) for one in spent]
    followed = [kept / max(kept + dropped, 1) for kept, dropped in pieces if kept is not None and dropped is not None]
    return {
        "score_steps": float(np.mean([one.score_steps for one in spent])),
        "projection_steps": float(np.mean([one.projection_steps for one in spent])),
        "learner_steps": float(np.mean([one.learner_steps for one in spent])),
        "score_s": float(np.mean([one.score_s for one in spent])),
        "learner_s": float(np.mean([one.learner_s for one in spent])),
        "followed": float(np.mean(followed)) if followed else None,
    }


def _expert_steps(table: Table, place: str) -> int | None:
    """Return the steps of training the demonstrators in the experiment that is about cost."""
    if table.experiment.name != "cost":
        return None
    return training_steps(lineage(body, place) for body in BY_NAME[place].demonstrators)
