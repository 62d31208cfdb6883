# SPDX-License-Identifier: MIT
"""What scoring comes to: numbers a demonstration, how they were measured, and how they were weighed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from imitable.feasibility.weighting import relative_densities, segment_lengths, share_logs
from imitable.types import Episode, Floats, Ints, Weights


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
class Scores:
    """What is known of every demonstration's feasibility, N rows, and how it was found out."""

    episodes: tuple[Episode, ...]
    distance: Floats
    """(N) discounted tracking distance; lower is better."""
    share: Floats
    """(N) distance ÷ the distance of a passive imitator: unit-free."""
    spread: Floats
    """(N) standard error of the share, over the windows of a demonstration."""
    stage: Ints
    """(N) how hard the tracker tried: see `Measured.stage`."""
    score: Floats
    """(N) feasibility in [0, 1]."""
    score_low: Floats
    """(N) the score if the share were larger by its uncertainty: the windows' spread and the tracker's noise."""
    score_high: Floats
    """(N) the score if the share were smaller by it."""
    weight: Floats
    """(N) probability mass, sums to one."""
    verdict: tuple[str, ...]
    """(N) feasible, nearly or infeasible."""
    followed: Floats
    """(N) part of the movement that was followed: see `Account`."""
    lost_at: tuple[tuple[float, ...], ...]
    """(N) seconds at which attempts were lost, or what is impossible begins."""
    segment_begin: tuple[tuple[int, ...], ...]
    """(N) first transitions of the segments that were judged for themselves."""
    segment_share: tuple[tuple[float, ...], ...]
    """(N) their shares."""
    error_mean_m: Floats
    """(N) mean distance of the bodies over the judged time, metres."""
    error_max_m: Floats
    """(N) largest distance of any body, metres."""
    success: tuple[bool | None, ...]
    """(N) whether the bodies' mean distance stayed within half a metre; None of methods without rollouts."""
    first_divergence: Ints
    """(N) first step from which on an attempt is lost; −1 if there is none."""
    fell: tuple[bool | None, ...]
    """(N) whether an attempt ends with the root too low, too high or too tilted; None of methods without rollouts."""
    height_error_m: Floats
    """(N) largest error of the root's height, metres."""
    tilt_error_rad: Floats
    """(N) largest error of its upright direction."""
    joint_error_rad: Floats
    """(N) largest error of any turning joint."""
    worst_joint: tuple[str, ...]
    """(N) which one that is."""
    worst_body: tuple[str, ...]
    """(N) the body that was farthest off."""
    measurement: Measurement
    weighing: Weighing
    path: Path | None = None
    """The score file, if there is one; the steps of all attempts lie beside it."""

    def __len__(self) -> int:
        """Return the number of demonstrations."""
        return len(self.episodes)

    @property
    def imitator(self) -> str:
        """The robot that shall imitate, as text."""
        return self.measurement.key.imitator

    @property
    def weights(self) -> Weights:
        """All that imitation needs to know."""
        ends = tuple(episode.terminated for episode in self.episodes)
        return Weights(
            tuple(episode.hash for episode in self.episodes), self.weight, terminated=ends, segments=self._segments()
        )

    def _segments(self) -> tuple[tuple[tuple[int, float], ...], ...]:
        """What a transition of each segment weighs, relative to the demonstration's mean; empty if segments do not count."""
        if not self.weighing.segments:
            return ()
        made: list[tuple[tuple[int, float], ...]] = []
        for episode, begins, shares in zip(self.episodes, self.segment_begin, self.segment_share, strict=True):
            logs = share_logs(np.array(shares), self.weighing.temperature, self.measurement.noise)
            parts = relative_densities(logs, segment_lengths(begins, episode.length))
            made.append(tuple(zip(begins, parts.tolist(), strict=True)))
        return tuple(made)

    def at(self, rows: Sequence[int]) -> "Scores":
        """Return these rows, in this order and as they are, so that the weights need not sum to one any more."""
        kinds: dict[str, Callable[[list[Any]], Any]] = {"episodes": tuple, **COLUMNS, **WEIGHED}
        return replace(self, **{name: kind([getattr(self, name)[row] for row in rows]) for name, kind in kinds.items()})

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


def _floats(values: list[Any]) -> Floats:
    return np.array(values, float)


def _integers(values: list[Any]) -> Ints:
    return np.array(values, np.int64)


COLUMNS: Mapping[str, Callable[[list[Any]], Any]] = {
    "distance": _floats,
    "share": _floats,
    "spread": _floats,
    "stage": _integers,
    "followed": _floats,
    "lost_at": tuple,
    "segment_begin": tuple,
    "segment_share": tuple,
    "error_mean_m": _floats,
    "error_max_m": _floats,
    "success": tuple,
    "first_divergence": _integers,
    "fell": tuple,
    "height_error_m": _floats,
    "tilt_error_rad": _floats,
    "joint_error_rad": _floats,
    "worst_joint": tuple,
    "worst_body": tuple,
}
"""What is measured of every demonstration, and how its column is made of a list."""

WEIGHED: Mapping[str, Callable[[list[Any]], Any]] = {
    "score": _floats,
    "score_low": _floats,
    "score_high": _floats,
    "weight": _floats,
    "verdict": tuple,
}
"""What weighing says of every demonstration, likewise."""

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
