# SPDX-License-Identifier: MIT
"""The result of scoring: a record per demonstration, how they were measured, and how they were weighted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import numpy as np

from imitable.errors import BadOption
from imitable.feasibility.episode_score import COLUMNS, EpisodeScore, column_of
from imitable.feasibility.weighting import SEGMENTS, mean_log, relative_densities, segment_lengths, share_logs
from imitable.types import Episode, Floats, Weights


@dataclass(frozen=True)
class ScoreKey:
    """All that measures depend on but the demonstrations: measures of equal keys can be used together."""

    version: str
    """Of imitable."""
    imitator: str
    """The robot as text."""
    imitator_hash: str
    """What its dynamics depend on."""
    method: str
    """The scorer as the text that makes it again: `direct:form=windows`."""
    distance: str
    entries: str
    discount: float
    rollouts: int
    seed: int
    settings: str = ""
    """Hash of all settings of the scorer: its text names only what differs from defaults, which another version may change."""
    tolerance: str = ""
    """Of the verdicts, as `parse_tolerance` reads it; empty: verdicts are thresholds on the share."""
    whole: bool = False
    """Whether verdicts attempt all of every demonstration."""

    def difference(self, other: "ScoreKey") -> str:
        """Say which setting differs first: this one's, then the other's."""
        ours, theirs = asdict(self), asdict(other)
        name = next((name for name in ours if ours[name] != theirs[name]), "method")
        return f"its {name} was {ours[name]}, now it is {theirs[name]}"


@dataclass(frozen=True)
class Measurement:
    """How distances and shares were measured."""

    key: ScoreKey
    rule: str
    """How temperature `auto` turns measures into scores: see `weighting.RULES`."""
    measure: str
    """What the method measures instead of the ruler's distance; empty if nothing."""
    horizon: int
    """Steps of a demonstration that one attempt judges, at most."""
    horizon_s: float
    """The same in seconds."""
    horizon_mass: float
    """Part of the discount's mass that lies in them."""
    covered: float
    """Part of all demonstrated steps that one attempt judges."""
    own_distance: tuple[float, ...]
    """Of the imitator's own rollouts, which it can follow for certain."""
    own_share: tuple[float, ...]
    own_error: float
    """99th percentile of the error of one step there."""
    noise: float
    """τ of the score: what the tracker leaves of movements that it can follow for certain."""
    jitter: float
    """Deviation of a share under noise of a thousandth of the scales on what is followed."""
    measured_steps: int
    """Simulated control steps of measuring."""
    simulator_steps: int
    """The same with those of learning."""
    extras: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the method itself says (`Measurer.about`), as JSON values."""

    @property
    def certificate(self) -> float | None:
        """Share of the imitator's own transitions that the tracker finds again; None of a method that has none."""
        return self.extras.get("certificate")

    @property
    def attempts(self) -> int:
        """Pieces of a demonstration that are judged."""
        return int(self.extras.get("attempts", 1))

    @property
    def converged(self) -> Mapping[str, bool] | None:
        """Whether the tracker of each demonstrator converged; None of a method that learns none."""
        return self.extras.get("converged")

    @property
    def calibration(self) -> tuple[float, ...]:
        """Distances that are known to be feasible: the method's own calibration, or those of the imitator's own rollouts."""
        return tuple(self.extras.get("calibration", self.own_distance))


@dataclass(frozen=True)
class Weighing:
    """How measures became verdicts, scores and weights."""

    temperature: str
    """auto, paper, arm, a number, share:NUMBER, or score:NUMBER."""
    keep: str = "auto"
    """What has a weight: auto, all, feasible, feasible-segments, top:K, or a demonstrator: see `weigh`."""
    balance: str = "auto"
    """Whether weights are balanced between demonstrators: demonstrator, none, or auto (where the scores are our own)."""
    segments: bool = False
    """Whether every segment weighs its own score, instead of the demonstration's."""
    feasible_share: float = 0.0
    """Largest share that is called feasible."""
    borderline_share: float = 0.0
    """Largest share that is called borderline."""
    remarks: tuple[str, ...] = ()
    """What one should know before using the weights, the most important first."""


