# SPDX-License-Identifier: MIT
"""What pairs and mixtures came to, what was predicted of them, and how good the predictions are. Nothing is run here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from imitable import seeding
from imitable.experiments.catalogue import Entry
from imitable.experiments.cell_records import CellRecord, read_cell
from imitable.experiments.cells import Terms, job_of
from imitable.experiments.halves import RANDOM_RETURNS, family_of
from imitable.experiments.pair_scores import SCORERS, knob_difference, random_prediction, read_gaits, read_pair_scores
from imitable.experiments.prediction import CHOOSER, PAIRS, added, normalised_return, others_for
from imitable.experiments.statistics import auroc, rank_correlation
from imitable.types import Floats, Ints

RESAMPLES = 500
"""Bootstrap draws of imitators: with five per family the interval is rough whatever their number."""

KNOBS, GAITS, CHANCE = "knob difference", "gait distance", "random"
"""Trivial predictors; less difference and less distance predict more."""


@dataclass(frozen=True)
class Pair:
    """One demonstrator and one imitator."""

    imitator: str
    demonstrator: str
    outcomes: dict[int, float]
    """Normalised return by seed: 0 a random policy, 1 the demonstrated return."""
    gains: dict[int, float]
    """Return above that of a random policy, by seed."""
    of_own: float | None
    """Its return relative to what the same learner reaches from the imitator's own expert, of the seeds that both have."""
    occupancy: float | None
    """Mean distance of visited states from demonstrated ones."""

    @property
    def family(self) -> str:
        """The robot family."""
        return family_of(self.imitator)

    @property
    def is_own(self) -> bool:
        """Whether the imitator imitates its own expert: shown, and left out of what is predicted."""
        return self.imitator == self.demonstrator

    @property
    def outcome(self) -> float:
        """Mean over the recorded seeds; NaN of none."""
        return float(np.mean(list(self.outcomes.values()))) if self.outcomes else float("nan")


@dataclass(frozen=True)
class Mixture:
    """The best demonstrator of an imitator, and another one."""

    imitator: str
    best: str
    other: str
    outcomes: dict[int, float]
    """Normalised return relative to that of the best one alone, by seed."""

    @property
    def family(self) -> str:
        """The robot family."""
        return family_of(self.imitator)

    @property
    def outcome(self) -> float:
        """Mean over the recorded seeds; NaN of none."""
        return float(np.mean(list(self.outcomes.values()))) if self.outcomes else float("nan")


Predictor = Mapping[tuple[str, str], float]
"""A number by imitator and demonstrator, larger for what should be imitated better."""


def pairs_of(terms: Terms, records: Path) -> list[Pair]:
    """Return all pairs, recorded or not."""
    made: dict[tuple[str, str], dict[int, CellRecord]] = {}
    for entry in PAIRS.entries:
        made[entry.where.imitator, entry.row.whose] = _by_seed(entry, terms, records)
    return [_pair(imitator, body, seeds, made.get((imitator, imitator), {})) for (imitator, body), seeds in made.items()]


def _by_seed(entry: Entry, terms: Terms, records: Path) -> dict[int, CellRecord]:
    read = {seed: read_cell(records, job_of(entry, seed, terms)) for seed in entry.seeds or ()}
    return {seed: one for seed, one in read.items() if one is not None}


def _gain(record: CellRecord) -> float:
    return record.mean_actions.mean - RANDOM_RETURNS[record.job.imitator]


def _pair(imitator: str, body: str, seeds: Mapping[int, CellRecord], own: Mapping[int, CellRecord]) -> Pair:
    ratios = [_gain(one) / _gain(own[seed]) for seed, one in seeds.items() if seed in own]
    near = [one.occupancy.distance for one in seeds.values() if one.occupancy is not None]
    return Pair(
        imitator,
        body,
        {seed: normalised_return(one) for seed, one in seeds.items()},
        {seed: _gain(one) for seed, one in seeds.items()},
        float(np.mean(ratios)) if ratios else None,
        float(np.mean(near)) if near else None,
    )


