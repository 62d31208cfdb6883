# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Plain tables: a parquet file an episode, one row a frame. Numbers make one column, `frame`, by their names; lists their own.

An adapter file: pyarrow ships no types.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from imitable.demos.formats.csv_table import FRAME, table_clip
from imitable.demos.formats.source import Clip, FileSource, finite, matrix
from imitable.errors import BadDataset


class ParquetTable(FileSource):
    """Frames as rows of a parquet file."""

    format = "parquet"
    suffixes = (".parquet",)

    def clip(self, path: Path) -> Clip:
        """Read one file."""
        try:
            table = pq.ParquetFile(path).read(use_threads=False)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise BadDataset(str(path), f"it is no whole parquet file ({error})") from None
        where = str(path)
        plain = [name for name in table.column_names if _is_number(table.schema.field(name).type)]
        lists = [name for name in table.column_names if _is_list(table.schema.field(name).type)]
        columns = {name: matrix(where, name, _rows(where, name, table[name])) for name in lists}
        if not plain:
            return Clip(finite(where, columns))
        single = np.stack([matrix(where, name, table[name].to_numpy())[:, 0] for name in plain], axis=1)
        clip = table_clip(where, tuple(plain), single)
        columns |= {FRAME: clip.columns[FRAME]} if clip.columns[FRAME].shape[1] else {}
        return Clip(finite(where, columns), clip.names, None, clip.times)


def _is_number(kind: Any) -> bool:
    return pa.types.is_floating(kind) or pa.types.is_integer(kind)


def _is_list(kind: Any) -> bool:
    return (pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind) or pa.types.is_large_list(kind)) and _is_number(
        kind.value_type
    )


def _rows(where: str, name: str, column: Any) -> Any:
    rows = column.to_pylist()
    if any(row is None or len(row) != len(rows[0]) for row in rows):
        raise BadDataset(where, f"the lists in {name} are not of one length")
    return rows
