# SPDX-License-Identifier: MIT
"""Small LeRobot v2.0 and v2.1 datasets, written as those versions lay them out."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from imitable.types import Floats


def write_v2(
    folder: Path,
    episodes: list[dict[str, Floats]],
    names: dict[str, list[str]],
    *,
    version: str = "v2.1",
    fps: float = 30,
    chunk: int = 1000,
    robot_type: str | None = "toy",
) -> Path:
    """Write episodes of float32 columns."""
    lengths = [len(next(iter(columns.values()))) for columns in episodes]
    counters = {
        "frame_index": "int64",
        "episode_index": "int64",
        "index": "int64",
        "task_index": "int64",
        "timestamp": "float32",
    }
    features: dict[str, object] = {
        name: {"dtype": "float32", "shape": [rows.shape[1]], "names": {"motors": names[name]} if name in names else None}
        for name, rows in episodes[0].items()
    }
    features |= {name: {"dtype": kind, "shape": [1], "names": None} for name, kind in counters.items()}
    features |= {"observation.images.top": {"dtype": "video", "shape": [48, 64, 3], "names": ["height", "width", "channel"]}}
    info = {
        "codebase_version": version,
        "robot_type": robot_type,
        "total_episodes": len(episodes),
        "total_frames": sum(lengths),
        "total_tasks": 1,
        "total_videos": 0,
        "total_chunks": 1 + (len(episodes) - 1) // chunk,
        "chunks_size": chunk,
        "fps": fps,
        "splits": {"train": f"0:{len(episodes)}"},
        "data_path": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
        "video_path": "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4",
        "features": features,
    }
    (folder / "meta").mkdir(parents=True)
    (folder / "meta/info.json").write_text(json.dumps(info))
    (folder / "meta/tasks.jsonl").write_text(json.dumps({"task_index": 0, "task": "move"}) + "\n")
    rows = [{"episode_index": k, "tasks": ["move"], "length": length} for k, length in enumerate(lengths)]
    (folder / "meta/episodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    first = 0
    for k, columns in enumerate(episodes):
        path = folder / f"data/chunk-{k // chunk:03d}/episode_{k:06d}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        n = lengths[k]
        table = {name: pa.array(list(values.astype(np.float32)), pa.list_(pa.float32())) for name, values in columns.items()}
        table |= {
            "timestamp": pa.array((np.arange(n) / fps).astype(np.float32)),
            "frame_index": pa.array(np.arange(n)),
            "episode_index": pa.array(np.full(n, k)),
            "index": pa.array(first + np.arange(n)),
            "task_index": pa.array(np.zeros(n, np.int64)),
        }
        pq.write_table(pa.table(table), path)
        first += n
    return folder
