# SPDX-License-Identifier: MIT
"""The real LeRobot, in its own virtual environment, opens what we write, and we open what it writes.

The environment is made on the first run, in `.venv-lerobot` or where IMITABLE_INTEROP_VENV says. torchvision is replaced by an
empty module there (see `lerobot_opens.py`): the loader imports it for images and video, which these datasets do not have.
"""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.unit.scored import scores_of

from imitable.demos.conversion.convert import convert
from imitable.demos.conversion.proposal import MappingOptions
from imitable.demos.store import read, write
from imitable.exporters.export import export
from imitable.types import Layout, Trajectory

pytestmark = pytest.mark.interop

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "requirements-lerobot.txt"
LAYOUT = Layout(("x", "tilt"), ("x_velocity", "tilt_velocity"), ("push", "turn"), 0.008)
ONE_ACTUATOR = Layout(("x",), ("x_velocity",), ("push",), 0.03)


@pytest.fixture(scope="session")
def lerobot_python() -> Path:
    folder = Path(os.environ.get("IMITABLE_INTEROP_VENV") or HERE.parents[1] / ".venv-lerobot")
    python, mark = folder / "bin" / "python", folder / "installed"
    digest = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if not mark.is_file() or mark.read_text() != digest:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "--no-deps", "-r", str(REQUIREMENTS)], check=True)
        mark.write_text(digest)
    return python


