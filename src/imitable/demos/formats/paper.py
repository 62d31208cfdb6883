# SPDX-License-Identifier: MIT
"""The pickles that the paper's authors published: `obs`, a list of trajectories, each T × S full states, and `next_obs`.

A folder may hold `batch_00.pkl`, or folders of demonstrators with one each; a file that holds a bare list of such arrays (the
arm's `dis5.pkl`) is read, too. The column is `states`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from imitable.demos.formats.source import Column, Habits, Recording, Source, finite, matrix
from imitable.demos.formats.unpickle import read_pickle
from imitable.errors import BadDataset
from imitable.types import Floats

STATES = "states"
SUFFIXES = (".pkl", ".pickle")


class Paper(Source):
    """Pickles of many trajectories each, read by an unpickler that runs no code."""

    format = "paper"
    habits = Habits(robots_period=True)

    def __init__(self, path: Path) -> None:
        """Count the trajectories of every file."""
        super().__init__(path)
        files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES)
        if not files:
            raise BadDataset(str(path), "there is no .pkl file in it")
        self._held: tuple[Path, list[Floats]] | None = None
        self._places = [(file, place) for file in files for place in range(len(self._file(file)))]
        if not self._places:
            raise BadDataset(str(path), "there is no trajectory in it")
        self._columns = {STATES: Column(self[0].columns[STATES].shape[1])}

    @property
    def columns(self) -> Mapping[str, Column]:
        """The full states."""
        return self._columns

    @property
    def period_s(self) -> float | None:
        """The files do not say it: it is that of the bodies."""
        return None

    def __len__(self) -> int:
        """Return the number of trajectories."""
        return len(self._places)

    def origins(self) -> list[dict[str, str | int]]:
        """Return file and place of every trajectory."""
        return [{"name": self._name(place), "index": place} for place in range(len(self))]

    def __getitem__(self, place: int) -> Recording:
        """Read one trajectory; a whole file is held at a time."""
        file, number = self._places[place]
        states = self._file(file)[number]
        who = file.parent.name if file.stem.startswith("batch") else file.stem
        columns = finite(f"{file}: trajectory {number}", {STATES: states})
        return Recording(self._name(place), place, columns, demonstrator=who, has_actions=False)

    def _name(self, place: int) -> str:
        file, number = self._places[place]
        return f"{file.parent.name}/{file.name} {number}"

    def _file(self, path: Path) -> list[Floats]:
        if self._held is None or self._held[0] != path:
            self._held = path, _trajectories(path, read_pickle(path))
        return self._held[1]


def _trajectories(path: Path, content: Any) -> list[Floats]:
    """Return all trajectories, the last state of `next_obs` appended where it is there."""
    held = cast(Mapping[str, Any], content) if isinstance(content, Mapping) else {"obs": content}
    listed, after = held.get("obs"), held.get("next_obs")
    if not isinstance(listed, Sequence | np.ndarray):
        raise BadDataset(str(path), "it is none of the paper's files: it has no list of trajectories 'obs'")
    pairs = zip(cast(Sequence[Any], listed), _after(path, cast(Sequence[Any], listed), after), strict=True)
    return [_joined(f"{path}: trajectory {number}", states, later) for number, (states, later) in enumerate(pairs)]


def _after(path: Path, listed: Sequence[Any], after: Any) -> Sequence[Any]:
    if after is None:
        return [None] * len(listed)
    if not isinstance(after, Sequence | np.ndarray) or len(cast(Sequence[Any], after)) != len(listed):
        raise BadDataset(str(path), "'next_obs' has not as many trajectories as 'obs'")
    return cast(Sequence[Any], after)


def _joined(where: str, states: Any, later: Any) -> Floats:
    rows = matrix(where, "obs", states)
    if later is None:
        return rows
    shifted = matrix(where, "next_obs", later, rows.shape[1])
    if len(shifted) != len(rows) or not np.array_equal(shifted[:-1], rows[1:]):
        raise BadDataset(where, "'next_obs' is not 'obs' one step later")
    return np.concatenate([rows, shifted[-1:]])
