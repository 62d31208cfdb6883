# SPDX-License-Identifier: MIT
"""The LeRobot layouts: where the files of v3.0 lie, what frames hold, and `meta/info.json` (v2.0 on) in our own terms."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from imitable.errors import BadDataset
from imitable.types import Layout

CODEBASE_VERSION = "v3.0"
READ = ("v3.", "v2.0", "v2.1")
"""Beginnings of the versions that can be read."""
SCHEMA = 1
"""Version of what we add to LeRobot's layout."""

INFO_FILE = "meta/info.json"
STATS_FILE = "meta/stats.json"
TASKS_FILE = "meta/tasks.parquet"
EPISODES_FILE = "meta/episodes/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
DATA_FILE = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
CHUNK_FILES = 1000
"""Files a chunk folder holds at most."""
VIDEO_FILE_MB = 200
"""LeRobot's default; we write no video."""

STATE = "observation.state"
ACTION = "action"
TOOL_POSE = "observation.tool_pose"
POSE_ENTRIES = ("x", "y", "z", "qw", "qx", "qy", "qz")
"""Of a tool: metres and a quaternion. They follow from the state, and are there for other people's programs."""
COUNTERS = {"timestamp": "float32", "frame_index": "int64", "episode_index": "int64", "index": "int64", "task_index": "int64"}
"""Frame columns of one number that every dataset has."""


def feature_widths(layout: Layout, *, posed: bool = False) -> dict[str, int]:
    """Return the numbers a frame holds in each column; a body without actuators has no action column.

    `posed` says that the pose of a tool stands beside every state.
    """
    vectors = {STATE: len(layout.state), TOOL_POSE: len(POSE_ENTRIES) if posed else 0, ACTION: len(layout.actuators)}
    return {name: width for name, width in vectors.items() if width} | dict.fromkeys(COUNTERS, 1)


def frames_per_second(period_s: float) -> int | float:
    """Return 1 / period, as an integer where it is one: LeRobot writes integers but computes with any number."""
    rate = 1 / period_s
    return round(rate) if math.isclose(rate, round(rate), rel_tol=1e-9) else rate


def info_text(layout: Layout, robot_type: str, episodes: int, frames: int, shard_mb: float, *, posed: bool = False) -> str:
    """Return the contents of `meta/info.json`; the key `imitable` holds what LeRobot has no place for."""
    names = {STATE: layout.state, TOOL_POSE: POSE_ENTRIES, ACTION: layout.actuators}
    features = {
        name: {"dtype": COUNTERS.get(name, "float64"), "shape": [width], "names": names.get(name)}
        for name, width in feature_widths(layout, posed=posed).items()
    }
    info = {
        "codebase_version": CODEBASE_VERSION,
        "robot_type": robot_type,
        "total_episodes": episodes,
        "total_frames": frames,
        "total_tasks": 1,
        "chunks_size": CHUNK_FILES,
        "data_files_size_in_mb": max(1, round(shard_mb)),
        "video_files_size_in_mb": VIDEO_FILE_MB,
        "fps": frames_per_second(layout.period_s),
        "splits": {"train": f"0:{episodes}"},
        "data_path": DATA_FILE,
        "video_path": None,
        "features": features,
        "imitable": {
            "schema": SCHEMA,
            "qpos": layout.qpos,
            "qvel": layout.qvel,
            "actuators": layout.actuators,
            "period_s": layout.period_s,
        },
    }
    return json.dumps(info, indent=4, ensure_ascii=False)


@dataclass(frozen=True)
class Info:
    """What a reader needs of `meta/info.json`."""

    layout: Layout
    """Names and period."""
    robot_type: str
    """The robot, or the folder's name where none is given."""
    data_path: str
    """Template of the data files' names."""
    total_episodes: int
    """Episodes that must be there."""
    total_frames: int
    """Frames that must be there."""
    own: bool
    """Whether imitable wrote it."""
    version: str = CODEBASE_VERSION
    """Of LeRobot's layout."""
    chunk_size: int = CHUNK_FILES
    """Episodes in a folder of v2."""

    @property
    def old(self) -> bool:
        """Whether every episode has a data file of its own, as in v2."""
        return self.version.startswith("v2.")


