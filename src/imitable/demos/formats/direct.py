# SPDX-License-Identifier: MIT
"""Data that are whole states already, read as they are."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from imitable.demos.formats.source import Recording, Source
from imitable.errors import BadDataset, BadTrajectory
from imitable.types import Demonstrations, Episode, Layout, Trajectory, episode_of


def trajectory_of(source: Source, recording: Recording, layout: Layout, demonstrator: str) -> Trajectory:
    """Return a recording with columns `qpos`, `qvel` and perhaps `action` as a trajectory."""
    columns = recording.columns
    actions = columns["action"][:-1] if layout.actuators and recording.has_actions else None
    try:
        return Trajectory(
            states=np.concatenate([columns["qpos"], columns["qvel"]], axis=1),
            demonstrator=demonstrator,
            actions=actions,
            terminated=recording.terminated,
            total_return=recording.total_return,
            seed=recording.seed,
        )
    except BadTrajectory as error:
        raise BadDataset(str(source.path), f"{recording.name} is {error}") from None


class Direct(Demonstrations):
    """Demonstrations of a source that needs no mapping."""

    def __init__(self, source: Source, layout: Layout) -> None:
        """Read through the source."""
        self._source, self._layout = source, layout

    def __len__(self) -> int:
        """Return the number of demonstrations, without reading any."""
        return len(self._source)

    @property
    def layout(self) -> Layout:
        """Names and period."""
        return self._layout

    @property
    def episodes(self) -> tuple[Episode, ...]:
        """One row a demonstration; all are read once for their hashes."""
        return self._episodes

    @cached_property
    def _episodes(self) -> tuple[Episode, ...]:
        return tuple(episode_of(trajectory, place, str(self._source.path)) for place, trajectory in enumerate(self))

    def __getitem__(self, position: int) -> Trajectory:
        """Read one trajectory."""
        recording = self._source[position]
        return trajectory_of(self._source, recording, self._layout, recording.demonstrator or self._source.robot)

    def __iter__(self) -> Iterator[Trajectory]:
        """Read all in order, one at a time."""
        return (self[place] for place in range(len(self)))
