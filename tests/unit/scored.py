# SPDX-License-Identifier: MIT
"""Scores of any demonstrations, without measuring anything."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from imitable.feasibility.episode_score import EpisodeScore
from imitable.feasibility.scores import Measurement, ScoreKey, Scores, Weighing
from imitable.types import Demonstrations


def scores_of(
    demos: Demonstrations,
    weights: Sequence[float],
    imitator: str = "toy",
    *,
    segments: bool = False,
    **columns: Iterable[Any],
) -> Scores:
    """Return scores whose weights are in these proportions."""
    weight = np.array(weights, float) / np.sum(weights)
    key = ScoreKey("0", imitator, "0", "direct", "l2", "all", 0.9, 1, 0)
    measurement = Measurement(key, "share", "", 16, 0.8, 0.7, 0.1, (), (), 0.0, 0.1, 0.0, 0, 0)
    weighing = Weighing("auto", "all", "none", segments, 0.1, 0.3, ())
    rows = tuple(
        EpisodeScore(
            episode=episode,
            distance=0.0,
            share=0.0,
            segment_share=(0.0,),
            stage=1,
            followed=0.0,
            error_mean_m=0.0,
            error_max_m=0.0,
            verdict="feasible" if score >= 0.5 else "infeasible",
            score=score,
            score_low=score,
            score_high=score,
            weight=mass,
        )
        for episode, mass, score in zip(demos.episodes, weight.tolist(), (weight / weight.max()).tolist(), strict=True)
    )
    return Scores(rows, measurement, weighing).with_columns(**columns)
