# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Parquet files that notice a flipped bit: page checksums, and a hash of content and metadata in the footer.

Page checksums alone do not cover the footer, where a bit can turn one column or number of rows into another.
An adapter file: pyarrow ships no types.
"""

import hashlib
import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from imitable.errors import BadScores
from imitable.files import write_bytes

METADATA, SEAL = b"imitable", b"imitable.sha256"
"""Footer entries: everything but the rows, as JSON; and the hash of it and of the rows."""


def seal(*texts: str) -> str:
    """Return one hash of several texts."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def write_sealed(path: Path, columns: Mapping[str, Any], kinds: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
    """Write a table of few columns, whole or not at all; `kinds` names and types them."""
    table = pa.table([pa.array(columns[name], kind) for name, kind in kinds.items()], schema=pa.schema(list(kinds.items())))
    text = json.dumps(metadata)
    footer = {METADATA: text, SEAL: seal(text, _rows_text(table))}
    sink = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata(footer), sink, write_page_checksum=True)
    write_bytes(path, sink.getvalue().to_pybytes())


def read_sealed(path: Path, kinds: Mapping[str, Any], newer: Sequence[str] = ()) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """Return columns and metadata of a sealed table; refuse one that is damaged or not ours.

    Columns that are `newer` may be missing, in a file of an older imitable: all of their values are None then.
    """
    with damage(path):
        file = pq.ParquetFile(pa.BufferReader(path.read_bytes()), page_checksum_verification=True)
        text, expected = footer(file)
        missing = [name for name in newer if name not in file.schema_arrow.names]
        known = {name: kind for name, kind in kinds.items() if name not in missing}
        table = file.read(list(known), use_threads=False).select(list(known)).cast(pa.schema(list(known.items())))
        if seal(text, _rows_text(table)) != expected:
            raise ValueError("its content is not what was written: the file is damaged")
        return table.to_pydict() | {name: [None] * len(table) for name in missing}, json.loads(text)


def footer(file: Any) -> tuple[str, str]:
    """Return metadata text and hash of an opened file."""
    entries = file.metadata.metadata or {}
    if METADATA not in entries:
        raise ValueError("it is no score file of imitable")
    if SEAL not in entries:
        raise ValueError("it has no content hash: it is damaged, or older than the hash; score again")
    return entries[METADATA].decode(), entries[SEAL].decode()


def _rows_text(table: Any) -> str:
    return json.dumps(table.to_pydict())


@contextmanager
def damage(path: Path) -> Generator[None]:
    """Turn whatever pyarrow says of a garbled file into one line."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, KeyError, IndexError, TypeError, OverflowError, MemoryError) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise BadScores(str(path), reason) from None
