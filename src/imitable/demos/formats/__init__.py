# SPDX-License-Identifier: MIT
"""Other people's files, one whole module a format, and the table that loads one by its name when it is asked for."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import cast

from imitable.demos.formats.recognise import recognise
from imitable.demos.formats.source import Source
from imitable.errors import BadOption, one_of

FORMATS = {
    "lerobot": "imitable.demos.formats.lerobot:LeRobot",
    "minari": "imitable.demos.formats.minari:Minari",
    "robomimic": "imitable.demos.formats.robomimic:Robomimic",
    "csv": "imitable.demos.formats.csv_table:CsvTable",
    "parquet": "imitable.demos.formats.parquet_table:ParquetTable",
    "npz": "imitable.demos.formats.npz:Npz",
    "lafan1": "imitable.demos.formats.lafan1:Lafan1",
    "gmr": "imitable.demos.formats.gmr:Gmr",
    "beyondmimic": "imitable.demos.formats.beyondmimic:BeyondMimic",
    "holosoma": "imitable.demos.formats.holosoma:Holosoma",
    "paper": "imitable.demos.formats.paper:Paper",
}
"""Names on the command line, and where each format lives."""


def open_source(path: str | Path, format_name: str | None = None) -> Source:
    """Open data of any format; which one is seen from the files, unless it is named.

    Args:
        path: a file, a folder, or the id of a local Minari dataset.
        format_name: one of `FORMATS`.
    """
    if format_name is not None and format_name not in FORMATS:
        raise BadOption("--format", format_name, one_of(format_name, FORMATS))
    place, seen = recognise(Path(path), format_name)
    module, _, name = FORMATS[seen].partition(":")
    kind = cast(Callable[[Path], Source], getattr(import_module(module), name))
    return kind(place)
