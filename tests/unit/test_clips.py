# SPDX-License-Identifier: MIT
"""Motion clips of four formats become the same states; clips that are none, or of another robot, are refused in one line."""

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imitable import errors
from imitable.demos.conversion.convert import convert
from imitable.demos.conversion.proposal import MappingOptions
from imitable.demos.formats import FORMATS, gmr, lafan1, open_source
from imitable.demos.formats.unpickle import read_pickle
from imitable.demos.store import read
from imitable.files import Output
from imitable.robots.robot import Robot
from imitable.types import Floats
from tests.unit.biped import biped, bodies, walk, world_turn

JOINTS = ("left_hip_joint", "left_knee_joint", "right_hip_joint", "right_knee_joint")
BREADTH_FIRST = [0, 2, 1, 3]
"""Hips before knees."""


@pytest.fixture
def robot(tmp_path: Path) -> Robot:
    return biped(tmp_path)


def tracking_clip(robot: Robot, order: list[int], fps: int = 50) -> dict[str, Any]:
    """BeyondMimic's arrays, joints in this order; of the bodies' rotations only the root's matter."""
    qpos, qvel = walk(60, fps)
    places = bodies(robot, qpos)
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (60, places.shape[1], 1))
    turns[:, 0] = qpos[:, 3:7]
    speeds, spins = np.zeros_like(places), np.zeros_like(places)
    speeds[:, 0], spins[:, 0] = qvel[:, :3], world_turn(qpos, qvel)[:, 3:6]
    return {
        "fps": np.array([fps]),
        "joint_pos": qpos[:, 7:][:, order],
        "joint_vel": qvel[:, 6:][:, order],
        "body_pos_w": places,
        "body_quat_w": turns,
        "body_lin_vel_w": speeds,
        "body_ang_vel_w": spins,
    }


def refused(kind: type[errors.ImitableError], source: Path, robot: Robot, **options: Any) -> str:
    out = source.parent / "never"
    with pytest.raises(kind) as caught:
        convert(source, out, robot, **options)
    assert not out.exists()
    assert source.name in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def converted(source: Path, robot: Robot, options: MappingOptions | None = None) -> tuple[Floats, tuple[str, ...]]:
    done = convert(source, Output(source.parent / "demos", overwrite=True), robot, options=options)
    return read(source.parent / "demos")[0].states, done.remarks


@pytest.mark.parametrize("kind", ["lafan1", "gmr"])
def test_clips_at_30_hz_come_out_at_50(kind: str, robot: Robot, tmp_path: Path) -> None:
    qpos, _ = walk(61, 30)
    parts = qpos[:, :3], qpos[:, 3:7], qpos[:, 7:]
    path = tmp_path / ("clip.csv" if kind == "lafan1" else "clip.pkl")
    path.write_bytes(lafan1.clip_bytes(*parts) if kind == "lafan1" else gmr.clip_bytes(*parts, 1 / 30))
    assert open_source(path).format == kind
    states, remarks = converted(path, robot)
    wanted = np.concatenate(walk(101, 50), axis=1)
    assert (states.shape, remarks) == (wanted.shape, ())
    np.testing.assert_allclose(states[:, :11], wanted[:, :11], atol=5e-3)
    np.testing.assert_allclose(states[1:-1, 11:], wanted[1:-1, 11:], atol=0.2)


@pytest.mark.parametrize("order", [[0, 1, 2, 3], BREADTH_FIRST], ids=["file's", "breadth-first"])
def test_joints_without_names_are_tried_against_the_bodies(order: list[int], robot: Robot, tmp_path: Path) -> None:
    np.savez(tmp_path / "clip.npz", **tracking_clip(robot, order))
    assert open_source(tmp_path / "clip.npz").format == "beyondmimic"
    states, remarks = converted(tmp_path / "clip.npz", robot)
    qpos, qvel = walk(60, 50)
    np.testing.assert_array_equal(states[:, :11], qpos)
    np.testing.assert_allclose(states[:, 11:], qvel, atol=1e-12)
    assert ("breadth-first" in remarks[0]) == (order == BREADTH_FIRST)


