# SPDX-License-Identifier: MIT
"""Statistics of demonstrations and of runs: arrays in, few numbers out.

A run's number is its mean return; a *stratum* is one setting's runs of a row, one a seed.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from imitable import seeding
from imitable.types import Floats

RESAMPLES = 20_000
"""Of a bootstrap interval: its second digit then depends on the draws no more (with 2,000 it did, by ±0.005)."""

ARRANGEMENTS = 20_000
"""Of a permutation test; all there are, if they are fewer."""


def auroc(low: Floats, high: Floats) -> float:
    """(N), (M) → P(x < y) + ½ P(x = y) of x drawn from `low` and y from `high`: the area under the ROC curve.

    It is 1 − U / (N · M) with the Mann–Whitney statistic U of `low`: 1 if all of `low` lies below all of `high`.
    """
    test = cast(Any, stats).mannwhitneyu(low, high, method="asymptotic")
    return 1 - float(test.statistic) / (len(low) * len(high))


def rank_correlation(one: ArrayLike, other: ArrayLike) -> float:
    """(N), (N) → Spearman's ρ in [−1, 1]."""
    return float(cast(Any, stats).spearmanr(one, other).statistic)


@dataclass(frozen=True)
class Welch:
    """Welch's test of two means without the assumption of equal deviations."""

    two_sided: float
    """p of "they are the same"."""
    one_sided: float
    """p of "the first is not larger"."""


def welch(ours: Floats, theirs: Floats) -> Welch:
    """(N), (M) → p-values of t = (x̄ − ȳ) / √(s_x² / N + s_y² / M) with Welch–Satterthwaite degrees of freedom.

    NaN of fewer than two runs on a side; where neither side deviates at all, different means are certain and equal ones alike.
    """
    if min(len(ours), len(theirs)) < 2:
        return Welch(float("nan"), float("nan"))
    if np.ptp(ours) == np.ptp(theirs) == 0:
        above, below = ours[0] > theirs[0], ours[0] < theirs[0]
        return Welch(float(not (above or below)), 0.0 if above else 1.0 if below else 0.5)
    test: Any = cast(Any, stats).ttest_ind(ours, theirs, equal_var=False)
    one_sided: Any = cast(Any, stats).ttest_ind(ours, theirs, equal_var=False, alternative="greater")
    return Welch(float(test.pvalue), float(one_sided.pvalue))


def paired(ours: Floats, theirs: Floats) -> float:
    """(N), (N) of the same seeds → two-sided p of Fisher's sign-flip test: "of each seed, either could have had the other's".

    With d = x − y it is the part of the 2ᴺ sign patterns s with |Σ s d| ≥ |Σ d|, drawn at random where there are more than
    `ARRANGEMENTS`. It cannot be below 2 / 2ᴺ: 0.06 of five seeds, 0.002 of ten. NaN of fewer than two seeds.
    """
    if len(ours) < 2:
        return float("nan")

    def total(drawn: Floats, axis: int) -> Floats:
        return np.sum(drawn, axis=axis)

    test: Any = cast(Any, stats).permutation_test(
        (ours - theirs,),
        total,
        permutation_type="samples",
        n_resamples=ARRANGEMENTS,
        vectorized=True,
        rng=seeding.generator(0, "sign flips"),
    )
    return float(test.pvalue)


def foreseen(ours: Floats, theirs: Floats, runs: tuple[int, int]) -> float:
    """(N), (M) → two-sided p that Welch's test gives to so many runs of each side with today's means and deviations.

    No prediction: means and deviations of few runs are themselves uncertain. NaN of fewer than two runs on a side.
    """
    if min(len(ours), len(theirs)) < 2 or np.ptp(ours) == np.ptp(theirs) == 0:
        return welch(ours, theirs).two_sided
    sides = [(one.mean(), one.std(ddof=1), count) for one, count in zip((ours, theirs), runs, strict=True)]
    return float(cast(Any, stats).ttest_ind_from_stats(*sides[0], *sides[1], equal_var=False).pvalue)


def fisher(ours: tuple[int, int], theirs: tuple[int, int]) -> float:
    """Return the two-sided p of Fisher's exact test; each side is how many succeeded, of how many."""
    table = [[successes, trials - successes] for successes, trials in (ours, theirs)]
    return float(cast(Any, stats).fisher_exact(table).pvalue)


@dataclass(frozen=True)
class Claim:
    """Is one row above every baseline? Of all baselines, the one that makes it least certain."""

    baseline: str
    """Of several that make it so, the one with the highest mean."""
    unbeaten: tuple[str, ...]
    """Baselines whose mean ours is not above."""
    p: float
    """Two-sided p against it; 1 where our mean is not above its mean: nothing then speaks for the claim. NaN: one run."""
    one_sided: float
    """Largest one-sided p over the baselines."""
    foreseen: float
    """What p would be of all runs that are planned, with today's means and deviations."""

    @property
    def above(self) -> bool:
        """Whether our mean is above that of every baseline."""
        return not self.unbeaten