@dataclass(frozen=True)
class SegmentRule:
    """How transitions of one demonstration differ in weight."""

    temperature: str
    noise: float
    by_share: bool
    """Every segment weighs by its own share."""
    by_span: bool
    """What is impossible weighs nothing."""

    def logs(self, row: EpisodeScore) -> tuple[tuple[int, ...], Floats]:
        """Return the first transitions of k segments and (k) ln of what a transition there weighs."""
        begins = row.segment_begin if self.by_share else (0,)
        logs = share_logs(np.array(row.segment_share), self.temperature, self.noise) if self.by_share else np.zeros(1)
        if not (self.by_span and row.infeasible_begin):
            return begins, logs
        marks, possible = zip(*row.possible, strict=True)
        edges = tuple(sorted({*begins, *marks}))
        here = np.searchsorted(begins, edges, "right") - 1, np.searchsorted(marks, edges, "right") - 1
        return edges, np.where(np.array(possible)[here[1]], logs[here[0]], -np.inf)

    def mean_log(self, row: EpisodeScore) -> float:
        """Return ln of what the transitions of a demonstration weigh on average, up to the demonstration's own weight."""
        begins, logs = self.logs(row)
        return mean_log(logs, segment_lengths(begins, row.episode.length))


def segment_rule(rows: Sequence[EpisodeScore], measurement: Measurement, weighing: Weighing) -> SegmentRule:
    """Return how transitions weigh; where nothing at all is possible, spans do not count."""
    evaluated = any(row.evaluated for row in rows)
    if weighing.keep == SEGMENTS and not evaluated:
        raise BadOption("keep", SEGMENTS, "these scores have no spans: score again, with a method that tracks")
    by_span = weighing.keep in (SEGMENTS, "auto") and evaluated and not nothing_possible(rows)
    return SegmentRule(weighing.temperature, measurement.noise, weighing.segments, by_span)


def nothing_possible(rows: Sequence[EpisodeScore]) -> bool:
    """Return whether every transition of every demonstration is impossible."""
    return all(row.infeasible_begin and not any(possible for _, possible in row.possible) for row in rows)


