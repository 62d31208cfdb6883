# SPDX-License-Identifier: MIT
"""Plain tables: a CSV file an episode, one line a frame; a first line of names gives the entries their names.

All numbers make one column, `frame`; an entry called time or timestamp is the clock.
"""

from pathlib import Path

import numpy as np

from imitable.demos.formats.npz import TIMES
from imitable.demos.formats.source import Clip, FileSource, finite
from imitable.errors import BadDataset
from imitable.types import Floats

FRAME = "frame"


class CsvTable(FileSource):
    """Frames as lines of numbers."""

    format = "csv"
    suffixes = (".csv",)

    def clip(self, path: Path) -> Clip:
        """Read one file."""
        names = header(path)
        rows = numbers(path, skip=1 if names else 0)
        if names and len(names) != rows.shape[1]:
            raise BadDataset(str(path), f"its first line names {len(names)} columns, the others have {rows.shape[1]}")
        return table_clip(str(path), names, rows)


def table_clip(where: str, names: tuple[str, ...], rows: Floats) -> Clip:
    """(n, w) numbers and perhaps their names → a clip of one column; the clock is taken out."""
    clock = next((place for place, name in enumerate(names) if name.lower() in TIMES), None)
    kept = [place for place in range(rows.shape[1]) if place != clock]
    columns = finite(where, {FRAME: rows[:, kept]})
    times = None if clock is None else rows[:, clock]
    return Clip(columns, {FRAME: tuple(names[place] for place in kept)} if names else {}, None, times)


def header(path: Path) -> tuple[str, ...]:
    """Return the names in the first line; none if it holds numbers."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            cells = [cell.strip().strip('"') for cell in file.readline().split(",")]
    except (OSError, UnicodeDecodeError) as error:
        raise BadDataset(str(path), f"it cannot be read as text ({error})") from None
    return () if all(map(_is_number, cells)) else tuple(cells)


def numbers(path: Path, skip: int) -> Floats:
    """Read all lines but the first `skip` as numbers, (n, w)."""
    try:
        return np.loadtxt(path, delimiter=",", skiprows=skip, ndmin=2, comments=None, encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise BadDataset(str(path), f"it is no table of numbers ({error})") from None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
