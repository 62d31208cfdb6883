# SPDX-License-Identifier: MIT
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from imitable.demos.store import read, write
from imitable.demos.waypoints import CONTROLS, attempts, mode_counts, waypoint_demonstrations
from imitable.errors import BadOption
from imitable.robots.parse import parse_robot
from imitable.sim.poses import tool_poses
from imitable.sim.reach import Reach
from imitable.types import Trajectory


def made(text: str, **counts: int) -> list[Trajectory]:
    return list(waypoint_demonstrations(parse_robot(text), counts, 3))


def test_demonstrations_arrive_without_a_touch() -> None:
    task = Reach(parse_robot("panda"))
    for one in made("panda", over=2, left=2, right=2):
        assert not task.hits(one.states).any()
        assert task.there(one.states).nonzero()[0].tolist() == [len(one)]
        assert not one.terminated
        assert one.total_return == 5000 - 50 * len(one)
        assert len(one) < task.horizon


@pytest.mark.parametrize("text", ["panda", "panda:dof=3", "panda:scene=box"])
@pytest.mark.parametrize("mode", CONTROLS)
def test_negative_controls_are_all_rejected(text: str, mode: str) -> None:
    tried = attempts(parse_robot(text), mode, list(range(12)))
    assert not tried.arrived.any()
    assert all(tried.hits), "each names the pair that touched"


def test_modes_go_where_they_say() -> None:
    over, left, right = (Reach(parse_robot("panda")).tools(one.states) for one in made("panda", over=1, left=1, right=1))
    assert over[:, 2].max() > 0.3
    assert np.abs(over[:, 1]).max() < 0.05
    assert left[:, 1].max() > 0.15
    assert right[:, 1].min() < -0.15
    [three] = made("panda:dof=3", over=1)
    assert np.abs(Reach(parse_robot("panda:dof=3")).tools(three.states)[:, 1]).max() < 1e-9


def test_one_depends_on_its_number_alone() -> None:
    few, many = made("panda", left=1), made("panda", over=1, left=2)
    assert few[0].hash == many[1].hash
    assert many[1].hash != many[2].hash


def test_counts_are_those_of_the_paper() -> None:
    seven, three = parse_robot("panda"), parse_robot("panda:dof=3")
    assert mode_counts(seven, 43) == {"over": 8, "left": 18, "right": 17}
    assert sum(mode_counts(seven, 48).values()) == 48
    assert mode_counts(three, 5) == {"over": 5}


def test_what_cannot_be_done_is_refused() -> None:
    with pytest.raises(BadOption, match="only panda"):
        next(waypoint_demonstrations(parse_robot("hopper"), {"over": 1}, 0))
    with pytest.raises(BadOption, match="over"):
        next(waypoint_demonstrations(parse_robot("panda"), {"under": 1}, 0))
    with pytest.raises(BadOption, match="cannot go that way"):
        next(waypoint_demonstrations(parse_robot("panda:dof=3"), {"left": 1}, 0))


def test_poses_of_the_tool_stand_beside_the_states(tmp_path: Path) -> None:
    arm, demos = parse_robot("panda"), made("panda", left=1)
    write(tmp_path / "demos", arm.layout, demos, arm=arm)
    [back] = list(read(tmp_path / "demos"))
    assert back.hash == demos[0].hash
    [file] = (tmp_path / "demos" / "data").rglob("*.parquet")
    poses = np.array(pq.read_table(file)["observation.tool_pose"].to_pylist())
    np.testing.assert_array_equal(poses, tool_poses(arm, back.states))
    np.testing.assert_allclose(np.linalg.norm(poses[:, 3:], axis=1), 1.0)
    np.testing.assert_allclose(poses[:, :3], Reach(arm).tools(back.states))