def mixtures_of(terms: Terms, records: Path, pairs: Sequence[Pair]) -> list[Mixture]:
    """Return all mixtures that recorded pairs settle, recorded or not."""
    alone = {(pair.imitator, pair.demonstrator): pair for pair in pairs}
    first = {pair: one.outcomes[CHOOSER] for pair, one in alone.items() if CHOOSER in one.outcomes}
    found: list[Mixture] = []
    for entry in added(first).entries:
        if not entry.missing:
            imitator, (best, other) = entry.where.imitator, entry.where.setting.demonstrators
            base, made = alone[imitator, best].gains, _by_seed(entry, terms, records)
            # where even the best one is worse than a random policy, there is nothing to harm
            outcomes = {seed: _gain(one) / base[seed] for seed, one in made.items() if base.get(seed, 0.0) > 0}
            found.append(Mixture(imitator, best, other, outcomes))
    return found


def predictors(results: Path, imitators: Sequence[str]) -> dict[str, dict[tuple[str, str], float]]:
    """Return what is predicted of the pairs of some imitators, by predictor: larger is better. What is missing is left out."""
    found: dict[str, dict[tuple[str, str], float]] = {}
    for imitator in imitators:
        for scorer in SCORERS:
            if (scored := read_pair_scores(results, imitator, scorer)) is not None:
                means = {(imitator, body): float(np.mean(one.scores)) for body, one in scored.demonstrators.items()}
                found.setdefault(scorer, {}).update(means)
        if (gaits := read_gaits(results, imitator)) is not None:
            found.setdefault(GAITS, {}).update({(imitator, body): -value for body, value in gaits.babble.items()})
        for body in others_for(imitator):
            found.setdefault(KNOBS, {})[imitator, body] = -knob_difference(imitator, body)
            found.setdefault(CHANCE, {})[imitator, body] = random_prediction(imitator, body)
    return {name: found[name] for name in (*SCORERS, KNOBS, GAITS, CHANCE) if name in found}


def mixture_predictors(results: Path, mixtures: Sequence[Mixture]) -> dict[str, dict[tuple[str, str], float]]:
    """Return what is predicted of mixtures by the demonstrator that is added; gaits are compared with the best one's."""
    found = predictors(results, list(dict.fromkeys(mixture.imitator for mixture in mixtures)))
    found[GAITS] = {
        (mixture.imitator, mixture.other): -gaits.between[mixture.best][mixture.other]
        for mixture in mixtures
        if (gaits := read_gaits(results, mixture.imitator)) is not None
    }
    return found


@dataclass(frozen=True)
class Estimate:
    """A number and its interval."""

    value: float
    low: float
    high: float
    """95 % percentile bootstrap over imitators, redrawn within their families; NaN where draws do not determine the number."""
    count: int
    """Pairs."""


@dataclass(frozen=True)
class Cluster:
    """Predictions and outcomes of one imitator's pairs, which are not independent of each other."""

    imitator: str
    points: tuple[tuple[float, float], ...]
    """Prediction and outcome of each."""


def clusters_of(predicted: Predictor, outcomes: Predictor) -> list[Cluster]:
    """Return predictions next to outcomes, of what has both, by imitator."""
    found: dict[str, list[tuple[float, float]]] = {}
    for pair, value in outcomes.items():
        if pair in predicted and not np.isnan(value) and not np.isnan(predicted[pair]):
            found.setdefault(pair[0], []).append((predicted[pair], value))
    return [Cluster(imitator, tuple(points)) for imitator, points in found.items()]


def rho(clusters: Sequence[Cluster]) -> float:
    """Return Spearman's ρ over all pairs; NaN of fewer than three, or where either side is constant."""
    one, other = columns(clusters)
    return float("nan") if len(one) < 3 or not np.ptp(one) or not np.ptp(other) else rank_correlation(one, other)


def rho_within(clusters: Sequence[Cluster]) -> float:
    """Return the mean over families of ρ within the family: families differ in more than pairs do."""
    known = [value for part in by_family(clusters).values() if not np.isnan(value := rho(part))]
    return float(np.mean(known)) if known else float("nan")


