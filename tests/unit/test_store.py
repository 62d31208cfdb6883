# SPDX-License-Identifier: MIT
"""Demonstrations on disk: what is written comes back bit for bit, in bounded memory, or one line says why not."""

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from imitable import errors
from imitable.demos import parquet
from imitable.demos.lerobot import frames_per_second
from imitable.demos.store import read, write
from imitable.demos.summary import merged, summarise
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


@pytest.fixture
def demos(tmp_path: Path) -> Path:
    """Five episodes in two data files; the short ones share a row group."""
    lengths = (30, 1200, 20, 10, 1500)
    write(tmp_path / "demos", LAYOUT, [trajectory(length, k) for k, length in enumerate(lengths)], shard_mb=0.05)
    return tmp_path / "demos"


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


# Memory

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


# Several folders


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


# Foreign datasets


def test_a_foreign_dataset_is_read_as_far_as_sensible(tmp_path: Path) -> None:
    written = [trajectory(length, k) for k, length in enumerate((4, 8))]
    folder = tmp_path / "demos"
    write(folder, LAYOUT, [Trajectory(t.states.clip(-1, 1), "toy", t.actions) for t in written])
    edit_info(folder, lambda info: info.pop("imitable"))
    edit_info(folder, lambda info: info["features"]["observation.state"].update(names={"motors": ["a", "b", "c", "d"]}))
    edit_info(folder, lambda info: info["features"]["action"].update(names=None))
    edit_info(folder, lambda info: info.update(robot_type=None))
    edit_table(folder / EPISODES, foreign)
    singles = pa.list_(pa.float32())
    edit_table(folder / DATA, lambda t: t.set_column(0, "observation.state", t["observation.state"].cast(singles)))
    back = read(folder)
    assert back.layout == Layout(("a", "b", "c", "d"), (), ("action0", "action1", "action2"), 0.008)
    for episode, stored, original in zip(back.episodes, back, written, strict=True):
        assert (episode.demonstrator, episode.hash, episode.terminated) == ("demos", stored.hash, False)
        assert math.isnan(episode.total_return)
        np.testing.assert_array_equal(stored.states, original.states.clip(-1, 1).astype(np.float32))
        np.testing.assert_array_equal(stored.actions, original.actions)


def test_a_foreign_dataset_without_actions_is_state_only(tmp_path: Path) -> None:
    write(tmp_path / "demos", LAYOUT, [trajectory(4)])
    edit_info(tmp_path / "demos", lambda info: (info.pop("imitable"), info["features"].pop("action")))
    edit_table(tmp_path / "demos" / EPISODES, foreign)
    edit_table(tmp_path / "demos" / DATA, lambda table: table.drop_columns(["action"]))
    back = read(tmp_path / "demos")
    assert back.layout.actuators == ()
    assert back[0].actions is None


# Damage


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


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda info: info.update(codebase_version="v2.1"), "LeRobot v2.1 dataset; convert it"),
        (lambda info: info.update(codebase_version="v4.0"), "only v3 can be read"),
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
    assert "no such folder" in refusal(demos / "meta/stats.json")


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


def test_our_first_datasets_stay_readable(demos: Path) -> None:
    before = [episode.row_hash for episode in read(demos).episodes]
    edit_table(demos / EPISODES, older)
    assert [episode.row_hash for episode in read(demos).episodes] == before
    assert [one.hash for one in read(demos)] == [episode.hash for episode in read(demos).episodes]


# Failures of writing


def test_an_existing_output_is_refused(demos: Path) -> None:
    before = {path: path.read_bytes() for path in files_in(demos)}
    with pytest.raises(errors.OutputExists, match=r"exists: give --overwrite to replace it"):
        write(demos, LAYOUT, [trajectory(3)])
    assert {path: path.read_bytes() for path in files_in(demos)} == before
    write(demos, LAYOUT, [trajectory(3)], overwrite=True)
    assert [episode.length for episode in read(demos).episodes] == [3]
    assert os.listdir(demos.parent) == ["demos"]


