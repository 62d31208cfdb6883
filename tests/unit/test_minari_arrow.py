# SPDX-License-Identifier: MIT
"""Minari's arrow storage, written here as Minari writes it: a folder an episode, structs, and rows that are padded."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from imitable import errors
from imitable.demos.conversion.convert import convert
from imitable.demos.conversion.proposal import MappingOptions
from imitable.demos.formats import open_source
from imitable.demos.store import read
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.babble import babble
from imitable.types import Floats, Trajectory


@pytest.fixture
def robot(servo_arm_path: Path) -> Robot:
    return parse_robot(str(servo_arm_path))


@pytest.fixture
def movements(robot: Robot) -> list[Trajectory]:
    return list(babble(robot, 3, 15, seed=0))


def lists(values: Floats) -> Any:
    return pa.FixedSizeListArray.from_arrays(values.reshape(-1), values.shape[1])


def arrow(folder: Path, movements: list[Trajectory], kind: str = "arrow", **more: Any) -> Path:
    """Write a folder as Minari does; `more` are further infos."""
    (folder / "data").mkdir(parents=True)
    held = {"total_episodes": len(movements), "data_format": kind, "dataset_id": "arm/servo-v0"}
    (folder / "data" / "metadata.json").write_text(json.dumps(held))
    for k, one in enumerate(movements):
        count = len(one)
        assert one.actions is not None
        infos = {"qpos": lists(one.states[:, :3]), "qvel": lists(one.states[:, 3:]), **more}
        columns = {
            "episode_id": np.full(count + 1, k, np.int32),
            "observations": pa.StructArray.from_arrays([lists(one.states), pa.array(["seen"] * (count + 1))], ["all", "word"]),
            "actions": lists(np.pad(one.actions, ((0, 1), (0, 0)))),
            "rewards": np.pad(np.ones(count), (0, 1)),
            "terminations": np.append(np.arange(count) == count - 1, False),
            "truncations": np.zeros(count + 1, bool),
            "infos": pa.StructArray.from_arrays(list(infos.values()), list(infos)),
        }
        table = pa.Table.from_batches([pa.RecordBatch.from_pydict(columns)])
        ds.write_dataset(
            table, folder / "data", format=kind, partitioning=["episode_id"], existing_data_behavior="overwrite_or_ignore"
        )
        (folder / "data" / str(k) / "metadata.json").write_text(json.dumps({"id": k, "total_steps": count, "seed": 7 + k}))
    return folder


OPTIONS = MappingOptions(qpos="infos/qpos", qvel="infos/qvel", action="action", fps=50, differentiate="never")


@pytest.mark.parametrize("kind", ["arrow", "parquet"])
def test_episodes_are_read_as_they_were_written(robot: Robot, movements: list[Trajectory], tmp_path: Path, kind: str) -> None:
    folder = arrow(tmp_path / "servo-v0", movements, kind)
    assert {name: column.width for name, column in open_source(folder).columns.items()} == {
        "action": 3,
        "infos/qpos": 3,
        "infos/qvel": 3,
        "observations/all": 6,
    }
    done = convert(folder, tmp_path / "demos", robot, options=OPTIONS)
    demos = read(tmp_path / "demos")
    assert (done.format, done.episodes) == ("minari", 3)
    assert [(e.seed, e.terminated, e.total_return) for e in demos.episodes] == [(7 + k, True, 15.0) for k in range(3)]
    for one, got in zip(movements, demos, strict=True):
        np.testing.assert_array_equal(got.states, one.states)
        np.testing.assert_array_equal(got.actions, one.actions)


def test_what_is_no_row_of_numbers_is_left_out(movements: list[Trajectory], tmp_path: Path) -> None:
    gaps, uneven = pa.array([None, *range(15)]), pa.array([[1.0] * (1 + row % 2) for row in range(16)])
    even, flags = pa.array([[row, row] for row in range(16)]), pa.array([row > 3 for row in range(16)])
    source = open_source(arrow(tmp_path / "d-v0", movements[:1], gaps=gaps, uneven=uneven, even=even, flags=flags))
    assert {"infos/even", "infos/flags"} <= set(source.columns)
    assert not {"infos/gaps", "infos/uneven", "observations/word"} & set(source.columns)
    np.testing.assert_array_equal(source[0].columns["infos/even"][:, 1], np.arange(16))
    np.testing.assert_array_equal(source[0].columns["infos/flags"][:, 0], np.arange(16) > 3)


def test_damage_is_one_line(robot: Robot, movements: list[Trajectory], tmp_path: Path) -> None:
    def refusal(folder: Path) -> str:
        with pytest.raises(errors.BadDataset) as caught:
            convert(folder, tmp_path / "demos", robot, options=OPTIONS)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    cut = arrow(tmp_path / "cut-v0", movements)
    [part] = (cut / "data" / "1").glob("*.arrow")
    part.write_bytes(part.read_bytes()[:-300])
    assert "no whole arrow file" in refusal(cut)
    part.unlink()
    assert "lacks episode 1" in refusal(cut)
    words = arrow(tmp_path / "words-v0", movements)
    (words / "data" / "0" / "metadata.json").write_text("[]")
    assert "no JSON object" in refusal(words)
    (words / "data" / "metadata.json").write_text("[]")
    assert "no JSON object" in refusal(words)
    none = arrow(tmp_path / "none-v0", [])
    assert "no episode" in refusal(none)
