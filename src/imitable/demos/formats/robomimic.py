# SPDX-License-Identifier: MIT
"""robomimic's HDF5: `data/demo_<i>` with `obs/<key>`, `next_obs/<key>`, `actions`, and perhaps `states` (time, qpos, qvel).

A demonstration of T steps has T + 1 frames where `next_obs` tells the last one, else T. Columns are called as their datasets
are, but `actions`, which is `action`.
"""

import json
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from imitable.demos.formats.hdf5 import OWN, check_inside, numbers, opened, own_layout, plain, rows
from imitable.demos.formats.source import Column, Recording, Source, finite
from imitable.errors import BadDataset
from imitable.types import Floats, Layout

STATE = "obs/state"
"""Where files of ours keep (qpos, qvel)."""
COUNTS = ("rewards", "dones")


class Robomimic(Source):
    """One HDF5 file; a demonstration at a time."""

    format = "robomimic"

    def __init__(self, path: Path) -> None:
        """Read the names of the demonstrations, and the columns of the first."""
        super().__init__(path)
        with opened(path) as file:
            check_inside(path, file)
            if "data" not in file or not hasattr(file["data"], "keys"):
                raise BadDataset(str(path), "it has no group 'data' with demonstrations demo_0, demo_1, …")
            data = file["data"]
            self._demos = sorted((str(name) for name in data if re.fullmatch(r"demo_\d+", name)), key=_number)
            if not self._demos:
                raise BadDataset(str(path), "there is no demonstration in its group 'data'")
            self._attributes = plain(data.attrs)
        first = self[0]
        self._columns = {name: Column(values.shape[1]) for name, values in first.columns.items()}

    @property
    def columns(self) -> Mapping[str, Column]:
        """Columns of the first demonstration; all others must have them."""
        return self._columns

    @cached_property
    def _environment(self) -> dict[str, Any]:
        """What robomimic says of the environment: its keywords."""
        try:
            held: Any = json.loads(str(self._attributes.get("env_args", "{}")))
            return dict(held["env_kwargs"])
        except (KeyError, TypeError, ValueError):
            return {}

    @property
    def period_s(self) -> float | None:
        """1 / the environment's control frequency."""
        if self.layout is not None:
            return self.layout.period_s
        frequency = self._environment.get("control_freq")
        return 1 / float(frequency) if isinstance(frequency, int | float) and frequency > 0 else None

    @property
    def robot(self) -> str:
        """The environment's robots, or the file's name."""
        robots = self._environment.get("robots")
        if isinstance(robots, list):
            return "+".join(map(str, cast(list[Any], robots)))
        return str(robots) if robots else super().robot

    @property
    def layout(self) -> Layout | None:
        """That of a file of ours."""
        return own_layout(self._attributes.get(OWN))

    def __len__(self) -> int:
        """Return the number of demonstrations."""
        return len(self._demos)

    def origins(self) -> list[dict[str, str | int]]:
        """Return the names of the demonstrations."""
        return [{"name": name, "index": place} for place, name in enumerate(self._demos)]

    def __getitem__(self, place: int) -> Recording:
        """Read one demonstration."""
        name = self._demos[place]
        with opened(self.path) as file:
            group = file["data"][name]
            columns, about = _columns(group), plain(group.attrs)
        where = f"{self.path}: {name}"
        columns = dict(finite(where, columns))
        if (layout := self.layout) is not None:
            if columns.get(STATE, np.empty((0, 0))).shape[1] != len(layout.state):
                raise BadDataset(where, f"{STATE} has not the {len(layout.state)} entries that the file names")
            columns |= {"qpos": columns[STATE][:, : layout.nq], "qvel": columns[STATE][:, layout.nq :]}
        return Recording(
            name=name,
            index=place,
            columns=columns,
            demonstrator=str(about["demonstrator"]) if "demonstrator" in about else None,
            terminated=bool(about.get("terminated", False)),
            total_return=float(about.get("return", "nan")),
            seed=int(about["seed"]) if "seed" in about else None,
            has_actions=bool(about.get("has_actions", True)),
        )


def _number(name: str) -> int:
    return int(name.removeprefix("demo_"))


def _columns(group: Any) -> dict[str, Floats]:
    """Return the columns of a demonstration, all of the same length."""
    held = {name: rows(values) for name, values in numbers(group).items() if name not in COUNTS}
    last = {name.removeprefix("next_"): values[-1:] for name, values in held.items() if name.startswith("next_obs/")}
    whole = bool(last) and "states" not in held
    columns: dict[str, Floats] = {}
    for name, values in held.items():
        if name.startswith("next_obs/") or not len(values):
            continue
        ending = last.get(name, values[-1:])
        columns["action" if name == "actions" else name] = np.concatenate([values, ending]) if whole else values
    return columns
