# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false
"""`scores.parquet`, one row a demonstration; `scores.steps.parquet` beside it has the steps (`step_files`).

An adapter file: pyarrow ships no types.
"""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from imitable.errors import BadScores
from imitable.feasibility.scores import COLUMNS as MEASURED_COLUMNS
from imitable.feasibility.scores import WEIGHED, Scores, from_metadata
from imitable.feasibility.sealed import damage, read_sealed, write_sealed
from imitable.types import Episode

SCHEMA = 4

UNSQUARED = 3
"""Files up to this schema were weighed by the score itself where they say `auto`."""

COLUMNS: dict[str, Any] = {
    "source": pa.string(),
    "episode_index": pa.int64(),
    "episode_hash": pa.string(),
    "demonstrator": pa.string(),
    "length": pa.int64(),
    "return": pa.float64(),
    "terminated": pa.bool_(),
    "seed": pa.int64(),
    "distance": pa.float64(),
    "share": pa.float64(),
    "verdict": pa.string(),
    "score": pa.float64(),
    "score_low": pa.float64(),
    "score_high": pa.float64(),
    "weight": pa.float64(),
    "spread": pa.float64(),
    "stage": pa.int64(),
    "followed": pa.float64(),
    "lost_at": pa.list_(pa.float64()),
    "segment_begin": pa.list_(pa.int64()),
    "segment_share": pa.list_(pa.float64()),
    "error_mean_m": pa.float64(),
    "error_max_m": pa.float64(),
    "success": pa.bool_(),
    "first_divergence": pa.int64(),
    "fell": pa.bool_(),
    "height_error_m": pa.float64(),
    "tilt_error_rad": pa.float64(),
    "joint_error_rad": pa.float64(),
    "worst_joint": pa.string(),
    "worst_body": pa.string(),
}

NEWER = ("fell", "height_error_m", "tilt_error_rad", "joint_error_rad", "worst_joint", "worst_body")
"""Columns that files of schema 2 lack."""

LISTS = ("lost_at", "segment_begin", "segment_share")
"""Columns of lists."""


def parts_path(path: Path) -> Path:
    """Folder of finished chunks."""
    return path.with_name(f"{path.name}.parts")


def models_path(path: Path) -> Path:
    """Folder of what a method learned, kept beside the scores so that a grown set needs no new learning."""
    return path.with_name(f"{path.name}.models")


def write_scores(path: str | Path, scores: Scores) -> None:
    """Write `scores.parquet`, whole or not at all."""
    episodes = scores.episodes
    columns: dict[str, Any] = {
        "source": [e.source for e in episodes],
        "episode_index": [e.index for e in episodes],
        "episode_hash": [e.hash for e in episodes],
        "demonstrator": [e.demonstrator for e in episodes],
        "length": [e.length for e in episodes],
        "return": [e.total_return for e in episodes],
        "terminated": [e.terminated for e in episodes],
        "seed": [e.seed for e in episodes],
        "distance": scores.distance,
        "share": scores.share,
        "verdict": list(scores.verdict),
        "score": scores.score,
        "score_low": scores.score_low,
        "score_high": scores.score_high,
        "weight": scores.weight,
        "spread": scores.spread,
        "stage": scores.stage,
        "followed": scores.followed,
        **{name: [list(values) for values in getattr(scores, name)] for name in LISTS},
        "error_mean_m": scores.error_mean_m,
        "error_max_m": scores.error_max_m,
        "success": list(scores.success),
        "first_divergence": [None if step < 0 else step for step in scores.first_divergence.tolist()],
        **{name: list(getattr(scores, name)) for name in NEWER},
    }
    write_sealed(Path(path), columns, COLUMNS, {"schema": SCHEMA, **scores.metadata()})


def read_scores(path: str | Path) -> Scores:
    """Read `scores.parquet`; a damaged one is refused."""
    path = Path(path)
    if not path.is_file():
        raise BadScores(str(path), "there is no such file; make one with imitable score DEMOS --imitator SPEC")
    rows, metadata = read_sealed(path, COLUMNS, NEWER)
    with damage(path):
        if metadata["schema"] > SCHEMA:
            raise ValueError("it was written by a newer imitable; update this one")
        measurement, weighing = from_metadata(metadata)
        if metadata["schema"] <= UNSQUARED and weighing.temperature == "auto" and measurement.rule == "share":
            weighing = replace(weighing, temperature="score:1")
    episodes = tuple(
        Episode(source, index, name, demonstrator, length, math.nan if total is None else total, bool(terminated), seed)
        for source, index, name, demonstrator, length, total, terminated, seed in zip(
            *(rows[column] for column in list(COLUMNS)[:8]), strict=True
        )
    )
    rows |= {name: [value or "" for value in rows[name]] for name in ("worst_joint", "worst_body")}
    rows["first_divergence"] = [-1 if step is None else step for step in rows["first_divergence"]]
    rows |= {name: [tuple(values) for values in rows[name]] for name in LISTS}
    return Scores(
        episodes=episodes,
        **{name: column(rows[name]) for name, column in {**MEASURED_COLUMNS, **WEIGHED}.items()},
        measurement=measurement,
        weighing=weighing,
        path=path,
    )
