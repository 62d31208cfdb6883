# SPDX-License-Identifier: MIT
"""Damaged datasets: one line says why they are refused, and nothing else is ever read from them."""

import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from imitable import errors
from imitable.demos.store import read, write
from tests.unit.datasets import DATA, EPISODES, LAYOUT, edit_info, edit_table, older, refusal, replaced, same, trajectory


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda info: info.update(codebase_version="v2.1"), "it has no meta/episodes.jsonl"),
        (lambda info: info.update(codebase_version="v4.0"), "LeRobot v4.0 dataset; v3.0, v2.1 and v2.0 can be read"),
        (lambda info: info["imitable"].update(schema=2), "newer imitable (schema 2, this one reads 1); upgrade"),
        (lambda info: info["imitable"].update(period_s=0), "frame period of 0.0 s"),
        (lambda info: info["imitable"].update(qvel=["x"]), "other numbers of entries"),
        (lambda info: info.update(imitable=None), "makes no sense"),
        (lambda info: info.pop("data_path"), "lacks 'data_path'"),
        (lambda info: info.update(data_path="{nothing}"), "no usable data_path"),
        (lambda info: info.update(data_path="/etc/{chunk_index}{file_index}"), "points outside"),
        (lambda info: info.pop("features"), "lacks 'features'"),
        (lambda info: info["features"].pop("observation.state"), "no observation.state"),
        (lambda info: info["features"]["observation.state"].update(shape=[2, 2]), "shape (2, 2)"),
        (lambda info: info.update(total_episodes=6), "lists 5 episodes with 2765 frames, meta/info.json 6 with 2765"),
        (lambda info: info.update(total_frames="many"), "makes no sense"),
        (lambda info: info.pop("imitable"), "has lost its part 'imitable'"),
        (lambda info: info["imitable"].update(period_s=0.021), "names other entries or another period"),
        (lambda info: info["imitable"].update(qpos=info["imitable"]["qpos"][::-1]), "names other entries or another period"),
    ],
)
def test_a_wrong_info_is_refused(demos: Path, change: Callable[[Any], Any], reason: str) -> None:
    edit_info(demos, change)
    assert reason in refusal(demos)


@pytest.mark.parametrize(("text", "reason"), [("{", "is not JSON"), ("[]", "is not a JSON object"), ("\x00", "is not JSON")])
def test_an_info_that_is_no_json_is_refused(demos: Path, text: str, reason: str) -> None:
    (demos / "meta/info.json").write_text(text)
    assert reason in refusal(demos)


def test_missing_parts_are_named(demos: Path) -> None:
    (demos / "data/chunk-000/file-001.parquet").unlink()
    assert "data/chunk-000/file-001.parquet is missing" in refusal(demos)
    shutil.rmtree(demos / "meta/episodes")
    assert "it has no meta/episodes" in refusal(demos)
    (demos / "meta/info.json").unlink()
    assert "it has no meta/info.json (half-written, or no LeRobot dataset)" in refusal(demos)
    assert "no such folder" in refusal(demos / "nowhere")
    assert "no file of a known format" in refusal(demos / "meta/stats.json")


