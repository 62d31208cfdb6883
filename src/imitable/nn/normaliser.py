# SPDX-License-Identifier: MIT
"""Running mean and deviation, merged batch by batch (Chan, Golub and LeVeque), float64, NumPy only."""

from dataclasses import dataclass

import numpy as np

from imitable.types import Floats


@dataclass(frozen=True)
class Normaliser:
    """Mean and variance of all rows seen so far."""

    mean: Floats
    """(O) mean."""
    variance: Floats
    """(O) population variance."""
    count: float
    """Rows seen."""

    @property
    def std(self) -> Floats:
        """(O) deviation, kept away from zero."""
        return np.sqrt(self.variance + 1e-8)


def fresh(size: int) -> Normaliser:
    """Return a normaliser that has seen nothing: the identity."""
    return Normaliser(np.zeros(size), np.ones(size), 0.0)


def updated(normaliser: Normaliser, rows: Floats) -> Normaliser:
    """Merge rows (n, O).

    With n_a rows seen, n_b new ones, δ = m_b − m_a and n = n_a + n_b:
    m = m_a + δ n_b / n and v = (n_a v_a + n_b v_b) / n + δ² n_a n_b / n².
    """
    new, total = len(rows), normaliser.count + len(rows)
    mean, variance = rows.mean(axis=0), rows.var(axis=0)
    if normaliser.count == 0.0:
        return Normaliser(mean, variance, float(new))
    delta, fraction = mean - normaliser.mean, new / total
    return Normaliser(
        mean=normaliser.mean + delta * fraction,
        variance=normaliser.variance * (1 - fraction) + variance * fraction + np.square(delta) * fraction * (1 - fraction),
        count=total,
    )
