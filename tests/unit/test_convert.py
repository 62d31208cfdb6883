# SPDX-License-Identifier: MIT
"""Conversion keeps what needs no change, and changes the rest by rules that can be stated in closed form."""

import json
import weakref
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from imitable import errors
from imitable.demos.conversion import parts
from imitable.demos.conversion.convert import convert
from imitable.demos.conversion.joint_names import match
from imitable.demos.conversion.mapping import Entry, affine, joint_at, read_mapping
from imitable.demos.conversion.proposal import MappingOptions
from imitable.demos.conversion.resample import Curve, grid, held
from imitable.demos.conversion.velocities import differentiated, disagreement
from imitable.demos.formats.npz import Npz
from imitable.demos.formats.source import Recording
from imitable.demos.store import read
from imitable.files import Output
from imitable.robots.parse import parse_robot
from imitable.sim.babble import babble
from imitable.sim.kinematics import state_space
from imitable.types import Floats
from tests.conftest import ARM

ARM_NAMES = ("shoulder", "elbow")


@pytest.fixture
def arm_path(tmp_path: Path) -> Path:
    """An arm whose joints go from −2 to 2 radians."""
    path = tmp_path / "arm.xml"
    path.write_text(ARM.replace("<option", '<compiler angle="radian"/><option'))
    return path


def waves(frames: int, period_s: float, draw: int = 0) -> tuple[Floats, Floats]:
    """(n, 2) angles and their exact speeds."""
    rng = np.random.default_rng(draw)
    size, pace, shift = rng.uniform(0.3, 1.2, 2), rng.uniform(1, 4, 2), rng.uniform(0, 6, 2)
    t = period_s * np.arange(frames)[:, None]
    return size * np.sin(pace * t + shift), size * pace * np.cos(pace * t + shift)


def refused(kind: type[errors.ImitableError], *arguments: object, **options: object) -> str:
    with pytest.raises(kind) as caught:
        convert(*arguments, **options)  # pyright: ignore[reportArgumentType]
    assert "\n" not in str(caught.value)
    return str(caught.value)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(frames=st.integers(2, 40), draw=st.integers(0, 2**32), count=st.integers(1, 4))
def test_states_of_the_right_rate_and_names_keep_their_bits(
    arm_path: Path, tmp_path_factory: pytest.TempPathFactory, frames: int, draw: int, count: int
) -> None:
    folder, arm = tmp_path_factory.mktemp("bits"), parse_robot(str(arm_path))
    made = [trajectory for trajectory in babble(arm, count, frames, seed=draw % 1000)]
    for k, trajectory in enumerate(made):
        (folder / "src").mkdir(exist_ok=True)
        qpos, qvel = np.split(trajectory.states, 2, axis=1)
        names = {"qpos_names": ARM_NAMES, "qvel_names": ("shoulder_velocity", "elbow_velocity")}
        actions = {"action": trajectory.actions, "action_names": arm.layout.actuators}
        np.savez(folder / "src" / f"{k}.npz", qpos=qpos, qvel=qvel, period_s=arm.layout.period_s, **names, **actions)
    with_robot = convert(folder / "src", folder / "a", arm, options=MappingOptions(differentiate="never"))
    without = convert(folder / "src", folder / "b")
    for out in (folder / "a", folder / "b", folder / "src"):
        demos = read(out)
        assert [one.hash for one in demos] == [one.hash for one in made]
        assert demos.layout == arm.layout
        assert {one.demonstrator for one in demos.episodes} == {"src"}
    assert (with_robot.resampled, with_robot.remarks, without.mapping) == (0, (), None)


def test_velocities_of_the_simulator_agree_with_its_positions(arm_path: Path, tmp_path: Path) -> None:
    for text in (str(arm_path), "half_cheetah", "hopper", "walker2d", "swimmer"):
        robot = parse_robot(text)
        nq, times = robot.layout.nq, robot.layout.period_s * np.arange(61)
        for trajectory in babble(robot, 3, 60, seed=1):
            clock = times[: len(trajectory.states)]
            gap = disagreement(state_space(robot), trajectory.states[:, :nq], trajectory.states[:, nq:], clock)
            assert gap.part < 0.25, (text, robot.layout.qvel[gap.entry])


