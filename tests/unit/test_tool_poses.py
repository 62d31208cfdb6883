# SPDX-License-Identifier: MIT
"""Data that have only poses of a tool: the robot's hand goes there, and what it cannot reach is said."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import imitable as im
from imitable.cli.main import main
from imitable.demos.conversion.body import Poses
from imitable.demos.conversion.following import Targets, follow, following_joints
from imitable.demos.conversion.mapping import FOLLOWED, read_mapping
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.types import Floats
from tests.unit.old_lerobot import write_v2

LINK = 0.3
TWO_LINKS = """
<mujoco model="two">
  <compiler angle="radian"/>
  <option timestep="0.01" gravity="0 0 0"/>
  <worldbody>
    <site name="floor"/>
    <body name="upper">
      <joint name="shoulder" axis="0 0 1" range="-2 2" damping="0.2"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02" mass="1" contype="0" conaffinity="0"/>
      <body name="lower" pos="0.3 0 0">
        <joint name="elbow" axis="0 0 1" range="{elbow}" damping="0.2"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02" mass="1" contype="0" conaffinity="0"/>
        <site name="hand" pos="0.3 0 0"/>
        {more}
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="m0" joint="shoulder" ctrllimited="true" ctrlrange="-9 9"/>
    <motor name="m1" joint="elbow" ctrllimited="true" ctrlrange="-9 9"/>
  </actuator>
</mujoco>
"""
"""Two links of 30 cm in the plane; if the elbow bends one way only, a place has one pair of angles."""

WRIST = """
<body pos="0.3 0 0">
  <joint name="wrist" axis="0 0 1" range="-2.5 2.5" damping="0.1"/>
  <geom type="capsule" fromto="0 0 0 0.1 0 0" size="0.01" mass="0.2" contype="0" conaffinity="0"/>
  <site name="tip" pos="0.1 0 0"/>
  <body pos="0.1 0 0"><joint name="finger" type="slide" axis="0 1 0" range="0 0.04"/><geom size="0.01" mass="0.01"/></body>
