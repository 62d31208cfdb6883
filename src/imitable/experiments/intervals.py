# SPDX-License-Identifier: MIT
"""Some seeds' numbers in brief.

Over n seeds: mean, standard deviation and an interval, mean ± t(0.975, n − 1) · std / √n; of fewer than three seeds, lowest to
highest. The quantile comes from scipy.special: scipy.stats takes longer to load than the report takes to write.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit


@dataclass(frozen=True)
class Interval:
    """Some numbers in brief."""

    mean: float
    std: float
    """Deviation between them; 0 of a single number."""
    low: float
    high: float
    count: int


def interval(numbers: Sequence[float]) -> Interval:
    """Return mean, deviation and interval of some seeds' numbers."""
    values = np.array(numbers, float)
    mean, count = float(values.mean()), len(values)
    std = float(values.std(ddof=1)) if count > 1 else 0.0
    if count < 3:
        return Interval(mean, std, float(values.min()), float(values.max()), count)
    half = float(stdtrit(count - 1, 0.975)) * std / count**0.5
    return Interval(mean, std, mean - half, mean + half, count)