def test_velocities_that_do_not_agree_are_differentiated_and_said(arm_path: Path, tmp_path: Path) -> None:
    angles, speeds = waves(80, 0.02)
    np.savez(tmp_path / "wrong.npz", qpos=angles, qvel=speeds * [1, 1.6], fps=50)
    done = convert(tmp_path / "wrong.npz", tmp_path / "demos", str(arm_path))
    assert "elbow_velocity" in done.remarks[0]
    assert "--differentiate never" in done.remarks[0]
    got = read(tmp_path / "demos")[0].states
    np.testing.assert_array_equal(got[:, :2], angles)
    np.testing.assert_allclose(got[1:-1, 2:], speeds[1:-1], atol=0.02)


@pytest.mark.parametrize("fps", [30.0, 24.0, 120.0, 50 / 3])
def test_another_rate_is_resampled_on_the_movement_itself(arm_path: Path, tmp_path: Path, fps: float) -> None:
    angles, speeds = waves(round(3 * fps), 1 / fps)
    np.savez(tmp_path / "a.npz", qpos=angles, qvel=speeds, fps=fps)
    assert convert(tmp_path / "a.npz", tmp_path / "demos", str(arm_path)).resampled == 1
    got = read(tmp_path / "demos")[0].states
    count = int((len(angles) - 1) / fps / 0.02 + 1e-4) + 1
    wanted, wanted_speeds = waves(count, 0.02)
    assert len(got) == count
    np.testing.assert_allclose(got[:, :2], wanted, atol=2e-3)
    np.testing.assert_allclose(got[:, 2:], wanted_speeds, atol=0.05 * np.abs(speeds).max())


def test_steady_movements_are_resampled_exactly(floating_path: Path) -> None:
    """A body that travels and turns steadily does so at any rate: positions and velocities in closed form."""
    robot = parse_robot(str(floating_path))
    space = state_space(robot)
    velocity = np.array([0.3, -0.2, 0.1, 0.9, -0.4, 0.5, 0.2, -1.1, 0.6, 0.7])
    times = np.cumsum(np.random.default_rng(0).uniform(0.02, 0.06, 40))
    times -= times[0]

    def at(when: Floats) -> Floats:
        way = np.concatenate([when[:, None] * velocity, np.zeros((len(when), 10))], axis=1)
        return space.moved(np.repeat(robot.start[None], len(when), axis=0), way)[:, :12]

    qpos = at(times)
    qvel = differentiated(space, qpos, times)
    np.testing.assert_allclose(qvel, np.broadcast_to(velocity, qvel.shape), atol=1e-9)
    new = grid(times, 0.02)
    curve = Curve(space, times, qpos, qvel)
    np.testing.assert_allclose(curve.positions(new), at(new), atol=1e-9)
    np.testing.assert_allclose(curve.velocities(new, 0.02), np.broadcast_to(velocity, (len(new), 10)), atol=1e-6)
    np.testing.assert_allclose(curve.positions(times), qpos, atol=1e-12)


def test_actions_are_held(tmp_path: Path) -> None:
    rows = np.arange(5.0)[:, None]
    np.testing.assert_array_equal(held(rows, np.arange(5) * 0.1, np.arange(9) * 0.05)[:, 0], [0, 0, 1, 1, 2, 2, 3, 3, 4])


@pytest.mark.parametrize(
    ("unit", "factor", "shift"), [("deg", 180 / np.pi, 0.0), ("range_m100_100", 50, 0), ("range_0_100", 25, 50)]
)
def test_units_are_undone(arm_path: Path, tmp_path: Path, unit: str, factor: float, shift: float) -> None:
    """The arm's joints go from −2 to 2 rad: −100…100 is 50 a radian, 0…100 is 25 a radian and 50 in the middle."""
    angles, speeds = waves(60, 0.02)
    np.savez(tmp_path / "a.npz", qpos=angles * factor + shift, qvel=speeds * factor, fps=50)
    convert(tmp_path / "a.npz", tmp_path / "demos", str(arm_path), options=MappingOptions(unit=unit))
    got = read(tmp_path / "demos")[0].states
    np.testing.assert_allclose(got, np.concatenate([angles, speeds], axis=1), atol=1e-12)


