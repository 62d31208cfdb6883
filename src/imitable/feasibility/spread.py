# SPDX-License-Identifier: MIT
"""Single transitions as a sample of a whole demonstration: where no error leads to the next one, no step counts more."""

import numpy as np

from imitable import seeding
from imitable.feasibility.ruler import Ruler
from imitable.types import Ints, Trajectory


def spread_steps(trajectory: Trajectory, count: int) -> Ints:
    """(n) ascending steps t of the transitions s_t → s_{t+1} that are judged, n = `count` at most, one in each nth part.

    Which one, the demonstration's hash draws: at equal distances, all could fall into one phase of a gait.
    """
    parts = min(count, len(trajectory))
    edges = np.arange(parts + 1) * len(trajectory) // parts
    return seeding.generator(0, "spread", trajectory.hash).integers(edges[:-1], edges[1:])


def as_distance(ruler: Ruler, mean_error: float, horizon: int) -> float:
    """Return mean error · Σ_{t<H} γ^t: the distance of a rollout that misses so much at each of its H steps.

    In this unit temperatures mean what they mean for methods that follow a demonstration; H is `ruler.horizon(horizon)`.
    """
    return mean_error * float(ruler.discounted(np.ones(ruler.horizon(horizon))))
