# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
"""`scores.uncertain.parquet` beside a score file: on how many plausible bodies each demonstration is feasible.

An adapter file: pyarrow ships no types.
"""

from pathlib import Path
from typing import Any

import pyarrow as pa

from imitable.feasibility.scores import Scores
from imitable.feasibility.sealed import write_sealed
from imitable.feasibility.uncertainty import Uncertainty

COLUMNS: dict[str, Any] = {
    "source": pa.string(),
    "episode_index": pa.int64(),
    "episode_hash": pa.string(),
    "demonstrator": pa.string(),
    "verdict": pa.string(),
    "feasible_bodies": pa.int64(),
    "bodies": pa.int64(),
    "share_low": pa.float64(),
    "share_high": pa.float64(),
    "worst_knob": pa.string(),
}
"""Of `scores.uncertain.parquet`."""


def uncertain_path(scores: Path) -> Path:
    """`scores.parquet` → `scores.uncertain.parquet`."""
    return scores.with_name(f"{scores.stem}.uncertain.parquet")


def write_uncertainty(path: Path, scores: Scores, found: Uncertainty) -> None:
    """Write one row a demonstration, whole or not at all."""
    episodes = scores.episodes
    columns = {
        "source": [episode.source for episode in episodes],
        "episode_index": [episode.index for episode in episodes],
        "episode_hash": [episode.hash for episode in episodes],
        "demonstrator": [episode.demonstrator for episode in episodes],
        "verdict": list(scores.verdict),
        "feasible_bodies": found.feasible,
        "bodies": [found.bodies] * len(episodes),
        "share_low": found.shares.min(axis=1),
        "share_high": found.shares.max(axis=1),
        "worst_knob": list(found.worst_knob),
    }
    doubts = {doubt.setting: doubt.part for doubt in found.doubts}
    write_sealed(path, columns, COLUMNS, {"schema": 1, "imitator": scores.imitator, "doubts": doubts})