@dataclass(frozen=True, eq=False)
class Scores(Sequence[EpisodeScore]):
    """Every scored demonstration, N rows, and how the numbers came about.

    Each column of `EpisodeScore` is an attribute: `scores.share` is an array (N), `scores.verdict` a tuple.
    """

    rows: tuple[EpisodeScore, ...]
    measurement: Measurement
    weighing: Weighing
    path: Path | None = None
    """The score file, if there is one; the steps of all attempts lie beside it."""

    def __len__(self) -> int:
        """Return the number of demonstrations."""
        return len(self.rows)

    @overload
    def __getitem__(self, place: int) -> EpisodeScore: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[EpisodeScore, ...]: ...
    def __getitem__(self, place: int | slice) -> EpisodeScore | tuple[EpisodeScore, ...]:
        """Return one demonstration, or several."""
        return self.rows[place]

    def __getattr__(self, name: str) -> Any:
        """Return a column, made when it is first asked for."""
        if name not in COLUMNS:
            raise AttributeError(f"{type(self).__name__} has no attribute or column {name!r}")
        return self.__dict__.setdefault(name, column_of(self.rows, name))

    def __dir__(self) -> list[str]:
        """List the columns, too."""
        return sorted({*super().__dir__(), *COLUMNS})

    @cached_property
    def episodes(self) -> tuple[Episode, ...]:
        """(N) which demonstrations they are."""
        return tuple(row.episode for row in self.rows)

    @property
    def infeasible_spans(self) -> tuple[tuple[tuple[float, float], ...], ...]:
        """(N) begin and end of every confirmed impossible span, seconds."""
        return tuple(row.infeasible_spans for row in self.rows)

    @property
    def feasible_spans(self) -> tuple[tuple[tuple[float, float], ...], ...]:
        """(N) begin and end of everything between those; empty where the whole motion was not evaluated."""
        return tuple(row.feasible_spans for row in self.rows)

    @cached_property
    def feasible_part(self) -> Floats:
        """(N) fraction of each motion outside of its impossible spans; NaN where the whole motion was not evaluated."""
        return np.array([row.feasible_part for row in self.rows])

    @property
    def segment_rule(self) -> SegmentRule:
        """How transitions of one demonstration differ in weight."""
        return segment_rule(self.rows, self.measurement, self.weighing)

    @property
    def imitator(self) -> str:
        """The robot that shall imitate, as text."""
        return self.measurement.key.imitator

    @property
    def weights(self) -> Weights:
        """All that imitation needs to know."""
        return Weights(self.episode_hash, self.weight, terminated=self.terminated, segments=self._segments())

    def _segments(self) -> tuple[tuple[tuple[int, float], ...], ...]:
        """What a transition of each segment weighs, relative to the demonstration's mean; empty if segments do not count."""
        rule = self.segment_rule
        if not rule.by_share and not (rule.by_span and any(row.infeasible_begin for row in self.rows)):
            return ()
        made: list[tuple[tuple[int, float], ...]] = []
        for row in self.rows:
            begins, logs = rule.logs(row)
            parts = relative_densities(logs, segment_lengths(begins, row.episode.length))
            made.append(tuple(zip(begins, parts.tolist(), strict=True)))
        return tuple(made)

    def at(self, rows: Sequence[int]) -> "Scores":
        """Return these rows, in this order and as they are, so that the weights need not sum to one any more."""
        return replace(self, rows=tuple(self.rows[row] for row in rows))

    def with_columns(self, **columns: Iterable[Any]) -> "Scores":
        """Return the scores with other values in some columns."""
        rows = list(self.rows)
        for name, column in columns.items():
            values = column.tolist() if isinstance(column, np.ndarray) else column
            rows = [replace(row, **{name: value}) for row, value in zip(rows, values, strict=True)]
        return replace(self, rows=tuple(rows))

    def metadata(self) -> dict[str, Any]:
        """Return everything but the rows, flat, as score files and `--json` say it."""
        key = asdict(self.measurement.key)
        measured = {name: getattr(self.measurement, name) for name in MEASURED}
        return {
            "key": key,
            **{name: value for name, value in key.items() if name != "imitator_hash"},
            **self.measurement.extras,
            **measured,
            **asdict(self.weighing),
            "effective_size": self.weights.effective_size,
        }


MEASURED = tuple(field.name for field in fields(Measurement) if field.name not in ("key", "extras"))
"""Names of a measurement's own metadata."""

OWN = frozenset(
    (
        "schema",
        "key",
        "effective_size",
        "nearly_share",
        *MEASURED,
        *(f.name for kind in (ScoreKey, Weighing) for f in fields(kind)),
    )
)
"""Metadata that methods must not say anything else by."""


def from_metadata(metadata: Mapping[str, Any]) -> tuple[Measurement, Weighing]:
    """Return what `Scores.metadata` said; KeyError or TypeError if it is something else."""
    measured = {name: _plain(metadata[name]) for name in MEASURED}
    extras = {name: value for name, value in metadata.items() if name not in OWN}
    metadata = {"borderline_share": metadata.get("nearly_share"), **metadata}  # its name in files up to schema 4
    weighing = {f.name: _plain(metadata[f.name]) for f in fields(Weighing)}
    return Measurement(key=ScoreKey(**metadata["key"]), extras=extras, **measured), Weighing(**weighing)


def _plain(value: Any) -> Any:
    """JSON has lists where a frozen dataclass has tuples."""
    return tuple(value) if isinstance(value, list) else value  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
