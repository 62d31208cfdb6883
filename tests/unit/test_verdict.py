# SPDX-License-Identifier: MIT
"""Verdicts on the whole motion: what a body did is feasible, what it cannot do is not, and one impossible second is found."""

import warnings
from pathlib import Path

import numpy as np
import pytest

from imitable.errors import ScoreWarning
from imitable.feasibility.episode_score import EpisodeScore
from imitable.feasibility.score import score
from imitable.feasibility.tolerance import default_tolerance
from imitable.feasibility.verdict import Assessor, VerdictOptions
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.babble import babble
from imitable.types import Floats, InMemory, Trajectory

HINGES = """
<mujoco><option timestep="0.002" gravity="0 0 0"/><worldbody><body>
 <joint name="a" axis="0 0 1" damping="0.001"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass="1"/>
 <body pos=".3 0 0"><joint name="b" axis="0 0 1" damping="0.001"/>
  <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass="1"/>
  <body pos=".3 0 0"><joint name="c" axis="1 0 0" damping="0.0001"/>
   <geom type="capsule" fromto="0 0 0 .1 0 0" size=".02" mass=".1"/>
 </body></body></body></worldbody>
<actuator><motor name="a" joint="a" ctrllimited="true" ctrlrange="-10 10"/>
 <motor name="b" joint="b" ctrllimited="true" ctrlrange="-10 10"/>
 <motor name="c" joint="c" ctrllimited="true" ctrlrange="-5 5"/></actuator></mujoco>
"""
"""Three hinges without range, hardly damped: they babble at thousands of radians a second."""


@pytest.fixture(scope="module")
def hinges(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    path = Path(tmp_path_factory.mktemp("hinges")) / "hinges.xml"
    path.write_text(HINGES)
    return parse_robot(str(path))


def swing(size: float, rate: float, seconds: float = 3.0, period: float = 0.02) -> Floats:
    """(T + 1, 6) A (1 − cos 2πft) / 2 on a, the negative on b."""
    times = np.arange(0, seconds + 1e-9, period)
    angle, speed = size * (1 - np.cos(2 * np.pi * rate * times)) / 2, size * np.pi * rate * np.sin(2 * np.pi * rate * times)
    return np.stack([angle, -angle, 0 * times, speed, -speed, 0 * times], axis=1)


def verdicts(robot: Robot, *states: Floats, whole: bool = False) -> list[EpisodeScore]:
    demos = InMemory(robot.layout, [Trajectory(one, "someone") for one in states])
    records = [EpisodeScore(episode=episode, distance=0.0, share=0.0) for episode in demos.episodes]
    return Assessor(robot, default_tolerance(robot), whole=whole)(list(demos), records)


def test_torque_decides_on_an_undamped_arm(hinges: Robot) -> None:
    """A calm swing is feasible; one that requires 3 or 9 times the torque is not, because of the torque of a or b."""
    calm, three, four = verdicts(hinges, swing(1, 0.5), swing(1, 3), swing(1.5, 4))
    assert calm.verdict == "feasible"
    assert calm.tolerance_ratio < 0.1
    assert [three.verdict, four.verdict] == ["infeasible", "infeasible"]
    assert [three.cause, four.cause] == ["torque", "torque"]


def test_what_is_suspicious_for_the_confirmed_reason_is_not_called_possible(hinges: Robot) -> None:
    """Attempts end after two confirmed failures; the rest lacks as much torque."""
    [three] = verdicts(hinges, swing(1, 3))
    times = [end - begin for begin, end in three.infeasible_spans]
    assert sum(times) > 0.75 * 3.0


def test_one_impossible_second_is_found_and_the_rest_stays(hinges: Robot) -> None:
    """A fast second within a calm motion: infeasible, with the span; everything else is feasible."""
    times = np.arange(0, 8 + 1e-9, 0.02)
    slow, fast = swing(1, 0.25, 8), swing(1, 4, 8)
    inside = (times >= 4.0) & (times < 5.0)
    spliced = np.where(inside[:, None], fast + slow[200] - fast[200], slow)
    [found] = verdicts(hinges, spliced)
    assert found.verdict == "infeasible"
    begin, end = found.infeasible_spans[0][0], found.infeasible_spans[-1][1]
    assert begin == pytest.approx(4.0, abs=0.3)
    assert end == pytest.approx(5.0, abs=0.3)


@pytest.mark.parametrize("recorder", ["rounded", "noisy", "dropped"])
def test_recorders_do_not_make_a_motion_impossible(hinges: Robot, recorder: str) -> None:
    """Encoder steps, noise and a dropped frame, with velocities by finite differences."""
    positions, rng = swing(1, 0.5)[:, :3], np.random.default_rng(0)
    delivered = {
        "rounded": np.round(positions / 1.5e-3) * 1.5e-3,
        "noisy": positions + 2e-3 * rng.standard_normal(positions.shape),
        "dropped": np.delete(positions, 40, axis=0),
    }[recorder]
    [found] = verdicts(hinges, np.concatenate([delivered, np.gradient(delivered, 0.02, axis=0)], axis=1))
    assert found.verdict == "feasible"


@pytest.mark.parametrize("body", ["hopper", "swimmer:back=10", "examples/robots/servo_arm.xml"])
def test_own_motions_are_feasible_and_agree_with_their_columns(body: str) -> None:
    """What a body babbled it can do, and then no column tells of a failure."""
    robot = parse_robot(body)
    for found in verdicts(robot, *(one.states for one in babble(robot, 4, 120, 7)), whole=True):
        assert found.verdict == "feasible"
        assert (found.success, found.first_divergence, found.lost_at) == (True, -1, ())
        assert found.followed == 1.0
        assert found.tolerance_ratio <= 1.0
        assert (found.covered_static, found.covered_dynamic) == (1.0, 1.0)


def test_a_verdict_does_not_depend_on_other_demonstrations(hinges: Robot) -> None:
    """Alone or in a set, the same record."""
    alone, [_, within, _] = verdicts(hinges, swing(1, 3))[0], verdicts(hinges, swing(1, 0.5), swing(1, 3), swing(1.5, 4))
    for name in ("verdict", "cause", "reason", "infeasible_spans", "followed", "tolerance_ratio", "covered_dynamic", "lost_at"):
        assert getattr(within, name) == getattr(alone, name), name


def test_score_gives_the_verdict_and_its_tolerance(hinges: Robot) -> None:
    """A wider tube lets more pass; a method that does not simulate cannot tell."""
    demos = InMemory(hinges.layout, [Trajectory(swing(0.8, 3), "someone"), Trajectory(swing(1, 0.5), "someone")])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScoreWarning)
        narrow = score(demos, hinges, "direct:effort=quick", verdicts=VerdictOptions("5mm,0.02rad"))
        wide = score(demos, hinges, "direct:effort=quick", verdicts=VerdictOptions("3m,4rad"))
    assert narrow.verdict[0] == "infeasible"
    assert wide.verdict == ("feasible", "feasible")
    assert narrow.share == pytest.approx(wide.share)