@pytest.mark.parametrize("name", [DATA, EPISODES])
@pytest.mark.parametrize("keep", [0, 3, 0.5, 0.999])
def test_a_truncated_file_is_refused(demos: Path, name: str, keep: float) -> None:
    content = (demos / name).read_bytes()
    (demos / name).write_bytes(content[: int(keep * len(content)) if keep < 1 else int(keep)])
    assert f"{name} is damaged" in refusal(demos)


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        (EPISODES, lambda t: t.drop_columns(["length", "data/file_index"]), "lacks the columns length, data/file_index"),
        (EPISODES, lambda t: t.drop_columns(["demonstrator"]), "lacks the columns demonstrator"),
        (EPISODES, lambda t: replaced(t, "length", [None, *t["length"].to_pylist()[1:]]), "rows without length"),
        (EPISODES, lambda t: replaced(t, "data/file_index", [0] * 5), "file-000.parquet does not hold episode 2"),
        (EPISODES, lambda t: replaced(t, "episode_index", [0, 0, 1, 2, 3]), "lists an episode twice"),
        (EPISODES, lambda t: replaced(t, "length", [30, 1202, 21, 11, 1501]), "has 31 frames where meta/episodes lists 30"),
        (EPISODES, lambda t: replaced(t, "length", [1, 1231, 21, 11, 1501]), "has 1 frames, a demonstration needs two"),
        (EPISODES, lambda t: replaced(t, "episode_hash", ["0" * 32] * 5), "row of episode 0 in meta/episodes differs"),
        (EPISODES, lambda t: older(replaced(t, "episode_hash", ["0" * 32] * 5)), "differ from the recorded hash"),
        (EPISODES, lambda t: older(replaced(t, "episode_hash", [None] * 5)), "rows without episode_hash"),
        (EPISODES, lambda t: older(replaced(t, "terminated", [None] * 5)), "rows without terminated"),
        (EPISODES, lambda t: replaced(t, "row_hash", [None] * 5), "rows without row_hash"),
        (EPISODES, lambda t: replaced(t, "terminated", [not x for x in t["terminated"].to_pylist()]), "episode 0 in meta/ep"),
        (EPISODES, lambda t: replaced(t, "demonstrator", ["other"] * 5), "row of episode 0 in meta/episodes differs"),
        (EPISODES, lambda t: replaced(t, "return", [9.0] * 5), "row of episode 0 in meta/episodes differs"),
        (EPISODES, lambda t: replaced(t, "seed", [99] * 5), "row of episode 0 in meta/episodes differs"),
        (DATA, lambda t: t.drop_columns(["action"]), "lacks the columns action"),
        (DATA, lambda t: t.take(list(range(len(t)))[::-1]), "out of order"),
        (DATA, lambda t: t.take([0, 40, *range(1, 40), *range(41, len(t))]), "episode 0 in several places"),
        (DATA, lambda t: replaced(t, "frame_index", [None] * len(t)), "do not have 1 entries each"),
        (DATA, lambda t: t.set_column(1, "action", pa.array([[1.0]] * len(t))), "lists do not have 3 entries"),
        (DATA, lambda t: t.set_column(1, "action", pa.array(["a"] * len(t))), "is damaged"),
        (
            DATA,
            lambda t: replaced(t, "observation.state", [[math.nan] * 4] * len(t)),
            "not a trajectory: state 0 is not finite",
        ),
    ],
)
def test_rows_that_contradict_each_other_are_refused(demos: Path, name: str, change: Callable[[Any], Any], reason: str) -> None:
    edit_table(demos / name, change)
    assert reason in refusal(demos)


def test_a_flipped_byte_hurts_its_own_episode_only(tmp_path: Path) -> None:
    written = [trajectory(1000, k) for k in range(3)]
    folder = tmp_path / "demos"
    write(folder, LAYOUT, written)
    content = bytearray((folder / DATA).read_bytes())
    column = pq.ParquetFile(folder / DATA).metadata.row_group(1).column(0)
    content[column.data_page_offset + column.total_compressed_size // 2] ^= 1
    (folder / DATA).write_bytes(content)
    back = read(folder)
    assert same(back[0], written[0])
    assert same(back[2], written[2])
    with pytest.raises(errors.BadDataset, match=r"is damaged"):
        back[1]


@pytest.mark.parametrize("name", [DATA, EPISODES, "meta/info.json"])
def test_a_flipped_bit_never_changes_what_is_read(tmp_path: Path, name: str) -> None:
    """Rows, layout and contents are what was written, or the set is refused."""
    written = [trajectory(length, k, seed=None, total_return=1.5) for k, length in enumerate((3, 40))]
    folder = tmp_path / "demos"
    write(folder, LAYOUT, written)
    whole = read(folder).episodes
    content = (folder / name).read_bytes()
    rng, refused = np.random.default_rng(0), 0
    for bit in rng.choice(8 * len(content), 300, replace=False):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << int(bit % 8)
        (folder / name).write_bytes(damaged)
        try:
            back = read(folder)
            assert (back.layout, back.episodes) == (LAYOUT, whole), bit
            assert all(same(a, b) for a, b in zip(back, written, strict=True)), bit
        except errors.BadDataset:
            refused += 1
    assert refused > 60
