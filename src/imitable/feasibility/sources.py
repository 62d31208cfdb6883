# SPDX-License-Identifier: MIT
"""Scored demonstrations again: from the folders that a score file names."""

from pathlib import Path

from imitable.demos.store import read
from imitable.errors import ImitableError
from imitable.types import Demonstrations, Episode, Trajectory


class Sources:
    """The sets that scored demonstrations came from, as far as they are still there."""

    def __init__(self, beside: Path) -> None:
        """Look for relative folders where we are, then in `beside`, where the score file is."""
        self._beside = beside
        self._sets: dict[str, tuple[Demonstrations, dict[str, int]] | None] = {}

    def trajectory(self, episode: Episode) -> Trajectory | None:
        """Return the demonstration, if its set still holds it unchanged."""
        if episode.source not in self._sets:
            self._sets[episode.source] = self._read(episode.source)
        source = self._sets[episode.source]
        if source is None or episode.hash not in source[1]:
            return None
        try:
            return source[0][source[1][episode.hash]]
        except ImitableError:
            return None

    def _read(self, source: str) -> tuple[Demonstrations, dict[str, int]] | None:
        places = [folder for folder in (Path(source), self._beside / source) if source and folder.is_dir()]
        try:
            demos = read(places[0]) if places else None
            return None if demos is None else (demos, {episode.hash: i for i, episode in enumerate(demos.episodes)})
        except ImitableError:
            return None
