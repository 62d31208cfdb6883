# SPDX-License-Identifier: MIT
"""LeRobot datasets of all versions are read, and converted to a robot with other names, rates and units."""

from pathlib import Path

import numpy as np
import pytest

from imitable import errors
from imitable.demos.conversion.convert import convert
from imitable.demos.conversion.proposal import MappingOptions
from imitable.demos.formats import open_source
from imitable.demos.store import read, write
from imitable.robots.parse import parse_robot
from imitable.sim.babble import babble
from imitable.types import Floats, Layout
from tests.unit.old_lerobot import write_v2

NAMES = {"observation.state": ["rotation.pos", "pitch.pos", "elbow.pos"], "action": ["rotation", "pitch", "elbow"]}


def movement(frames: int, fps: float, draw: int) -> Floats:
    """(n, 3) angles within the servo arm's ranges."""
    t = np.arange(frames)[:, None] / fps
    return np.array([0.2, -1.2, 1.3]) + 0.5 * np.sin((1 + 0.1 * draw) * t + np.arange(3))


def dataset(folder: Path, version: str, scale: float = 1.0, **options: object) -> Path:
    episodes = [
        {"observation.state": scale * movement(20 + k, 30, k), "action": scale * movement(20 + k, 30, k)} for k in range(5)
    ]
    return write_v2(folder, episodes, NAMES, version=version, **options)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("version", ["v2.0", "v2.1"])
def test_old_versions_are_read_as_they_are(version: str, tmp_path: Path) -> None:
    demos = read(dataset(tmp_path / "old", version, chunk=2))
    assert demos.layout == Layout(("rotation.pos", "pitch.pos", "elbow.pos"), (), ("rotation", "pitch", "elbow"), 1 / 30)
    assert [episode.length for episode in demos.episodes] == [19, 20, 21, 22, 23]
    assert {episode.demonstrator for episode in demos.episodes} == {"toy"}
    for k, trajectory in enumerate(demos):
        np.testing.assert_array_equal(trajectory.states, movement(20 + k, 30, k).astype(np.float32))
        np.testing.assert_array_equal(trajectory.actions, movement(20 + k, 30, k).astype(np.float32)[:-1])
    write(tmp_path / "new", demos.layout, demos)
    assert [one.hash for one in read(tmp_path / "new")] == [one.hash for one in demos]


def test_without_a_robot_type_the_folder_names_the_demonstrator(tmp_path: Path) -> None:
    folder = dataset(tmp_path / "my_arm", "v2.1", robot_type=None)
    assert {episode.demonstrator for episode in read(folder).episodes} == {"my_arm"}
    assert open_source(folder).robot == "my_arm"


@pytest.mark.parametrize("unit", ["rad", "deg"])
def test_thirty_frames_a_second_and_other_names_become_the_robots_states(
    unit: str, servo_arm_path: Path, tmp_path: Path
) -> None:
    folder = dataset(tmp_path / "old", "v2.1", scale=180 / np.pi if unit == "deg" else 1.0)
    robot = parse_robot(str(servo_arm_path))
    if unit == "deg":
        with pytest.raises(errors.BadMapping, match="degrees"):
            convert(folder, tmp_path / "no", robot)
    done = convert(folder, tmp_path / "demos", robot, options=MappingOptions(unit=unit))
    demos = read(tmp_path / "demos")
    assert (done.episodes, done.frames, done.resampled, demos.layout) == (5, 110, 5, robot.layout)
    for k, trajectory in enumerate(demos):
        wanted = movement(len(trajectory) + 1, 50, k)
        np.testing.assert_allclose(trajectory.states[:, :3], wanted, atol=1e-3)
        assert trajectory.actions is not None


def test_other_columns_than_the_state_can_be_mapped(servo_arm_path: Path, tmp_path: Path) -> None:
    episodes = [{"observation.joints": movement(20, 50, 0), "observation.rate": np.gradient(movement(20, 50, 0), 0.02, axis=0)}]
    folder = write_v2(tmp_path / "old", episodes, {}, version="v2.0", fps=50)
    options = MappingOptions(qpos="observation.joints", qvel="observation.rate[0:3]")
    done = convert(folder, tmp_path / "demos", str(servo_arm_path), options=options)
    assert (done.resampled, done.remarks) == (0, ())
    np.testing.assert_array_equal(read(tmp_path / "demos")[0].states[:, :3], movement(20, 50, 0).astype(np.float32))
    with pytest.raises(errors.BadDataset, match=r"no observation\.state"):
        read(folder)


def test_our_own_dataset_converts_to_itself(tmp_path: Path, slider_path: Path) -> None:
    robot = parse_robot(str(slider_path))
    write(tmp_path / "demos", robot.layout, babble(robot, 3, 20, seed=0))
    for imitator in (None, robot):
        out = tmp_path / f"again{imitator is None}"
        convert(tmp_path / "demos", out, imitator)
        assert [one.row_hash for one in read(out).episodes] == [one.row_hash for one in read(tmp_path / "demos").episodes]
    coarse = parse_robot(f"{slider_path}:period=0.05")
    convert(tmp_path / "demos", tmp_path / "coarse", coarse)
    fine, fewer = read(tmp_path / "demos")[0].states, read(tmp_path / "coarse")[0].states
    assert len(fewer) == 1 + int(20 * 0.02 / 0.05)
    np.testing.assert_allclose(fewer[::2, 0], fine[::5, 0], atol=1e-12)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("meta/episodes.jsonl", "not json\n", "line 1 of meta/episodes.jsonl"),
        ("meta/episodes.jsonl", '{"episode_index": -1, "length": 20}\n', "episode_index -1"),
        ("meta/episodes.jsonl", '{"episode_index": 0, "length": 20}\n', "lists 1 episodes"),
        ("data/chunk-000/episode_000002.parquet", "", "episode_000002.parquet is damaged"),
        ("data/chunk-000/episode_000002.parquet", None, "episode_000002.parquet is missing"),
    ],
)
def test_damage_is_named(name: str, text: str | None, said: str, tmp_path: Path) -> None:
    folder = dataset(tmp_path / "old", "v2.1")
    (folder / name).unlink() if text is None else (folder / name).write_text(text)
    with pytest.raises(errors.BadDataset) as caught:
        list(read(folder))
    assert said in str(caught.value)


def test_frames_that_are_no_numbers_are_named(servo_arm_path: Path, tmp_path: Path) -> None:
    rows = movement(20, 30, 0)
    rows[7, 1] = np.nan
    folder = write_v2(tmp_path / "old", [{"observation.state": rows}], NAMES)
    with pytest.raises(errors.BadDataset, match=r"frame 7 of observation\.state\[1\] in episode 0"):
        convert(folder, tmp_path / "demos", str(servo_arm_path))
    assert not (tmp_path / "demos").exists()
