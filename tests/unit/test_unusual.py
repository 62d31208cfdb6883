# SPDX-License-Identifier: MIT
"""Own movements pass, and what no body can do is found where it begins: closed forms, all built-in bodies, other bodies."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from imitable.feasibility.unusual import Unusual, disagreements, lasting, moment_steps, moments, standards, unusual
from imitable.policies.acting import act
from imitable.policies.shipped import policy_for
from imitable.robots.parse import ROBOTS, parse_robot
from imitable.robots.robot import Robot
from imitable.sim.babble import babble
from imitable.sim.batch import Batch
from imitable.sim.poses import limited_joints
from imitable.sim.rollout import episodes
from imitable.sim.task import Locomotion, Moment
from imitable.types import Floats
from tests.unit.pushed_slider import FORCE, pushed
from tests.unit.test_tracking import SERVO

BODIES = ("swimmer:back=10", "walker2d", "half_cheetah:front=0.01", "hopper:gravity=15")
"""One of every family, each with a shipped policy."""

SOON_S = 0.5
"""A violation must be found so soon after it begins."""


def kinds(checks: Unusual) -> set[str]:
    return {span.kind for span in checks.spans}


def found_soon(robot: Robot, states: Floats, begin: int) -> set[str]:
    """Return the kinds that begin within `SOON_S` of a transition; nothing may begin a moment before."""
    spans, at = unusual(robot, states).spans, begin * robot.layout.period_s
    early = 2 * moment_steps(robot) * robot.layout.period_s
    assert all(span.begin_s >= at - early for span in spans), spans[0].sentence
    return {span.kind for span in spans if span.begin_s <= at + SOON_S}


def gait(robot: Robot, *, sampled: bool = False, seed: int = 3) -> Floats:
    [(trajectory, _)] = episodes(Locomotion(robot), policy_for(robot), [seed], sampled=sampled)
    return trajectory.states.copy()


def pushed_gait(robot: Robot, force: Floats, begin: int, steps: int, length: int) -> Floats:
    """Return a gait in which (nv) outer forces act for some steps."""
    task, policy, data = Locomotion(robot), policy_for(robot), mujoco.MjData(robot.model)
    states = [task.start(np.random.default_rng(0), 1).states[0]]
    data.qpos[:], data.qvel[:] = np.split(states[0], [robot.layout.nq])
    for t in range(length):
        moment = Moment(states[-1][None], np.array([t]), np.zeros((1, 0), np.int64))
        data.ctrl[:] = act(policy, task.observe(moment))[0]
        data.qfrc_applied[:] = force if begin <= t < begin + steps else 0.0
        mujoco.mj_step(robot.model, data, nstep=robot.frame_skip)
        states.append(np.concatenate([data.qpos, data.qvel]))
    return np.array(states)


@pytest.mark.parametrize("body", [*ROBOTS, *BODIES])
def test_babbling_and_doing_nothing_give_no_span(body: str) -> None:
    robot = parse_robot(body)
    batch, states = Batch(robot, 1), [robot.start]
    batch.set_state(robot.start[None])
    for _ in range(200):
        batch.step(np.zeros((1, robot.control_range.shape[1])))
        states.append(batch.states[0])
    movements = [np.array(states), *(own.states for own in babble(robot, 8, 150, 11))]
    assert [span.sentence for one in movements for span in unusual(robot, one).spans] == []


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("sampled", [False, True])
def test_own_gaits_give_no_span(body: str, sampled: bool) -> None:
    robot = parse_robot(body)
    checks = unusual(robot, gait(robot, sampled=sampled))
    assert [span.sentence for span in checks.spans] == []
    for check in checks.checks:
        assert check.ratios.shape == check.sizes.shape == check.worst.shape == (len(checks.jumps.ratios),)
        assert (check.ratios >= 0).all()
        assert np.isfinite(check.ratios).all()


@pytest.mark.parametrize(
    ("demonstrator", "imitator"),
    [
        ("half_cheetah:front=0.05", "half_cheetah:front=0.01"),
        ("walker2d:friction=9.9", "walker2d:friction=24.9"),
        ("hopper:gravity=20", "hopper:gravity=15"),
        ("hopper", "hopper:gravity=15"),
        ("swimmer:back=12", "swimmer:back=20"),
    ],
)
def test_a_related_bodys_gait_gives_no_span(demonstrator: str, imitator: str) -> None:
    states = gait(parse_robot(demonstrator))
    assert unusual(parse_robot(imitator), states).spans == ()


@pytest.mark.parametrize(
    ("demonstrator", "imitator", "kind"),
    [
        ("half_cheetah:back=0.05", "half_cheetah:front=0.01", "force"),
        ("hopper:gravity=2", "hopper:gravity=15", "floating"),
        ("hopper:gravity=20", "hopper:gravity=5", "outer force"),
        ("swimmer", "swimmer:back=10", "limit"),
        ("walker2d:friction=29.9", "walker2d", "depth"),
    ],
)
def test_a_strange_bodys_gait_is_found_by_what_the_imitator_lacks(demonstrator: str, imitator: str, kind: str) -> None:
    """Strength, gravity, range; and a floor that yields under a friction of 29.9 as it does under no other."""
    assert kind in kinds(unusual(parse_robot(imitator), gait(parse_robot(demonstrator))))


@pytest.mark.parametrize("body", BODIES)
def test_an_outer_force_on_the_root_is_found(body: str) -> None:
    robot = parse_robot(body)
    own, period = standards(robot), robot.layout.period_s
    begin, force = round(1.2 / period), np.zeros(len(own.units))
    force[0] = 3 * own.units[0]
    states = pushed_gait(robot, force, begin, round(0.6 / period), round(2.2 / period))
    assert "outer force" in found_soon(robot, states, begin)


@pytest.mark.parametrize("body", BODIES[1:])
@pytest.mark.parametrize("height", [0.1, 0.3])
def test_a_lifted_root_is_found(body: str, height: float) -> None:
    robot = parse_robot(body)
    states = gait(robot)
    begin = len(states) * 2 // 3
    states[begin + 1 :, 1] += height
    assert {"jump"} <= found_soon(robot, states, begin)


def test_a_root_that_is_lifted_slowly_floats() -> None:
    robot = parse_robot("hopper:gravity=15")
    period, states = robot.layout.period_s, gait(robot)
    begin, steps = len(states) * 2 // 3, round(1.0 / robot.layout.period_s)
    way = np.clip((np.arange(len(states)) - begin) / steps, 0, 1)
    states[:, 1] += 0.3 * way**2 * (3 - 2 * way)
    states[:, 7] += 0.3 * 6 * way * (1 - way) / (steps * period)
    found = found_soon(robot, states, begin)
    assert "floating" in found
    assert "jump" not in found


@pytest.mark.parametrize("body", BODIES)
def test_a_joint_beyond_its_limit_is_found_by_name(body: str) -> None:
    robot = parse_robot(body)
    joints, period, states = limited_joints(robot), robot.layout.period_s, gait(robot)
    entry, (low, high) = int(joints.entries[0]), joints.ranges[0]
    begin = len(states) * 2 // 3
    way = np.clip((np.arange(len(states)) - begin) * period / 0.3, 0, 1)
    states[:, entry] = (1 - way) * states[:, entry] + way * (high + 0.4 * (high - low))
    states[begin:-1, robot.layout.nq + entry] = np.diff(states[begin:, entry]) / period
    assert "limit" in found_soon(robot, states, begin)
    [span] = [span for span in unusual(robot, states).spans if span.kind == "limit"]
    assert span.joint == joints.names[0]
    assert span.size == pytest.approx(0.4 * (high - low))
    assert span.limit < span.size


@pytest.mark.parametrize(
    ("body", "other"),
    list(zip(BODIES, ("swimmer", "walker2d:friction=29.9", "half_cheetah:back=0.05", "hopper:gravity=2"), strict=True)),
)
def test_a_last_third_of_another_body_is_found(body: str, other: str) -> None:
    robot = parse_robot(body)
    states, strange = gait(robot), gait(parse_robot(other))
    begin, roots, nq = len(states) * 2 // 3, robot.root_entries, robot.layout.nq
    tail = strange[begin + 7 :].copy()
    tail[:, :roots] += states[begin, :roots] + robot.layout.period_s * states[begin, nq : nq + roots] - tail[0, :roots]
    assert found_soon(robot, np.concatenate([states[: begin + 1], tail]), begin)


@pytest.mark.parametrize("body", BODIES)
def test_a_last_third_at_double_speed_is_found(body: str) -> None:
    """With velocities that agree. Swimmer never flies, so only its motors tell, at its next strong stroke."""
    robot = parse_robot(body)
    states, nq = gait(robot), robot.layout.nq
    begin = len(states) * 2 // 3
    tail = states[begin::2].copy()
    tail[:, nq:] *= 2
    spans = unusual(robot, np.concatenate([states[:begin], tail])).spans
    assert {"force", "outer force"} & {span.kind for span in spans}
    assert spans[0].begin_s <= begin * robot.layout.period_s + (4 * SOON_S if "swimmer" in body else SOON_S)


def test_a_slider_that_is_pushed_too_hard_lacks_the_difference(slider: Robot) -> None:
    """It has 2 N: 5 N lack 3 N."""
    calm = unusual(slider, pushed(0.9 * FORCE, 20).states)
    assert calm.spans == ()
    [span] = unusual(slider, pushed(2.5 * FORCE, 20).states).spans
    assert (span.kind, span.joint, span.unit, span.begin) == ("force", "slide", "N", 0)
    assert span.size == pytest.approx(1.5 * FORCE, rel=0.02)
    assert "force, slide" in span.sentence


def test_a_teleported_slider_jumps_where_it_was_moved(slider: Robot) -> None:
    states = pushed(0.5 * FORCE, 30).states.copy()
    states[17:, 0] += 0.2
    jumps = [span for span in unusual(slider, states).spans if span.kind == "jump"]
    assert [(span.begin, span.end) for span in jumps] == [(16, 17)]
    assert jumps[0].size == pytest.approx(0.2, rel=0.05)


def test_a_pendulum_that_stands_aslant_without_a_motor_needs_its_weight(tmp_path: Path) -> None:
    """τ = m g l sin φ; the motor of 1 Nm holds 6.9 Nm up to sin φ = 0.14."""
    path = tmp_path / "pendulum.xml"
    path.write_text("""
    <mujoco><option timestep="0.01"/><worldbody><body name="rod"><joint name="hinge" axis="0 1 0"/>
    <geom type="sphere" size="0.01" pos="0 0 -0.7" mass="1"/></body></worldbody>
    <actuator><motor joint="hinge" gear="1" ctrlrange="-1 1"/></actuator></mujoco>""")
    robot = parse_robot(str(path))
    still = np.zeros((60, 2))
    assert unusual(robot, still).spans == ()
    still[:, 0] = 1.2
    [span] = unusual(robot, still).spans
    assert (span.kind, span.joint) == ("force", "hinge")
    assert span.size == pytest.approx(0.7 * 9.81 * np.sin(1.2) - 1.0, rel=1e-3)


@pytest.mark.parametrize(("kp", "kv", "force"), [(4500, 450, 87), (50, 5, 0.6)])
def test_a_servo_arm_passes_its_own_movements_and_lacks_what_its_force_limit_lacks(
    tmp_path: Path, kp: float, kv: float, force: float
) -> None:
    (tmp_path / "servo.xml").write_text(SERVO.format(kp=kp, kv=kv, force=force))
    robot = parse_robot(str(tmp_path / "servo.xml"))
    assert [span.sentence for own in babble(robot, 4, 150, 9) for span in unusual(robot, own.states).spans] == []
    period = robot.layout.period_s
    # armature 0.1, and a rod of 1 kg and 30 cm about its end
    acceleration, times, states = 4 * force / (0.1 + 0.3**2 / 3), period * np.arange(200), np.zeros((200, 4))
    states[:, 0], states[:, 2] = acceleration / 2 * times**2, acceleration * times
    checks = unusual(robot, states[states[:, 0] < 2.5])
    assert any(span.kind == "force" and span.joint == "hinge" for span in checks.spans)
    assert standards(robot).available[1] == 2.0, "a cord of 1 N with a lever arm of 2"


def test_a_free_body_passes_its_own_movements_and_signs_do_not_matter(floating_path: Path) -> None:
    robot = parse_robot(str(floating_path))
    [own] = babble(robot, 1, 150, 4)
    flipped = own.states.copy()
    flipped[75:, 3:7] *= -1
    one, other = unusual(robot, own.states), unusual(robot, flipped)
    assert one.spans == other.spans == ()
    for mine, theirs in zip(one.checks, other.checks, strict=True):
        np.testing.assert_allclose(mine.ratios, theirs.ratios, atol=1e-9)
    turned = own.states.copy()
    turned[75:, 3:7] = np.array([0.0, 1.0, 0.0, 0.0])
    assert "jump" in kinds(unusual(robot, turned))


def test_one_bad_frame_is_a_jump_and_nothing_that_lasts() -> None:
    robot = parse_robot("walker2d")
    [own] = babble(robot, 1, 150, 4)
    states = own.states.copy()
    states[70, 1] += 0.5
    assert kinds(unusual(robot, states)) == {"jump"}


@pytest.mark.parametrize(("shape", "expected"), [((0, 5, 0), 0.0), ((0, *[5] * 4, 0), 0.0), ((0, *[5] * 5, 0), 5.0)])
def test_only_what_lasts_a_moment_is_left(slider: Robot, shape: tuple[float, ...], expected: float) -> None:
    """The slider's moment is five steps of 20 ms."""
    assert moment_steps(slider) == 5
    rows = np.pad(np.array(shape, float), (10, 10))[:, None]
    found = lasting(rows, moment_steps(slider))
    assert found.shape == rows.shape
    assert found.max() == expected
    assert (found <= rows).all()


def test_means_over_a_moment_in_closed_form(slider: Robot) -> None:
    rows = np.arange(20.0)[:, None]
    np.testing.assert_allclose(moments(rows, slider)[2:-2], rows[2:-2])
    np.testing.assert_allclose(moments(rows, slider)[[0, 1, -1], 0], [1.0, 1.5, 18.0])


def test_positions_and_velocities_of_constant_acceleration_agree(slider: Robot) -> None:
    times = slider.layout.period_s * np.arange(10)
    gaps, travels = disagreements(slider, np.stack([0.8 * times**2, 1.6 * times], axis=1))
    np.testing.assert_allclose(gaps, 0.0, atol=1e-12)
    np.testing.assert_allclose(travels[:, 0], 0.25 * slider.layout.period_s * 1.6 * times[1:])


def test_spans_are_ordered_and_within_the_demonstration() -> None:
    states = gait(parse_robot("hopper:gravity=2"))
    spans = unusual(parse_robot("hopper:gravity=15"), states).spans
    assert list(spans) == sorted(spans, key=lambda span: (span.begin, span.kind))
    assert all(0 <= span.begin < span.end < len(states) for span in spans)
    assert all(span.size > 0 for span in spans)