def run(python: Path, verb: str, folder: Path) -> str:
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder.parent / "cache")}
    command = [str(python), str(HERE / "lerobot_opens.py"), verb, str(folder)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def made(layout: Layout, lengths: list[int]) -> list[Trajectory]:
    rng = np.random.default_rng(0)
    return [
        Trajectory(
            states=rng.standard_normal((length + 1, len(layout.state))),
            demonstrator=f"toy:mass={index}",
            actions=rng.standard_normal((length, len(layout.actuators))) if index != 2 else None,
            total_return=float(index),
            seed=index if index else None,
        )
        for index, length in enumerate(lengths)
    ]


@pytest.mark.parametrize("layout", [LAYOUT, ONE_ACTUATOR], ids=["two-actuators", "one-actuator-odd-rate"])
def test_lerobot_opens_our_dataset(lerobot_python: Path, tmp_path: Path, layout: Layout) -> None:
    trajectories = made(layout, [700, 1200, 5, 1100, 40])
    write(tmp_path / "demos", layout, trajectories, shard_mb=0.02, task="run")
    assert len(list((tmp_path / "demos" / "data").glob("*/*.parquet"))) > 1
    seen = json.loads(run(lerobot_python, "open", tmp_path / "demos"))

    assert seen["fps"] == pytest.approx(1 / layout.period_s)
    assert (seen["episodes"], seen["frames"]) == (5, sum(len(t) + 1 for t in trajectories))
    columns = {name: np.array(values) for name, values in seen["columns"].items()}
    assert seen["types"]["observation.state"] == f"fixed_size_list<item: double>[{len(layout.state)}]"
    np.testing.assert_array_equal(columns["index"], np.arange(seen["frames"]))
    for index, (trajectory, row) in enumerate(zip(trajectories, seen["rows"], strict=True)):
        span = slice(row["dataset_from_index"], row["dataset_to_index"])
        assert row["demonstrator"] == trajectory.demonstrator
        assert row["return"] == trajectory.total_return
        assert row["seed"] == trajectory.seed
        assert set(columns["episode_index"][span]) == {index}
        np.testing.assert_array_equal(columns["observation.state"][span], trajectory.states)
        np.testing.assert_allclose(columns["timestamp"][span], np.arange(len(trajectory) + 1) * layout.period_s, atol=1e-4)
        actions = columns["action"][span].reshape(len(trajectory) + 1, -1)
        if trajectory.actions is None:
            assert not actions.any()
        else:
            np.testing.assert_array_equal(actions, np.concatenate([trajectory.actions, trajectory.actions[-1:]]))


def test_lerobot_serves_items_windows_and_statistics(lerobot_python: Path, tmp_path: Path) -> None:
    trajectories = made(LAYOUT, [9, 4])
    write(tmp_path / "demos", LAYOUT, trajectories, task="run")
    seen = json.loads(run(lerobot_python, "open", tmp_path / "demos"))
    first = trajectories[0]
    assert first.actions is not None
    assert seen["item"]["task"] == "run"
    np.testing.assert_allclose(seen["item"]["observation.state"], first.states[-1], rtol=1e-6)
    assert seen["window_is_pad"] == [False, True, True]
    np.testing.assert_allclose(seen["window"], first.actions[:3], rtol=1e-6)
    assert seen["picked"] == [10, 11, 12, 13, 14]
    states = np.concatenate([t.states for t in trajectories])
    stats = seen["stats"]["observation.state"]
    for key, expected in (("min", states.min(0)), ("max", states.max(0)), ("mean", states.mean(0)), ("std", states.std(0))):
        np.testing.assert_allclose(stats[key], expected, atol=1e-12)
    assert stats["count"] == [15]


def test_we_open_what_lerobot_records(lerobot_python: Path, tmp_path: Path) -> None:
    run(lerobot_python, "record", tmp_path / "recorded")
    demos = read(tmp_path / "recorded")
    assert demos.layout == Layout(("hip", "knee", "ankle"), (), ("left", "right"), 0.08)
    assert [episode.length for episode in demos.episodes] == [3, 4, 5]
    assert {episode.demonstrator for episode in demos.episodes} == {"toy"}
    for index, trajectory in enumerate(demos):
        expected = np.array([[index, frame, 0.1] for frame in range(4 + index)], np.float32)
        np.testing.assert_array_equal(trajectory.states, expected)
        np.testing.assert_array_equal(trajectory.actions, (expected[:-1, :2] / np.float32(3)))
        assert trajectory.hash == demos.episodes[index].hash
    write(tmp_path / "again", demos.layout, demos)
    assert [t.hash for t in read(tmp_path / "again")] == [episode.hash for episode in demos.episodes]


def test_we_convert_what_lerobot_records(lerobot_python: Path, servo_arm_path: Path, tmp_path: Path) -> None:
    run(lerobot_python, "record", tmp_path / "recorded")
    options = MappingOptions(names={"hip": "rotation", "knee": "pitch", "ankle": "elbow"}, beyond_range=True)
    done = convert(tmp_path / "recorded", tmp_path / "demos", str(servo_arm_path), options=options)
    assert (done.format, done.episodes, done.resampled) == ("lerobot", 3, 3)
    for index, trajectory in enumerate(read(tmp_path / "demos")):
        assert trajectory.demonstrator == "toy"
        frames = np.arange(len(trajectory) + 1) * 0.02 / 0.08  # the second joint moves by one a frame of 0.08 s
        wanted = np.column_stack([np.full(len(frames), index), frames, np.full(len(frames), np.float32(0.1))])
        np.testing.assert_allclose(trajectory.states[:, :3], wanted, atol=1e-9)
        np.testing.assert_allclose(trajectory.states[:, 4], 12.5, atol=1e-6)


def test_lerobot_opens_a_scored_copy_and_draws_the_episodes_that_we_name(lerobot_python: Path, tmp_path: Path) -> None:
    write(tmp_path / "demos", LAYOUT, made(LAYOUT, [9, 4, 7]))
    demos = read(tmp_path / "demos")
    done = export(demos, scores_of(demos, [1, 3, 0]), "lerobot", tmp_path / "scored")
    seen = json.loads(run(lerobot_python, "open", tmp_path / "scored"))
    assert [row["feasibility"] for row in seen["rows"]] == pytest.approx([1 / 3, 1, 0])
    assert [row["weight"] for row in seen["rows"]] == pytest.approx([0.25, 0.75, 0])
    assert done.lines == ("--dataset.episodes=[0,1]",)


def test_lerobots_own_weighter_gives_the_weights_that_we_export(lerobot_python: Path, tmp_path: Path) -> None:
    lengths = [120, 40, 70, 30]
    write(tmp_path / "demos", LAYOUT, made(LAYOUT, lengths))
    demos = read(tmp_path / "demos")
    export(demos, scores_of(demos, [1, 3, 0, 0.2]), "lerobot-weights", tmp_path / "weights")
    wanted = np.array(pq.read_table(tmp_path / "weights" / "weights.parquet")["weight"].to_pylist())
    wanted[np.cumsum(np.array(lengths) + 1) - 1] = 0.0  # the last frame of an episode makes no progress
    got = np.array(json.loads(run(lerobot_python, "weigh", tmp_path / "weights")))
    np.testing.assert_allclose(got / got.max(), wanted / wanted.max(), atol=1e-5)
