# SPDX-License-Identifier: MIT
"""What an export is made of: demonstrations, their scores in the same order, and where episodes came from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from imitable.demos.conversion.convert import ORIGIN
from imitable.errors import BadDataset, BadOption
from imitable.feasibility.scores import Scores
from imitable.types import Demonstrations, Episode, Floats

FLOOR = 0.01
"""Frames that weigh less than this part of the heaviest get a weight of exactly zero."""


@dataclass(frozen=True, eq=False)
class ExportJob:
    """An export under way."""

    demos: Demonstrations
    scores: Scores
    """Of these demonstrations, perhaps of more."""
    out: Path
    """File or folder to write."""
    dataset: Path | None = None
    """The dataset that a trainer will open, if the demonstrations were converted from it."""
    floor: float = FLOOR
    """See `FLOOR`."""
    chunk_size: int = 50
    """Frames ahead that LeRobot's `rabc` weighter looks."""
    bins: int = 10
    """Weight bins for trainers that weigh groups."""
    overwrite: bool = False
    """Replace an output that is there."""

    @cached_property
    def rows(self) -> list[int]:
        """Place in the scores of every demonstration; strangers are refused."""
        _ = self.masses
        places = {episode.hash: place for place, episode in enumerate(self.scores.episodes)}
        return [places[episode.hash] for episode in self.demos.episodes]

    @cached_property
    def masses(self) -> Floats:
        """(N) weight of every demonstration, summing to one; nothing is zero here that the scores do not say."""
        return self.scores.weights.of(self.demos)

    @cached_property
    def kept(self) -> Floats:
        """(N) the same with hard zeros where a frame weighs less than the floor, summing to one."""
        if not 0 <= self.floor < 1:
            raise BadOption("--floor", self.floor, "give a part of the largest weight, from 0 to below 1")
        lengths = np.array([episode.length for episode in self.demos.episodes])
        density = self.masses / lengths * [max(part for _, part in segments) for segments in self._segments]
        kept = np.where(density >= self.floor * density.max(), self.masses, 0.0)
        return kept / kept.sum()

    @cached_property
    def feasibility(self) -> Floats:
        """(N) score of every demonstration."""
        return self.scores.score[self.rows]

    @cached_property
    def verdicts(self) -> list[str]:
        """(N) verdict of every demonstration."""
        return [self.scores.verdict[row] for row in self.rows]

    def frame_weights(self, place: int, frames: int) -> Floats:
        """(frames) what each frame of a demonstration weighs, in parts of the whole: its segments count, if they do at all.

        The demonstration may have another number of frames at its source: time is what they share.
        """
        begins, parts = zip(*self._segments[place], strict=True)
        length = self.demos.episodes[place].length
        when = np.minimum(np.arange(frames) * length // max(frames - 1, 1), length - 1)
        relative = np.array(parts)[np.searchsorted(begins, when, "right") - 1]
        total = float(relative.sum())
        return self.kept[place] * (relative / total if total > 0 else np.full(frames, 1 / frames))

    @cached_property
    def _segments(self) -> list[tuple[tuple[int, float], ...]]:
        return self.scores.weights.of_segments(self.demos)

    def origin(self, episode: Episode) -> "Origin | None":
        """Return where a converted episode came from; None of one that was not converted."""
        held = self._origins.get(episode.source)
        if held is None:
            return None
        entry = held["episodes"][episode.index]
        return Origin(Path(held["source"]), str(held["format"]), str(entry["name"]), int(entry["index"]))

    @cached_property
    def _origins(self) -> Mapping[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        for source in {episode.source for episode in self.demos.episodes}:
            path = Path(source) / ORIGIN
            if source and path.is_file():
                try:
                    found[source] = json.loads(path.read_bytes())
                except ValueError as error:
                    raise BadDataset(source, f"{ORIGIN} is damaged ({error})") from None
        return found

    def target_places(self, count: int) -> dict[int, int]:
        """Return the place of the demonstration of every episode index of `dataset`, or of the demonstrations' own folder."""
        places: dict[int, int] = {}
        for place, episode in enumerate(self.demos.episodes):
            index = episode.index
            if self.dataset is not None:
                origin = self.origin(episode)
                if origin is None or origin.source.resolve() != self.dataset.resolve():
                    reason = f"episode {episode.index} of {episode.source} was not converted from it"
                    raise BadOption("--dataset", self.dataset, f"{reason}; name the source of the conversion")
                index = origin.index
            if index >= count or index in places:
                raise BadOption("--dataset", self.dataset or episode.source, f"it has no single episode {index}")
            places[index] = place
        return places


@dataclass(frozen=True)
class Origin:
    """Where a converted episode came from."""

    source: Path
    format: str
    name: str
    index: int

    @property
    def file(self) -> Path | None:
        """The file that is this episode alone; None if it shares one."""
        path = self.source / self.name if self.source.is_dir() else self.source
        return path if path.is_file() and path.name == self.name else None


def source_folder(job: ExportJob) -> Path | None:
    """Return the one folder that the demonstrations are read from, whole; None if there are several, or a part is left out."""
    sources = {episode.source for episode in job.demos.episodes}
    only = Path(next(iter(sources))) if len(sources) == 1 else None
    return only if only is not None and (only / "meta" / "info.json").is_file() else None
