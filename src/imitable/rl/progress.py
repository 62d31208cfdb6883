# SPDX-License-Identifier: MIT
"""How learning stands, for bars, metrics and logs. No JAX."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """What one iteration reports."""

    steps: int
    """Control steps taken so far."""
    mean_return: float
    """Mean return of the last episodes, with sampled actions; NaN before the first one ends."""
    mean_length: float
    """And their mean length."""
    unstable: int
    """Simulations that MuJoCo gave up on in this iteration."""
    metrics: dict[str, float]
    """What the method says of its update."""
