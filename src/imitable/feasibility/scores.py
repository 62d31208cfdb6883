# SPDX-License-Identifier: MIT
"""What scoring comes to: numbers a demonstration, how they were measured, and how they were weighed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

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
    """auto, paper, arm, a number, or share:NUMBER."""
    keep: str
    """Which demonstrations have a weight: all, feasible or top:K."""
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
    score: Floats
    """(N) feasibility in [0, 1]."""
    weight: Floats
    """(N) probability mass, sums to one."""
    verdict: tuple[str, ...]
    """(N) feasible, nearly or infeasible."""
    first_divergence: Ints
    """(N) first step whose error stays above what the imitator's own rollouts show; −1 if there is none."""
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
        return Weights(tuple(episode.hash for episode in self.episodes), self.weight, terminated=ends)

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
