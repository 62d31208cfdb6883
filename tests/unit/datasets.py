# SPDX-License-Identifier: MIT
"""Small datasets on disk, and ways to edit them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from imitable import errors
from imitable.demos import parquet
from imitable.demos.store import read
from imitable.types import Layout, Trajectory

LAYOUT = Layout(("x", "tilt"), ("x_velocity", "tilt_velocity"), ("push", "turn", "lift"), 0.008)
DATA = "data/chunk-000/file-000.parquet"
EPISODES = "meta/episodes/chunk-000/file-000.parquet"


def trajectory(length: int, draw: int = 0, layout: Layout = LAYOUT, actions: bool = True, **fields: Any) -> Trajectory:
    rng = np.random.default_rng(draw)
    states = rng.standard_normal((length + 1, len(layout.state)))
    states[rng.random(states.shape) < 0.05] = -0.0
    states[rng.random(states.shape) < 0.05] = 5e-324
    states[rng.random(states.shape) < 0.05] = 1.7976931348623157e308
    taken = rng.standard_normal((length, len(layout.actuators))) if actions else None
    return Trajectory(states, fields.pop("demonstrator", "toy:mass=2"), taken, **fields)


def same(a: Trajectory, b: Trajectory) -> bool:
    ours, theirs = ((t.hash, t.demonstrator, t.terminated, t.seed, np.float64(t.total_return).tobytes()) for t in (a, b))
    return ours == theirs


def files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def edit_info(folder: Path, change: Callable[[Any], Any]) -> None:
    info = json.loads((folder / "meta/info.json").read_text())
    change(info)
    (folder / "meta/info.json").write_text(json.dumps(info))


def edit_table(path: Path, change: Callable[[Any], Any]) -> None:
    pq.write_table(change(pq.read_table(path)), path)


def replaced(table: Any, name: str, values: list[Any]) -> Any:
    return table.set_column(table.column_names.index(name), name, pa.array(values, table[name].type))


def foreign(table: Any) -> Any:
    """Return the episode rows as another program would write them."""
    return table.drop_columns(list(parquet.OWN)).replace_schema_metadata(None)


def older(table: Any) -> Any:
    """Return the episode rows as our first datasets have them."""
    return table.drop_columns(["row_hash"]).replace_schema_metadata(None)


def refusal(folder: Path) -> str:
    with pytest.raises(errors.BadDataset) as caught:
        list(read(folder))
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(folder))
    return str(caught.value)
