# SPDX-License-Identifier: MIT
"""robomimic's and Minari's HDF5, and the paper's pickles: layouts of others, written here as they write them."""

import json
import pickle
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from imitable import errors
from imitable.demos.conversion.convert import convert
from imitable.demos.conversion.proposal import MappingOptions
from imitable.demos.formats import open_source
from imitable.demos.store import read
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.babble import babble
from imitable.types import Trajectory


@pytest.fixture
def robot(servo_arm_path: Path) -> Robot:
    return parse_robot(str(servo_arm_path))


@pytest.fixture
def movements(robot: Robot) -> list[Trajectory]:
    return list(babble(robot, 3, 15, seed=0))


def robomimic(path: Path, movements: list[Trajectory], *, obs: bool = False) -> Path:
    """Write a file as robomimic's collection script does: `states` are time, qpos, qvel; with `obs`, observations, too."""
    with h5py.File(path, "w") as file:
        data = file.create_group("data")
        data.attrs["total"] = sum(len(one) for one in movements)
        data.attrs["env_args"] = json.dumps({"env_name": "Lift", "env_kwargs": {"control_freq": 50, "robots": ["Servo"]}})
        for k, one in reversed(list(enumerate(movements))):
            demo = data.create_group(f"demo_{k}")
            demo.attrs["num_samples"] = len(one)
            demo["actions"] = one.actions
            demo["rewards"] = demo["dones"] = np.zeros(len(one))
            if obs:
                demo["obs/joint_pos"], demo["next_obs/joint_pos"] = one.states[:-1, :3], one.states[1:, :3]
                demo["obs/image"] = np.zeros((len(one), 4, 4, 3), np.uint8)
            else:
                demo["states"] = np.concatenate([np.arange(len(one))[:, None] * 0.02, one.states[:-1]], axis=1)
        file["mask/train"] = np.array([b"demo_0"])
    return path


def minari(folder: Path, movements: list[Trajectory], **metadata: Any) -> Path:
    """Write a folder as Minari does."""
    (folder / "data").mkdir(parents=True)
    held = {"total_episodes": 3, "total_steps": 45, "data_format": "hdf5", "dataset_id": "arm/servo-v0"} | metadata
    (folder / "data" / "metadata.json").write_text(json.dumps(held))
    with h5py.File(folder / "data" / "main_data.hdf5", "w") as file:
        for k, one in enumerate(movements):
            episode = file.create_group(f"episode_{k}")
            episode.attrs.update({"id": k, "total_steps": len(one), "seed": 7 + k})
            episode["observations"] = one.states[:, :3].astype(np.float32)
            episode["infos/qpos"], episode["infos/qvel"] = one.states[:, :3], one.states[:, 3:]
            episode["actions"], episode["rewards"] = one.actions, np.ones(len(one))
            episode["terminations"], episode["truncations"] = np.arange(len(one)) == len(one) - 1, np.zeros(len(one), bool)
    return folder


def test_robomimics_states_are_time_qpos_qvel(robot: Robot, movements: list[Trajectory], tmp_path: Path) -> None:
    source = robomimic(tmp_path / "low_dim.hdf5", movements)
    done = convert(source, tmp_path / "demos", robot, options=MappingOptions(differentiate="never", action="action"))
    assert (done.format, done.episodes, done.resampled) == ("robomimic", 3, 0)
    for one, got in zip(movements, read(tmp_path / "demos"), strict=True):
        assert got.demonstrator == "Servo"
        np.testing.assert_array_equal(got.states, one.states[:-1])
        assert one.actions is not None
        np.testing.assert_array_equal(got.actions, one.actions[:-1])


def test_robomimics_last_observation_is_read(robot: Robot, movements: list[Trajectory], tmp_path: Path) -> None:
    source = robomimic(tmp_path / "low_dim.hdf5", movements, obs=True)
    assert set(open_source(source).columns) == {"action", "obs/joint_pos"}
    convert(source, tmp_path / "demos", robot, options=MappingOptions(qpos="obs/joint_pos"))
    for one, got in zip(movements, read(tmp_path / "demos"), strict=True):
        np.testing.assert_array_equal(got.states[:, :3], one.states[:, :3])


def test_minari_is_read_by_folder_and_by_id(
    robot: Robot, movements: list[Trajectory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = minari(tmp_path / "root" / "arm" / "servo-v0", movements)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "root"))
    options = MappingOptions(qpos="infos/qpos", qvel="infos/qvel", fps=50, differentiate="never")
    for k, source in enumerate((folder, folder / "data", "arm/servo-v0")):
        done = convert(source, tmp_path / f"demos{k}", robot, options=options)
        demos = read(tmp_path / f"demos{k}")
        assert (done.format, [one.hash for one in demos]) == ("minari", [Trajectory(one.states, "").hash for one in movements])
        assert [(e.seed, e.terminated, e.total_return) for e in demos.episodes] == [(7 + k, True, 15.0) for k in range(3)]
        assert {e.demonstrator for e in demos.episodes} == {"arm/servo-v0"}
    with pytest.raises(errors.BadOption, match="--fps"):
        convert(folder, tmp_path / "no", robot, options=MappingOptions(qpos="infos/qpos"))


