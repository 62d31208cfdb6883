# SPDX-License-Identifier: MIT
"""LeRobot datasets, v3.0, v2.1 and v2.0: every feature that is one row of numbers is a column; images and videos are left."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from imitable.demos import parquet
from imitable.demos.formats.source import Column, Recording, Source
from imitable.demos.lerobot import ACTION, COUNTERS, INFO_FILE, STATE, Info, entry_names, read_info, read_raw
from imitable.demos.reader import data_file, episode_rows
from imitable.errors import BadDataset
from imitable.types import Floats, Layout

NUMBERS = ("float", "int", "uint")


class LeRobot(Source):
    """A dataset folder; an episode at a time."""

    format = "lerobot"

    def __init__(self, path: Path) -> None:
        """Read the metadata."""
        super().__init__(path)
        raw = read_raw(path)
        self._info = _info(path, raw)
        self._columns = _columns(path, raw)
        self._rows = episode_rows(path, self._info)
        self._open: tuple[Path, parquet.Shard] | None = None

    @property
    def columns(self) -> Mapping[str, Column]:
        """Features that are one row of numbers."""
        return self._columns

    @property
    def period_s(self) -> float | None:
        """1 / fps, or our own period."""
        return self._info.layout.period_s

    @property
    def robot(self) -> str:
        """The robot type, or the folder's name."""
        return self._info.robot_type

    @property
    def layout(self) -> Layout | None:
        """That of a dataset that imitable wrote."""
        return self._info.layout if self._info.own else None

    def __len__(self) -> int:
        """Return the number of episodes."""
        return len(self._rows)

    def origins(self) -> list[dict[str, str | int]]:
        """Return index and frames of every episode."""
        return [
            {"name": f"episode {row['episode_index']}", "index": row["episode_index"], "frames": row["length"]}
            for row in self._rows
        ]

    def __getitem__(self, place: int) -> Recording:
        """Read one episode."""
        row = self._rows[place]
        index, name = row["episode_index"], f"episode {row['episode_index']}"
        frames = self._shard(data_file(self.path, self._info, row)).frames(index)
        count = int(row["length"])
        if count < 2 or not np.array_equal(frames["frame_index"][:, 0], np.arange(count)):
            raise BadDataset(str(self.path), f"{name} has not the {count} frames in order that its row lists, or too few")
        return Recording(
            name=name,
            index=index,
            columns=self._named({column: frames[column] for column in self._columns}),
            demonstrator=row["demonstrator"],
            terminated=bool(row["terminated"]),
            total_return=float("nan") if row["return"] is None else row["return"],
            seed=row["seed"],
            has_actions=row["has_actions"] is not False,
        )

    def _named(self, columns: Mapping[str, Floats]) -> Mapping[str, Floats]:
        """Add `qpos` and `qvel` to what imitable wrote: it knows which entries of the state are which."""
        if not self._info.own:
            return columns
        nq = self._info.layout.nq
        return {**columns, "qpos": columns[STATE][:, :nq], "qvel": columns[STATE][:, nq:]}

    def _shard(self, path: Path) -> parquet.Shard:
        if self._open is None or self._open[0] != path:
            self._open = None  # before the next one is opened, so that two are never held
            widths = {name: column.width for name, column in self._columns.items()} | {"frame_index": 1}
            self._open = path, parquet.Shard(self.path, path, widths)
        return self._open[1]


def _info(path: Path, raw: dict[str, Any]) -> Info:
    """Return what is known of a dataset, one without `observation.state` included."""
    if isinstance(raw.get("features"), dict) and STATE not in raw["features"]:
        try:
            robot = str(raw.get("robot_type") or path.resolve().name)
            sizes = int(raw["total_episodes"]), int(raw["total_frames"])
            layout = Layout((), (), (), 1 / float(raw["fps"]))
            return Info(layout, robot, str(raw["data_path"]), *sizes, own=False, version=str(raw["codebase_version"]))
        except (ArithmeticError, KeyError, TypeError, ValueError) as error:
            raise BadDataset(str(path), f"{INFO_FILE} holds a value that makes no sense ({error})") from None
    return read_info(path)


def _columns(path: Path, raw: dict[str, Any]) -> dict[str, Column]:
    columns: dict[str, Column] = {}
    for name, feature in cast(dict[str, dict[str, Any]], raw["features"]).items():
        shape = tuple(int(size) for size in feature.get("shape") or ())
        if name in COUNTERS or not str(feature.get("dtype")).startswith(NUMBERS) or len(shape) != 1:
            continue
        names = entry_names(feature, shape[0], "")
        columns[name] = Column(shape[0], () if names[:1] == ("0",) else names)
    if not columns:
        raise BadDataset(str(path), f"its frames hold no row of numbers, such as {STATE} or {ACTION}")
    return columns
