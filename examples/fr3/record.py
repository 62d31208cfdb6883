# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Six recordings of another lab's arm as a LeRobot v3 dataset, 30 frames a second and in degrees. python record.py LAB.

Three reach calmly and three shake something. Joints have the names of that lab, and there is a gripper.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FPS, FRAMES = 30, 91
NAMES = [*(f"joint_{number}.pos" for number in range(1, 8)), "gripper.pos"]
HOME_DEG = np.array([0, 0, 0, -90, 0, 90, -45])
REACH_DEG = np.array([40, 25, 20, 30, 25, 20, 30])
MOVEMENTS = [("reach", 0.20), ("reach", 0.25), ("reach", 0.30), ("shake", 1.6), ("shake", 1.8), ("shake", 2.0)]
"""Task and hertz of every episode."""
TASKS = sorted({task for task, _ in MOVEMENTS})
NUMBERS = ("frame_index", "episode_index", "index", "task_index")


def frames(episode: int) -> dict[str, list[object]]:
    """Return the columns of an episode: the arm leaves its home and comes back, at the pace of its task."""
    task, hertz = MOVEMENTS[episode]
    times = np.arange(FRAMES) / FPS
    away = 0.5 * (1 - np.cos(2 * np.pi * hertz * times))[:, None]
    arm = HOME_DEG + away * REACH_DEG * np.cos(episode + np.arange(7))
    state = np.column_stack([arm, np.full(FRAMES, 50.0)])
    return {
        "observation.state": state.tolist(),
        "action": np.concatenate([state[1:], state[-1:]]).tolist(),  # where its leader arm is: a frame ahead
        "timestamp": times.tolist(),
        "frame_index": list(range(FRAMES)),
        "episode_index": [episode] * FRAMES,
        "index": list(range(episode * FRAMES, (episode + 1) * FRAMES)),
        "task_index": [TASKS.index(task)] * FRAMES,
    }


def row(episode: int) -> dict[str, object]:
    """Return what the dataset says of an episode."""
    files = dict.fromkeys(("data/chunk_index", "data/file_index", "meta/episodes/chunk_index", "meta/episodes/file_index"), 0)
    ends = {"dataset_from_index": episode * FRAMES, "dataset_to_index": (episode + 1) * FRAMES}
    return {"episode_index": episode, "tasks": [MOVEMENTS[episode][0]], "length": FRAMES, **files, **ends}


def info() -> dict[str, object]:
    """Return the dataset's description."""
    arm = {"dtype": "float32", "shape": [len(NAMES)], "names": NAMES}
    features = {"observation.state": arm, "action": arm, "timestamp": {"dtype": "float32", "shape": [1], "names": None}}
    features |= {name: {"dtype": "int64", "shape": [1], "names": None} for name in NUMBERS}
    sizes = {"total_episodes": len(MOVEMENTS), "total_frames": len(MOVEMENTS) * FRAMES, "total_tasks": len(TASKS)}
    files = {"chunks_size": 1000, "data_files_size_in_mb": 100, "video_files_size_in_mb": 200, "video_path": None}
    path = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
    said = {"codebase_version": "v3.0", "robot_type": "lab_arm", "fps": FPS, "splits": {"train": f"0:{len(MOVEMENTS)}"}}
    return {**said, **sizes, **files, "data_path": path, "features": features}


def tasks() -> Any:
    """Return the tasks as pandas would write them: LeRobot looks one up by the index of that frame."""
    columns = [("task_index", "int64", "int64"), ("__index_level_0__", "unicode", "object")]
    said = [{"name": None, "field_name": name, "pandas_type": kind, "numpy_type": held} for name, kind, held in columns]
    said[0]["name"] = "task_index"
    pandas = {"index_columns": ["__index_level_0__"], "column_indexes": [], "columns": said}
    table = pa.table({"task_index": list(range(len(TASKS))), "__index_level_0__": TASKS})
    return table.replace_schema_metadata({"pandas": json.dumps(pandas)})


def statistics(columns: dict[str, list[object]]) -> dict[str, dict[str, list[float]]]:
    """Return what a trainer standardises by."""
    found: dict[str, dict[str, list[float]]] = {}
    for name, column in columns.items():
        values = np.array(column, float).reshape(len(column), -1)
        found[name] = {how: getattr(values, how)(axis=0).tolist() for how in ("min", "max", "mean", "std")}
        found[name]["count"] = [len(values)]
    return found


def main(folder: str) -> None:
    """Write the dataset."""
    kinds = dict.fromkeys(("observation.state", "action"), pa.list_(pa.float32(), len(NAMES))) | {"timestamp": pa.float32()}
    parts = [frames(episode) for episode in range(len(MOVEMENTS))]
    columns = {name: [value for part in parts for value in part[name]] for name in parts[0]}
    tables = {
        "data/chunk-000/file-000.parquet": pa.table(
            {name: pa.array(column, kinds.get(name, pa.int64())) for name, column in columns.items()}
        ),
        "meta/episodes/chunk-000/file-000.parquet": pa.Table.from_pylist([row(place) for place in range(len(MOVEMENTS))]),
        "meta/tasks.parquet": tasks(),
    }
    for path, table in tables.items():
        (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, Path(folder) / path)
    (Path(folder) / "meta" / "info.json").write_text(json.dumps(info(), indent=1))
    (Path(folder) / "meta" / "stats.json").write_text(json.dumps(statistics(columns), indent=1))


if __name__ == "__main__":
    main(*sys.argv[1:])
