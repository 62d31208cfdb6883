# SPDX-License-Identifier: MIT
"""The knob values with which a whole motion passes the static checks."""

from pathlib import Path

import numpy as np
import pytest

from imitable.feasibility.remedy import remedy
from imitable.feasibility.static_checks import static_checks
from imitable.robots.parse import parse_robot
from tests.unit.test_static_checks import HINGES, PENDULUM, robot_of, swing


def test_a_pendulum_held_aslant_is_given_the_strength_that_holds_it(tmp_path: Path) -> None:
    """τ = m g l sin 0.6 = 3.877 Nm, of 1 Nm."""
    robot, states = robot_of(PENDULUM, tmp_path), np.zeros((100, 2))
    states[:, 0] = 0.6
    [(name, text)] = remedy(robot, states).knobs
    assert name == "strength.hinge"
    assert float(text) == pytest.approx(0.7 * 9.81 * np.sin(0.6), rel=0.01)
    assert f"strength.hinge ≥ {text}" in remedy(robot, states).sentence
    states[:, 0] = 0.0
    assert remedy(robot, states).sentence == ""


def test_what_clears_fast_hinges_clears_all_of_the_motion(tmp_path: Path) -> None:
    robot = robot_of(HINGES, tmp_path)
    states = swing(robot, 1.0, 3.0)
    found = dict(remedy(robot, states).knobs)
    assert "strength.a" in found
    knobs = ",".join(f"{name}={text}" for name, text in found.items())
    assert static_checks(parse_robot(f"{robot}:{knobs}"), states).spans == ()


def test_ranges_and_speeds_grow_to_what_is_shown(arm_path: Path) -> None:
    robot = parse_robot(f"{arm_path}:speed.shoulder=1,range.shoulder=-20..20")
    times = robot.layout.period_s * np.arange(150)
    states = np.stack([0.6 * np.sin(3 * times), 0 * times, 1.8 * np.cos(3 * times), 0 * times], axis=1)
    found = dict(remedy(robot, states).knobs)
    assert float(found["speed.shoulder"]) == pytest.approx(1.8, rel=0.02)
    low, high = map(float, found["range.shoulder"].split(".."))
    assert (low, high) == (pytest.approx(-34.4, abs=0.2), pytest.approx(34.4, abs=0.2))
