# SPDX-License-Identifier: MIT
"""What is certain is impossible, what a body did itself never is, and suspicions are where the violation is: closed forms."""

from pathlib import Path

import numpy as np
import pytest

from imitable.feasibility.static_checks import StaticChecks, static_checks
from imitable.feasibility.tolerance import Tolerance
from imitable.robots.parse import ROBOTS, parse_robot
from imitable.robots.robot import Robot
from imitable.sim.babble import babble
from imitable.sim.kinematics import joint_space
from imitable.types import Floats
from tests.unit.biped import biped
from tests.unit.test_unusual import BODIES, gait

HINGES = """
<mujoco><option timestep="0.002" gravity="0 0 0"/><worldbody><body>
 <joint name="a" axis="0 0 1" damping="0.001"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass="1"/>
 <body pos=".3 0 0"><joint name="b" axis="0 0 1" damping="0.001"/>
  <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass="1"/>
  <body pos=".3 0 0"><joint name="c" axis="1 0 0" damping="0.0001"/>
   <geom type="capsule" fromto="0 0 0 .1 0 0" size=".02" mass=".1"/></body></body></body></worldbody>
<actuator><motor name="a" joint="a" ctrllimited="true" ctrlrange="-10 10"/>
 <motor name="b" joint="b" ctrllimited="true" ctrlrange="-10 10"/>
 <motor name="c" joint="c" ctrllimited="true" ctrlrange="-5 5"/></actuator></mujoco>
"""
"""Three hinges without range, hardly damped."""

PENDULUM = """
<mujoco><option timestep="0.01"/><worldbody><body name="rod"><joint name="hinge" axis="0 1 0"/>
<geom type="sphere" size="0.01" pos="0 0 -0.7" mass="1"/></body></worldbody>
<actuator><motor joint="hinge" ctrllimited="true" ctrlrange="-1 1"/></actuator></mujoco>
"""
"""1 kg at 0.7 m, and a motor of 1 Nm."""

BOX = """
<mujoco><option timestep="0.002"/><worldbody>
 <geom type="plane" size="9 9 1" friction="0.5 0.005 0.0001"/>
 <body name="box" pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="2" friction="0.5 0.005 0.0001"/>
  <body pos="0 0 0.1"><joint name="flag" axis="0 0 1" damping="0.1"/><geom type="sphere" size="0.01" mass="0.01"/></body></body>
</worldbody><actuator><motor joint="flag" ctrllimited="true" ctrlrange="-1 1"/></actuator></mujoco>
"""
"""A box of 2 kg on a floor with a friction of 0.5; what it can move is a flag."""

CLOSE = Tolerance(0.02, 0.1, 0.02, 0.1, 0.1)
GRAVITY, FRICTION = 9.81, 0.5


def robot_of(text: str, folder: Path) -> Robot:
    (folder / "robot.xml").write_text(text)
    return parse_robot(str(folder / "robot.xml"))


def swing(robot: Robot, amplitude: float, hertz: float, seconds: float = 3.0) -> Floats:
    """(T + 1, S) A (1 − cos 2πft) / 2 on the first joint, the negative on the second."""
    period, rate = robot.layout.period_s, 2 * np.pi * hertz
    times = np.arange(0, seconds + period / 2, period)
    states = np.zeros((len(times), len(robot.start)))
    states[:, 0], states[:, 3] = amplitude * (1 - np.cos(rate * times)) / 2, amplitude * rate * np.sin(rate * times) / 2
    states[:, 1], states[:, 4] = -states[:, 0], -states[:, 3]
    return states


def certain(checks: StaticChecks) -> set[str]:
    return {span.kind for span in checks.spans if span.certain}


def suspicious(checks: StaticChecks) -> set[str]:
    return {span.kind for span in checks.spans}


def covered(checks: StaticChecks, kind: str, steps: int) -> float:
    """Return the part of the transitions that are in a span of a kind."""
    marked = np.zeros(steps, bool)
    for span in checks.spans:
        if span.kind == kind:
            marked[span.begin : span.end] = True
    return float(marked.mean())


def by_positions(robot: Robot, states: Floats) -> Floats:
    """Return the states with velocities that are differences of positions."""
    space, states = joint_space(robot), states.copy()
    moved = space.difference(states[1:], states[:-1])[:, : space.nv] / robot.layout.period_s
    states[:, space.nq :] = np.concatenate([moved[:1], (moved[1:] + moved[:-1]) / 2, moved[-1:]])
    return states


@pytest.mark.parametrize(("amplitude", "hertz", "times"), [(1.0, 3.0, 2.0), (1.5, 4.0, 5.0)])
def test_fast_hinges_lack_torque_most_of_the_time(tmp_path: Path, amplitude: float, hertz: float, times: float) -> None:
    robot = robot_of(HINGES, tmp_path)
    checks = static_checks(robot, swing(robot, amplitude, hertz))
    assert suspicious(checks) == {"torque"}
    assert covered(checks, "torque", 150) > 0.8
    span = max(checks.spans, key=lambda one: one.size)
    assert span.joint in ("a", "b")
    assert span.limit == pytest.approx(10)
    assert span.size > times * 10
    assert ("torque" in certain(checks)) == (hertz == 4)


