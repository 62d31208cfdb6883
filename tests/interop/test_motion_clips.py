# SPDX-License-Identifier: MIT
"""A Unitree G1 and its retargeted clips, as the package holosoma ships them: converted, checked, and written back."""

from pathlib import Path

import numpy as np
import pytest
from tests.interop.environments import environment
from tests.unit.scored import scores_of

from imitable.demos.conversion.convert import convert
from imitable.demos.formats import open_source
from imitable.demos.store import read
from imitable.exporters.export import export
from imitable.feasibility.unusual import disagreements
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot

pytestmark = pytest.mark.interop

CLIPS = "motions/g1_29dof/whole_body_tracking"
SCENE = "robots/g1/scenes/scene_g1_29dof_wbt_plane.xml"


@pytest.fixture(scope="session")
def data() -> Path:
    python = environment("holosoma", "holosoma==0.0.3", options=("--no-deps",))
    return next((python.parents[1] / "lib").glob("python*/site-packages/holosoma/data"))


@pytest.fixture(scope="session")
def g1(data: Path) -> Robot:
    return parse_robot(str(data / SCENE))


@pytest.mark.parametrize("name", ["motion_crawl_slope", "sub3_largebox_003_mj", "sub3_largebox_003_mj_w_obj"])
def test_clips_become_states_whose_velocities_are_those_of_the_movement(
    name: str, data: Path, g1: Robot, tmp_path: Path
) -> None:
    done = convert(data / CLIPS / f"{name}.npz", tmp_path / "demos", g1)
    assert (done.format, done.resampled) == ("holosoma", 0)
    assert any("angular velocity is read as world" in remark for remark in done.remarks)
    assert not any("do not agree" in remark for remark in done.remarks)
    states = read(tmp_path / "demos")[0].states
    held = np.load(data / CLIPS / f"{name}.npz")
    np.testing.assert_array_equal(states[:, :36], held["joint_pos"])
    as_they_are = states.copy()
    as_they_are[:, 39:42] = held["joint_vel"][:, 3:6]
    ours, theirs = (disagreements(g1, rows)[0][:, 3:6].mean() for rows in (states, as_they_are))
    assert ours < 0.3 * theirs, "turns agree with the rotations once they are in the body's frame"


def test_clips_go_back_to_the_formats_they_came_from(data: Path, g1: Robot, tmp_path: Path) -> None:
    convert(data / CLIPS / "sub3_largebox_003_mj.npz", tmp_path / "demos", g1, label="file")
    demos = read(tmp_path / "demos")
    for to in ("holosoma", "gmr", "lafan1"):
        export(demos, scores_of(demos, [1], str(g1)), to, tmp_path / to)
        assert open_source(tmp_path / to).format == to
        convert(tmp_path / to, tmp_path / f"{to}-again", g1)
        again = read(tmp_path / f"{to}-again")[0].states
        np.testing.assert_allclose(again[:, :36], demos[0].states[: len(again), :36], atol=0.03 if to == "lafan1" else 1e-12)
