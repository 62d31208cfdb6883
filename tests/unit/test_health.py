# SPDX-License-Identifier: MIT
"""Are demonstrations healthy ones for a body, and what can be repaired?"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import imitable as im
from imitable.errors import BadEpisode
from imitable.feasibility.checks import check_episode
from imitable.feasibility.health import Health, health, unfit_places
from imitable.feasibility.repair import repaired
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.babble import babble
from imitable.sim.ground import height_entry, standing
from imitable.types import Episode, Floats, InMemory, Trajectory
from tests.unit.test_cli import imitable, refused

LANDER = """
<mujoco model="lander">
  <option timestep="0.005"/>
  <worldbody>
    <geom type="plane" size="9 9 1"/>
    <body name="hull" pos="0 0 0.2">
      <freejoint name="root"/>
      <geom type="box" size="0.4 0.3 0.2" mass="5"/>
      <body name="mast" pos="0 0 0.25">
        <joint name="turn" axis="0 0 1" range="-60 60" damping="0.3"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="0.3"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="turn" joint="turn" gear="1" ctrlrange="-1 1"/></actuator>
</mujoco>
"""
EPISODE = Episode("", 0, "", "a person", 60, float("nan"), terminated=False)

TURN, HEIGHT = 7, 2
"""State entries."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "lander.xml"
    file.write_text(LANDER)
    return file


@pytest.fixture
def lander(path: Path) -> Robot:
    return parse_robot(str(path))


def waving(robot: Robot, lift: float = 0.0, offset: float = 0.0) -> Floats:
    """(61, S) the mast sways by 0.4 rad; the hull stands `lift` above the ground, the mast `offset` from its middle."""
    states, times = np.tile(robot.start, (61, 1)), np.arange(61) * robot.layout.period_s
    states[:, HEIGHT] += lift
    states[:, TURN] = offset + 0.4 * np.sin(3 * times)
    states[:, 15 - 1] = 1.2 * np.cos(3 * times)
    return states


def examined(robot: Robot, states: Floats) -> Health:
    return health(EPISODE, Trajectory(states, "x"), robot)


def test_nothing_is_said_of_own_movements(lander: Robot) -> None:
    for one in babble(lander, 2, 60, 4):
        assert examined(lander, one.states) == Health(())
        assert repaired(one, lander).trajectory is one
    assert examined(lander, waving(lander)) == Health(())


def test_nothing_supports_what_is_lifted(lander: Robot) -> None:
    found = examined(lander, waving(lander, 0.3))
    assert not found.remarks
    [(span, count)] = [pair for pair in found.worst if pair[0].kind == "support"]
    assert (span.begin_s, span.end_s, count) == (0.0, pytest.approx(1.2), 1)
    assert span.size == pytest.approx(52, rel=0.02)
    made = repaired(Trajectory(waving(lander, 0.3), "x"), lander)
    assert made.done == ("settled by 0.300 m: nothing supports its start",)
    np.testing.assert_allclose(made.trajectory.states, waving(lander), atol=1e-6)


def test_what_is_inside_the_ground_is_lifted_out(lander: Robot) -> None:
    [remark] = examined(lander, waving(lander, -0.05)).remarks
    assert "inside each other by 5.0 cm (100% of the frames" in remark
    assert "hull" in remark
    assert "the ground" in remark
    made = repaired(Trajectory(waving(lander, -0.05), "x"), lander)
    assert made.done == ("lifted by 0.050 m: it starts inside the ground",)
    np.testing.assert_allclose(made.trajectory.states, waving(lander), atol=1e-6)


def test_a_start_a_little_beyond_a_limit_is_a_remark(lander: Robot) -> None:
    limit = np.pi / 3
    states = waving(lander, offset=limit + 0.03)
    said = examined(lander, states)
    assert any("starts with turn" in remark for remark in said.remarks)
    assert not said.unfit
    far = waving(lander, offset=limit + 0.5)
    assert "outside the imitator's" in examined(lander, far).unfit
    with pytest.raises(BadEpisode, match="--skip-unfit"):
        check_episode(EPISODE, Trajectory(far, "x"), lander)
    made = repaired(Trajectory(far, "x"), lander)
    assert made.trajectory.states[:, TURN].max() <= limit
    assert "turn: 61 frames put back to its limit, at most 0.9" in made.done[0]
    clipped = far[:, TURN] > limit
    assert not made.trajectory.states[clipped, 14].any(), "what is held at a limit does not move"


