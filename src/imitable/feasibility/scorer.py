# SPDX-License-Identifier: MIT
"""What a scorer is: a frozen table of settings that, prepared for a job, measures demonstrations.

A new method is one class with `prepared`; everything else (chunks, files, resuming, scores, verdicts, weights) is done for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from imitable.feasibility.ruler import Ruler
from imitable.feasibility.spans import Span
from imitable.observer import SILENT, Observer
from imitable.robots.robot import Robot
from imitable.tracking.attempts import Trace
from imitable.types import Demonstrations, Trajectory

GREEDY, PLANNED = 1, 2
"""Stages of a tracker: the best action of every step, and plans where that was not enough."""


@dataclass(frozen=True, eq=False)
class Measured:
    """What a method says of one demonstration."""

    distance: float
    """Discounted distance; lower is better."""
    share: float
    """Unit-free: distance ÷ that of a passive imitator from the same start; about 0 can be followed, 1 is no better."""
    trace: Trace
    spread: float = 0.0
    """Standard error of the share, over the windows it is the mean of; 0 of one."""
    stage: int = 0
    """`GREEDY` or `PLANNED`: how hard a tracker tried; 0 of methods without stages."""
    spans: tuple[Span, ...] = ()
    """Where the states alone say that this body cannot do it."""
    segments: tuple[tuple[int, float], ...] = ()
    """First transition and share of every segment that was judged for itself; empty: the demonstration as a whole."""


@dataclass(frozen=True, eq=False)
class ScoringJob:
    """What is to be scored, and with what."""

    demos: Demonstrations
    """The whole set; methods that learn may learn from any part of it."""
    imitator: Robot
    ruler: Ruler
    seed: int
    rollouts: int = 1
    """Rollouts of a noisy body that the expected distance averages over."""
    threads: int = 1
    models: Path | None = None
    """Folder that keeps what was learned, so that an interrupted or extended job need not learn it again."""
    observer: Observer = SILENT
    """Told lines for a person."""
    learns: bool = True
    """Whether what `models` lacks may be learned; a shard of a set takes what was learned from the whole set, or nothing."""


class Measurer(Protocol):
    """A scorer at work on one job."""

    @property
    def spent(self) -> int:
        """Simulated control steps so far."""
        ...

    @property
    def horizon(self) -> int:
        """Steps of a demonstration that one attempt judges, at most."""
        ...

    @property
    def about(self) -> dict[str, object]:
        """What the score file should say of the method: certificate, converged, …; JSON values."""
        ...

    def __call__(self, trajectories: Sequence[Trajectory]) -> list[Measured]:
        """Measure some demonstrations. What is said of one must not depend on the others in the call."""
        ...


class Scorer(Protocol):
    """The settings of a method: a frozen dataclass. Its file is imported when it is named, so that it may import what it needs.

    One that does not measure by the job's ruler says so by a further class attribute: `measure`, what it measures instead. One
    whose measures depend on nothing but the demonstration and the job's settings may say `alone = True`; one that learns, but
    not from the demonstrations, says `learns_from_set = False`.
    """

    rule: ClassVar[str]
    """How `--temperature auto` turns measures into scores: see `weighting.RULES`."""

    def prepared(self, job: ScoringJob) -> Measurer:
        """Learn what must be learned and return the measurer."""
        ...


def depends_on_set(scorer: Scorer) -> bool:
    """Return whether what is said of a demonstration may depend on the others of its set; true of one that does not say."""
    return not getattr(scorer, "alone", False) and bool(getattr(scorer, "learns_from_set", True))