def claim(ours: Floats, baselines: Mapping[str, Floats], planned: int, baselines_planned: Mapping[str, int]) -> Claim:
    """Return the largest p over the baselines; NaN counts as the largest, because nothing is known then.

    Args:
        ours: (N) returns of the row.
        baselines: returns of every baseline.
        planned: how many runs the row will have in the end.
        baselines_planned: how many every baseline will have.
    """
    tests = {name: welch(ours, theirs) for name, theirs in baselines.items()}
    means = {name: float(theirs.mean()) for name, theirs in baselines.items()}
    unbeaten = tuple(name for name, mean in means.items() if ours.mean() <= mean)
    p = {name: max(test.two_sided, float(name in unbeaten)) for name, test in tests.items()}  # NaN comes first
    worst = max(p, key=lambda name: (np.isnan(p[name]), 0.0 if np.isnan(p[name]) else p[name], means[name]))
    one_sided = np.max([test.one_sided for test in tests.values()])
    later = [
        max(foreseen(ours, theirs, (planned, baselines_planned[name])), float(name in unbeaten))
        for name, theirs in baselines.items()
    ]
    return Claim(worst, unbeaten, p[worst], float(one_sided), float(np.max(later)))


def holm(p: Sequence[float]) -> list[float]:
    """(m) → Holm's adjusted p: with p_(1) ≤ … ≤ p_(m), p̃_(i) = max_{j ≤ i} min(1, (m − j + 1) p_(j)); NaN stays, and counts."""
    values = np.array(p, float)
    order = np.argsort(values, kind="stable")  # NaN last
    factors = len(values) - np.arange(len(values))
    adjusted = np.empty_like(values)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, factors * values[order]))
    return adjusted.tolist()


def interquartile_mean(values: Floats) -> Floats:
    """(…, N) → (…) mean of what is left when a quarter of the numbers, rounded down, is left out at each end."""
    return np.asarray(cast(Any, stats).trim_mean(values, 0.25, axis=-1))


def stratified_interval(
    strata: Sequence[Floats], statistic: Callable[[Floats], Floats], seed: int = 0, resamples: int = RESAMPLES
) -> tuple[float, float]:
    """Return the 95 % percentile bootstrap interval of a statistic of all runs; runs are redrawn within their own stratum.

    The statistic is one over the last axis: (resamples, N) → (resamples).
    """
    rng = seeding.generator(seed, "bootstrap")
    drawn = np.concatenate([rng.choice(one, (resamples, len(one))) for one in strata], axis=1)
    low, high = np.quantile(statistic(drawn), (0.025, 0.975))
    return float(low), float(high)


def probability_of_improvement(ours: Sequence[Floats], theirs: Sequence[Floats]) -> float:
    """Return the mean over strata of P(x > y) + ½ P(x = y), x a run of ours and y one of theirs."""
    return float(np.mean([auroc(low, high) for low, high in zip(theirs, ours, strict=True)]))


def normalised(returns: Floats, random: float, expert: float) -> Floats:
    """(N) → (R − R_random) / (R_expert − R_random): 0 is a random policy, 1 the imitator's own expert."""
    return (returns - random) / (expert - random)


def regret(returns: Floats, related: Floats) -> float:
    """(N), (M) → mean return of imitating related demonstrators only, less our mean."""
    return float(related.mean() - returns.mean())


@dataclass(frozen=True)
class Trend:
    """Whether numbers fall as another number grows."""

    rho: float
    """Spearman's ρ; −1: always."""
    p: float
    """One-sided p of "they do not fall"."""
    runs: int
    """N."""
    least_p: float
    """What p would be of runs that fall as steadily as they can: 1 over the ways to deal N runs out to the amounts, or over
    those that are tried."""


def falling(amounts: Sequence[float], returns: Sequence[float]) -> Trend:
    """(N), (N) → the trend of returns over amounts, p by permutation: exact for few runs; NaN if either never changes.

    With fixed ranks, ρ falls with Σ rank(amount) · rank(return), which is what the permutations are compared by.
    """
    same = [amounts.count(amount) for amount in set(amounts)]
    ways = math.factorial(len(amounts)) / math.prod(math.factorial(count) for count in same)
    least = 1 / min(ways, ARRANGEMENTS + 1)
    if len(same) < 2 or len(set(returns)) < 2:
        return Trend(float("nan"), float("nan"), len(returns), least)
    ranks, levels = (np.asarray(cast(Any, stats).rankdata(values), np.float64) for values in (returns, amounts))

    def agreement(drawn: Floats, axis: int) -> Floats:
        return np.sum(drawn * levels, axis=axis)

    test: Any = cast(Any, stats).permutation_test(
        (ranks,),
        agreement,
        permutation_type="pairings",
        alternative="less",
        n_resamples=ARRANGEMENTS,
        vectorized=True,
        rng=seeding.generator(0, "permutations"),
    )
    return Trend(rank_correlation(amounts, returns), float(test.pvalue), len(returns), least)


def steps_to(looks: Sequence[tuple[int, float | None]], goal: float) -> int | None:
    """Return the steps of the first look that reaches a goal; None if none does. A look at nothing reaches nothing."""
    return next((steps for steps, value in looks if value is not None and value >= goal), None)
