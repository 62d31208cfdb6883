# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false
"""`scores.parquet`, one row per demonstration; `scores.steps.parquet` beside it has the steps (`step_files`).

An adapter file: pyarrow ships no types.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from imitable.errors import BadScores
from imitable.feasibility.episode_score import COLUMNS, EpisodeScore, cells_of, rows_of
from imitable.feasibility.scores import Scores, from_metadata
from imitable.feasibility.sealed import damage, read_sealed, write_sealed
from imitable.feasibility.step_files import copy_steps, steps_path
from imitable.files import new_files

SCHEMA = 5

UNSQUARED = 3
"""Files up to this schema were weighed by the score itself where they say `auto`."""

_LISTS: Mapping[str, Any] = {"list<double>": pa.list_(pa.float64()), "list<int64>": pa.list_(pa.int64())}

TYPES: Mapping[str, Any] = {
    name: _LISTS.get(column.kind.parquet) or pa.type_for_alias(column.kind.parquet) for name, column in COLUMNS.items()
}
"""Parquet type of every column."""


def parts_path(path: Path) -> Path:
    """Folder of finished chunks."""
    return path.with_name(f"{path.name}.parts")


def models_path(path: Path) -> Path:
    """Folder of what a method learned, kept beside the scores so that a grown set needs no new learning."""
    return path.with_name(f"{path.name}.models")


def write_rows(path: Path, rows: Sequence[EpisodeScore], metadata: Mapping[str, Any]) -> None:
    """Write records, whole or not at all."""
    write_sealed(path, cells_of(rows), TYPES, metadata)


def read_rows(path: Path) -> tuple[tuple[EpisodeScore, ...], dict[str, Any]]:
    """Read records and the metadata beside them."""
    cells, metadata = read_sealed(path, TYPES, [name for name, column in COLUMNS.items() if column.about.newer])
    return rows_of(cells), metadata


def write_scores(path: str | Path, scores: Scores) -> None:
    """Write `scores.parquet`, whole or not at all."""
    write_rows(Path(path), scores.rows, {"schema": SCHEMA, **scores.metadata()})


def write_with_steps(path: Path, scores: Scores, sources: Sequence[Path]) -> None:
    """Write `scores.parquet` and, from the files of steps that hold them, `scores.steps.parquet`: both or neither."""
    with new_files(path, steps_path(path)) as (rows, steps):
        copy_steps(steps, sources, scores.episodes)
        write_scores(rows, scores)


def read_scores(path: str | Path) -> Scores:
    """Read `scores.parquet`; a damaged one is refused."""
    path = Path(path)
    if not path.is_file():
        raise BadScores(str(path), "there is no such file; make one with imitable score DEMOS --imitator SPEC")
    rows, metadata = read_rows(path)
    with damage(path):
        if metadata["schema"] > SCHEMA:
            raise ValueError("it was written by a newer imitable; update this one")
        measurement, weighing = from_metadata(metadata)
        if metadata["schema"] <= UNSQUARED and weighing.temperature == "auto" and measurement.rule == "share":
            weighing = replace(weighing, temperature="score:1")
    return Scores(rows, measurement, weighing, path)