</body>
"""
TURNED_HAND = '<site name="tool" pos="0.3 0 0" quat="0.5 0.5 0.5 0.5"/>'


def arm(folder: Path, elbow: str = "0 2.5", more: str = "") -> Robot:
    (folder / "two.xml").write_text(TWO_LINKS.format(elbow=elbow, more=more))
    return parse_robot(str(folder / "two.xml"))


def bend(frames: int = 40) -> Floats:
    """(n, 2) angles, the elbow bent one way."""
    t = np.arange(frames)[:, None] / 25
    return np.array([0.4, 1.2]) + np.array([0.5, 0.6]) * np.sin(2 * t + np.arange(2))


def places(angles: Floats) -> Floats:
    """(n, 2) → (n, 3) where the hand is: l (cos a + cos(a + b), sin a + sin(a + b), 0)."""
    first, both = angles[:, 0], angles.sum(axis=1)
    x, y = (LINK * (wave(first) + wave(both)) for wave in (np.cos, np.sin))
    return np.stack([x, y, np.zeros_like(x)], axis=1)


def about_z(angle: Floats) -> Floats:
    """(n) → (n, 4) quaternions, w first."""
    zeros = np.zeros_like(angle)
    return np.stack([np.cos(angle / 2), zeros, zeros, np.sin(angle / 2)], axis=1)


def hands(robot: Robot, states: Floats, site: str = "hand") -> Floats:
    poses = Poses(robot)
    return np.stack([poses.site(site, state[: robot.layout.nq])[0] for state in states])


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as left:
        main(["convert", *words])
    said = capsys.readouterr().err.strip()
    assert left.value.code == 2
    assert len(said.splitlines()) == 1, said
    return said


def test_angles_of_a_two_link_arm_are_those_of_the_closed_form(tmp_path: Path) -> None:
    robot = arm(tmp_path)
    np.savez(tmp_path / "a.npz", ee_pos=places(bend()), fps=50)
    done = im.convert(tmp_path / "a.npz", tmp_path / "demos", robot, options=im.MappingOptions(pose="ee_pos", site="hand"))
    states = im.read(tmp_path / "demos")[0].states
    np.testing.assert_allclose(states[:, :2], bend(), atol=1e-6)
    np.testing.assert_allclose(states[1:-1, 2:], (bend()[2:] - bend()[:-2]) / 0.04, atol=1e-4)
    assert (done.remarks, done.resampled) == ((), 0)


def test_a_slice_of_a_column_at_another_rate_in_another_unit(tmp_path: Path) -> None:
    robot = arm(tmp_path)
    np.savez(tmp_path / "a.npz", state=np.concatenate([np.ones((40, 1)), 1000 * places(bend())], axis=1), fps=25)
    options = im.MappingOptions(pose="state[1:4]", site="hand", unit="mm")
    done = im.convert(tmp_path / "a.npz", tmp_path / "demos", robot, options=options)
    np.testing.assert_allclose(im.read(tmp_path / "demos")[0].states[::2, :2], bend(), atol=1e-6)
    assert done.resampled == 1


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(draw=st.integers(0, 2**32), turned=st.booleans())
def test_forward_kinematics_gives_back_poses_that_can_be_reached(tmp_path: Path, draw: int, turned: bool) -> None:
    robot, rng = arm(tmp_path, "-2.5 2.5", WRIST), np.random.default_rng(draw)
    t = np.arange(30)[:, None] / 30
    qpos = np.zeros((30, 4))
    qpos[:, :3] = rng.uniform([-0.5, 0.8, -0.8], [0.5, 1.6, 0.8]) + 0.4 * np.sin(
        rng.uniform(1, 4, 3) * t + rng.uniform(0, 6, 3)
    )
    poses = Poses(robot)
    wanted = [poses.site("tip", row) for row in qpos]
    targets = Targets(np.stack([one for one, _ in wanted]), np.stack([one for _, one in wanted]) if turned else None)
    begin = np.repeat(qpos[:1] * [1, 0.9, 1, 1], 30, axis=0)
    reached = follow(robot, "tip", targets, begin, following_joints(robot, "tip"))
    np.testing.assert_allclose(hands(robot, reached.qpos, "tip"), targets.places, atol=1e-6)
    if turned:
        np.testing.assert_allclose(reached.qpos, qpos, atol=1e-5)
    low, high = np.array([-2, -2.5, -2.5, 0]), np.array([2, 2.5, 2.5, 0.04])
    assert ((low <= reached.qpos) & (reached.qpos <= high)).all()


def test_what_cannot_be_reached_is_named_with_its_distance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The arm is 60 cm long: a place 72 cm away is 12 cm too far, and the nearest is on the line to it."""
    robot = arm(tmp_path)
    far = places(bend())
    far[10:13] = [[0.0, 0.66, 0], [0.0, 0.72, 0], [0.0, 0.66, 0]]
    (tmp_path / "src").mkdir()
    np.savez(tmp_path / "src" / "near.npz", ee_pos=places(bend()), fps=50)
    np.savez(tmp_path / "src" / "far.npz", ee_pos=far, fps=50)
    words = ("--imitator", str(robot), "--pose", "ee_pos", "--site", "hand")
    main(["convert", str(tmp_path / "src"), str(tmp_path / "demos"), *words])
    shown = capsys.readouterr()
    said = [line for line in (shown.out + shown.err).splitlines() if "out of reach" in line]
    assert len(said) == 1
    assert "far.npz at 0.22 s is out of reach by 12.0 cm, the farthest of 3 of 80 frames in 1 of 2 recordings" in said[0]
    states = im.read(tmp_path / "demos")[0].states
    np.testing.assert_allclose(hands(robot, states)[11], [0, 0.6, 0], atol=1e-3)
    np.testing.assert_allclose(states[14:, :2], bend()[14:], atol=1e-6)


