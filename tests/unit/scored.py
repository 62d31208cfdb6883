# SPDX-License-Identifier: MIT
"""Scores of any demonstrations, without measuring anything."""

from collections.abc import Sequence

import numpy as np

from imitable.feasibility.scores import Measurement, ScoreKey, Scores, Weighing
from imitable.types import Demonstrations


def scores_of(demos: Demonstrations, weights: Sequence[float], imitator: str = "toy", **fields: object) -> Scores:
    """Return scores whose weights are in these proportions."""
    count, weight = len(demos), np.array(weights, float)
    weight = weight / weight.sum()
    key = ScoreKey("0", imitator, "0", "direct", "l2", "all", 0.9, 1, 0)
    names = ("distance", "share", "spread", "followed", "error_mean_m", "error_max_m")
    errors = ("height_error_m", "tilt_error_rad", "joint_error_rad")
    numbers = {name: np.zeros(count) for name in (*names, *errors)}
    score = weight / weight.max()
    measurement = Measurement(key, "share", "", 16, 0.8, 0.7, 0.1, (), (), 0.0, 0.1, 0.0, 0, 0)
    weighing = Weighing("auto", "all", "none", bool(fields.pop("segments", False)), 0.1, 0.3, ())
    values: dict[str, object] = {
        **numbers,
        "stage": np.ones(count, np.int64),
        "score": score,
        "score_low": score,
        "score_high": score,
        "weight": weight,
        "verdict": tuple("feasible" if value >= 0.5 else "infeasible" for value in score),
        "lost_at": ((),) * count,
        "segment_begin": ((0,),) * count,
        "segment_share": ((0.0,),) * count,
        "success": (None,) * count,
        "first_divergence": np.full(count, -1),
        "fell": (None,) * count,
        "worst_joint": ("",) * count,
        "worst_body": ("",) * count,
        "measurement": measurement,
        "weighing": weighing,
    }
    return Scores(episodes=demos.episodes, **(values | fields))  # pyright: ignore[reportArgumentType]
