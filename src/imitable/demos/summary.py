# SPDX-License-Identifier: MIT
"""Statistics of frames, an episode at a time: what LeRobot's trainers normalise with."""

from dataclasses import dataclass

import numpy as np

from imitable.types import Floats

QUANTILES = {"q01": 0.01, "q10": 0.10, "q50": 0.50, "q90": 0.90, "q99": 0.99}
"""The quantiles that LeRobot keeps."""
STATISTICS = ("min", "max", "mean", "std", "count", *QUANTILES)
"""Names of the statistics of a column."""


# the statistics of absurdly large numbers overflow; the numbers themselves are kept as they are
_quiet = np.errstate(over="ignore", invalid="ignore")


@dataclass(frozen=True)
class Summary:
    """Statistics of n frames of W numbers."""

    count: int
    """n."""
    low: Floats
    """(W) smallest values."""
    high: Floats
    """(W) largest values."""
    mean: Floats
    """(W) means."""
    variance: Floats
    """(W) population variances."""
    quantiles: Floats
    """(5, W) quantiles."""


@_quiet
def summarise(frames: Floats) -> Summary:
    """(n, W) → the statistics of every column."""
    return Summary(
        count=len(frames),
        low=frames.min(axis=0),
        high=frames.max(axis=0),
        mean=frames.mean(axis=0),
        variance=frames.var(axis=0),
        quantiles=np.quantile(frames, tuple(QUANTILES.values()), axis=0),
    )


@_quiet
def merged(a: Summary, b: Summary) -> Summary:
    """Return the statistics of the frames of both: μ = Σ nᵢ μᵢ / n and σ² = Σ nᵢ (σᵢ² + (μᵢ − μ)²) / n.

    Quantiles cannot be merged; their mean weighted by frames stands in, as in LeRobot's own `aggregate_stats`.
    """
    count = a.count + b.count
    part_a, part_b = a.count / count, b.count / count
    mean = part_a * a.mean + part_b * b.mean
    return Summary(
        count=count,
        low=np.minimum(a.low, b.low),
        high=np.maximum(a.high, b.high),
        mean=mean,
        variance=part_a * (a.variance + (a.mean - mean) ** 2) + part_b * (b.variance + (b.mean - mean) ** 2),
        quantiles=part_a * a.quantiles + part_b * b.quantiles,
    )


def by_feature(summary: Summary, widths: dict[str, int]) -> dict[str, dict[str, list[float]]]:
    """Split the W columns into features: name → statistic → one number an entry."""
    ends = np.cumsum(list(widths.values()))
    return {name: _statistics(summary, slice(end - widths[name], end)) for name, end in zip(widths, ends, strict=True)}


def _statistics(summary: Summary, columns: slice) -> dict[str, list[float]]:
    deviation = np.sqrt(summary.variance)
    rows = {"min": summary.low, "max": summary.high, "mean": summary.mean, "std": deviation}
    rows |= dict(zip(QUANTILES, summary.quantiles, strict=True))
    lists: dict[str, list[float]] = {name: row[columns].tolist() for name, row in rows.items()}
    lists["count"] = [summary.count]
    return lists