def test_overwriting_a_set_with_a_part_of_itself(demos: Path) -> None:
    old = read(demos)
    hashes = [episode.hash for episode in old.episodes]
    write(demos, old.layout, (old[k] for k in (4, 1)), overwrite=True)
    assert [t.hash for t in read(demos)] == [hashes[4], hashes[1]]


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_nothing_but_a_dataset_is_ever_replaced(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "thesis"
    if kind == "folder":
        target.mkdir()
    (target / "text" if kind == "folder" else target).write_text("years of work")
    with pytest.raises(errors.CannotWrite, match="no set of demonstrations"):
        write(target, LAYOUT, [trajectory(3)], overwrite=True)
    assert [path.read_text() for path in files_in(tmp_path)] == ["years of work"]


def wrong_states() -> Iterator[Trajectory]:
    yield trajectory(1200)
    yield Trajectory(np.zeros((3, 5)), "toy")


def wrong_actions() -> Iterator[Trajectory]:
    yield trajectory(1200)
    yield Trajectory(np.zeros((3, 4)), "toy", np.zeros((2, 1)))


def wrong_seed() -> Iterator[Trajectory]:
    yield Trajectory(np.zeros((3, 4)), "toy", seed=2**63)


def interrupted() -> Iterator[Trajectory]:
    yield trajectory(1200)
    raise KeyboardInterrupt


def broken() -> Iterator[Trajectory]:
    yield trajectory(1200)
    raise ZeroDivisionError


@pytest.mark.parametrize(
    ("source", "error", "reason"),
    [
        (wrong_states, errors.BadTrajectory, "trajectory 1 has 5 state entries, the layout 4"),
        (wrong_actions, errors.BadTrajectory, "trajectory 1 has 1 action entries, the layout 3"),
        (wrong_seed, errors.BadTrajectory, "does not fit 64 bits"),
        (lambda: iter(()), errors.CannotWrite, "no demonstration to write"),
        (interrupted, KeyboardInterrupt, ""),
        (broken, ZeroDivisionError, ""),
    ],
)
def test_an_error_leaves_nothing_behind(
    tmp_path: Path, source: Callable[[], Iterator[Trajectory]], error: type[BaseException], reason: str
) -> None:
    with pytest.raises(error) as caught:
        write(tmp_path / "demos", LAYOUT, source())
    assert reason in str(caught.value)
    assert not os.listdir(tmp_path)
    write(tmp_path / "demos", LAYOUT, [trajectory(3)])
    with pytest.raises(error):
        write(tmp_path / "demos", LAYOUT, source(), overwrite=True)
    assert os.listdir(tmp_path) == ["demos"]
    assert len(read(tmp_path / "demos")) == 1


def test_a_parent_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(errors.CannotWrite) as caught:
        write(tmp_path / "file" / "demos", LAYOUT, [trajectory(3)])
    assert "\n" not in str(caught.value)
    assert os.listdir(tmp_path) == ["file"]


FULL_DISK = """
import resource, signal, sys
import numpy as np
from imitable.demos.store import write
from imitable.errors import CannotWrite
from imitable.types import Layout, Trajectory

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), -1))
try:
    made = (Trajectory(np.full((2000, 2), float(k)), "toy") for k in range(20))
    write(sys.argv[1] + "/demos", Layout(("x",), ("v",), ("a",), 0.1), made)
except CannotWrite as error:
    print(error)
"""


@pytest.mark.parametrize("limit", [0, 700, 3000, 20_000, 200_000])
def test_a_disk_that_refuses_leaves_nothing_behind(tmp_path: Path, limit: int) -> None:
    command = [sys.executable, "-W", "error", "-c", FULL_DISK, str(tmp_path), str(limit)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout == f"cannot write {tmp_path}/demos: File too large; nothing was left behind\n"
    assert not result.stderr
    assert not os.listdir(tmp_path)


KILLED = """
import os, signal, sys
import numpy as np
from imitable.demos.store import write
from imitable.types import Layout, Trajectory

def made():
    for k in range(20):
        yield Trajectory(np.ones((2000, 2)) * k, "toy")
    os.kill(os.getpid(), signal.SIGKILL)

write(sys.argv[1] + "/demos", Layout(("x",), ("v",), ("a",), 0.1), made(), shard_mb=0.1)
"""


def test_what_a_killed_process_leaves_is_no_dataset(tmp_path: Path) -> None:
    result = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert result.returncode < 0
    (leftover,) = tmp_path.iterdir()
    assert leftover.name.startswith(".demos.")
    assert files_in(leftover)
    assert "half-written" in refusal(leftover)
    assert "no such folder" in refusal(tmp_path / "demos")
    write(tmp_path / "demos", LAYOUT, [trajectory(3)])
    assert len(read(tmp_path / "demos")) == 1
