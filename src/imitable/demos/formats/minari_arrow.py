# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Minari's arrow storage: a folder an episode, `<i>/part-*.arrow` (or `.parquet`) beside its `metadata.json`.

A row is a frame. Dictionaries are structs, boxes lists of fixed size. What has T rows (actions, rewards, ends) is padded to the
T + 1 of the observations. An adapter file: pyarrow ships no types.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from imitable.errors import BadDataset
from imitable.types import Floats

FRAMES = ("observations", "infos")
"""What has T + 1 rows of its own."""


class ArrowStorage:
    """Episodes as folders of arrow or parquet files."""

    def __init__(self, folder: Path, kind: str) -> None:
        """Count the episodes; `kind` is arrow or parquet."""
        self._folder, self._kind = folder, kind
        self._count = sum(part.name.isdecimal() and part.is_dir() for part in folder.iterdir())

    def __len__(self) -> int:
        """Return the number of episodes."""
        return self._count

    def episode(self, place: int) -> tuple[dict[str, Floats], Mapping[str, Any]]:
        """Return the numbers of one episode, (T + 1, width) or (T, width), by name, and what its metadata say."""
        folder = self._folder / str(place)
        parts = sorted(folder.glob(f"*.{self._kind}"), key=lambda path: (len(path.name), path.name))
        if not parts:
            raise BadDataset(str(self._folder), f"it lacks episode {place}: there is no {place}/part-0.{self._kind}")
        tables = [_table(path) for path in parts]
        held: dict[str, Floats] = {}
        try:
            table = pa.concat_tables(tables).combine_chunks()
            for name in table.column_names:
                if len(table) and name != "episode_id":
                    held |= _numbers(name, table.field(name), table[name].chunk(0))
        except pa.ArrowException as error:
            raise BadDataset(str(folder), f"its parts do not belong together ({error})") from None
        cut = {name: values if name.split("/")[0] in FRAMES else values[:-1] for name, values in held.items()}
        return cut, _metadata(folder / "metadata.json")


def _table(path: Path) -> Any:
    """Read a file, and check that its offsets stay inside it."""
    try:
        if path.suffix == ".parquet":
            table = pq.ParquetFile(path).read(use_threads=False)
        else:
            table = pa.ipc.open_file(pa.BufferReader(path.read_bytes())).read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BadDataset(str(path), f"it is no whole {path.suffix[1:]} file ({error})") from None
    return table


def _numbers(name: str, field: Any, values: Any) -> dict[str, Floats]:
    """Return the rows of numbers in a column, and in structs in it, by their paths; texts, images and gaps are left out."""
    if pa.types.is_struct(field.type):
        inner = [(field.type.field(k), values.field(k)) for k in range(field.type.num_fields)]
        return {key: found for one, part in inner for key, found in _numbers(f"{name}/{one.name}", one, part).items()}
    if values.null_count or b"," in (field.metadata or {}).get(b"shape", b""):
        return {}
    if _is_number(field.type):
        return {name: _floats(values)[:, None]}
    if not _is_list(field.type):
        return {}
    inside = values.flatten()
    even = pa.types.is_fixed_size_list(field.type) or len(set(np.diff(values.offsets.to_numpy()).tolist())) == 1
    return {name: _floats(inside).reshape(len(values), -1)} if even and len(inside) and not inside.null_count else {}


def _floats(values: Any) -> Floats:
    return np.asarray(values.to_numpy(zero_copy_only=False), np.float64)


def _is_number(kind: Any) -> bool:
    return pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)


def _is_list(kind: Any) -> bool:
    some = pa.types.is_fixed_size_list(kind) or pa.types.is_list(kind) or pa.types.is_large_list(kind)
    return some and _is_number(kind.value_type)


def _metadata(path: Path) -> Mapping[str, Any]:
    """Return what is said of an episode; nothing without a file."""
    try:
        held = json.loads(path.read_bytes()) if path.is_file() else {}
    except (OSError, ValueError) as error:
        raise BadDataset(str(path), f"it cannot be read ({error})") from None
    if not isinstance(held, dict):
        raise BadDataset(str(path), "it is no JSON object")
    return held