def test_a_calm_motion_of_the_same_hinges_gives_nothing(tmp_path: Path) -> None:
    robot = robot_of(HINGES, tmp_path)
    assert static_checks(robot, swing(robot, 1.0, 0.5)).spans == ()


@pytest.mark.parametrize(("angle", "kinds"), [(0.1, set[str]()), (0.6, {"torque"})])
def test_a_pendulum_held_aslant_certainly_needs_its_weight(tmp_path: Path, angle: float, kinds: set[str]) -> None:
    """τ = m g l sin φ: 0.69 Nm, which the motor has, and 3.9 Nm; within 0.1 rad still 3.3 Nm."""
    robot = robot_of(PENDULUM, tmp_path)
    states = np.zeros((100, 2))
    states[:, 0] = angle
    assert certain(static_checks(robot, states)) == suspicious(static_checks(robot, states)) == kinds


def test_a_tolerance_that_reaches_to_where_it_hangs_makes_nothing_certain(tmp_path: Path) -> None:
    robot = robot_of(PENDULUM, tmp_path)
    states = np.zeros((100, 2))
    states[:, 0] = 0.6
    checks = static_checks(robot, states, Tolerance(0.5, 0.6, np.inf, np.inf, 0.6))
    assert certain(checks) == set()
    assert suspicious(checks) == {"torque"}


def moved_box(robot: Robot, height: float, acceleration: tuple[float, float], seconds: float) -> Floats:
    """(T + 1, S) the box at a height, accelerated along x and z."""
    times = robot.layout.period_s * np.arange(round(seconds / robot.layout.period_s) + 1)
    states = np.tile(robot.start, (len(times), 1))
    for entry, speed_up in ((0, acceleration[0]), (2, acceleration[1])):
        states[:, entry] += speed_up * times**2 / 2
        states[:, 8 + entry] = speed_up * times
    states[:, 2] += height
    return states


@pytest.mark.parametrize(
    ("height", "acceleration", "kinds"),
    [
        (0.0, (0.0, 0.0), set[str]()),
        (1.0, (0.0, 0.0), {"path"}),
        (5.0, (0.0, -GRAVITY), set[str]()),
        (5.0, (3.0, -GRAVITY), {"path"}),
        (0.0, (0.9 * FRICTION * GRAVITY, 0.0), set[str]()),
        (0.0, (2.0 * FRICTION * GRAVITY, 0.0), {"path"}),
    ],
)
def test_gravity_and_friction_allow_few_paths(
    tmp_path: Path, height: float, acceleration: tuple[float, float], kinds: set[str]
) -> None:
    """Standing, hanging in the air, falling, blown away, sliding with and beyond friction, for 0.8 s with 2 cm to spare."""
    robot = robot_of(BOX, tmp_path)
    assert certain(static_checks(robot, moved_box(robot, height, acceleration, 0.8), CLOSE)) == kinds


def test_a_fall_is_certain_only_if_it_is_longer_than_the_tolerance(tmp_path: Path) -> None:
    """Held for t the path is off by g t² / 16: with 25 cm to spare t = 0.64 s, to the next wider window."""
    robot = robot_of(BOX, tmp_path)
    wide = Tolerance(0.25, 0.5, 0.25, 0.8, 0.2)
    short, long = (static_checks(robot, moved_box(robot, 1.0, (0.0, 0.0), seconds), wide) for seconds in (0.5, 0.75))
    assert (certain(short), certain(long)) == (set(), {"path"})
    assert "support" in suspicious(short)


def test_a_box_that_slides_at_constant_speed_skates(tmp_path: Path) -> None:
    """Friction of 0.5 would stop it; one that friction stops slides as it should."""
    robot = robot_of(BOX, tmp_path)
    times = robot.layout.period_s * np.arange(41)
    steady, stopping = np.tile(robot.start, (2, 41, 1))
    steady[:, 0], steady[:, 8] = times, 1.0
    stopping[:, 0], stopping[:, 8] = 4.5 * times - FRICTION * GRAVITY * times**2 / 2, 4.5 - FRICTION * GRAVITY * times
    [span] = [span for span in static_checks(robot, steady).spans if span.kind == "skating"]
    assert (span.joint, span.certain) == ("box", False)
    assert span.size == pytest.approx(1.0, rel=0.05)
    assert "skating" not in suspicious(static_checks(robot, stopping))


