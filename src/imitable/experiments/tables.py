# SPDX-License-Identifier: MIT
"""Tables of cells: what their records say together, by row and by place. Nothing is run here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from imitable.experiments.catalogue import FIRST, UNRELATED_COUNTS, Experiment
from imitable.experiments.cell_records import CellRecord
from imitable.experiments.cells import Cell, Terms, cells_of
from imitable.experiments.reproduction import records_of
from imitable.experiments.rows import ALL, RELATED_ONLY
from imitable.experiments.statistics import (
    Claim,
    Trend,
    claim,
    falling,
    holm,
    interquartile_mean,
    normalised,
    paired,
    probability_of_improvement,
    regret,
    stratified_interval,
)
from imitable.types import Floats


@dataclass(frozen=True, eq=False)
class Table:
    """The cells of one experiment, and what is known of them."""

    experiment: Experiment
    cells: tuple[Cell, ...]
    records: tuple[CellRecord | None, ...]
    """One a cell; None: not made yet."""

    @property
    def places(self) -> list[str]:
        """Names of its settings, in order."""
        return list(dict.fromkeys(entry.where.name for entry in self.experiment.entries))

    @property
    def rows(self) -> list[str]:
        """Names of its rows, in order."""
        return list(dict.fromkeys(entry.row.name for entry in self.experiment.entries))

    @cached_property
    def _by_entry(self) -> dict[tuple[str, str], list[CellRecord]]:
        found: dict[tuple[str, str], list[CellRecord]] = {}
        for cell, record in zip(self.cells, self.records, strict=True):
            if record is not None:
                found.setdefault((cell.where, cell.row), []).append(record)
        return found

    def at(self, place: str, row: str) -> list[CellRecord]:
        """Return the records of a row in a place, by seed."""
        return sorted(self._by_entry.get((place, row), []), key=lambda record: record.job.seed)

    def returns(self, place: str, row: str) -> Floats:
        """(seeds) mean returns of a row in a place."""
        return np.array([record.mean_actions.mean for record in self.at(place, row)])

    def paired(self, place: str, row: str, other: str) -> tuple[Floats, Floats]:
        """(seeds), (seeds) mean returns of two rows in a place, of the seeds that both have."""
        ours, theirs = ({one.job.seed: one.mean_actions.mean for one in self.at(place, name)} for name in (row, other))
        seeds = [seed for seed in ours if seed in theirs]
        return np.array([ours[seed] for seed in seeds]), np.array([theirs[seed] for seed in seeds])

    def planned(self, place: str, row: str) -> int:
        """Number of seeds that a row will have in a place in the end."""
        return sum((cell.where, cell.row) == (place, row) for cell in self.cells)

    def since(self, seed: int) -> "Table":
        """Return the table of the seeds from one on."""
        kept = [(cell, record) for cell, record in zip(self.cells, self.records, strict=True) if cell.seed >= seed]
        return Table(self.experiment, tuple(cell for cell, _ in kept), tuple(record for _, record in kept))

    @property
    def done(self) -> list[CellRecord]:
        """Return all records, those of shared cells once."""
        return list({record.job: record for record in self.records if record is not None}.values())

    @property
    def missing(self) -> int:
        """Number of cells that are not made yet."""
        return sum(record is None for record in self.records)

    @property
    def codes(self) -> set[str]:
        """Hashes of the code that computed it: more than one is a mixture."""
        return {code for record in self.done for code in record.provenance.codes}

    @property
    def protocols(self) -> set[str]:
        """Hashes of the protocols that it was run under."""
        return {record.provenance.protocol for record in self.done}


def table_of(experiment: Experiment, terms: Terms, records: Path) -> Table:
    """Return the table of an experiment, from the records in a folder."""
    cells = cells_of([experiment], terms)
    return Table(experiment, tuple(cells), tuple(records_of(cells, records)))


@dataclass(frozen=True)
class PlaceClaim:
    """The claim of one row in one place."""

    place: str
    claim: Claim
    adjusted: float
    """p after Holm over all places."""
    foreseen: float
    """p that is foreseen of all planned seeds, after Holm over all places."""
    paired: float
    """Largest p of the paired permutation test over the baselines, not corrected; 1 where our mean is not above theirs."""


def claims(table: Table, row: str, baselines: Sequence[str]) -> list[PlaceClaim]:
    """Return the primary test of a row: per place the largest p over the baselines, Holm over the places.

    Places where a baseline or the row itself has no run yet are left out, but Holm counts them: they will be tested, too.
    """
    found: dict[str, Claim] = {}
    for place in table.places:
        theirs = {name: table.returns(place, name) for name in baselines if name in table.rows}
        ours = table.returns(place, row)
        if len(ours) and theirs and all(len(one) for one in theirs.values()):
            planned = {name: table.planned(place, name) for name in theirs}
            found[place] = claim(ours, theirs, table.planned(place, row), planned)
    adjusted = holm([found[place].p if place in found else float("nan") for place in table.places])
    later = holm([found[place].foreseen if place in found else float("nan") for place in table.places])
    each = zip(table.places, adjusted, later, strict=True)
    return [
        PlaceClaim(place, found[place], now, then, _paired(table, place, row, baselines))
        for place, now, then in each
        if place in found
    ]


def _paired(table: Table, place: str, row: str, baselines: Sequence[str]) -> float:
    pairs = [table.paired(place, row, name) for name in baselines if name in table.rows]
    return float(np.max([max(paired(*pair), float(np.sum(pair[0] - pair[1]) <= 0)) for pair in pairs]))


CERTAIN = 0.01
"""Adjusted p below which a claim counts as shown."""


def regrets(table: Table, row: str) -> dict[str, float]:
    """Return how far the mean of a row stays below that of related demonstrators only, by place, where both are recorded."""
    pairs = {place: (table.returns(place, row), table.returns(place, RELATED_ONLY.name)) for place in table.places}
    return {place: regret(*pair) for place, pair in pairs.items() if all(map(len, pair))}


def related_masses(table: Table, row: str) -> dict[str, Floats]:
    """Return the part of a row's weights that related demonstrators carry, (seeds) by place, where anything is recorded.

    Rows that have other demonstrators have no such part.
    """
    found: dict[str, Floats] = {}
    for entry in table.experiment.entries:
        bodies = list(zip(entry.where.setting.demonstrators, entry.where.counts, strict=True))[: entry.where.setting.related]
        related = [body for body, count in bodies if count]
        if entry.row.name == row and entry.row.whose == ALL and (records := table.at(entry.where.name, row)):
            found[entry.where.name] = np.array([sum(one.masses[body] for body in related) for one in records])
    return found


def trends_of(table: Table) -> dict[tuple[str, str], Trend]:
    """Return whether the runs of rows fall with the number of unrelated demonstrations, by row and setting that has cells."""
    return {
        (row, setting.name): _trend(table, setting.name, row)
        for row in table.rows
        for setting in FIRST
        if any(table.planned(f"{setting.name}-{count}", row) for count in UNRELATED_COUNTS)
    }


def _trend(table: Table, setting: str, row: str) -> Trend:
    """Return the trend of a row in a setting: places are SETTING-NUMBER."""
    runs = [(count, value) for count in UNRELATED_COUNTS for value in table.returns(f"{setting}-{count}", row).tolist()]
    return falling([count for count, _ in runs], [value for _, value in runs])


def spent_hours(records: Sequence[CellRecord]) -> float:
    """Return the core-hours of runs, and of the scores that they share, once."""
    scores = {record.job.scores: record.spent.score_s for record in records if record.job.scores is not None}
    return (sum(record.spent.learner_s for record in records) + sum(scores.values())) / 3600


@dataclass(frozen=True)
class Outcome:
    """In how many places a row's claim holds."""

    places: int
    """Of the table."""
    compared: int
    """Of those, with runs of the row and of every baseline."""
    tested: int
    """Of those, with a p: two seeds of the row and of every baseline at least."""
    above: int
    """With a mean above every baseline's."""
    certain: int
    """With a p below `CERTAIN` after Holm."""
    foreseen: int
    """With such a p if all planned seeds had today's means and deviations."""
    recorded: int
    """With runs of the row."""
    above_printed: int
    """Of those, with a mean above what the paper prints for its own method."""