def test_the_wrong_unit_is_seen_before_anything_runs(arm_path: Path, tmp_path: Path) -> None:
    angles, _ = waves(60, 0.02)
    np.savez(tmp_path / "a.npz", qpos=np.degrees(angles), fps=50)
    said = refused(errors.BadMapping, tmp_path / "a.npz", tmp_path / "demos", str(arm_path))
    assert "of the data spans" in said
    assert "is ±2: degrees?" in said
    assert "degrees? (--unit deg)" in said
    assert "qpos[0]" in said
    assert not (tmp_path / "demos").exists()
    convert(tmp_path / "a.npz", tmp_path / "demos", str(arm_path), options=MappingOptions(unit="deg"))
    np.savez(tmp_path / "b.npz", qpos=np.column_stack([angles[:, 0], np.full(60, 400.0)]), fps=50)
    assert "another robot" in refused(errors.BadMapping, tmp_path / "b.npz", tmp_path / "more", str(arm_path))
    convert(tmp_path / "b.npz", tmp_path / "more", str(arm_path), options=MappingOptions(beyond_range=True))


def test_columns_are_found_by_the_names_of_joints(arm_path: Path, tmp_path: Path) -> None:
    angles, speeds = waves(60, 0.02)
    lines = ["time,gripper,Elbow.pos,arm_shoulder_joint.pos,elbow_vel,shoulder_vel"]
    for k, (angle, speed) in enumerate(zip(angles.tolist(), speeds.tolist(), strict=True)):
        lines.append(f"{0.02 * k!r},1.0,{angle[1]!r},{angle[0]!r},{speed[1]!r},{speed[0]!r}")
    (tmp_path / "a.csv").write_text("\n".join(lines))
    done = convert(tmp_path / "a.csv", tmp_path / "demos", str(arm_path))
    assert [str(entry) for entry in done.mapping.positions] == ["frame[2]", "frame[1]"]  # pyright: ignore[reportOptionalMemberAccess]
    assert done.remarks == ("left out, as the robot has no such joint: gripper",)
    np.testing.assert_array_equal(read(tmp_path / "demos")[0].states, np.concatenate([angles, speeds], axis=1))


def test_names_that_could_mean_two_joints_mean_none() -> None:
    joints = ["left_hip", "right_hip", "fr3_joint2", "waist"]
    assert match(["hip", "joint2", "Waist.pos"], joints) == {"joint2": "fr3_joint2", "Waist.pos": "waist"}
    assert match(["hip"], joints, {"hip": "left_hip"}) == {"hip": "left_hip"}
    assert match(["leftHip", "right hip"], joints) == {"leftHip": "left_hip", "right hip": "right_hip"}


def test_the_order_is_taken_where_the_user_confirms_it(arm_path: Path, tmp_path: Path) -> None:
    angles, speeds = waves(60, 0.02)
    np.savez(tmp_path / "a.npz", both=np.concatenate([np.ones((60, 1)), angles, speeds], axis=1), fps=50)
    said = refused(errors.BadMapping, tmp_path / "a.npz", tmp_path / "demos", str(arm_path))
    assert "both[0:5]" in said
    assert "--state" in said
    convert(tmp_path / "a.npz", tmp_path / "one", str(arm_path), options=MappingOptions(state="both[1:5]"))
    convert(
        tmp_path / "a.npz", tmp_path / "two", str(arm_path), options=MappingOptions(qpos="both[1:3]", qvel="both[3],both[4]")
    )
    assert read(tmp_path / "one")[0].hash == read(tmp_path / "two")[0].hash
    for options, word in (
        (MappingOptions(state="both"), "2 entries (positions) or 4"),
        (MappingOptions(qpos="both[1:9]"), "entries 0 to 4"),
        (MappingOptions(qpos="bth"), "did you mean 'both'?"),
        (MappingOptions(state="both[1:5]", unit="degree"), "deg"),
        (MappingOptions(state="both[1:5]", fixed=("wrist",)), "elbow"),
        (MappingOptions(state="both[1:5]", fps=-1), "above 0"),
        (MappingOptions(state="both[1:5]", action="both[0]"), "2 actuators"),
    ):
        assert word in refused(errors.BadOption, tmp_path / "a.npz", tmp_path / "demos", str(arm_path), options=options)


