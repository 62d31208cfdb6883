# SPDX-License-Identifier: MIT
"""Learning curves of several seeds together, for page and report."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from imitable.types import Floats

Curve = Sequence[tuple[int, float | None]]
"""Steps, and the mean return of the last episodes; None while there are none."""


@dataclass(frozen=True, eq=False)
class MeanCurve:
    """The mean of learning curves, and the range between them, at P steps where all of them are known."""

    steps: Floats
    """(P)."""
    mean: Floats
    """(P)."""
    low: Floats
    """(P)."""
    high: Floats
    """(P)."""
    end: int
    """The last step of the longest."""


def mean_curve(curves: Sequence[Curve]) -> MeanCurve | None:
    """Return several curves as one, at the steps of the first, in between by straight lines; None if one has no point."""
    known = [[(steps, value) for steps, value in curve if value is not None] for curve in curves]
    if not known or not all(known):
        return None
    each = [(np.array([at for at, _ in one], np.float64), np.array([value for _, value in one])) for one in known]
    steps = each[0][0]
    steps = steps[(steps >= max(at[0] for at, _ in each)) & (steps <= min(at[-1] for at, _ in each))]
    values: Floats = np.array([np.interp(steps, at, value) for at, value in each])
    end = max(curve[-1][0] for curve in curves)
    return MeanCurve(steps, values.mean(axis=0), values.min(axis=0), values.max(axis=0), end)
