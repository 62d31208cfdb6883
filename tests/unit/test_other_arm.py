# SPDX-License-Identifier: MIT
"""Joint data of another arm: our hand goes where its hand was."""

from pathlib import Path

import numpy as np
import pytest

from imitable import errors
from imitable.cli.main import main
from imitable.demos.conversion.base import base_of
from imitable.demos.conversion.body import Poses
from imitable.demos.conversion.convert import convert
from imitable.demos.conversion.other_arm import OtherArm, follow_hand
from imitable.demos.store import read
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.types import Floats

ARM = """
<mujoco model="{name}">
  <compiler angle="radian"/>
  <option timestep="0.01" gravity="0 0 0"/>
  <worldbody>{bodies}</worldbody>
  <actuator>{motors}</actuator>
  <keyframe><key qpos="{start}"/></keyframe>
</mujoco>
"""


def arm(folder: Path, name: str, lengths: tuple[float, ...], start: str) -> Robot:
    """An arm in the plane, one link a length, its hand at the end."""
    inner = f'<site name="hand" pos="{lengths[-1]} 0 0"/>'
    for k, length in reversed(list(enumerate(lengths))):
        place = lengths[k - 1] if k else 0
        joint = f'<joint name="{name}{k}" axis="0 0 1" range="-3 3" damping="0.2"/>'
        link = f'<geom type="capsule" fromto="0 0 0 {length} 0 0" size="0.02" mass="1" contype="0" conaffinity="0"/>'
        inner = f'<body pos="{place} 0 0">{joint}{link}{inner}</body>'
    motors = "".join(f'<motor name="m{k}" joint="{name}{k}" ctrllimited="true" ctrlrange="-9 9"/>' for k in range(len(lengths)))
    (folder / f"{name}.xml").write_text(ARM.format(name=name, bodies=inner, motors=motors, start=start))
    return parse_robot(str(folder / f"{name}.xml"))


def movement(frames: int = 40) -> Floats:
    t = np.arange(frames)[:, None] / 25
    return np.array([0.3, 0.9, 0.4]) + 0.3 * np.sin(t + np.arange(3))


def test_the_hand_goes_where_the_others_was(tmp_path: Path) -> None:
    theirs = arm(tmp_path, "theirs", (0.3, 0.25, 0.1), "0 0.5 0.5")
    ours = arm(tmp_path, "ours", (0.25, 0.3, 0.12), "0 0.5 0.5")
    base = (0.04, -0.03, 0.0, 0.3)
    np.savez(tmp_path / "a.npz", qpos=movement(), fps=25)
    done = convert(tmp_path / "a.npz", tmp_path / "demos", ours, other=OtherArm(theirs, "hand", base))
    states = read(tmp_path / "demos")[0].states
    here, there = Poses(ours), Poses(theirs)
    turn = np.array([[np.cos(0.3), -np.sin(0.3), 0], [np.sin(0.3), np.cos(0.3), 0], [0, 0, 1]])
    for frame in range(0, 40, 5):  # 25 Hz and 50 Hz share every frame of the data
        wanted = turn @ there.site("hand", movement()[frame])[0] + base[:3]
        np.testing.assert_allclose(here.site("hand", states[2 * frame, :3])[0], wanted, atol=1e-4)
    assert done.resampled == 1
    assert "the hand stays within" in done.remarks[0]
    assert {one.demonstrator for one in read(tmp_path / "demos").episodes} == {str(theirs)}


def test_the_same_arm_follows_itself_exactly(tmp_path: Path) -> None:
    ours = arm(tmp_path, "ours", (0.3, 0.25, 0.1), "0.3 0.9 0.4")
    reached = follow_hand(OtherArm(ours, "hand"), ours, movement())
    np.testing.assert_allclose(reached.qpos, movement(), atol=1e-4)
    assert reached.gap_m < 1e-5


def test_what_cannot_be_reached_is_said(tmp_path: Path) -> None:
    theirs = arm(tmp_path, "theirs", (0.3, 0.25, 0.1), "0 0.5 0.5")
    small = arm(tmp_path, "small", (0.1, 0.1, 0.05), "0 0.5 0.5")
    assert follow_hand(OtherArm(theirs, "hand"), small, movement(3)).gap_m > 0.1


def test_options_of_another_arm_belong_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ours = arm(tmp_path, "ours", (0.3, 0.25, 0.1), "0 0.5 0.5")
    np.savez(tmp_path / "a.npz", qpos=movement(), fps=25)
    for text, said in (
        ("--site hand", "give --demonstrator"),
        (f"--demonstrator {ours}", "--site"),
        (f"--demonstrator {ours} --site hnd", "did you mean 'hand'?"),
        (f"--demonstrator {ours} --site hand --base 1,2", "x,y,z,yaw"),
    ):
        with pytest.raises(SystemExit) as left:
            main(["convert", str(tmp_path / "a.npz"), str(tmp_path / "demos"), "--imitator", str(ours), *text.split()])
        assert left.value.code == 2
        assert said in capsys.readouterr().err
    assert not (tmp_path / "demos").exists()
    with pytest.raises(errors.BadOption):
        base_of("1,2,3,inf")
