# SPDX-License-Identifier: MIT
"""One dataset folder, opened for reading: metadata at once, episodes when asked for, nothing taken on trust."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from imitable.demos import lerobot_v2, parquet
from imitable.demos.lerobot import ACTION, INFO_FILE, STATE, Info, read_info
from imitable.errors import BadDataset, BadTrajectory
from imitable.types import Episode, Floats, Trajectory


@dataclass(frozen=True)
class Row:
    """What `meta/episodes` says of one episode."""

    index: int
    frames: int
    data_file: Path
    demonstrator: str
    hash: str | None
    total_return: float
    terminated: bool
    seed: int | None
    has_actions: bool

    def episode(self, path: Path, content_hash: str) -> Episode:
        """Return the row as all of the house knows it."""
        return Episode(
            source=str(path),
            index=self.index,
            hash=content_hash,
            demonstrator=self.demonstrator,
            length=self.frames - 1,
            total_return=self.total_return,
            terminated=self.terminated,
            seed=self.seed,
        )


class Folder:
    """One dataset: its rows, and the data file read last."""

    def __init__(self, path: Path) -> None:
        """Read the metadata."""
        self.path = path
        self.info = read_info(path)
        self.rows = _rows(path, self.info)
        self._widths = {STATE: len(self.info.layout.state), ACTION: len(self.info.layout.actuators), "frame_index": 1}
        self._open: tuple[Path, parquet.Shard] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave the open file behind: a set goes to worker processes, whatever was read of it before."""
        return self.__dict__ | {"_open": None}

    def read(self, row: Row) -> Trajectory:
        """Read one episode and check that it is the one that was written."""
        frames = self._shard(row.data_file).frames(row.index)
        if len(frames[STATE]) != row.frames:
            reason = f"episode {row.index} has {len(frames[STATE])} frames where meta/episodes lists {row.frames}"
            raise BadDataset(str(self.path), reason)
        if not np.array_equal(frames["frame_index"][:, 0], np.arange(row.frames)):
            raise BadDataset(str(self.path), f"the frames of episode {row.index} are out of order")
        try:
            trajectory = Trajectory(
                states=frames[STATE],
                demonstrator=row.demonstrator,
                actions=self._actions(row, frames),
                terminated=row.terminated,
                total_return=row.total_return,
                seed=row.seed,
            )
        except BadTrajectory as error:
            raise BadDataset(str(self.path), f"episode {row.index} is {error}") from None
        if row.hash is not None and trajectory.hash != row.hash:
            raise BadDataset(str(self.path), f"episode {row.index} is damaged: its contents differ from the recorded hash")
        return trajectory

    def __iter__(self) -> Iterator[Trajectory]:
        """Read all episodes in order, and let go of the last data file."""
        for row in self.rows:
            yield self.read(row)
        self._open = None

    def _actions(self, row: Row, frames: dict[str, Floats]) -> Floats | None:
        if not row.has_actions:
            return None
        return frames[ACTION][:-1] if ACTION in frames else np.empty((row.frames - 1, 0))

    def _shard(self, path: Path) -> parquet.Shard:
        if self._open is None or self._open[0] != path:
            self._open = None  # before the next one is opened, so that two are never held
            widths = {name: width for name, width in self._widths.items() if width}
            self._open = path, parquet.Shard(self.path, path, widths)
        return self._open[1]


def episode_rows(path: Path, info: Info) -> list[dict[str, Any]]:
    """Read the rows of all episodes; what a dataset does not say is None."""
    if info.old:
        return lerobot_v2.read_rows(path)
    return parquet.read_rows(path, info.layout.hash if info.own else None)


def _rows(path: Path, info: Info) -> tuple[Row, ...]:
    raw = episode_rows(path, info)
    frames = sum(row["length"] for row in raw)
    if (len(raw), frames) != (info.total_episodes, info.total_frames):
        counted = f"{len(raw)} episodes with {frames} frames"
        reason = f"meta/episodes lists {counted}, {INFO_FILE} {info.total_episodes} with {info.total_frames}"
        raise BadDataset(str(path), reason)
    if len({row["episode_index"] for row in raw}) != len(raw):
        raise BadDataset(str(path), "meta/episodes lists an episode twice")
    return tuple(_row(path, info, row) for row in raw)


def _row(path: Path, info: Info, raw: dict[str, Any]) -> Row:
    if raw["length"] < 2:
        raise BadDataset(str(path), f"episode {raw['episode_index']} has {raw['length']} frames, a demonstration needs two")
    row = Row(
        index=raw["episode_index"],
        frames=raw["length"],
        data_file=data_file(path, info, raw),
        demonstrator=info.robot_type if raw["demonstrator"] is None else raw["demonstrator"],
        hash=raw["episode_hash"],
        total_return=math.nan if raw["return"] is None else raw["return"],
        terminated=bool(raw["terminated"]),
        seed=raw["seed"],
        has_actions=bool(info.layout.actuators) if raw["has_actions"] is None else raw["has_actions"],
    )
    if info.own and raw["row_hash"] is not None and row.episode(path, row.hash or "").row_hash != raw["row_hash"]:
        raise BadDataset(str(path), f"the row of episode {row.index} in meta/episodes differs from its recorded hash")
    return row


def data_file(path: Path, info: Info, row: dict[str, Any]) -> Path:
    """Return the data file of an episode: by its row, or in v2 by its index."""
    template, index = info.data_path, row["episode_index"]
    places = {"chunk_index": row["data/chunk_index"], "file_index": row["data/file_index"]}
    if info.old:
        places = {"episode_chunk": index // info.chunk_size, "episode_index": index}
    try:
        name = template.format(**places)
    except (AttributeError, IndexError, KeyError, ValueError):
        raise BadDataset(str(path), f"{INFO_FILE} has no usable data_path: {template!r}") from None
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise BadDataset(str(path), f"{INFO_FILE} points outside the folder: {template!r}")
    return path / name
