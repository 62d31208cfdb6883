# SPDX-License-Identifier: MIT
"""A part of a set of demonstrations, read through the set."""

from collections.abc import Iterable, Iterator

from imitable.types import Demonstrations, Episode, Layout, Trajectory


class Part(Demonstrations):
    """Some demonstrations of a set, in its order."""

    def __init__(self, demos: Demonstrations, places: Iterable[int]) -> None:
        """Read those at `places`."""
        self._demos, self._places = demos, sorted(set(places))

    @property
    def layout(self) -> Layout:
        """That of the set."""
        return self._demos.layout

    def _rows(self) -> Iterable[Episode]:
        rows = self._demos.episodes
        return (rows[place] for place in self._places)

    def __len__(self) -> int:
        """Return the number of demonstrations, without asking for their rows."""
        return len(self._places)

    def __getitem__(self, position: int) -> Trajectory:
        """Read one demonstration."""
        return self._demos[self._places[position]]

    def __iter__(self) -> Iterator[Trajectory]:
        """Read them in order, in one stream through the set."""
        wanted = set(self._places)
        return (trajectory for place, trajectory in enumerate(self._demos) if place in wanted)