def test_joints_that_the_data_lack_can_rest(arm_path: Path, tmp_path: Path) -> None:
    angles, _ = waves(60, 0.02)
    np.savez(tmp_path / "a.npz", q=angles[:, :1], q_names=("shoulder",), fps=50)
    assert "--fixed" in refused(errors.BadMapping, tmp_path / "a.npz", tmp_path / "demos", str(arm_path))
    convert(tmp_path / "a.npz", tmp_path / "demos", str(arm_path), options=MappingOptions(fixed=("elbow",)))
    got = read(tmp_path / "demos")[0].states
    assert not got[:, [1, 3]].any()
    assert got[:, 0].any()


def test_a_mapping_is_used_again_and_only_for_its_own_data(arm_path: Path, servo_arm_path: Path, tmp_path: Path) -> None:
    angles, _ = waves(60, 0.02)
    for name, scale in (("a", 30.0), ("b", 20.0)):
        np.savez(tmp_path / f"{name}.npz", q=scale * angles, fps=30)
    options = MappingOptions(qpos="q[1],q[0]", unit="deg")
    convert(tmp_path / "a.npz", tmp_path / "one", str(arm_path), options=options)
    kept = tmp_path / "one" / "mapping.json"
    assert read_mapping(kept).text() == kept.read_text()
    convert(tmp_path / "b.npz", tmp_path / "again", str(arm_path), options=MappingOptions(kept=tmp_path / "one"))
    convert(tmp_path / "b.npz", tmp_path / "told", str(arm_path), options=options)
    assert read(tmp_path / "again")[0].hash == read(tmp_path / "told")[0].hash
    np.savez(tmp_path / "other.npz", q=np.zeros((9, 3)), fps=30)
    assert "other data: their column q" in refused(
        errors.BadMapping, tmp_path / "other.npz", tmp_path / "no", str(arm_path), options=MappingOptions(kept=kept)
    )
    again = MappingOptions(kept=kept)
    assert "another robot" in refused(
        errors.BadMapping, tmp_path / "b.npz", tmp_path / "no", str(servo_arm_path), options=again
    )
    for text in (
        "{",
        "[]",
        '{"schema": 9}',
        kept.read_text().replace('"deg"', '"feet"'),
        kept.read_text().replace('"index"', '"i"'),
    ):
        (tmp_path / "bad.json").write_text(text)
        bad = MappingOptions(kept=tmp_path / "bad.json")
        refused(errors.BadMapping, tmp_path / "b.npz", tmp_path / "no", str(arm_path), options=bad)
    assert not (tmp_path / "no").exists()


def test_a_joint_that_turns_the_other_way_is_one_number_in_the_file(arm_path: Path, tmp_path: Path) -> None:
    angles, _ = waves(60, 0.02)
    np.savez(tmp_path / "a.npz", qpos=angles, fps=50)
    convert(tmp_path / "a.npz", tmp_path / "one", str(arm_path))
    raw = json.loads((tmp_path / "one" / "mapping.json").read_text())
    raw["positions"][1] |= {"scale": -1.0, "offset": 0.25}
    (tmp_path / "turned.json").write_text(json.dumps(raw))
    convert(tmp_path / "a.npz", tmp_path / "two", str(arm_path), options=MappingOptions(kept=tmp_path / "turned.json"))
    np.testing.assert_array_equal(read(tmp_path / "two")[0].states[:, 1], -angles[:, 1] + 0.25)


