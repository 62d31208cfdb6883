# SPDX-License-Identifier: MIT
"""Whom to ask next: the paper's Eqn. 4, with intervals, costs and a rule for when to stop.

p_j = mean score of demonstrator j ÷ sum of the mean scores: ask more where demonstrations are more likely to be feasible.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log, sqrt

import numpy as np

from imitable import seeding
from imitable.errors import BadOption, one_of
from imitable.feasibility.scores import Scores
from imitable.types import Episode

Z = 1.959964
"""Quantile of the normal distribution for 95 % intervals."""

COLUMNS = ("demonstrator", "source", "index", "length", "return", "terminated", "seed")
"""Episode columns that demonstrations can be grouped by."""


@dataclass(frozen=True)
class Source:
    """One demonstrator (or other group) and what asking it promises."""

    name: str
    demonstrations: int
    feasible: float
    """Fraction of its demonstrations that are feasible."""
    low: float
    """95 % Wilson interval of that fraction."""
    high: float
    mean_score: float
    probability: float
    """p_j of Eqn. 4."""
    queries: int
    """Of the budget."""
    cost: float
    """Of one demonstration."""
    feasible_per_cost: float
    """Expected feasible demonstrations per unit of cost."""


@dataclass(frozen=True)
class Advice:
    """Whom to ask."""

    sources: tuple[Source, ...]
    """The most promising first."""
    sentence: str


def acquire(
    scores: Scores,
    budget: int,
    *,
    costs: Mapping[str, float] | None = None,
    by: str = "demonstrator",
    draw: int | None = None,
) -> Advice:
    """Return how to spend `budget` queries on the demonstrators (or groups by another episode column).

    Queries are divided in proportion to p. With `draw`, a seed, every query is drawn from p independently, as the paper does:
    the first of many are those of few.
    """
    if budget < 1:
        raise BadOption("budget", budget, "give a number of demonstrations from 1 on")
    rows = grouped(scores, by)
    prices = _prices(costs or {}, rows)
    names = list(rows)
    means = np.array([float(scores.score[rows[name]].mean()) for name in names])
    total = float(means.sum())
    probability = means / total if total > 0 else np.full(len(names), 1 / len(names))
    queries = _allotted(probability, budget) if draw is None else _drawn(names, probability, budget, draw)
    sources = [
        _source(name, [scores.verdict[i] for i in rows[name]], float(m), float(p), int(q), prices[name])
        for name, m, p, q in zip(names, means, probability, queries, strict=True)
    ]
    ordered = tuple(sorted(sources, key=lambda source: (-source.feasible_per_cost, -source.probability, source.name)))
    return Advice(ordered, _sentence(ordered, budget))


def grouped(scores: Scores, by: str = "demonstrator") -> dict[str, list[int]]:
    """Return the rows of every group by an episode column."""
    if by not in COLUMNS:
        raise BadOption("by", by, one_of(by, COLUMNS))
    groups: dict[str, list[int]] = {}
    for row, episode in enumerate(scores.episodes):
        groups.setdefault(_group(episode, by), []).append(row)
    return groups


def _group(episode: Episode, by: str) -> str:
    return f"{episode.total_return:g}" if by == "return" else str(getattr(episode, by))


def _prices(costs: Mapping[str, float], groups: Mapping[str, object]) -> dict[str, float]:
    for name, cost in costs.items():
        if name not in groups:
            raise BadOption("cost", name, one_of(name, groups))
        if not 0 < cost < float("inf"):
            raise BadOption("cost", f"{name}={cost}", "give a price above 0")
    return {name: costs.get(name, 1.0) for name in groups}


def _allotted(probability: np.ndarray, budget: int) -> np.ndarray:
    """Divide `budget` in proportion, whole numbers by largest remainder."""
    exact = probability * budget
    whole = np.floor(exact).astype(int)
    rest = np.argsort(-(exact - whole), kind="stable")[: budget - int(whole.sum())]
    whole[rest] += 1
    return whole


def _drawn(names: Sequence[str], probability: np.ndarray, budget: int, seed: int) -> np.ndarray:
    """Draw `budget` times independently; whom a seed draws does not depend on the order of the demonstrators."""
    order = np.argsort(names)
    chosen = seeding.generator(seed, "acquire").choice(order, budget, p=probability[order])
    return np.bincount(chosen, minlength=len(names))


def _source(name: str, verdicts: list[str], mean: float, probability: float, queries: int, cost: float) -> Source:
    count, hits = len(verdicts), sum(verdict == "feasible" for verdict in verdicts)
    low, high = wilson(hits, count)
    fraction = hits / count
    return Source(name, count, fraction, low, high, mean, probability, queries, cost, fraction / cost)


def wilson(hits: int, count: int) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a proportion.

    By hand: `scipy.stats` has it, but takes longer to import than all else that `imitable acquire` does.
    """
    fraction, square = hits / count, Z**2 / count
    centre = (fraction + square / 2) / (1 + square)
    half = Z / (1 + square) * sqrt(fraction * (1 - fraction) / count + square / (4 * count))
    return max(0.0, centre - half), min(1.0, centre + half)


def _sentence(sources: tuple[Source, ...], budget: int) -> str:
    """Say whom to ask, and when to stop; never that of the source whose demonstrations are the best of all.

    Feasible or not, weights rest on the best there is: without that source only worse ones would be left.
    """
    best, top = sources[0], max(sources, key=lambda source: source.probability)
    asked = [source for source in sources if source.queries]
    plan = ", ".join(f"{source.name} for {source.queries}" for source in asked)
    if best.feasible == 0:
        return (
            f"no demonstrator has given a feasible demonstration yet: ask {plan}; those of {top.name} fail least, so go on "
            "asking it even if none is feasible, and look at what they lack (imitable score --explain)"
        )
    patience = ceil(log(0.05) / log(1 - min(best.low, 0.999))) if best.low > 0 else budget
    expected = sum(source.queries * source.feasible for source in asked)
    row = f"if {patience} of its demonstrations in a row are not feasible"
    rule = f"{row}, score again and go on: they are the best of all" if best is top else f"{row}, stop asking it"
    return f"ask {plan}: about {expected:.1f} of {budget} will be feasible; {best.name} gives most for its cost, and {rule}"