def read_info(folder: Path) -> Info:
    """Read and check `meta/info.json`.

    A dataset that imitable did not write has no split of its state into positions and velocities: all entries count as
    positions then, named as its features are, and the period is 1 / fps.
    """
    raw = read_raw(folder)
    try:
        widths = {name: _width(folder, name, raw["features"].get(name)) for name in (STATE, ACTION)}
        if not widths[STATE]:
            raise BadDataset(str(folder), f"its frames have no {STATE}, so there is nothing to imitate")
        own = "imitable" in raw
        layout = _own_layout(folder, raw["imitable"]) if own else _foreign_layout(raw, widths)
        info = Info(
            layout=layout,
            robot_type=str(raw.get("robot_type") or folder.resolve().name),
            data_path=str(raw["data_path"]),
            total_episodes=int(raw["total_episodes"]),
            total_frames=int(raw["total_frames"]),
            own=own,
            version=str(raw["codebase_version"]),
            chunk_size=max(1, int(raw.get("chunks_size") or CHUNK_FILES)),
        )
    except KeyError as error:
        raise BadDataset(str(folder), f"{INFO_FILE} lacks {error}") from None
    except (ArithmeticError, AttributeError, TypeError, ValueError) as error:
        raise BadDataset(str(folder), f"{INFO_FILE} holds a value that makes no sense ({error})") from None
    if (len(layout.state), len(layout.actuators)) != (widths[STATE], widths[ACTION]):
        raise BadDataset(str(folder), f"{INFO_FILE} names other numbers of entries under 'features' than under 'imitable'")
    if not (math.isfinite(layout.period_s) and layout.period_s > 0):
        raise BadDataset(str(folder), f"{INFO_FILE} gives a frame period of {layout.period_s} s")
    return info


def read_raw(folder: Path) -> dict[str, Any]:
    """Read `meta/info.json` as it is; one of a version that cannot be read is refused."""
    try:
        raw = json.loads((folder / INFO_FILE).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        reason = f"it has no {INFO_FILE} (half-written, or no LeRobot dataset)" if folder.is_dir() else "no such folder"
        raise BadDataset(str(folder), reason) from None
    except OSError as error:
        raise BadDataset(str(folder), f"{INFO_FILE} cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise BadDataset(str(folder), f"{INFO_FILE} is not JSON ({error})") from None
    if not isinstance(raw, dict):
        raise BadDataset(str(folder), f"{INFO_FILE} is not a JSON object")
    info = cast(dict[str, Any], raw)
    if "codebase_version" not in info:
        raise BadDataset(str(folder), f"{INFO_FILE} lacks 'codebase_version'")
    if not str(info["codebase_version"]).startswith(READ):
        raise BadDataset(str(folder), f"it is a LeRobot {info['codebase_version']} dataset; v3.0, v2.1 and v2.0 can be read")
    return info


def _width(folder: Path, name: str, feature: dict[str, Any] | None) -> int:
    if feature is None:
        return 0
    shape = tuple(int(size) for size in feature["shape"])
    if len(shape) != 1 or shape[0] < 0:
        raise BadDataset(str(folder), f"{name} has shape {shape}; a frame holds one row of numbers")
    return shape[0]


def _own_layout(folder: Path, own: dict[str, Any]) -> Layout:
    if int(own["schema"]) > SCHEMA:
        reason = f"written by a newer imitable (schema {own['schema']}, this one reads {SCHEMA}); upgrade imitable"
        raise BadDataset(str(folder), reason)
    qpos, qvel, actuators = (tuple(str(name) for name in own[key]) for key in ("qpos", "qvel", "actuators"))
    return Layout(qpos, qvel, actuators, float(own["period_s"]))


def _foreign_layout(raw: dict[str, Any], widths: dict[str, int]) -> Layout:
    qpos, actuators = (
        entry_names(raw["features"].get(name), widths[name], prefix) for name, prefix in ((STATE, "state"), (ACTION, "action"))
    )
    return Layout(qpos, (), actuators, 1 / float(raw["fps"]))


def entry_names(feature: dict[str, Any] | None, width: int, prefix: str) -> tuple[str, ...]:
    """Return the feature's own names if there is one an entry, else numbered ones."""
    names = tuple(_strings((feature or {}).get("names")))
    return names if len(names) == width else tuple(f"{prefix}{index}" for index in range(width))


def _strings(names: Any) -> Iterator[str]:
    """Yield the names in the forms LeRobot datasets have them: a list, lists by group, or numbers by name."""
    if isinstance(names, str):
        yield names
    elif isinstance(names, dict):
        for key, value in cast(dict[str, Any], names).items():
            yield from _strings(key if isinstance(value, int) else value)
    elif isinstance(names, list):
        for name in cast(list[Any], names):
            yield from _strings(name)