def test_an_interrupted_conversion_goes_on(arm_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "src").mkdir()
    for k in range(7):
        np.savez(tmp_path / "src" / f"{k}.npz", qpos=waves(30 + k, 0.03, k)[0], fps=30)
    convert(tmp_path / "src", tmp_path / "whole", str(arm_path))
    monkeypatch.setattr(parts, "PART_RECORDINGS", 2)
    seen: list[int] = []

    class Interrupting:
        def progress(self, done: int, total: int, note: str = "") -> None:
            seen.append(done)
            if len(seen) == 4:
                raise KeyboardInterrupt

        def say(self, line: str) -> None: ...

    with pytest.raises(KeyboardInterrupt):
        convert(tmp_path / "src", Output(tmp_path / "demos", observer=Interrupting()), str(arm_path))
    assert not (tmp_path / "demos").exists()
    assert "--resume" in refused(errors.OutputExists, tmp_path / "src", tmp_path / "demos", str(arm_path))
    other = MappingOptions(fps=25)
    refused(errors.CannotResume, tmp_path / "src", Output(tmp_path / "demos", resume=True), str(arm_path), options=other)
    convert(tmp_path / "src", Output(tmp_path / "demos", resume=True, observer=Interrupting()), str(arm_path))
    assert seen[4] == 3, "the two of the first part are not converted again"
    assert [one.hash for one in read(tmp_path / "demos")] == [one.hash for one in read(tmp_path / "whole")]
    assert not parts.parts_path(tmp_path / "demos").exists()
    before = (tmp_path / "demos" / "meta" / "info.json").stat().st_mtime_ns
    convert(tmp_path / "src", Output(tmp_path / "demos", resume=True), str(arm_path))
    assert (tmp_path / "demos" / "meta" / "info.json").stat().st_mtime_ns == before, "what is done is done"


def test_memory_holds_one_recording_at_a_time(arm_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "src").mkdir()
    for k in range(40):
        np.savez(tmp_path / "src" / f"{k:02d}.npz", qpos=waves(20, 0.03, k)[0], fps=30)
    seen: list[weakref.ref[Recording]] = []
    alive: list[int] = []
    read_one = Npz.__getitem__

    def watched(self: Npz, place: int) -> Recording:
        alive.append(sum(one() is not None for one in seen))
        recording = read_one(self, place)
        seen.append(weakref.ref(recording))
        return recording

    monkeypatch.setattr(Npz, "__getitem__", watched)
    convert(tmp_path / "src", tmp_path / "demos", str(arm_path))
    assert len(alive) == 16 + 40, "a sample that guesses are tried on, then all"
    assert max(alive[16:]) <= 1


def test_an_affine_unit_has_no_offset_in_speeds(servo_arm_path: Path) -> None:
    joints, _ = joint_at(parse_robot(str(servo_arm_path)))
    entry = Entry("elbow", "q", 0, "range_0_100")
    (a, b), (speed_a, speed_b) = (affine(entry, joints[2], speed=speed) for speed in (False, True))
    assert (a * 0 + b, a * 100 + b, speed_b) == pytest.approx((0, 3.14, 0))
    assert a == speed_a


def test_labels_name_the_demonstrator(arm_path: Path, tmp_path: Path) -> None:
    (tmp_path / "kin").mkdir()
    for name in ("anna", "ben"):
        np.savez(tmp_path / "kin" / f"{name}.npz", qpos=np.zeros((5, 2)), fps=50)

    def names(label: str | None) -> list[str]:
        convert(tmp_path / "kin", Output(tmp_path / "demos", overwrite=True), str(arm_path), label=label)
        return [episode.demonstrator for episode in read(tmp_path / "demos").episodes]

    assert (names(None), names("file"), names("kim")) == (["kin"] * 2, ["anna", "ben"], ["kim"] * 2)
