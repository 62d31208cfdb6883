# SPDX-License-Identifier: MIT
"""Demonstrations in files, whatever their format: rows are made once, states are read when asked for."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from imitable.types import Demonstrations, Episode, Layout, Trajectory


class EpisodeFiles(Protocol):
    """Where N demonstrations lie."""

    def __len__(self) -> int:
        """Return N, without reading any."""
        ...

    def row(self, place: int) -> Episode:
        """Return what is known of one; its states are read if its hash is not known without."""
        ...

    def read(self, place: int) -> Trajectory:
        """Read one."""
        ...

    def __iter__(self) -> Iterator[Trajectory]:
        """Read all in order; memory holds a bounded part of them."""
        ...


class Filed(Demonstrations):
    """Demonstrations that are read from files."""

    def __init__(self, layout: Layout, files: EpisodeFiles) -> None:
        """Read through the files; every demonstration must fit the layout."""
        self._layout, self._files = layout, files

    def __len__(self) -> int:
        """Return the number of demonstrations, without reading any."""
        return len(self._files)

    @property
    def layout(self) -> Layout:
        """Names and period shared by all trajectories."""
        return self._layout

    def _rows(self) -> Iterable[Episode]:
        return (self._files.row(place) for place in range(len(self)))

    def __getitem__(self, position: int) -> Trajectory:
        """Read one trajectory, and no more than it takes."""
        return self._files.read(position)

    def __iter__(self) -> Iterator[Trajectory]:
        """Read all trajectories in order."""
        return iter(self._files)
