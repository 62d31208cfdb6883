# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Parquet files of frames and of episode rows: the one seam to `pyarrow`.

An adapter file: pyarrow ships no types.
"""

import contextlib
import json
import os
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from imitable.demos.lerobot import CHUNK_FILES, COUNTERS, INFO_FILE
from imitable.demos.summary import STATISTICS
from imitable.errors import BadDataset
from imitable.types import Floats

REQUIRED = {"episode_index": pa.int64(), "length": pa.int64(), "data/chunk_index": pa.int64(), "data/file_index": pa.int64()}
"""Episode columns of any LeRobot dataset that reading needs."""
OWN = {
    "demonstrator": pa.string(),
    "return": pa.float64(),
    "terminated": pa.bool_(),
    "seed": pa.int64(),
    "episode_hash": pa.string(),
    "has_actions": pa.bool_(),
    "row_hash": pa.string(),
}
"""Episode columns that imitable adds."""


def no_own() -> dict[str, None]:
    """Return the columns that imitable adds, as a row that has none of them."""
    return dict.fromkeys(OWN)


_ALWAYS = ("demonstrator", "terminated", "episode_hash", "has_actions")
"""Those that none of our own rows lacks. Our first datasets have no `row_hash`; a seed or a return may be unknown."""
_LAYOUT = b"imitable"
"""Metadata key of our own episode files that holds the hash of the layout."""
_BOOKKEEPING = ("dataset_from_index", "dataset_to_index", "meta/episodes/chunk_index", "meta/episodes/file_index")


def frame_schema(widths: Mapping[str, int]) -> Any:
    """Return the columns of the data files; LeRobot stores a feature of one number as a plain column, not as a list."""
    types = {name: pa.type_for_alias(COUNTERS.get(name, "float64")) for name in widths}
    return pa.schema([(name, types[name] if width == 1 else pa.list_(types[name], width)) for name, width in widths.items()])


def episode_schema(widths: Mapping[str, int], layout_hash: str) -> Any:
    """Return the columns of `meta/episodes`, and the hash of the layout that `meta/info.json` tells."""
    columns = [
        *REQUIRED.items(),
        ("tasks", pa.list_(pa.string())),
        *((name, pa.int64()) for name in _BOOKKEEPING),
        *OWN.items(),
    ]
    for feature in widths:
        for statistic in STATISTICS:
            columns.append((f"stats/{feature}/{statistic}", pa.list_(pa.int64() if statistic == "count" else pa.float64())))
    return pa.schema(columns, {_LAYOUT: layout_hash.encode()})


def frame_table(frames: Floats, widths: Mapping[str, int], schema: Any) -> Any:
    """Make a table of frames from one matrix (n, Σ widths); its whole numbers stay whole."""
    columns, begin = [], 0
    for name, width in widths.items():
        flat = pa.array(np.ascontiguousarray(frames[:, begin : begin + width]).reshape(-1))
        kind = schema.field(name).type
        columns.append(flat.cast(kind) if width == 1 else pa.FixedSizeListArray.from_arrays(flat, type=kind))
        begin += width
    return pa.table(columns, schema=schema)


def row_table(rows: list[dict[str, Any]], schema: Any) -> Any:
    """Make a table of episode rows."""
    return pa.Table.from_pylist(rows, schema=schema)


class Shards:
    """A table on disk that starts a new file whenever one has grown past the limit."""

    def __init__(self, folder: Path, template: str, schema: Any, limit_mb: float) -> None:
        """Write into files named `template`, of at most about `limit_mb` megabytes."""
        self.schema = schema
        self._folder, self._template, self._limit = folder, template, limit_mb * 2**20
        self._count = 0
        self._file: BinaryIO | None = None
        self._writer: Any = None

    @property
    def position(self) -> tuple[int, int]:
        """Chunk and file that the next table goes to."""
        return divmod(self._count, CHUNK_FILES)

    def write(self, table: Any) -> None:
        """Append the table as one row group."""
        file = self._file or self._open()
        self._writer.write_table(table, row_group_size=max(1, len(table)))
        if file.tell() >= self._limit:
            self.close()

    def close(self) -> None:
        """Complete the current file."""
        if self._file is None:
            return
        self._writer.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._file, self._count = None, self._count + 1

    def abandon(self) -> None:
        """Let go of a file that will be deleted; never raises."""
        if self._file is None:
            return
        if self._writer is not None:
            self._writer.is_open = False  # else its finaliser would try to write a footer
        with contextlib.suppress(OSError):
            self._file.close()

    def _open(self) -> BinaryIO:
        chunk, file = self.position
        path = self._folder / self._template.format(chunk_index=chunk, file_index=file)
        path.parent.mkdir(parents=True, exist_ok=True)
        # a Python file: its errors say "No space left on device", those of pyarrow's own files a paragraph
        self._file = path.open("wb")
        settings: Any = {"use_dictionary": [name for name in self.schema.names if name in COUNTERS], "compression": "snappy"}
        self._writer = pq.ParquetWriter(self._file, self.schema, write_page_checksum=True, **settings)
        return self._file


def write_tasks(path: Path, task: str) -> None:
    """Write `meta/tasks.parquet` as pandas would: LeRobot looks a task up by the index of that frame."""
    column = {"name": "task_index", "field_name": "task_index", "pandas_type": "int64", "numpy_type": "int64", "metadata": None}
    index = {
        "name": None,
        "field_name": "__index_level_0__",
        "pandas_type": "unicode",
        "numpy_type": "object",
        "metadata": None,
    }
    pandas = {"index_columns": ["__index_level_0__"], "column_indexes": [], "columns": [column, index]}
    schema = pa.schema([("task_index", pa.int64()), ("__index_level_0__", pa.string())], {"pandas": json.dumps(pandas)})
    with path.open("wb") as file:
        pq.write_table(pa.table([[0], [task]], schema=schema), file)


def read_rows(folder: Path, layout_hash: str | None) -> list[dict[str, Any]]:
    """Read `meta/episodes` without its statistics.

    Args:
        folder: the dataset.
        layout_hash: of one of our own, and checked; None for a foreign dataset, in which the columns that imitable adds may
            be absent (None).
    """
    files = sorted((folder / "meta" / "episodes").glob("*/*.parquet"))
    if not files:
        raise BadDataset(str(folder), "it has no meta/episodes")
    rows: list[dict[str, Any]] = []
    for path in files:
        with _damage(folder, path):
            file = pq.ParquetFile(path, page_checksum_verification=True)
            _check_columns(folder, path, file.schema_arrow, layout_hash)
            columns = {name: kind for name, kind in (REQUIRED | OWN).items() if name in file.schema_arrow.names}
            table = file.read(list(columns), use_threads=False).select(list(columns)).cast(pa.schema(list(columns.items())))
            whole = (*REQUIRED, *(_ALWAYS if layout_hash else ()), *({"row_hash"} & columns.keys() if layout_hash else ()))
            if lacking := [name for name in whole if table[name].null_count]:
                raise BadDataset(str(folder), f"{path.relative_to(folder)} has rows without {', '.join(lacking)}")
            rows.extend(dict.fromkeys(OWN) | row for row in table.to_pylist())
    return rows


def _check_columns(folder: Path, path: Path, schema: Any, layout_hash: str | None) -> None:
    name, written = str(path.relative_to(folder)), (schema.metadata or {}).get(_LAYOUT)
    if layout_hash is None and written is not None:
        raise BadDataset(str(folder), f"imitable wrote {name}, but {INFO_FILE} has lost its part 'imitable'")
    if layout_hash is not None and written not in (None, layout_hash.encode()):
        raise BadDataset(str(folder), f"{INFO_FILE} names other entries or another period than {name} was written for")
    needed = REQUIRED if layout_hash is None else REQUIRED | dict.fromkeys(set(OWN) - {"row_hash"})
    if missing := [column for column in needed if column not in schema.names]:
        raise BadDataset(str(folder), f"{name} lacks the columns {', '.join(missing)}")


class Shard:
    """One data file, opened for reading single episodes."""

    def __init__(self, folder: Path, path: Path, widths: Mapping[str, int]) -> None:
        """Find out which rows belong to which episode; states are not read yet."""
        self._folder, self._path, self._widths = folder, path, widths
        self._held: tuple[tuple[int, int], dict[str, Floats]] | None = None
        with _damage(folder, path):
            self._file = pq.ParquetFile(path, page_checksum_verification=True)
            present = set(self._file.schema_arrow.names)
            if missing := [name for name in ("episode_index", *widths) if name not in present]:
                raise BadDataset(str(folder), f"{self._name} lacks the columns {', '.join(missing)}")
            self._episodes = _matrix(self._file.read(["episode_index"], use_threads=False)["episode_index"], 1)[:, 0]
            groups = range(self._file.metadata.num_row_groups)
            self._ends = np.cumsum([self._file.metadata.row_group(group).num_rows for group in groups])

    @property
    def _name(self) -> str:
        return str(self._path.relative_to(self._folder))

    def frames(self, episode: int) -> dict[str, Floats]:
        """Read the frames of one episode, (n, width) each, from the row groups that hold it and no others."""
        rows = np.flatnonzero(self._episodes == episode)
        if not len(rows):
            raise BadDataset(str(self._folder), f"{self._name} does not hold episode {episode}")
        begin, end = int(rows[0]), int(rows[-1]) + 1
        if end - begin != len(rows):
            raise BadDataset(str(self._folder), f"{self._name} has the frames of episode {episode} in several places")
        first, last = (int(group) for group in np.searchsorted(self._ends, (begin, end - 1), "right"))
        start = int(self._ends[first - 1]) if first else 0
        return {name: column[begin - start : end - start] for name, column in self._groups(first, last).items()}

    def _groups(self, first: int, last: int) -> dict[str, Floats]:
        """Read row groups, or give those read last: short episodes share one."""
        if self._held is None or self._held[0] != (first, last):
            with _damage(self._folder, self._path):
                table = self._file.read_row_groups(range(first, last + 1), list(self._widths), use_threads=False)
                columns = {name: _matrix(table[name], width) for name, width in self._widths.items()}
            self._held = (first, last), columns
        return self._held[1]


def _matrix(column: Any, width: int) -> Floats:
    """Return a column of numbers, or of lists of `width` numbers, as an array (n, width)."""
    rows, values = len(column), column.combine_chunks()
    if pa.types.is_list(values.type) or pa.types.is_fixed_size_list(values.type) or pa.types.is_large_list(values.type):
        if set(np.unique(values.value_lengths().to_numpy(zero_copy_only=False))) - {width}:
            raise ValueError(f"its lists do not have {width} entries each")
        values = values.flatten()
    if len(values) != rows * width or values.null_count:
        raise ValueError(f"{rows} rows do not have {width} entries each")
    return values.cast(pa.float64()).to_numpy().reshape(rows, width)


@contextlib.contextmanager
def _damage(folder: Path, path: Path) -> Generator[None]:
    """Turn whatever pyarrow says of a missing or garbled file into one line."""
    try:
        yield
    except FileNotFoundError:
        raise BadDataset(str(folder), f"{path.relative_to(folder)} is missing") from None
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, OverflowError, MemoryError) as error:
        raise BadDataset(str(folder), f"{path.relative_to(folder)} is damaged ({error})") from None
