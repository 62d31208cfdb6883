# SPDX-License-Identifier: MIT
"""Demonstrations on disk: what is written comes back bit for bit, in bounded memory, from one folder or several."""

import json
import math
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from imitable import errors
from imitable.demos import parquet
from imitable.demos.lerobot import frames_per_second
from imitable.demos.store import read, write
from imitable.demos.summary import merged, summarise
from imitable.types import Layout
from tests.unit.datasets import (
    DATA,
    LAYOUT,
    files_in,
    same,
    trajectory,
)

layouts = st.builds(
    lambda nq, nv, na, period: Layout(
        tuple(f"q{i}" for i in range(nq)), tuple(f"v{i}" for i in range(nv)), tuple(f"a{i}" for i in range(na)), period
    ),
    st.integers(1, 4),
    st.integers(0, 3),
    st.integers(0, 3),
    st.floats(1e-4, 10),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    layout=layouts,
    lengths=st.lists(st.sampled_from([1, 2, 7, 400, 999, 1000, 2100]), min_size=1, max_size=6),
    shard_mb=st.sampled_from([0.001, 0.02, 100.0]),
    data=st.data(),
)
def test_round_trip_is_bit_for_bit(layout: Layout, lengths: list[int], shard_mb: float, data: st.DataObject) -> None:
    written = [
        trajectory(
            length,
            k,
            layout,
            actions=data.draw(st.booleans()),
            demonstrator=data.draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=8)),
            terminated=data.draw(st.booleans()),
            total_return=data.draw(st.floats(allow_nan=False) | st.just(math.nan)),
            seed=data.draw(st.none() | st.integers(-(2**63), 2**63 - 1)),
        )
        for k, length in enumerate(lengths)
    ]
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "demos", layout, iter(written), shard_mb=shard_mb)
        back = read(Path(folder) / "demos")
        assert back.layout == layout
        assert len(back) == len(written)
        assert all(same(a, b) for a, b in zip(back, written, strict=True))
        order = data.draw(st.permutations(range(len(written))))
        assert all(same(back[position], written[position]) for position in order)
        for index, (episode, original) in enumerate(zip(back.episodes, written, strict=True)):
            assert (episode.index, episode.length, episode.hash) == (index, len(original), original.hash)
            assert (episode.demonstrator, episode.seed) == (original.demonstrator, original.seed)


def test_shards_and_chunks_roll_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "CHUNK_FILES", 2)
    written = [trajectory(1000, k) for k in range(5)]
    write(tmp_path / "demos", LAYOUT, written, shard_mb=0.01)
    names = [str(path.relative_to(tmp_path / "demos")) for path in files_in(tmp_path / "demos" / "data")]
    assert names == [f"data/chunk-{k // 2:03d}/file-{k % 2:03d}.parquet" for k in range(5)]
    assert all(same(a, b) for a, b in zip(read(tmp_path / "demos"), written, strict=True))


def test_the_hash_does_not_depend_on_shards(tmp_path: Path) -> None:
    written = [trajectory(600, k) for k in range(6)]
    for name, size in (("small", 0.001), ("large", 100.0)):
        write(tmp_path / name, LAYOUT, written, shard_mb=size)
    small, large = ([episode.hash for episode in read(tmp_path / name).episodes] for name in ("small", "large"))
    assert small == large


def test_info_is_what_lerobot_expects(demos: Path) -> None:
    info = json.loads((demos / "meta/info.json").read_text())
    assert (info["codebase_version"], info["fps"], info["video_path"]) == ("v3.0", 125, None)
    assert (info["total_episodes"], info["total_frames"], info["splits"]) == (5, 2765, {"train": "0:5"})
    assert info["features"]["observation.state"] == {"dtype": "float64", "shape": [4], "names": list(LAYOUT.state)}
    assert info["imitable"] == {
        "schema": 1,
        "qpos": ["x", "tilt"],
        "qvel": ["x_velocity", "tilt_velocity"],
        "actuators": ["push", "turn", "lift"],
        "period_s": 0.008,
    }


@pytest.mark.parametrize(("period", "rate"), [(0.04, 25), (0.008, 125), (0.05, 20), (0.002 * 5, 100), (0.03, 1 / 0.03)])
def test_whole_frame_rates_are_integers(period: float, rate: float) -> None:
    assert frames_per_second(period) == rate
    assert isinstance(frames_per_second(period), type(rate))


