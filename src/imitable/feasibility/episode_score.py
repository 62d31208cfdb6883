# SPDX-License-Identifier: MIT
"""One record of a scored demonstration, from which its columns derive everywhere: parts, score file, JSON, CSV and report.

A new column is one field of `EpisodeScore`: its type gives the kind of the column, its annotation the documentation.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, get_type_hints

import numpy as np

from imitable.types import Episode

NAN = float("nan")

VERDICTS = ("feasible", "borderline", "infeasible", "unknown")

MEASURED, VERDICT, WEIGHTED = "measured", "verdict", "weighting"
"""Groups of columns, beside the identity: what the method measured, what follows for the robot, what weighting adds."""


@dataclass(frozen=True)
class Kind:
    """How the values of a column are kept."""

    parquet: str
    """Type in files."""
    dtype: str | None = None
    """NumPy type of the column in memory; None: a tuple of Python values."""
    missing: object = None
    """What an empty cell stands for; files written before a column existed have only empty ones."""


KINDS: Mapping[object, Kind] = {
    float: Kind("double", "float64", NAN),
    int: Kind("int64", "int64"),
    int | None: Kind("int64"),
    bool: Kind("bool", missing=False),
    bool | None: Kind("bool"),
    str: Kind("string", missing=""),
    tuple[float, ...]: Kind("list<double>", missing=()),
    tuple[int, ...]: Kind("list<int64>", missing=()),
}
"""By the type of the field."""


@dataclass(frozen=True)
class About:
    """What the annotation of a field tells of its column."""

    group: str
    text: str
    """Documentation."""
    newer: bool = False
    """Whether files of older versions lack it."""
    empty: object = None
    """Value that files and JSON leave empty."""
    renamed: tuple[tuple[str, str], ...] = ()
    """Words of older files, and what they are called now."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EpisodeScore:
    """What is known of one demonstration's feasibility; NaN, None and empty where a method does not tell."""

    episode: Episode
    """Which demonstration it is; its fields are the first columns."""

    distance: Annotated[float, About(MEASURED, "discounted tracking distance; lower is better")]
    share: Annotated[float, About(MEASURED, "distance ÷ the distance of a passive imitator: 0 is perfect, 1 no better")]
    spread: Annotated[float, About(MEASURED, "standard error of the share over the windows of the demonstration")] = 0.0
    stage: Annotated[int, About(MEASURED, "how hard the tracker tried: 1 greedy, 2 planned, 0 without stages")] = 0
    followed: Annotated[float, About(MEASURED, "fraction of the motion that the imitator keeps up with")] = NAN
    lost_at: Annotated[
        tuple[float, ...], About(MEASURED, "seconds at which tracking fails for good or something impossible begins")
    ] = ()
    segment_begin: Annotated[
        tuple[int, ...], About(MEASURED, "first transitions of the segments that were evaluated separately")
    ] = (0,)
    segment_share: Annotated[tuple[float, ...], About(MEASURED, "share of each segment")] = (NAN,)
    error_mean_m: Annotated[float, About(MEASURED, "mean distance of the bodies over the evaluated time, metres")] = NAN
    error_max_m: Annotated[float, About(MEASURED, "largest distance of any body, metres")] = NAN
    success: Annotated[bool | None, About(MEASURED, "whether the mean distance of the bodies stays within half a metre")] = None
    first_divergence: Annotated[
        int,
        About(MEASURED, "step after which tracking never recovers or something impossible begins; −1, empty: none", empty=-1),
    ] = -1
    fell: Annotated[
        bool | None, About(MEASURED, "whether an attempt ends with the root too low, too high or too tilted", newer=True)
    ] = None
    height_error_m: Annotated[float, About(MEASURED, "largest error of the root's height, metres", newer=True)] = NAN
    tilt_error_rad: Annotated[float, About(MEASURED, "largest error of the root's upright direction, radians", newer=True)] = (
        NAN
    )
    joint_error_rad: Annotated[float, About(MEASURED, "largest error of any rotary joint, radians", newer=True)] = NAN
    worst_joint: Annotated[str, About(MEASURED, "the joint of that error", newer=True)] = ""
    worst_body: Annotated[str, About(MEASURED, "the body of the largest distance", newer=True)] = ""

    duration_s: Annotated[float, About(MEASURED, "duration of the demonstration, seconds", newer=True)] = NAN
    mpkpe_m: Annotated[float, About(MEASURED, "mean error of the key points over the evaluated time, metres", newer=True)] = NAN
    tolerance_ratio: Annotated[
        float, About(MEASURED, "largest error ÷ its tolerance; up to 1 is within tolerance throughout", newer=True)
    ] = NAN

    verdict: Annotated[
        str, About(VERDICT, "feasible, borderline, infeasible or unknown", renamed=(("nearly", "borderline"),))
    ] = ""
    cause: Annotated[
        str,
        About(
            VERDICT,
            "the check that decided (range, speed, jump, torque, force, support, skating, penetration, tracking)",
            newer=True,
        ),
    ] = ""
    reason: Annotated[str, About(VERDICT, "why the verdict is not feasible, for people", newer=True)] = ""
    infeasible_begin: Annotated[
        tuple[float, ...], About(VERDICT, "seconds at which confirmed impossible spans begin", newer=True)
    ] = ()
    infeasible_end: Annotated[tuple[float, ...], About(VERDICT, "seconds at which they end", newer=True)] = ()
    covered_dynamic: Annotated[float, About(VERDICT, "fraction of the motion that attempts evaluated", newer=True)] = NAN
    covered_static: Annotated[float, About(VERDICT, "fraction of the motion that static checks evaluated", newer=True)] = NAN

    score: Annotated[float, About(WEIGHTED, "feasibility from 0 to 1")] = NAN
    score_low: Annotated[float, About(WEIGHTED, "the score if the share were larger by its uncertainty")] = NAN
    score_high: Annotated[float, About(WEIGHTED, "the score if the share were smaller by its uncertainty")] = NAN
    weight: Annotated[float, About(WEIGHTED, "probability mass of the demonstration; a set sums to one")] = NAN

    @property
    def evaluated(self) -> bool:
        """Whether the verdict is about the whole motion, rather than a threshold on the share."""
        return math.isfinite(self.covered_static) or math.isfinite(self.covered_dynamic)

    @property
    def infeasible_spans(self) -> tuple[tuple[float, float], ...]:
        """Begin and end of what is impossible, seconds, in order and without overlaps."""
        spans: list[tuple[float, float]] = []
        for begin, end in sorted(zip(self.infeasible_begin, self.infeasible_end, strict=True)):
            if spans and begin <= spans[-1][1]:
                spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
            else:
                spans.append((begin, end))
        return tuple(spans)

    @property
    def feasible_spans(self) -> tuple[tuple[float, float], ...]:
        """Begin and end of everything between the impossible spans, seconds; empty where the whole motion was not evaluated."""
        if not self.evaluated:
            return ()
        edges = [0.0, *(edge for span in self.infeasible_spans for edge in span), self.duration_s]
        return tuple((begin, end) for begin, end in zip(edges[::2], edges[1::2], strict=True) if begin < end)

    @property
    def feasible_part(self) -> float:
        """Fraction of the motion outside of the impossible spans; NaN where the whole motion was not evaluated."""
        return sum(end - begin for begin, end in self.feasible_spans) / self.duration_s if self.evaluated else NAN

    @property
    def possible(self) -> tuple[tuple[int, bool], ...]:
        """First transitions of the pieces between the ends of the impossible spans, and whether each is possible."""
        marks, length, period = {0: True}, self.episode.length, self.duration_s / self.episode.length
        for begin, end in self.infeasible_spans:
            first, after = math.floor(begin / period + 1e-6), math.ceil(end / period - 1e-6)
            marks |= {max(first, 0): False} | ({after: True} if after < length else {})
        return tuple(sorted(marks.items()))


