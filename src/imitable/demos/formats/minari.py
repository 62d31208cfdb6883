# SPDX-License-Identifier: MIT
"""Minari datasets in HDF5: `episode_<i>` with `observations` (T + 1), `actions` (T), and perhaps `infos`.

Columns are called as their datasets are (`observations`, `observations/<key>`, `infos/qpos`), but `actions`, which is `action`.
"""

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from imitable.demos.formats.hdf5 import OWN, check_inside, numbers, opened, own_layout, plain, rows
from imitable.demos.formats.source import Column, Recording, Source, finite
from imitable.errors import BadDataset
from imitable.robots.parse import ROBOTS, parse_robot
from imitable.types import Floats, Layout

METADATA, DATA = "metadata.json", "main_data.hdf5"
OBSERVATIONS = "observations"
COUNTS = ("rewards", "terminations", "truncations")


class Minari(Source):
    """A dataset folder; an episode at a time."""

    format = "minari"

    def __init__(self, path: Path) -> None:
        """Read the metadata, and the columns of the first episode."""
        super().__init__(path)
        self._folder = path / "data" if (path / "data" / METADATA).is_file() else path
        self._metadata = _metadata(path, self._folder / METADATA)
        with opened(self._folder / DATA) as file:
            check_inside(self._folder / DATA, file)
            self._count = sum(str(name).startswith("episode_") for name in file)
        if not self._count:
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
        return self._count

    def origins(self) -> list[dict[str, str | int]]:
        """Return the names of the episodes."""
        return [{"name": f"episode_{place}", "index": place} for place in range(self._count)]

    def __getitem__(self, place: int) -> Recording:
        """Read one episode."""
        name = f"episode_{place}"
        with opened(self._folder / DATA) as file:
            if name not in file:
                raise BadDataset(str(self.path), f"it lacks {name}")
            held = {key: rows(values) for key, values in numbers(file[name]).items()}
            about = plain(file[name].attrs)
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
        kind = held.get("data_format", "hdf5")
    except (AttributeError, OSError, ValueError) as error:
        raise BadDataset(str(path), f"{METADATA} cannot be read ({error})") from None
    if kind != "hdf5":
        raise BadDataset(str(path), f"it is stored as {kind}; write it as hdf5 (Minari's create_dataset_…, data_format='hdf5')")
    return held
