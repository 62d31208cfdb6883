# SPDX-License-Identifier: MIT
"""Plain arrays: a `.npz` file an episode, an array a column.

Arrays of n rows are columns, those of n − 1 rows too (actions: the last is repeated); `NAME_names` are texts that name the
entries of NAME; `fps` or `period_s` is a number, `times` (n) are seconds, `demonstrator` a text. A file with `qpos`, `qvel`,
their names and a period needs no mapping.
"""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from imitable.demos.formats.source import Clip, FileSource, finite, matrix, positive
from imitable.errors import BadDataset
from imitable.types import Floats, Layout

TIMES = ("times", "time", "timestamp", "timestamps")
RATES = ("fps", "frequency", "rate_hz")
PERIODS = ("period_s", "dt")


def load_npz(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Read all arrays of a file; one that holds Python objects is refused."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except ValueError as error:
        kind = "it holds Python objects, which could run code; save plain arrays" if "pickle" in str(error) else str(error)
        raise BadDataset(str(path), kind) from None
    except (OSError, EOFError, KeyError, zipfile.BadZipFile, MemoryError) as error:
        raise BadDataset(str(path), f"it is no whole .npz file ({error})") from None


class Npz(FileSource):
    """Arrays in `.npz` files."""

    format = "npz"
    suffixes = (".npz",)

    def clip(self, path: Path) -> Clip:
        """Read one file."""
        arrays, where = load_npz(path), str(path)
        texts = {name: values for name, values in arrays.items() if values.dtype.kind in "US"}
        numbers = {name: values for name, values in arrays.items() if values.dtype.kind in "fiub"}
        period, times = _clock(where, numbers)
        rows = {name: values for name, values in numbers.items() if values.ndim in (1, 2) and name not in _CLOCK}
        frames = max((len(values) for values in rows.values()), default=0)
        columns = {name: _padded(matrix(where, name, values), frames) for name, values in rows.items()}
        names = {
            name: tuple(str(text) for text in texts[f"{name}_names"].tolist()) for name in columns if f"{name}_names" in texts
        }
        for name, entries in names.items():
            if len(entries) != columns[name].shape[1]:
                raise BadDataset(where, f"{name}_names names {len(entries)} entries, {name} has {columns[name].shape[1]}")
        who = str(texts["demonstrator"]) if "demonstrator" in texts else None
        return Clip(finite(where, columns), names, period, times, who)

    @property
    def layout(self) -> Layout | None:
        """Names and period, if the files have `qpos`, `qvel` and both names."""
        return whole_states(self.columns_of_names, self.period_s)

    @property
    def columns_of_names(self) -> Mapping[str, tuple[str, ...]]:
        """Names of entries by column."""
        return {name: column.names for name, column in self.columns.items()}


def whole_states(names: Mapping[str, tuple[str, ...]], period_s: float | None) -> Layout | None:
    """Return the layout of data with columns `qpos` and `qvel` that are named, and perhaps `action`."""
    if period_s is None or not names.get("qpos") or not names.get("qvel"):
        return None
    return Layout(names["qpos"], names["qvel"], names.get("action", ()), period_s)


_CLOCK = (*TIMES, *RATES, *PERIODS)


def _clock(where: str, numbers: Mapping[str, npt.NDArray[Any]]) -> tuple[float | None, Floats | None]:
    for name in TIMES:
        if name in numbers:
            return None, matrix(where, name, numbers[name], 1)[:, 0]
    for name in PERIODS:
        if name in numbers:
            return positive(where, name, numbers[name]), None
    for name in RATES:
        if name in numbers:
            return 1 / positive(where, name, numbers[name]), None
    return None, None


def _padded(rows: Floats, frames: int) -> Floats:
    """(n − 1, w) → (n, w): T actions stand between T + 1 states, and the last is repeated."""
    return np.concatenate([rows, rows[-1:]]) if len(rows) == frames - 1 and len(rows) else rows
