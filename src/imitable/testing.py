# SPDX-License-Identifier: MIT
"""Our laws, for other people's methods: `check_scorer(MyScorer(), demos, "hopper:gravity=15")` in a test of yours."""

from collections.abc import Sequence

import numpy as np

from imitable.dynamics.variant import Variant
from imitable.errors import BadWeights
from imitable.feasibility.method import Measuring, score
from imitable.feasibility.scorer import Scorer
from imitable.types import Demonstrations, Floats, InMemory, Scores, Trajectory


def check_scorer(
    scorer: Scorer | str,
    demos: Demonstrations,
    imitator: Variant | str,
    *,
    seed: int = 0,
    local: bool = True,
    measuring: Measuring | None = None,
) -> Scores:
    """Raise AssertionError, naming the law, if a scorer breaks one; return its scores of the whole set.

    Args:
        scorer: the method, or its text.
        demos: at least three demonstrations that fit into memory.
        imitator: the robot that shall imitate.
        seed: seed of everything random.
        local: whether a demonstration's score may depend on that demonstration alone; a method that learns from the set, or
            scales by it, is not local, and is spared the law about added demonstrations.
        measuring: distance, compared entries, discount, rollouts.
    """
    trajectories: list[Trajectory] = list(demos)

    def scored(chosen: Sequence[Trajectory]) -> Scores:
        return score(InMemory(demos.layout, chosen), imitator, scorer, seed, measuring=measuring)

    scores = scored(trajectories)
    _law_of_ranges(scores)
    _same("the same seed gives the same scores", scored(trajectories), scores, np.arange(len(trajectories)))
    backwards = np.arange(len(trajectories))[::-1]
    _same("permuted demonstrations have permuted scores", scored(trajectories[::-1]), scores, backwards)
    if local:
        part = np.arange(len(trajectories) - 1)
        _same("an added demonstration changes no other score", scored(trajectories[:-1]), scores, part, weights=False)
    _law_of_strangers(scores, demos)
    return scores


def _law_of_ranges(scores: Scores) -> None:
    assert np.isfinite(scores.distance).all(), "distances are finite"
    assert np.isfinite(scores.share).all(), "shares are finite"
    assert ((scores.score >= 0) & (scores.score <= 1)).all(), "scores lie in [0, 1]"
    assert (scores.weight >= 0).all(), "no weight is negative"
    assert abs(float(scores.weight.sum()) - 1) < 1e-9, "weights sum to one"
    assert set(scores.verdict) <= {"feasible", "nearly", "infeasible"}, "verdicts are feasible, nearly or infeasible"
    lengths = np.array([episode.length for episode in scores.episodes])
    assert (scores.first_divergence <= lengths).all(), "a divergence lies within its demonstration"


def _same(law: str, found: Scores, expected: Scores, rows: "np.ndarray", *, weights: bool = True) -> None:
    """Compare found[k] with expected[rows[k]], to the last bit but the weights, which are sums over the set."""
    for name in ("distance", "share", "score", "first_divergence"):
        ours: Floats = getattr(found, name)
        assert np.array_equal(ours, getattr(expected, name)[rows]), f"{law}: {name} differs"
    assert found.verdict == tuple(expected.verdict[int(i)] for i in rows), f"{law}: a verdict differs"
    if weights:
        assert np.allclose(found.weight, expected.weight[rows], rtol=1e-9), f"{law}: a weight differs"


def _law_of_strangers(scores: Scores, demos: Demonstrations) -> None:
    """Weights are refused by demonstrations that they were not made for."""
    first = demos[0]
    stranger = InMemory(demos.layout, [Trajectory(first.states + 1e-6, first.demonstrator)])
    try:
        scores.weights.of(stranger)
    except BadWeights:
        return
    raise AssertionError("foreign weights are refused")