@pytest.mark.parametrize(("times", "found", "sure"), [(0.1, False, False), (0.75, True, False), (2.5, True, True)])
def test_a_joint_beyond_its_range(arm_path: Path, times: float, found: bool, sure: bool) -> None:
    """Half of the tolerance is suspicious, which is a part of the range where that is short."""
    robot, tolerance = parse_robot(str(arm_path)), Tolerance(0.1, 0.2, np.inf, np.inf, 0.2)
    excess = times * tolerance.of_ranges(robot)[0]
    states = np.zeros((60, 4))
    states[20:40, 0] = robot.model.jnt_range[0, 1] + excess
    checks = static_checks(robot, by_positions(robot, states), tolerance)
    ranges = [span for span in checks.spans if span.kind == "range"]
    assert (bool(ranges), any(span.certain for span in ranges)) == (found, sure)
    for span in ranges:
        assert (span.joint, span.size) == ("shoulder", pytest.approx(excess))
        assert abs(span.begin - 20) <= 3, "the speed with which a stop is hit counts for three steps"
        assert abs(span.end - 39) <= 4


def test_a_speed_limit_is_of_the_motion_as_a_whole(arm_path: Path) -> None:
    """Twice its limit of 1 rad/s for half a second is 0.5 rad too far; for 0.1 s it is 0.1 rad, within 2 · 0.1."""
    robot = parse_robot(f"{arm_path}:speed.shoulder=1")
    for seconds, sure in ((0.1, False), (0.5, True)):
        steps = round(seconds / robot.layout.period_s)
        states = np.zeros((80, 4))
        states[20:, 0] = np.minimum(2 * robot.layout.period_s * np.arange(60), 2 * steps * robot.layout.period_s)
        spans = [span for span in static_checks(robot, by_positions(robot, states)).spans if span.kind == "speed"]
        assert {span.certain for span in spans} == ({True, False} if sure else {False})
        assert all(span.joint == "shoulder" and span.limit == 1 for span in spans)
        assert all(abs(span.begin - 20) <= 2 and abs(span.end - 20 - steps) <= 2 for span in spans)
    free = parse_robot(str(arm_path))
    assert "speed" not in suspicious(static_checks(free, by_positions(free, states)))


def test_a_teleport_is_certain_and_a_dropped_frame_is_not(tmp_path: Path) -> None:
    robot = biped(tmp_path)
    states = np.tile(robot.start, (80, 1))
    states[:, 0] = 2.0 * robot.layout.period_s * np.arange(80)
    dropped = by_positions(robot, np.delete(states, 40, axis=0))
    assert "jump" not in suspicious(static_checks(robot, dropped))
    states[40:, 1] += 0.5
    [span] = [span for span in static_checks(robot, by_positions(robot, states)).spans if span.kind == "jump" and span.certain]
    assert (span.begin, span.end, span.unit) == (39, 40, "m")
    assert span.size == pytest.approx(0.5, abs=0.05)


def test_geoms_inside_each_other(tmp_path: Path) -> None:
    robot = robot_of(BOX, tmp_path)
    for depth, sure in ((0.005, None), (0.015, False), (0.05, True)):
        states = moved_box(robot, -depth, (0.0, 0.0), 0.4)
        spans = [span for span in static_checks(robot, states, CLOSE).spans if span.kind == "penetration"]
        assert {span.certain for span in spans} == (set() if sure is None else {sure, False})
        assert all(span.size == pytest.approx(depth, abs=1e-3) and "the ground" in span.joint for span in spans)


@pytest.mark.parametrize("body", [*ROBOTS, *BODIES, "examples/robots/servo_arm.xml", "examples/robots/floating.xml"])
def test_nothing_is_certain_of_own_motions_however_they_were_recorded(body: str) -> None:
    """As they were, with velocities from positions, with noise of a milliradian, and without one frame."""
    robot, rng = parse_robot(body), np.random.default_rng(0)
    motions = [own.states for own in babble(robot, 3, 150, 11)] + ([gait(robot)] if body in BODIES else [])
    for states in motions:
        records = [states]
        if robot.tool is None:
            space = joint_space(robot)
            noise = np.zeros((len(states), 2 * space.nv))
            noise[:, : space.nv] = 1e-3 * rng.standard_normal((len(states), space.nv))
            records += [states, space.moved(states, noise), np.delete(states, len(states) // 2, axis=0)]
            records[1:] = [by_positions(robot, one) for one in records[1:]]
        for record in records:
            assert [span.sentence for span in static_checks(robot, record).spans if span.certain] == []


def test_a_tool_out_of_reach_is_certain() -> None:
    robot = parse_robot("panda:dof=3")
    [own] = babble(robot, 1, 40, 2)
    states = own.states.copy()
    assert certain(static_checks(robot, states)) == set()
    far = parse_robot("panda")
    turned = np.tile(far.start, (30, 1))
    turned[:, 0] = 1.5
    assert certain(static_checks(robot, turned)) == {"reach"}
