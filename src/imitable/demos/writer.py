# SPDX-License-Identifier: MIT
"""Fills a folder with a LeRobot v3.0 dataset, one trajectory at a time, in bounded memory."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from imitable.demos import parquet
from imitable.demos.lerobot import (
    ACTION,
    DATA_FILE,
    EPISODES_FILE,
    INFO_FILE,
    STATE,
    STATS_FILE,
    TASKS_FILE,
    TOOL_POSE,
    feature_widths,
    info_text,
)
from imitable.demos.summary import Summary, by_feature, merged, summarise
from imitable.errors import BadTrajectory
from imitable.robots.robot import Robot
from imitable.sim.poses import tool_poses
from imitable.types import Floats, Layout, Trajectory, check_layout, episode_of

GROUP_FRAMES = 1000
"""A row group is complete with this many frames: long episodes have their own, short ones share, none is cut."""
GROUP_ROWS = 500
"""Episode rows that are held before they are written."""


class Writer:
    """A dataset in the making: data files and episode rows grow as trajectories come; `finish` makes it readable."""

    def __init__(self, folder: Path, layout: Layout, task: str, shard_mb: float, arm: Robot | None = None) -> None:
        """Start an empty dataset in an empty folder; the poses of an arm's tool stand beside its states."""
        self._folder, self._layout, self._task, self._shard_mb = folder, layout, task, shard_mb
        self._arm, self._widths = arm, feature_widths(layout, posed=arm is not None)
        self._data = parquet.Shards(folder, DATA_FILE, parquet.frame_schema(self._widths), shard_mb)
        self._episodes = parquet.Shards(folder, EPISODES_FILE, parquet.episode_schema(self._widths, layout.hash), shard_mb)
        self._frames: list[Floats] = []
        self._rows: list[dict[str, Any]] = []
        self._total: Summary | None = None
        self._robots: set[str] = set()
        self._written = self._held = 0
        self.count = 0

    def add(self, trajectory: Trajectory) -> None:
        """Append one trajectory as T + 1 frames."""
        _check_fit(self._layout, trajectory, self.count)
        frames = self._frames_of(trajectory)
        summary = summarise(frames)
        self._rows.append(self._row_of(trajectory, summary))
        self._frames.append(frames)
        self._total = summary if self._total is None else merged(self._total, summary)
        self._robots.add(trajectory.demonstrator)
        self._held += len(trajectory) + 1
        self.count += 1
        if self._held >= GROUP_FRAMES:
            self._flush_frames()
        if len(self._rows) >= GROUP_ROWS:
            self._flush_rows()

    def finish(self) -> None:
        """Complete all files; `meta/info.json` comes last, so that a folder without it is known to be half-written."""
        assert self._total is not None, "an empty dataset"
        self._flush_frames()
        self._data.close()
        self._flush_rows()
        self._episodes.close()
        parquet.write_tasks(self._folder / TASKS_FILE, self._task)
        (self._folder / STATS_FILE).write_text(json.dumps(by_feature(self._total, self._widths), indent=4), encoding="utf-8")
        text = info_text(
            self._layout, _robot_type(self._robots), self.count, self._written, self._shard_mb, posed=self._arm is not None
        )
        (self._folder / INFO_FILE).write_text(text, encoding="utf-8")

    def abandon(self) -> None:
        """Let go of the open files."""
        self._data.abandon()
        self._episodes.abandon()

    def _frames_of(self, trajectory: Trajectory) -> Floats:
        """(T + 1, W) all columns side by side: float64 holds every index exactly."""
        n, step = len(trajectory) + 1, np.arange(len(trajectory) + 1.0)
        actions = np.zeros((n, len(self._layout.actuators)))
        if trajectory.actions is not None:
            actions[:-1], actions[-1] = trajectory.actions, trajectory.actions[-1]
        columns: dict[str, Floats] = {
            STATE: trajectory.states,
            ACTION: actions,
            "timestamp": step * self._layout.period_s,
            "frame_index": step,
            "episode_index": np.full(n, float(self.count)),
            "index": self._written + self._held + step,
            "task_index": np.zeros(n),
        }
        if self._arm is not None:
            columns[TOOL_POSE] = tool_poses(self._arm, trajectory.states)
        return np.concatenate([columns[name].reshape(n, -1) for name in self._widths], axis=1)

    def _row_of(self, trajectory: Trajectory, summary: Summary) -> dict[str, Any]:
        (data_chunk, data_file), (chunk, file) = self._data.position, self._episodes.position
        first, frames = self._written + self._held, len(trajectory) + 1
        statistics = by_feature(summary, self._widths)
        return {
            "episode_index": self.count,
            "tasks": [self._task],
            "length": frames,
            "data/chunk_index": data_chunk,
            "data/file_index": data_file,
            "dataset_from_index": first,
            "dataset_to_index": first + frames,
            "meta/episodes/chunk_index": chunk,
            "meta/episodes/file_index": file,
            "demonstrator": trajectory.demonstrator,
            "return": trajectory.total_return,
            "terminated": trajectory.terminated,
            "seed": trajectory.seed,
            "episode_hash": trajectory.hash,
            "has_actions": trajectory.actions is not None,
            "row_hash": episode_of(trajectory, self.count).row_hash,
        } | {f"stats/{name}/{key}": values for name, part in statistics.items() for key, values in part.items()}

    def _flush_frames(self) -> None:
        if not self._frames:
            return
        self._data.write(parquet.frame_table(np.concatenate(self._frames), self._widths, self._data.schema))
        self._written, self._held = self._written + self._held, 0
        self._frames.clear()

    def _flush_rows(self) -> None:
        if self._rows:
            self._episodes.write(parquet.row_table(self._rows, self._episodes.schema))
            self._rows.clear()


def _check_fit(layout: Layout, trajectory: Trajectory, index: int) -> None:
    check_layout(layout, trajectory, index)
    if trajectory.seed is not None and not -(2**63) <= trajectory.seed < 2**63:
        raise BadTrajectory(f"trajectory {index} has the seed {trajectory.seed}, which does not fit 64 bits")


def _robot_type(demonstrators: set[str]) -> str:
    """Return the one demonstrator, or the family that all are of, or `mixed`."""
    if len(demonstrators) == 1:
        return next(iter(demonstrators))
    families = {name.split(" ")[0].partition(":")[0] for name in demonstrators}
    return next(iter(families)) if len(families) == 1 else "mixed"