def test_the_period_of_an_environment_that_we_have_is_known(movements: list[Trajectory], tmp_path: Path) -> None:
    folder = minari(tmp_path / "d-v0", movements, env_spec=json.dumps({"id": "Hopper-v5"}))
    assert open_source(folder).period_s == parse_robot("hopper").layout.period_s
    assert open_source(folder).robot == "Hopper-v5"


def test_links_that_lead_outside_are_refused(robot: Robot, movements: list[Trajectory], tmp_path: Path) -> None:
    secret = robomimic(tmp_path / "secret.hdf5", movements)
    cases: dict[str, Any] = {
        "link": lambda file: file["data"].__setitem__("demo_7", h5py.ExternalLink(str(secret), "/data/demo_0")),
        "group": lambda file: file.__setitem__("aside", h5py.ExternalLink(str(secret), "/")),
        "external": lambda file: file["data/demo_0"].create_dataset("obs/x", (15, 1), "f8", external=[(str(secret), 0, 120)]),
        "virtual": lambda file: file["data/demo_0"].create_virtual_dataset("obs/x", virtual(secret)),
    }
    for name, change in cases.items():
        path = robomimic(tmp_path / f"{name}.hdf5", movements)
        with h5py.File(path, "a") as file:
            change(file)
        with pytest.raises(errors.BadDataset) as caught:
            convert(path, tmp_path / "demos", robot)
        assert "another file" in str(caught.value)
        assert path.name in str(caught.value)
    assert not (tmp_path / "demos").exists()
    soft = robomimic(tmp_path / "soft.hdf5", movements)
    with h5py.File(soft, "a") as file:
        file["data/demo_9"] = h5py.SoftLink("/data/demo_0")
        file["data/loop"] = file["data"]
    assert len(open_source(soft)) == 4


def virtual(path: Path) -> Any:
    layout = h5py.VirtualLayout((15, 7), "f8")
    layout[:] = h5py.VirtualSource(path, "data/demo_0/states", (15, 7))
    return layout


def test_garbled_files_are_one_line(robot: Robot, movements: list[Trajectory], tmp_path: Path) -> None:
    whole = robomimic(tmp_path / "a.hdf5", movements).read_bytes()
    for k, data in enumerate((b"", b"junk", whole[: len(whole) // 2])):
        (tmp_path / f"{k}.hdf5").write_bytes(data)
        with pytest.raises(errors.BadDataset, match=r"no whole HDF5 file"):
            convert(tmp_path / f"{k}.hdf5", tmp_path / "demos", robot)
    with h5py.File(tmp_path / "empty.hdf5", "w"):
        pass
    with pytest.raises(errors.BadDataset, match="no group 'data'"):
        convert(tmp_path / "empty.hdf5", tmp_path / "demos", robot)
    with pytest.raises(errors.BadDataset, match="stored as zarr; write it as hdf5, arrow or parquet"):
        convert(minari(tmp_path / "zarr-v0", movements, data_format="zarr"), tmp_path / "demos", robot)
    bare = minari(tmp_path / "bare-v0", movements)
    with h5py.File(bare / "data" / "main_data.hdf5", "a") as file:
        file["episode_1/infos/qpos"][4, 2] = np.nan
    with pytest.raises(errors.BadDataset, match=r"episode_1.*frame 4 of infos/qpos\[2\]"):
        convert(bare, tmp_path / "demos", robot, options=MappingOptions(qpos="infos/qpos", fps=50))


def test_the_papers_pickles_are_full_states(tmp_path: Path) -> None:
    body = parse_robot("swimmer")
    made = list(babble(body, 4, 12, seed=3))
    for who, part in (("swimmer_front", made[:2]), ("swimmer_back", made[2:])):
        (tmp_path / "demo" / who).mkdir(parents=True)
        content = {"obs": [one.states[:-1].tolist() for one in part], "next_obs": [one.states[1:] for one in part]}
        (tmp_path / "demo" / who / "batch_00.pkl").write_bytes(pickle.dumps(content, protocol=2))
    done = convert(tmp_path / "demo", tmp_path / "demos", body, options=MappingOptions(differentiate="never"))
    demos = read(tmp_path / "demos")
    assert (done.format, demos.layout.period_s) == ("paper", body.layout.period_s)
    assert [one.demonstrator for one in demos.episodes] == ["swimmer_back"] * 2 + ["swimmer_front"] * 2
    assert [one.hash for one in demos] == [Trajectory(one.states, "").hash for one in (*made[2:], *made[:2])]
    (tmp_path / "bad.pkl").write_bytes(pickle.dumps({"obs": [made[0].states], "next_obs": [made[1].states]}))
    with pytest.raises(errors.BadDataset, match="one step later"):
        convert(tmp_path / "bad.pkl", tmp_path / "no", body)
    (tmp_path / "list.pkl").write_bytes(pickle.dumps([np.zeros((5, 30))]))
    assert open_source(tmp_path / "list.pkl", "paper").columns["states"].width == 30