def test_a_holosoma_clip_has_its_turn_in_the_world(robot: Robot, tmp_path: Path) -> None:
    qpos, qvel = walk(60, 50)
    shuffled = [2, 0, 3, 1]
    arrays = {
        "fps": 50,
        "joint_pos": np.concatenate([qpos[:, :7], qpos[:, 7:][:, shuffled]], axis=1),
        "joint_vel": np.concatenate([world_turn(qpos, qvel)[:, :6], qvel[:, 6:][:, shuffled]], axis=1),
        "joint_names": np.array(JOINTS)[shuffled],
        "body_names": ["world", "pelvis"],
        "body_pos_w": np.concatenate([np.zeros((60, 1, 3)), bodies(robot, qpos)], axis=1),
        "object_pos_w": np.zeros((60, 3)),
    }
    np.savez(tmp_path / "clip.npz", **arrays)
    states, remarks = converted(tmp_path / "clip.npz", robot)
    np.testing.assert_array_equal(states[:, :11], qpos)
    np.testing.assert_allclose(states[:, 11:], qvel, atol=1e-12)
    assert any("world" in remark for remark in remarks)
    arrays["joint_names"] = np.array(["a1", "a2", "a3", "a4"])
    np.savez(tmp_path / "clip.npz", **arrays)
    assert "left_hip_joint" in refused(errors.BadMapping, tmp_path / "clip.npz", robot)


def test_holosoma_clips_with_and_without_an_object_are_one_set(robot: Robot, tmp_path: Path) -> None:
    qpos, qvel = walk(60, 50)
    own, box = bodies(robot, qpos), qpos[:, :3] + [2.0, 0.0, 0.0]
    plain = {"fps": 50, "joint_pos": qpos, "joint_vel": world_turn(qpos, qvel), "joint_names": JOINTS, "body_pos_w": own}
    with_box = plain | {"body_pos_w": np.concatenate([own, box[:, None]], axis=1), "object_pos_w": box}
    (tmp_path / "clips").mkdir()
    np.savez(tmp_path / "clips" / "a.npz", **plain)
    np.savez(tmp_path / "clips" / "b.npz", **with_box)
    assert convert(tmp_path / "clips", tmp_path / "demos", robot).episodes == 2
    np.savez(tmp_path / "clips" / "b.npz", **with_box | {"object_pos_w": box + 1})
    with pytest.raises(errors.BadDataset, match="body_pos_w"):
        convert(tmp_path / "clips", tmp_path / "again", robot)


@pytest.mark.parametrize("order", ["wxyz", "xyzw"])
@pytest.mark.parametrize("frame", ["local", "world"])
def test_order_of_quaternions_and_frame_of_turns_are_found_out(order: str, frame: str, robot: Robot, tmp_path: Path) -> None:
    qpos, qvel = walk(60, 50)
    turned = np.concatenate([qpos[:, :3], np.roll(qpos[:, 3:7], -1, axis=1), qpos[:, 7:]], axis=1)
    speeds = qvel if frame == "local" else world_turn(qpos, qvel)
    np.savez(tmp_path / "a.npz", qpos=qpos if order == "wxyz" else turned, qvel=speeds, fps=50)
    states, remarks = converted(tmp_path / "a.npz", robot)
    np.testing.assert_array_equal(states[:, :11], qpos)
    np.testing.assert_allclose(states[:, 11:], qvel, atol=1e-12)
    assert f"read as {order}" in remarks[0]
    told = MappingOptions(quaternion=order, angular=frame)
    np.testing.assert_array_equal(converted(tmp_path / "a.npz", robot, told)[0], states)


def test_a_clip_of_another_robot_is_refused(robot: Robot, tmp_path: Path) -> None:
    qpos, _ = walk(60, 50)
    (tmp_path / "clip.csv").write_bytes(lafan1.clip_bytes(qpos[:, :3], qpos[:, 3:7], qpos[:, 7:10]))
    assert "10 numbers a frame (7 of the root, 3 joints)" in refused(errors.BadMapping, tmp_path / "clip.csv", robot)
    clip = tracking_clip(robot, [0, 1, 2, 3])
    np.savez(tmp_path / "clip.npz", **clip | {"body_pos_w": clip["body_pos_w"] * [1, 1, 3]})
    assert "clip of another robot" in refused(errors.BadMapping, tmp_path / "clip.npz", robot)


