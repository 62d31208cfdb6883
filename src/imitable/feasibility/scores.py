# SPDX-License-Identifier: MIT
"""The result of scoring: a record per demonstration, how they were measured, and how they were weighted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import numpy as np

from imitable.feasibility.episode_score import COLUMNS, EpisodeScore, column_of
from imitable.feasibility.weighting import relative_densities, segment_lengths, share_logs
from imitable.types import Episode, Weights


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
    keep: str
    """Which demonstrations have a weight: all, feasible or top:K."""
    balance: str
    """Whether weights are balanced between demonstrators: demonstrator, none, or auto (where the scores are our own)."""
    segments: bool
    """Whether every segment weighs its own score, instead of the demonstration's."""
    feasible_share: float
    """Largest share that is called feasible."""
    nearly_share: float
    """Largest share that is called nearly feasible."""
    remarks: tuple[str, ...]
    """What one should know before using the weights, the most important first."""


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
    def imitator(self) -> str:
        """The robot that shall imitate, as text."""
        return self.measurement.key.imitator

    @property
    def weights(self) -> Weights:
        """All that imitation needs to know."""
        return Weights(self.episode_hash, self.weight, terminated=self.terminated, segments=self._segments())

    def _segments(self) -> tuple[tuple[tuple[int, float], ...], ...]:
        """What a transition of each segment weighs, relative to the demonstration's mean; empty if segments do not count."""
        if not self.weighing.segments:
            return ()
        made: list[tuple[tuple[int, float], ...]] = []
        for row in self.rows:
            logs = share_logs(np.array(row.segment_share), self.weighing.temperature, self.measurement.noise)
            parts = relative_densities(logs, segment_lengths(row.segment_begin, row.episode.length))
            made.append(tuple(zip(row.segment_begin, parts.tolist(), strict=True)))
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
    ("schema", "key", "effective_size", *MEASURED, *(f.name for kind in (ScoreKey, Weighing) for f in fields(kind)))
)
"""Metadata that methods must not say anything else by."""


def from_metadata(metadata: Mapping[str, Any]) -> tuple[Measurement, Weighing]:
    """Return what `Scores.metadata` said; KeyError or TypeError if it is something else."""
    measured = {name: _plain(metadata[name]) for name in MEASURED}
    extras = {name: value for name, value in metadata.items() if name not in OWN}
    weighing = {f.name: _plain(metadata[f.name]) for f in fields(Weighing)}
    return Measurement(key=ScoreKey(**metadata["key"]), extras=extras, **measured), Weighing(**weighing)


def _plain(value: Any) -> Any:
    """JSON has lists where a frozen dataclass has tuples."""
    return tuple(value) if isinstance(value, list) else value  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