def test_poses_that_are_not_the_robots_are_refused_with_a_guess(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    robot = arm(tmp_path)
    np.savez(tmp_path / "mm.npz", ee_pos=1000 * places(bend()), fps=50)
    np.savez(tmp_path / "away.npz", ee_pos=places(bend()) + np.array([2, 0, 0]), fps=25)
    words = (str(tmp_path / "demos"), "--imitator", str(robot), "--pose", "ee_pos", "--site", "hand")
    assert "millimetres? (--unit mm)" in refused(capsys, str(tmp_path / "mm.npz"), *words)
    assert "--base" in refused(capsys, str(tmp_path / "away.npz"), *words)
    assert not (tmp_path / "demos").exists()
    main(["convert", str(tmp_path / "away.npz"), *words, "--beyond-range"])
    states = im.read(tmp_path / "demos")[0].states
    assert ((states[:, :2] >= [-2, 0]) & (states[:, :2] <= [2, 2.5])).all(), "between two frames, too"


def test_the_base_is_where_the_poses_begin(tmp_path: Path) -> None:
    robot, (x, y, z, yaw) = arm(tmp_path), (0.4, -0.2, 0.1, 1.57)
    there = places(bend()) - [x, y, z]
    turn = np.array([[np.cos(yaw), np.sin(yaw), 0], [-np.sin(yaw), np.cos(yaw), 0], [0, 0, 1]])
    turned = about_z(bend().sum(axis=1) - yaw)
    np.savez(tmp_path / "a.npz", pos=there @ turn.T, quat=turned, fps=50)
    for pose in ("pos", "pos,quat"):
        options = im.MappingOptions(pose=pose, site="hand", base=(x, y, z, yaw), quaternion="wxyz")
        out = im.Output(tmp_path / "demos", overwrite=True)
        assert im.convert(tmp_path / "a.npz", out, robot, options=options).remarks == ()
        np.testing.assert_allclose(im.read(tmp_path / "demos")[0].states[:, :2], bend(), atol=1e-6)


@pytest.mark.parametrize("order", ["wxyz", "xyzw"])
@pytest.mark.parametrize("named", ["option", "names", "tried"])
def test_rotations_choose_between_two_elbows_in_any_order(tmp_path: Path, order: str, named: str) -> None:
    """A place has two pairs of angles, and the hand's turn is right in one of them."""
    robot = arm(tmp_path, "-2.5 2.5", TURNED_HAND)
    for sign in (1, -1):
        angles = bend() * [1, sign]
        poses = Poses(robot)
        quaternions = np.stack([poses.site("tool", row)[1] for row in angles])
        quaternions = quaternions[:, ["wxyz".index(letter) for letter in order]]
        names = [f"q{letter}" if named == "names" else f"r{k}" for k, letter in enumerate(order)]
        rows = np.concatenate([places(angles), quaternions], axis=1)
        lines = [",".join(["x", "y", "z", *names]), *(",".join(map(repr, row)) for row in rows.tolist())]
        (tmp_path / "a.csv").write_text("\n".join(lines))
        options = im.MappingOptions(
            pose=f"x,y,z,{','.join(names)}", site="tool", fps=50, quaternion=order if named == "option" else "auto"
        )
        done = im.convert(tmp_path / "a.csv", im.Output(tmp_path / "demos", overwrite=True), robot, options=options)
        np.testing.assert_allclose(im.read(tmp_path / "demos")[0].states[:, :2], angles, atol=1e-6)
        assert [f"quaternions are read as {order}" in remark for remark in done.remarks] == [True] * (named == "tried")


def test_joints_that_the_data_have_are_taken_along_and_others_rest(tmp_path: Path) -> None:
    robot = arm(tmp_path, more=WRIST)
    gripper = np.linspace(0, 100, 40)
    np.savez(tmp_path / "a.npz", state=np.column_stack([places(bend()), gripper]), fps=50)
    options = im.MappingOptions(
        pose="state[0:3]", site="hand", names={"state[3]": "finger"}, unit="finger=range_0_100", fixed=("wrist",)
    )
    done = im.convert(tmp_path / "a.npz", tmp_path / "demos", robot, options=options)
    states = im.read(tmp_path / "demos")[0].states
    np.testing.assert_allclose(states[:, :2], bend(), atol=1e-6)
    assert not states[:, 2].any()
    np.testing.assert_allclose(states[:, 3], 0.0004 * gripper, atol=1e-12)
    assert done.mapping is not None
    assert [entry.unit for entry in done.mapping.positions] == [FOLLOWED, FOLLOWED, "si", "range_0_100"]


def test_the_mapping_is_used_again(tmp_path: Path) -> None:
    robot = arm(tmp_path)
    for name in "ab":
        np.savez(tmp_path / f"{name}.npz", p=places(bend(30 + ord(name))) - [0.1, 0, 0], fps=25)
    options = im.MappingOptions(pose="p", site="hand", base=(0.1, 0.0, 0.0, 0.0))
    im.convert(tmp_path / "a.npz", tmp_path / "one", robot, options=options)
    kept = tmp_path / "one" / "mapping.json"
    assert read_mapping(kept).text() == kept.read_text()
    im.convert(tmp_path / "b.npz", tmp_path / "again", robot, options=im.MappingOptions(kept=kept))
    im.convert(tmp_path / "b.npz", tmp_path / "told", robot, options=options)
    assert im.read(tmp_path / "again")[0].hash == im.read(tmp_path / "told")[0].hash
    raw = json.loads(kept.read_text())
    for change in ({"base": [0, 0]}, {"entries": []}, {"base": [0, 0, 0, "inf"]}, {"site": "hnd"}):
        (tmp_path / "bad.json").write_text(json.dumps(raw | {"pose": raw["pose"] | change}))
        with pytest.raises(im.ImitableError):
            im.convert(tmp_path / "b.npz", tmp_path / "no", robot, options=im.MappingOptions(kept=tmp_path / "bad.json"))
    other = im.OtherArm(robot, "hand")
    with pytest.raises(im.ImitableError, match="leave it out"):
        im.convert(tmp_path / "b.npz", tmp_path / "no", robot, options=im.MappingOptions(kept=kept), other=other)
    del raw["pose"]
    (tmp_path / "bad.json").write_text(json.dumps(raw))
    with pytest.raises(im.ImitableError, match="follow a pose"):
        im.convert(tmp_path / "b.npz", tmp_path / "no", robot, options=im.MappingOptions(kept=tmp_path / "bad.json"))
    assert not (tmp_path / "no").exists()


def test_what_is_wrong_is_one_line_and_nothing_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    robot, rows = arm(tmp_path), places(bend())
    np.savez(tmp_path / "a.npz", ee_pos=rows, quat=2 * about_z(rows[:, 0]), fps=50)
    np.savez(tmp_path / "nan.npz", ee_pos=np.where(np.arange(40)[:, None] == 7, np.nan, rows), fps=50)
    out = ("--imitator", str(robot))
    for file, text, word in (
        ("a", "--pose ee_pos", "--site"),
        ("a", "--pose ee_pos --site hnd", "did you mean 'hand'?"),
        ("a", "--pose ee_pos --site floor", "no joint moves it"),
        ("a", "--pose ee_ps --site hand", "did you mean 'ee_pos'?"),
        ("a", "--pose ee_pos[0:2] --site hand", "these are 2"),
        ("a", "--pose ee_pos[0:9] --site hand", "entries 0 to 2"),
        ("a", "--pose ee_pos,quat --site hand", "no rotation"),
        ("a", "--pose ee_pos --site hand --qpos ee_pos", "leave it out"),
        ("a", "--pose ee_pos --site hand --differentiate never", "no joint velocities"),
        ("a", "--pose ee_pos --site hand --base 1,2", "x,y,z,yaw"),
        ("a", "--pose ee_pos --site hand --unit feet", "--unit"),
        ("a", "--pose ee_pos --site hand --names quat=elbow", "these are 4"),
        ("a", "--pose ee_pos --site hand --names quat[0]=elbw", "did you mean 'elbow'?"),
        ("a", "--pose ee_pos --site hand --fixed elbow,shoulder", "none is left"),
        ("a", f"--pose ee_pos --site hand --demonstrator {robot}", "leave it out"),
        ("a", "--base 1,2,3,0 --state ee_pos[0:2]", "--pose"),
        ("nan", "--pose ee_pos --site hand", "frame 7 of ee_pos[0]"),
    ):
        assert word in refused(capsys, str(tmp_path / f"{file}.npz"), str(tmp_path / "demos"), *out, *text.split()), text
    assert not list(tmp_path.glob("demos*"))


def test_tools_of_a_lerobot_dataset_are_followed(tmp_path: Path) -> None:
    robot = arm(tmp_path)
    turns = about_z(bend().sum(axis=1))[:, [1, 2, 3, 0]]
    episodes = [{"observation.ee_pos": places(bend()), "observation.ee_quat": turns, "action": places(bend())}]
    folder = write_v2(tmp_path / "old", episodes, {}, version="v2.1", fps=50)
    words = ["--pose", "observation.ee_pos,observation.ee_quat", "--site", "hand", "--quaternion", "xyzw"]
    main(["convert", str(folder), str(tmp_path / "demos"), "--imitator", str(robot), *words])
    demonstration = im.read(tmp_path / "demos")[0]
    np.testing.assert_allclose(demonstration.states[:, :2], bend(), atol=1e-5)  # the data have seven digits
    assert demonstration.actions is None


def test_joint_data_of_an_arm_with_a_tool_have_velocities_of_joints(tmp_path: Path) -> None:
    robot = parse_robot("panda")
    qpos = robot.start[:7] + np.linspace(0, 0.3, 30)[:, None]
    np.savez(tmp_path / "a.npz", qpos=qpos, fps=10)
    im.convert(tmp_path / "a.npz", tmp_path / "demos", robot)
    states = im.read(tmp_path / "demos")[0].states
    np.testing.assert_allclose(states[:, 7:], 0.3 / 2.9, atol=1e-6)


def test_an_arm_with_a_tool_needs_no_site(tmp_path: Path) -> None:
    robot = parse_robot("panda")
    qpos = robot.start[:7] + 0.2 * np.sin(np.arange(40)[:, None] / 20 + np.arange(7)) - 0.2 * np.sin(np.arange(7))
    np.savez(tmp_path / "a.npz", ee_pos=hands(robot, qpos, "tool"), fps=20)
    assert im.convert(tmp_path / "a.npz", tmp_path / "demos", robot, options=im.MappingOptions(pose="ee_pos")).remarks == ()
    states = im.read(tmp_path / "demos")[0].states
    assert states.shape == (len(states), 14)
    every = round(0.05 / robot.layout.period_s)
    np.testing.assert_allclose(
        hands(robot, states, "tool")[::every], hands(robot, qpos, "tool")[: len(states[::every])], atol=1e-6
    )
