# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""`scores.steps.parquet`: what a method saw of every demonstration, one row a judged step.

The footer holds a hash of every demonstration's rows, so that reading a few of them checks just these.
An adapter file: pyarrow ships no types.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from imitable.errors import BadScores
from imitable.feasibility.sealed import METADATA, SEAL, damage, footer, seal
from imitable.files import new_files
from imitable.tracking.attempts import Trace
from imitable.types import Episode, Floats

SCHEMA = 1


def steps_path(path: Path) -> Path:
    """`scores.parquet` → `scores.steps.parquet`."""
    return path.with_suffix(f".steps{path.suffix}")


class StepFile:
    """Steps opened for reading."""

    def __init__(self, path: Path) -> None:
        """Read the footer of a file of steps."""
        self._path = path
        with damage(path):
            self._file = pq.ParquetFile(path, page_checksum_verification=True)
            text, expected = footer(self._file)
            if seal(text) != expected:
                raise ValueError("its footer is not what was written: the file is damaged")
            self._hashes: dict[str, str] = json.loads(text)["traces"]

    def trace(self, episode_hash: str) -> Trace | None:
        """Return what was seen of one demonstration; None if it is not there."""
        if episode_hash not in self._hashes:
            return None
        with damage(self._path):
            chosen = [("episode_hash", "=", episode_hash)]
            table = pq.read_table(self._path, filters=chosen, use_threads=False, page_checksum_verification=True)
            rows = _matrix(table)
        self._check({episode_hash: _digest(rows)})
        return Trace(
            steps=rows[:, 1].astype(np.int64),
            attempts=rows[:, 0].astype(np.int64),
            errors=rows[:, 2].copy(),
            states=_lists(table, "state"),
            actions=_lists(table, "action"),
        )

    def check(self) -> None:
        """Refuse the file if any of its rows is damaged."""
        for _ in self.tables(self._hashes):
            pass

    def tables(self, wanted: Iterable[str]) -> Iterator[Any]:
        """Give the rows of some demonstrations, a row group at a time; refuse them at the end if they are damaged."""
        hashers = {name: hashlib.sha256() for name in wanted if name in self._hashes}
        asked = pa.array(sorted(hashers), pa.string())
        for group in range(self._file.metadata.num_row_groups):
            with damage(self._path):
                table = self._file.read_row_group(group, use_threads=False)
                table = table.filter(pc.is_in(table["episode_hash"], asked))
                names, rows = table["episode_hash"].to_pylist(), _matrix(table)
            for begin, end in _runs(names):
                hashers[names[begin]].update(rows[begin:end].tobytes())
            yield table
        self._check({name: hasher.hexdigest() for name, hasher in hashers.items()})

    @property
    def hashes(self) -> Mapping[str, str]:
        """Hash of the rows of every demonstration."""
        return self._hashes

    def _check(self, digests: Mapping[str, str]) -> None:
        if any(self._hashes[name] != digest for name, digest in digests.items()):
            raise BadScores(str(self._path), "its steps are not what was written: the file is damaged; score again")


def read_steps(path: str | Path, episode_hash: str) -> Trace | None:
    """Read the trace of one episode from the steps beside the score file `path`; None if it is not there."""
    steps = steps_path(Path(path))
    return StepFile(steps).trace(episode_hash) if steps.exists() else None


def write_traces(path: Path, traces: Mapping[str, Trace]) -> None:
    """Write the steps of some demonstrations, by hash."""
    hashes = {name: _digest(_trace_matrix(trace)) for name, trace in traces.items()}
    _write(path, [pa.concat_tables([_table(name, trace) for name, trace in traces.items()])], hashes)


def copy_steps(path: Path, sources: Sequence[Path], episodes: Iterable[Episode]) -> None:
    """Copy the steps of these episodes from all sources into one file, a row group at a time, each episode once."""
    wanted, hashes = {episode.hash for episode in episodes}, dict[str, str]()

    def tables() -> Iterator[Any]:
        for source in map(StepFile, sources):
            here = [name for name in source.hashes if name in wanted]
            yield from source.tables(here)
            hashes.update({name: source.hashes[name] for name in here})
            wanted.difference_update(here)

    _write(path, tables(), hashes)


def _write(path: Path, tables: Iterable[Any], hashes: Mapping[str, str]) -> None:
    """Write tables as row groups; `hashes` may be filled while they come. Without any table there is no file."""
    writer: Any = None
    with new_files(path) as (draft,), draft.open("wb") as file:  # a Python file: errors of pyarrow's own take a paragraph
        try:
            for table in tables:
                writer = writer or pq.ParquetWriter(file, table.schema, write_page_checksum=True)
                writer.write_table(table)
            if writer is not None:
                # sorted: the same rows are the same bytes, whatever order the demonstrations were measured in
                text = json.dumps({"schema": SCHEMA, "traces": dict(sorted(hashes.items()))})
                writer.add_key_value_metadata({METADATA: text, SEAL: seal(text)})
                writer.close()
        finally:
            if writer is not None:
                writer.is_open = False  # else its finaliser would try to write a footer
            else:
                draft.unlink()


def _table(name: str, trace: Trace) -> Any:
    return pa.table(
        {
            "episode_hash": pa.array([name] * len(trace.steps), pa.string()),
            "attempt": pa.array(trace.attempts, pa.int64()),
            "step": pa.array(trace.steps, pa.int64()),
            "error": pa.array(trace.errors, pa.float64()),
            "state": _list_array(trace.states),
            "action": _list_array(trace.actions),
        }
    )


def _list_array(array: Floats) -> Any:
    return pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(array).reshape(-1)), array.shape[1])


def _lists(table: Any, name: str) -> Floats:
    """(n, width) a column of lists."""
    values = np.asarray(table[name].combine_chunks().flatten())
    return values.reshape(len(table), len(values) // max(len(table), 1))


def _matrix(table: Any) -> Floats:
    """(n, 3 + S + A) attempt, step, error, state and action of every row."""
    columns = [np.asarray(table[name], np.float64) for name in ("attempt", "step", "error")]
    return _canonical(np.column_stack([*columns, _lists(table, "state"), _lists(table, "action")]))


def _trace_matrix(trace: Trace) -> Floats:
    columns = (trace.attempts, trace.steps, trace.errors, trace.states, trace.actions)
    return _canonical(np.column_stack([np.asarray(column, np.float64) for column in columns]))


def _canonical(rows: Floats) -> Floats:
    """There are many bit patterns of NaN, and Parquet does not promise to keep them."""
    rows[np.isnan(rows)] = np.nan
    return rows


def _digest(rows: Floats) -> str:
    return hashlib.sha256(rows.tobytes()).hexdigest()


def _runs(names: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield begin and end of every run of equal names."""
    edges = [row for row in range(1, len(names)) if names[row] != names[row - 1]]
    yield from pairwise([0, *edges, len(names)] if names else [])
