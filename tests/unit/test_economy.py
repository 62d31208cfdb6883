# SPDX-License-Identifier: MIT
"""A body with many actuators is asked for fewer movements of its own, and a long job on it is announced."""

from pathlib import Path

import pytest

from imitable.feasibility.calibration import MOVEMENTS, movement_count
from imitable.feasibility.expected_steps import expected_steps
from imitable.feasibility.methods import parse_scorer
from imitable.feasibility.methods.direct import Direct
from imitable.robots.parse import ROBOTS, parse_robot
from imitable.tracking.economy import WIDE, affordable
from tests.unit.test_wide_bodies import JOINTS, chain

__all__ = ["chain"]


def test_wide_bodies_are_asked_for_less_and_no_other(chain: Path) -> None:
    wide = parse_robot(str(chain / "chain.xml"))
    assert affordable(wide, 200, 50) == round(200 * (WIDE / JOINTS) ** 2)
    assert affordable(wide, 200, 190) == 190
    assert affordable(wide, 3, 50) == 3
    assert movement_count(wide) < MOVEMENTS
    assert all(movement_count(parse_robot(name)) == MOVEMENTS for name in ROBOTS)


@pytest.mark.parametrize("effort", ["quick", "standard"])
def test_an_estimate_counts_actuators_and_own_movements(effort: str, chain: Path) -> None:
    scorer, wide, narrow = Direct(effort=effort), parse_robot(str(chain / "chain.xml")), parse_robot("hopper")
    steps = [scorer.steps_each(body) / scorer.window_steps(body) for body in (wide, narrow)]
    assert steps[0] > 2 * steps[1]
    parsed = parse_scorer(f"direct:effort={effort}")
    one, two = (expected_steps(parsed, wide, demonstrations, 1) for demonstrations in (1, 2))
    assert two - one == scorer.steps_each(wide)
    assert one == (1 + 2 * movement_count(wide)) * scorer.steps_each(wide)