@dataclass(frozen=True)
class Column:
    """One column of everything that lists scored demonstrations."""

    name: str
    """In files, JSON, CSV and as attribute of `Scores`."""
    kind: Kind
    about: About
    field: str = ""
    """Of `Episode`, if it belongs to the identity of the demonstration."""

    def value(self, row: EpisodeScore) -> Any:
        """Return the value of a row."""
        return getattr(row.episode, self.field) if self.field else getattr(row, self.name)

    def cell(self, row: EpisodeScore) -> Any:
        """Return the value as files and JSON have it."""
        value = self.value(row)
        if isinstance(value, tuple):
            return list(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        return None if value == self.about.empty else value

    def read(self, cell: Any) -> Any:
        """Return the value that a cell stands for."""
        for old, new in self.about.renamed:
            cell = new if cell == old else cell
        if cell is None:
            return self.kind.missing if self.about.empty is None else self.about.empty
        return tuple(cell) if isinstance(cell, list) else cell  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


_IDENTITY = {
    "source": ("source", "folder of the demonstration; empty for data in memory"),
    "index": ("episode_index", "its index in that folder"),
    "hash": ("episode_hash", "hash of its states and actions"),
    "demonstrator": ("demonstrator", "body it was recorded on"),
    "length": ("length", "transitions"),
    "total_return": ("return", "undiscounted sum of task rewards"),
    "terminated": ("terminated", "whether it ended by the task's own end"),
    "seed": ("seed", "seed of the start state"),
}


def _columns() -> tuple[Column, ...]:
    own, episode = get_type_hints(EpisodeScore, include_extras=True), get_type_hints(Episode)
    identity = [Column(name, KINDS[episode[key]], About("identity", text), key) for key, (name, text) in _IDENTITY.items()]
    kept = [(field.name, own[field.name]) for field in fields(EpisodeScore) if field.name != "episode"]
    return (*identity, *(Column(name, KINDS[kind.__origin__], kind.__metadata__[0]) for name, kind in kept))


COLUMNS: Mapping[str, Column] = {column.name: column for column in _columns()}
"""Every column, in the order of files."""


def column_of(rows: Sequence[EpisodeScore], name: str) -> Any:
    """Return a column: a read-only array (N), or a tuple where NumPy has no type for it."""
    column = COLUMNS[name]
    values = tuple(column.value(row) for row in rows)
    if column.kind.dtype is None:
        return values
    array = np.array(values, column.kind.dtype)
    array.flags.writeable = False
    return array


def document_of(row: EpisodeScore) -> dict[str, Any]:
    """Return what JSON and CSV have of a record: all columns, and the feasible part."""
    return {name: column.cell(row) for name, column in COLUMNS.items()} | {"feasible_part": row.feasible_part}


def cells_of(rows: Sequence[EpisodeScore]) -> dict[str, list[Any]]:
    """Return all columns as files have them."""
    return {name: [column.cell(row) for row in rows] for name, column in COLUMNS.items()}


def rows_of(cells: Mapping[str, Iterable[Any]]) -> tuple[EpisodeScore, ...]:
    """Return the rows of all columns as files have them."""
    made: list[EpisodeScore] = []
    for row in zip(*(cells[name] for name in COLUMNS), strict=True):
        read = [(column, column.read(cell)) for column, cell in zip(COLUMNS.values(), row, strict=True)]
        episode = Episode(**{column.field: value for column, value in read if column.field})
        made.append(EpisodeScore(episode=episode, **{column.name: value for column, value in read if not column.field}))
    return tuple(made)
