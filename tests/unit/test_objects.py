# SPDX-License-Identifier: MIT
"""Things in a robot's scene are not the robot."""

from pathlib import Path

import numpy as np
import pytest

from imitable.errors import BadOption
from imitable.feasibility.ruler import compared, resolved_entries
from imitable.feasibility.score import Measuring, score
from imitable.feasibility.static_checks import static_checks
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.babble import babble
from imitable.sim.objects import has_objects
from imitable.sim.poses import point_names, size, uprights
from imitable.types import InMemory, Trajectory

SCENE = """
<mujoco model="scene">
  <option timestep="0.01"/>
  <worldbody>
    <geom type="plane" size="5 5 0.1"/>
    <body name="crate" pos="1.5 0 0.2"><freejoint name="crate"/><geom type="box" size="0.2 0.2 3" mass="1"/></body>
    <body name="cart" pos="0 0 0.5">
      <joint name="left_rail" type="slide" axis="0 1 0" range="-1 1" damping="1"/>
      <geom type="sphere" size="0.1" mass="1"/>
      <body name="pole">
        <joint name="left_pole" axis="0 1 0" damping="0.1"/>
        <geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.02"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="push" joint="left_rail" gear="5" ctrlrange="-1 1"/></actuator>
</mujoco>
"""


@pytest.fixture
def scene(tmp_path: Path) -> Robot:
    path = tmp_path / "scene.xml"
    path.write_text(SCENE)
    return parse_robot(str(path))


def test_the_robot_is_what_actuators_move(scene: Robot) -> None:
    assert has_objects(scene)
    assert point_names(scene) == ("cart", "pole")
    assert size(scene) < 1, "the crate is six metres high"
    assert uprights(scene, scene.start).tolist() == [0, 0, 1]
    own = np.array(scene.layout.state)[compared(scene, "all")].tolist()
    assert own == ["left_rail", "left_pole", "left_rail_velocity", "left_pole_velocity"]
    np.testing.assert_array_equal(compared(scene, "robot"), compared(scene, "all"))
    assert compared(scene, "everything").all()
    assert resolved_entries(scene, "all") == "robot"


def test_a_robot_alone_is_compared_as_a_whole() -> None:
    for name in ("hopper", "swimmer", "panda"):
        robot = parse_robot(name)
        assert compared(robot, "all").all()
        assert resolved_entries(robot, "all") == "all"


def test_wildcards_in_entries(scene: Robot) -> None:
    names = np.array(scene.layout.state)
    assert names[compared(scene, "left_*_velocity, left_rail")].tolist() == [
        "left_rail",
        "left_rail_velocity",
        "left_pole_velocity",
    ]
    with pytest.raises(BadOption, match="for any characters"):
        compared(scene, "right_*")


def test_where_an_object_is_does_not_matter(scene: Robot) -> None:
    own = babble(scene, 2, 40, 5)
    moved = [one.states.copy() for one in own]
    for states in moved:
        states[1:, :3] += 0.5  # somebody else takes the crate away
    taken = InMemory(scene.layout, [Trajectory(states, "with help") for states in moved])
    here, everything = score(taken, scene, "direct:effort=quick"), Measuring(entries="everything")
    assert here.verdict == ("feasible", "feasible")
    assert here.measurement.key.entries == "robot"
    assert here.error_max_m.max() < 0.05
    assert all(not static_checks(scene, states).spans for states in moved)
    assert score(taken, scene, "direct:effort=quick", measuring=everything).verdict == ("infeasible", "infeasible")
