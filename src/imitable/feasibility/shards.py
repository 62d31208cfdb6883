# SPDX-License-Identifier: MIT
"""Shards: one scoring job as many, such as the array jobs of a cluster, and their score files as one again.

Shard I of N has the demonstrations at places I − 1, I − 1 + N, …, so that all take about as long. What is said of a
demonstration does not depend on the others, so that merged rows are those of the whole job, bit for bit; scores that do
depend on the set (temperatures `paper` and `arm`, ID-Feas's calibration) are made anew.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from imitable.errors import BadOption, BadScores
from imitable.feasibility.score_files import read_scores
from imitable.feasibility.scores import Measurement, Scores
from imitable.types import Ints

KEY = "shard"
"""What a score file says of its shard: [I, N, demonstrations of the whole set]."""


@dataclass(frozen=True)
class Shard:
    """Part I of N of a set."""

    place: int
    """I, from 1 on."""
    of: int
    """N."""
    models: Path | None = None
    """Folder of what the method learned from the whole set (`scores.parquet.models`), for methods that do."""

    def places(self, count: int) -> range:
        """Return which of so many demonstrations belong to it."""
        return range(self.place - 1, count, self.of)


def parse_shard(text: str, models: Path | None = None) -> Shard:
    """Read `I/N`."""
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise BadOption("shard", text, "give I/N, the I-th of N parts, such as 3/8")
    return Shard(int(found[1]), int(found[2]), models)


def coverage(lengths: Ints, horizon: int, discount: float) -> tuple[int, float, float]:
    """Return the steps that one attempt judges, their part of the demonstrations, and their part of the discount's mass."""
    judged = min(horizon, int(lengths.max()))
    covered = float(np.minimum(judged, lengths).sum() / lengths.sum())
    return judged, covered, float(1 - discount**judged) if discount < 1 else covered


def merged(paths: Sequence[Path]) -> Scores:
    """Return the scores of all shards of one job as one set, in the order of the set, not weighed anew yet."""
    shards = [read_scores(path) for path in paths]
    for path, one in zip(paths, shards, strict=True):
        _check(paths[0], shards[0], path, one)
    numbers = [one.measurement.extras[KEY] for one in shards]
    missing = sorted(set(range(1, numbers[0][1] + 1)) - {place for place, _, _ in numbers})
    if missing or len(numbers) != numbers[0][1]:
        reason = f"shards {', '.join(map(str, missing))} are missing" if missing else "a shard is given twice"
        raise BadScores(str(paths[0]), f"{reason}: give each of the {numbers[0][1]} once")
    placed = [
        placed
        for one, number in zip(shards, numbers, strict=True)
        for placed in zip(Shard(*number[:2]).places(number[2]), one, strict=True)
    ]
    rows = tuple(row for _, row in sorted(placed, key=lambda entry: entry[0]))
    measurement = _measurement([one.measurement for one in shards], np.array([row.episode.length for row in rows]))
    return Scores(rows, measurement, shards[0].weighing)


def _check(first: Path, reference: Scores, path: Path, scores: Scores) -> None:
    """Refuse what is no shard, or one of another job."""
    if KEY not in scores.measurement.extras:
        raise BadScores(str(path), "it is no shard: make shards with imitable score --shard I/N")
    key, other = reference.measurement.key, scores.measurement.key
    if key != other:
        raise BadScores(str(path), f"it is of another job than {first}: {other.difference(key)}")
    if reference.measurement.extras[KEY][1:] != scores.measurement.extras[KEY][1:]:
        raise BadScores(str(path), f"it is of another division than {first}, or of another set")


def _measurement(parts: Sequence[Measurement], lengths: Ints) -> Measurement:
    """Return how the whole was measured: what all shards did is counted, what each says of demonstrators is joined."""
    first = parts[0]
    horizon, covered, mass = coverage(lengths, max(part.horizon for part in parts), first.key.discount)
    extras: dict[str, Any] = {}
    for part in parts:
        for name, value in part.extras.items():
            extras[name] = extras.get(name, {}) | value if isinstance(value, dict) else value
    del extras[KEY]
    return replace(
        first,
        horizon=horizon,
        horizon_s=first.horizon_s * horizon / first.horizon,
        covered=covered,
        horizon_mass=mass,
        measured_steps=sum(part.measured_steps for part in parts),
        simulator_steps=sum(part.simulator_steps for part in parts),
        extras=extras,
    )