def auroc_of(clusters: Sequence[Cluster], threshold: float) -> float:
    """Return P(prediction of a pair whose outcome reaches the threshold > that of one below), ties counted half."""
    predicted, outcomes = columns(clusters)
    above = outcomes >= threshold
    return float("nan") if above.all() or not above.any() else auroc(predicted[~above], predicted[above])


def regret_of(clusters: Sequence[Cluster]) -> float:
    """Return the mean over imitators of the best outcome less that of the best predicted demonstrator, ties averaged."""
    lost: list[float] = []
    for cluster in clusters:
        predicted, outcomes = columns([cluster])
        lost.append(float(outcomes.max() - outcomes[predicted == predicted.max()].mean()))
    return float(np.mean(lost)) if lost else float("nan")


def columns(clusters: Sequence[Cluster]) -> tuple[Floats, Floats]:
    """(N), (N) predictions and outcomes of all pairs."""
    rows = np.array([point for cluster in clusters for point in cluster.points]).reshape(-1, 2)
    return rows[:, 0], rows[:, 1]


def by_family(clusters: Sequence[Cluster]) -> dict[str, list[Cluster]]:
    """Return the clusters of each family."""
    found: dict[str, list[Cluster]] = {}
    for cluster in clusters:
        found.setdefault(family_of(cluster.imitator), []).append(cluster)
    return found


def estimated(clusters: Sequence[Cluster], statistic: Callable[[Sequence[Cluster]], float]) -> Estimate:
    """Return a statistic with its interval."""
    rng, families = seeding.generator(0, "bootstrap"), list(by_family(clusters).values())
    drawn: list[float] = []
    for _ in range(RESAMPLES if len(clusters) > len(families) else 0):
        drawn.append(statistic([one for family in families for one in _redrawn(family, rng)]))
    known = [one for one in drawn if not np.isnan(one)]
    low, high = np.quantile(known, (0.025, 0.975)) if known else (float("nan"), float("nan"))
    return Estimate(statistic(clusters), float(low), float(high), sum(len(cluster.points) for cluster in clusters))


def _redrawn(family: Sequence[Cluster], rng: np.random.Generator) -> list[Cluster]:
    places: Ints = rng.integers(len(family), size=len(family))
    return [family[place] for place in places.tolist()]


@dataclass(frozen=True)
class Merit:
    """How good a predictor of one truth is."""

    within: Estimate
    """Mean over families of Spearman's ρ within the family."""
    overall: Estimate
    """Spearman's ρ over all pairs."""
    area: Estimate
    """AUROC of "the outcome reaches the threshold"."""
    regret: Estimate
    families: dict[str, float]
    """Spearman's ρ by family."""


def merit(predicted: Predictor, outcomes: Predictor, threshold: float) -> Merit:
    """Return how good a predictor is."""
    clusters = clusters_of(predicted, outcomes)
    return Merit(
        estimated(clusters, rho_within),
        estimated(clusters, rho),
        estimated(clusters, partial(auroc_of, threshold=threshold)),
        estimated(clusters, regret_of),
        {family: rho(part) for family, part in by_family(clusters).items()},
    )


def ceiling(pairs: Sequence[Pair], seeds: tuple[int, int] = (0, 1)) -> Estimate:
    """Return ρ within families between the outcomes of two seeds: no predictor can be expected to do better."""
    one, other = ({(pair.imitator, pair.demonstrator): pair.outcomes.get(seed, np.nan) for pair in pairs} for seed in seeds)
    return estimated(clusters_of(one, other), rho_within)


@dataclass(frozen=True)
class Bin:
    """Pairs whose prediction is in an interval."""

    low: float
    high: float
    count: int
    imitated: int
    """Of those, with an outcome that reaches the threshold."""


def reliability(clusters: Sequence[Cluster], threshold: float, bins: int = 5) -> list[Bin]:
    """Return which fraction of pairs is imitated, by equal intervals of a prediction in [0, 1]; 1 is in the last one."""
    predicted, outcomes = columns(clusters)
    places = np.minimum((predicted * bins).astype(int), bins - 1)
    return [
        Bin(place / bins, (place + 1) / bins, int(inside.sum()), int((outcomes[inside] >= threshold).sum()))
        for place in range(bins)
        for inside in [places == place]
    ]