@pytest.mark.parametrize("factor", [0.0, 0.5, 2.0, 57.3, -1.0])
def test_velocities_of_another_unit_are_told(lander: Robot, factor: float) -> None:
    states = waving(lander)
    states[:, 14] *= factor
    assert any("velocities are not those of its positions (turn)" in remark for remark in examined(lander, states).remarks)


def test_where_the_ground_is(lander: Robot) -> None:
    found = standing(lander, np.stack([waving(lander, lift)[0] for lift in (0.3, 0.0, -0.02, 3.0)]))
    np.testing.assert_allclose(found.ground, [0.3, 0.0, -0.02, np.inf], atol=1e-6)
    np.testing.assert_allclose(found.depths, [0, 0, 0.02, 0], atol=1e-6)
    assert height_entry(lander) == HEIGHT
    assert height_entry(parse_robot("hopper")) == 1
    assert height_entry(parse_robot("swimmer")) is None


@pytest.fixture
def demos(path: Path, lander: Robot, tmp_path: Path) -> Path:
    folder = tmp_path / "demos"
    own = babble(lander, 1, 60, 4)[0].states
    starts = (own, waving(lander, offset=2.0), own + 0.3 * (np.arange(15) == HEIGHT))
    im.write(folder, lander.layout, [Trajectory(states, "a person") for states in starts])
    return folder


def test_unfit_ones_are_found_by_place(lander: Robot) -> None:
    taken = InMemory(lander.layout, [Trajectory(waving(lander, offset=offset), "x") for offset in (0.0, 2.0)])
    assert list(unfit_places(taken, lander)) == [1]


def test_check_shows_no_empty_table(lander: Robot, path: Path, tmp_path: Path) -> None:
    im.write(tmp_path / "own", lander.layout, [Trajectory(babble(lander, 1, 60, 4)[0].states, "a person")])
    done = imitable("check", tmp_path / "own", "--imitator", path)
    assert done.stdout.rstrip().endswith("1 of 1 without a finding, 0 certainly impossible, 0 unfit")


def test_check_finds_and_repairs(demos: Path, path: Path, tmp_path: Path) -> None:
    done = imitable("check", demos, "--imitator", path, "--repair", tmp_path / "better")
    assert done.returncode == 0, done.stderr
    assert "1 of 3 without a finding" in done.stdout
    assert "1 unfit" in done.stdout
    assert "nothing supports" in " ".join(done.stdout.split())
    assert "episode 2: settled by 0.300 m" in done.stderr
    assert f"next: imitable score {tmp_path / 'better'}" in done.stderr
    again = json.loads(imitable("check", tmp_path / "better", "--imitator", path, "--json").stdout)
    assert [one["unfit"] for one in again["checks"]] == [None] * 3
    assert "exists" in refused("check", demos, "--imitator", path, "--repair", tmp_path / "better")
    assert "--imitator" in refused("check", demos, "--repair", tmp_path / "other")


def test_score_leaves_unfit_ones_out_by_name(demos: Path, path: Path, tmp_path: Path) -> None:
    options = ("--imitator", path, "--out", tmp_path / "s.parquet", "--effort", "quick")
    assert "--skip-unfit" in refused("score", demos, *options)
    done = imitable("score", demos, *options, "--skip-unfit")
    assert done.returncode == 0, done.stderr
    assert f"episode 1 of {demos} is left out" in done.stderr
    found = im.read_scores(tmp_path / "s.parquet")
    assert found.verdict == ("feasible", "infeasible")


def test_actions_and_names_stay(lander: Robot) -> None:
    one = replace(babble(lander, 1, 20, 0)[0], demonstrator="a person")
    lifted = one.states.copy()
    lifted[:, HEIGHT] -= 0.05
    made = repaired(replace(one, states=lifted), lander).trajectory
    assert made.demonstrator == "a person"
    np.testing.assert_array_equal(made.actions, one.actions)