def outcome(table: Table, row: str, baselines: Sequence[str], printed: Mapping[str, float]) -> Outcome:
    """Return what came of the claim of a row; `printed` are the paper's own returns by place."""
    tested = claims(table, row, baselines)
    ours = {place: float(returns.mean()) for place in table.places if len(returns := table.returns(place, row))}
    return Outcome(
        len(table.places),
        len(tested),
        sum(not np.isnan(one.claim.p) for one in tested),
        sum(one.claim.above for one in tested),
        sum(one.adjusted < CERTAIN for one in tested),
        sum(one.foreseen < CERTAIN for one in tested),
        len(ours),
        sum(mean > printed[place] for place, mean in ours.items()),
    )


RESAMPLED = 3
"""Runs a place, at least, that an interval is resampled from."""


@dataclass(frozen=True)
class Aggregate:
    """A row over all places together."""

    places: int
    """With runs of the row and of what normalises them."""
    fewest: int
    """Runs of the row in the place with the fewest of them."""
    iqm: float
    """Interquartile mean of normalised returns: a quarter of the runs, rounded down, is left out at each end."""
    low: float
    high: float
    """Its 95 % stratified bootstrap interval; NaN where a place has fewer than `RESAMPLED` runs: two hide their spread."""
    mean: float
    """Mean over places of a place's mean normalised return."""
    worst: float
    """Mean normalised return in the place where it is lowest."""


def strata(table: Table, row: str, random: dict[str, float], expert: str = "own expert") -> dict[str, Floats]:
    """Return the normalised returns of a row by place: 0 a random policy, 1 the imitator's own expert's imitator."""
    found: dict[str, Floats] = {}
    for place in table.places:
        ours, best = table.at(place, row), table.returns(place, expert)
        if ours and len(best) and ours[0].job.imitator in random:
            found[place] = normalised(table.returns(place, row), random[ours[0].job.imitator], float(best.mean()))
    return found


def aggregate(table: Table, row: str, random: dict[str, float]) -> Aggregate | None:
    """Return a row over all places; None if no place has what it takes."""
    each = list(strata(table, row, random).values())
    if not each:
        return None
    fewest = min(map(len, each))
    low, high = stratified_interval(each, interquartile_mean) if fewest >= RESAMPLED else (float("nan"), float("nan"))
    means, every = [float(one.mean()) for one in each], np.concatenate(each)
    return Aggregate(len(each), fewest, float(interquartile_mean(every)), low, high, float(np.mean(means)), min(means))


def improvement(table: Table, row: str, other: str) -> float | None:
    """Return the probability that a run of a row is above one of another, the mean over places that have both."""
    both = [(table.returns(place, row), table.returns(place, other)) for place in table.places]
    both = [(ours, theirs) for ours, theirs in both if len(ours) and len(theirs)]
    return probability_of_improvement([a for a, _ in both], [b for _, b in both]) if both else None