def test_a_header_and_frames_that_are_no_numbers_are_named(robot: Robot, tmp_path: Path) -> None:
    qpos, _ = walk(10, 30)
    good = lafan1.clip_bytes(qpos[:, :3], qpos[:, 3:7], qpos[:, 7:]).decode()
    (tmp_path / "head.csv").write_text("x,y,z,qx,qy,qz,qw,a,b,c,d\n" + good)
    said = refused(errors.BadDataset, tmp_path / "head.csv", robot, format_name="lafan1")
    assert "line 1 is a header (x, …)" in said
    lines = good.splitlines()
    lines[4] = lines[4].rpartition(",")[0] + ",nan"
    (tmp_path / "nan.csv").write_text("\n".join(lines))
    assert "frame 4 of frame[10] is not a finite number" in refused(errors.BadDataset, tmp_path / "nan.csv", robot)
    np.savez(tmp_path / "nan.npz", qpos=np.where(np.arange(110).reshape(10, 11) == 37, np.nan, qpos), fps=30)
    assert "frame 3 of qpos[4]" in refused(errors.BadDataset, tmp_path / "nan.npz", robot)
    (tmp_path / "word.csv").write_text("1,2\n3,four\n")
    refused(errors.BadDataset, tmp_path / "word.csv", robot)
    (tmp_path / "no.csv").write_bytes(b"\xff\xfe\x00")
    refused(errors.BadDataset, tmp_path / "no.csv", robot)


class Danger:
    """What a pickle of an attacker looks like."""

    def __reduce__(self) -> Any:
        return os.mkdir, ("run-by-pickle",)


def test_no_pickle_runs_code(robot: Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, data in (
        ("reduce", pickle.dumps({"root_pos": Danger()})),
        ("old", pickle.dumps({"root_pos": Danger()}, protocol=0)),
        ("object", pickle.dumps({"root_pos": Path("x")}, protocol=4)),
        ("inst", b"(S'run-by-pickle'\nios\nmkdir\n."),
        ("newobj", b"\x80\x02cbuiltins\nobject\n)\x81."),
        ("eval", b'cbuiltins\neval\n(S\'open("run-by-pickle", "w")\'\ntR.'),
        ("through", b"cnumpy\n_globals.__builtins__\n."),
        ("half", pickle.dumps(np.zeros(9))[:-7]),
        ("none", b"no pickle at all"),
        ("empty", b""),
    ):
        (tmp_path / f"{name}.pkl").write_bytes(data)
        refused(errors.BadDataset, tmp_path / f"{name}.pkl", robot)
    assert not (tmp_path / "run-by-pickle").exists()
    said = refused(errors.BadDataset, tmp_path / "newobj.pkl", robot)
    assert "NEWOBJ" in said
    assert "nothing was run" in said


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_of_arrays_are_read(protocol: int, tmp_path: Path) -> None:
    content = {"a": np.arange(6.0).reshape(2, 3), "b": np.float32(2.5), "c": [1, "two", None, (3, b"4")], "d": np.array(["x"])}
    (tmp_path / "a.pkl").write_bytes(pickle.dumps(content, protocol=protocol))
    held = read_pickle(tmp_path / "a.pkl")
    np.testing.assert_array_equal(held["a"], content["a"])
    assert (held["b"], held["c"], held["d"].tolist()) == (2.5, content["c"], ["x"])


def test_files_of_one_folder_must_be_alike(robot: Robot, tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    for name, frames, joints in (("a", 20, 11), ("b", 30, 11), ("c", 20, 10)):
        qpos, _ = walk(frames, 30)
        data = lafan1.clip_bytes(qpos[:, :3], qpos[:, 3:7], qpos[:, 7:joints])
        (tmp_path / "clips" / f"{name}.csv").write_bytes(data)
    with pytest.raises(errors.BadDataset, match=r"c\.csv.*joint_pos has 3 entries"):
        convert(tmp_path / "clips", tmp_path / "demos", robot)
    (tmp_path / "clips" / "c.csv").unlink()
    done = convert(tmp_path / "clips", tmp_path / "demos", robot, label="file")
    assert (done.episodes, done.frames, done.resampled) == (2, 50, 2)
    assert [episode.demonstrator for episode in read(tmp_path / "demos").episodes] == ["a", "b"]


def test_every_format_is_refused_in_one_line_when_it_is_something_else(robot: Robot, tmp_path: Path) -> None:
    (tmp_path / "junk").write_bytes(bytes(range(256)) * 9)
    (tmp_path / "folder").mkdir()
    for name in FORMATS:
        for path in (tmp_path / "junk", tmp_path / "folder"):
            with pytest.raises(errors.ImitableError) as caught:
                convert(path, tmp_path / "never", robot, format_name=name)
            assert str(path) in str(caught.value), name
            assert "\n" not in str(caught.value)
    assert not (tmp_path / "never").exists()
    np.savez(tmp_path / "objects.npz", qpos=np.array([{}, {}], object))
    assert "could run code" in refused(errors.BadDataset, tmp_path / "objects.npz", robot)
