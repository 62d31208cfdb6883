# SPDX-License-Identifier: MIT
"""Statistics of demonstrations: arrays in, one number out."""

from typing import Any, cast

from numpy.typing import ArrayLike
from scipy import stats

from imitable.types import Floats


def auroc(low: Floats, high: Floats) -> float:
    """(N), (M) → P(x < y) + ½ P(x = y) of x drawn from `low` and y from `high`: the area under the ROC curve.

    It is 1 − U / (N · M) with the Mann–Whitney statistic U of `low`: 1 if all of `low` lies below all of `high`.
    """
    found = cast(Any, stats).mannwhitneyu(low, high, method="asymptotic")
    return 1 - float(found.statistic) / (len(low) * len(high))


def rank_correlation(one: ArrayLike, other: ArrayLike) -> float:
    """(N), (N) → Spearman's ρ in [−1, 1]."""
    return float(cast(Any, stats).spearmanr(one, other).statistic)
