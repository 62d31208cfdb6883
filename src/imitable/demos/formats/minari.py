# SPDX-License-Identifier: MIT
"""Minari datasets: episodes with `observations` (T + 1), `actions` (T), and perhaps `infos`, in HDF5, arrow or parquet.

Columns are called as Minari's are (`observations`, `observations/<key>`, `infos/qpos`), but `actions`, which is `action`.
"""

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np

from imitable.demos.formats.hdf5 import OWN, check_inside, numbers, opened, own_layout, plain, rows
from imitable.demos.formats.minari_arrow import ArrowStorage
from imitable.demos.formats.source import Column, Recording, Source, finite
from imitable.errors import BadDataset
from imitable.robots.parse import ROBOTS, parse_robot
from imitable.types import Floats, Layout

METADATA, DATA = "metadata.json", "main_data.hdf5"
OBSERVATIONS = "observations"
COUNTS = ("rewards", "terminations", "truncations")


class Storage(Protocol):
    """Where the numbers of a dataset lie."""

    def __len__(self) -> int:
        """Return the number of episodes."""
        ...

    def episode(self, place: int) -> tuple[dict[str, Floats], Mapping[str, Any]]:
        """Return the numbers of one episode, (T + 1, width) or (T, width), by name, and what its metadata say."""
        ...


class Hdf5Storage:
    """One file, `main_data.hdf5`, with a group `episode_<i>` an episode."""

    def __init__(self, folder: Path) -> None:
        """Count the episodes."""
        self._path = folder / DATA
        with opened(self._path) as file:
            check_inside(self._path, file)
            self._count = sum(str(name).startswith("episode_") for name in file)

    def __len__(self) -> int:
        """Return the number of episodes."""
        return self._count

    def episode(self, place: int) -> tuple[dict[str, Floats], Mapping[str, Any]]:
        """Return the datasets of one group, and its attributes."""
        name = f"episode_{place}"
        with opened(self._path) as file:
            if name not in file:
                raise BadDataset(str(self._path), f"it lacks {name}")
            return {key: rows(values) for key, values in numbers(file[name]).items()}, plain(file[name].attrs)


class Minari(Source):
    """A dataset folder; an episode at a time."""

    format = "minari"

    def __init__(self, path: Path) -> None:
        """Read the metadata, and the columns of the first episode."""
        super().__init__(path)
        folder = path / "data" if (path / "data" / METADATA).is_file() else path
        self._metadata = _metadata(path, folder / METADATA)
        self._storage = _storage(path, folder, self._metadata.get("data_format", "hdf5"))
        if not len(self._storage):
            raise BadDataset(str(path), "there is no episode in it")
        self._columns = {name: Column(values.shape[1]) for name, values in self[0].columns.items()}

    @property
    def columns(self) -> Mapping[str, Column]:
        """Columns of the first episode; all others must have them."""
        return self._columns

    @cached_property
    def _environment(self) -> str:
        """Id of the environment, such as `Hopper-v5`; empty without one."""
        try:
            return str(json.loads(str(self._metadata.get("env_spec") or "{}")).get("id", ""))
        except (AttributeError, ValueError):
            return ""

    @property
    def period_s(self) -> float | None:
        """That of a file of ours, or of an environment that we have, too."""
        if self.layout is not None:
            return self.layout.period_s
        name = self._environment.rpartition("/")[2].partition("-")[0].lower()
        same = {robot.replace("_", ""): robot for robot in ROBOTS}
        return parse_robot(same[name]).layout.period_s if name in same else None

    @property
    def robot(self) -> str:
        """The environment, or the dataset's id, or the folder's name."""
        return self._environment or str(self._metadata.get("dataset_id") or super().robot)

    @property
    def layout(self) -> Layout | None:
        """That of a dataset of ours."""
        return own_layout(self._metadata.get(OWN))

    def __len__(self) -> int:
        """Return the number of episodes."""
        return len(self._storage)

    def origins(self) -> list[dict[str, str | int]]:
        """Return the names of the episodes."""
        return [{"name": f"episode_{place}", "index": place} for place in range(len(self))]

    def __getitem__(self, place: int) -> Recording:
        """Read one episode."""
        name = f"episode_{place}"
        held, about = self._storage.episode(place)
        columns = dict(finite(f"{self.path}: {name}", _columns(held)))
        if (layout := self.layout) is not None:
            if columns.get(OBSERVATIONS, np.empty((0, 0))).shape[1] != len(layout.state):
                raise BadDataset(str(self.path), f"{OBSERVATIONS} of {name} are not the {len(layout.state)} entries it names")
            columns |= {"qpos": columns[OBSERVATIONS][:, : layout.nq], "qvel": columns[OBSERVATIONS][:, layout.nq :]}
        rewards = held.get("rewards")
        return Recording(
            name=name,
            index=place,
            columns=columns,
            demonstrator=str(about["demonstrator"]) if "demonstrator" in about else None,
            terminated=bool(np.any(held.get("terminations", np.zeros((1, 1)))[-1])),
            total_return=float(about["return"]) if "return" in about else _sum(rewards),
            seed=int(about["seed"]) if "seed" in about else None,
            has_actions=bool(about.get("has_actions", True)),
        )


def _sum(rewards: Floats | None) -> float:
    return float("nan") if rewards is None else float(rewards.sum())


def _columns(held: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return the columns of an episode, T + 1 frames each; the last of T rows is repeated."""
    frames = max((len(values) for name, values in held.items() if name.startswith(OBSERVATIONS)), default=0)
    columns: dict[str, Floats] = {}
    for name, values in held.items():
        if name in COUNTS or len(values) not in (frames, frames - 1) or not len(values):
            continue
        full = values if len(values) == frames else np.concatenate([values, values[-1:]])
        columns["action" if name == "actions" else name] = full
    return columns


def _metadata(path: Path, file: Path) -> dict[str, Any]:
    try:
        held: Any = json.loads(file.read_bytes())
    except (OSError, ValueError) as error:
        raise BadDataset(str(path), f"{METADATA} cannot be read ({error})") from None
    if not isinstance(held, dict):
        raise BadDataset(str(path), f"{METADATA} is no JSON object")
    return cast(dict[str, Any], held)


def _storage(path: Path, folder: Path, kind: object) -> Storage:
    if kind == "hdf5":
        return Hdf5Storage(folder)
    if kind in ("arrow", "parquet"):
        return ArrowStorage(folder, str(kind))
    raise BadDataset(str(path), f"it is stored as {kind}; write it as hdf5, arrow or parquet (Minari's data_format=…)")
