# SPDX-License-Identifier: MIT
"""Data that are whole states already, read as they are."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from imitable.demos.formats.source import Recording, Source
from imitable.errors import BadDataset, BadTrajectory
from imitable.types import Episode, Layout, Trajectory, episode_of


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


@dataclass(frozen=True, eq=False)
class DirectFiles:
    """Recordings of a source that needs no mapping."""

    source: Source
    layout: Layout

    def __len__(self) -> int:
        """Return the number of recordings, without reading any."""
        return len(self.source)

    def row(self, place: int) -> Episode:
        """Read one for its hash."""
        return episode_of(self.read(place), place, str(self.source.path))

    def read(self, place: int) -> Trajectory:
        """Read one trajectory."""
        recording = self.source[place]
        return trajectory_of(self.source, recording, self.layout, recording.demonstrator or self.source.robot)

    def __iter__(self) -> Iterator[Trajectory]:
        """Read all in order, one at a time."""
        return (self.read(place) for place in range(len(self)))