def test_frames_are_padded_with_the_last_action(tmp_path: Path) -> None:
    one = trajectory(3)
    write(tmp_path / "demos", LAYOUT, [one, trajectory(2, 1, actions=False)])
    table = pq.read_table(tmp_path / "demos" / DATA)
    actions = np.array(table["action"].to_pylist())
    assert one.actions is not None
    np.testing.assert_array_equal(actions[:4], np.concatenate([one.actions, one.actions[-1:]]))
    assert not actions[4:].any()
    assert table["index"].to_pylist() == list(range(7))
    assert table["frame_index"].to_pylist() == [0, 1, 2, 3, 0, 1, 2]
    np.testing.assert_allclose(table["timestamp"], np.array([0, 1, 2, 3, 0, 1, 2]) * 0.008, rtol=1e-6)


@settings(max_examples=30, deadline=None)
@given(sizes=st.lists(st.integers(1, 40), min_size=2, max_size=5), seed=st.integers(0, 2**32))
def test_merged_statistics_are_those_of_all_frames(sizes: list[int], seed: int) -> None:
    parts = [np.random.default_rng(seed + k).normal(k, 1 + k, (size, 3)) for k, size in enumerate(sizes)]
    total = summarise(parts[0])
    for part in parts[1:]:
        total = merged(total, summarise(part))
    whole = summarise(np.concatenate(parts))
    assert total.count == whole.count
    for name in ("low", "high", "mean", "variance"):
        np.testing.assert_allclose(getattr(total, name), getattr(whole, name), rtol=1e-9, atol=1e-12)


def test_the_list_of_episodes_needs_no_data_files(demos: Path) -> None:
    lengths = [episode.length for episode in read(demos).episodes]
    shutil.rmtree(demos / "data")
    back = read(demos)
    assert [episode.length for episode in back.episodes] == lengths == [30, 1200, 20, 10, 1500]
    with pytest.raises(errors.BadDataset, match=r"data/chunk-000/file-000\.parquet is missing$"):
        back[0]


STREAM = """
import re, sys
from pathlib import Path
import numpy as np
from imitable.demos.store import read, write
from imitable.types import Layout, Trajectory

layout = Layout(tuple(f"q{i}" for i in range(9)), tuple(f"v{i}" for i in range(9)), tuple(f"a{i}" for i in range(6)), 0.05)

def made():
    rng = np.random.default_rng(0)
    for seed in range(500):
        yield Trajectory(rng.standard_normal((1001, 18)), "half_cheetah", rng.standard_normal((1000, 6)), seed=seed)

folder = Path(sys.argv[1]) / "demos"
write(folder, layout, made(), shard_mb=20)
assert sum(len(trajectory) for trajectory in read(folder)) == 500_000
# not ru_maxrss: a child inherits the peak of the process that forked it
print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""


def test_500_demonstrations_stream_through_little_memory(tmp_path: Path) -> None:
    result = subprocess.run([sys.executable, "-c", STREAM, str(tmp_path)], capture_output=True, text=True, check=True)
    assert float(result.stdout) / 1024 < 300, (
        f"{result.stdout} kB at the peak; the arrays alone are 96 MB, the limit set by design 1 GB"
    )


def test_several_folders_are_one_set(tmp_path: Path) -> None:
    parts = {name: [trajectory(length, k, demonstrator=name) for k, length in enumerate((5, 9))] for name in ("a", "b")}
    for name, part in parts.items():
        write(tmp_path / name, LAYOUT, part)
    both = read(tmp_path / "a", str(tmp_path / "b"))
    assert [(Path(e.source).name, e.index, e.demonstrator) for e in both.episodes] == [
        ("a", 0, "a"),
        ("a", 1, "a"),
        ("b", 0, "b"),
        ("b", 1, "b"),
    ]
    assert all(same(x, y) for x, y in zip(both, parts["a"] + parts["b"], strict=True))
    assert same(both[3], parts["b"][1])
    assert same(both[-1], both[3])
    with pytest.raises(IndexError):
        both[4]


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (Layout(("x", "yaw"), LAYOUT.qvel, LAYOUT.actuators, 0.008), "positions differ: (x, tilt) and (x, yaw)"),
        (Layout(LAYOUT.qpos, ("a", "b"), LAYOUT.actuators, 0.008), "velocities differ"),
        (Layout(LAYOUT.qpos, LAYOUT.qvel, ("push",), 0.008), "actuators differ"),
        (Layout(LAYOUT.qpos, LAYOUT.qvel, LAYOUT.actuators, 0.01), "periods differ: 0.008 s and 0.01 s"),
    ],
)
def test_different_layouts_are_refused(tmp_path: Path, other: Layout, reason: str) -> None:
    write(tmp_path / "a", LAYOUT, [trajectory(3)])
    write(tmp_path / "b", other, [trajectory(3, layout=other)])
    with pytest.raises(errors.MixedDatasets) as caught:
        read(tmp_path / "a", tmp_path / "b")
    assert reason in str(caught.value)


def test_a_folder_given_twice_is_refused(demos: Path) -> None:
    with pytest.raises(errors.MixedDatasets, match="twice"):
        read(demos, demos / "meta" / "..")
