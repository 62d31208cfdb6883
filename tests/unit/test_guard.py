# SPDX-License-Identifier: MIT
"""Limits of an arm: what is beyond one never leaves, what is within all does."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imitable.drivers.arm_model import ArmModel
from imitable.drivers.driver import Command, Reading
from imitable.drivers.franka import RANGES, Franky
from imitable.drivers.guard import Guard
from imitable.drivers.limits import Safety, limits_of
from imitable.drivers.pilot import joint_targets
from imitable.drivers.simulator import Simulator
from imitable.errors import ArmContact, BadCommand, BadModel, BadOption, BeyondLimit, ImitableError, StaleReading
from imitable.robots.parse import parse_robot
from imitable.types import Floats

SEVEN, THREE = ArmModel(parse_robot("panda")), ArmModel(parse_robot("panda:dof=3"))
LIMITS = limits_of(SEVEN, Simulator().abilities(SEVEN), Safety())
GUARD = Guard(LIMITS, SEVEN)


def reading(positions: Floats, arm_s: float = 0.0, contact: str = "", desired: Floats | None = None) -> Reading:
    return Reading(arm_s, positions, np.zeros(7), positions if desired is None else desired, contact)


@given(st.lists(st.floats(-4, 4), min_size=7, max_size=7), st.lists(st.floats(-0.3, 0.3), min_size=7, max_size=7))
def test_what_passes_is_within_every_limit(start: list[float], change: list[float]) -> None:
    here, there = np.array(start), np.array(start) + change
    try:
        GUARD.check_command(reading(here), Command(there, 0.05))
    except ImitableError:
        return
    assert (there >= LIMITS.positions[0]).all()
    assert (there <= LIMITS.positions[1]).all()
    assert (np.abs(there - here) / 0.05 <= LIMITS.speeds).all()
    tools = SEVEN.tool(here), SEVEN.tool(there)
    assert np.linalg.norm(tools[1] - tools[0]) / 0.05 <= LIMITS.tool_speed
    assert (tools[1] >= LIMITS.box[0]).all()
    assert (tools[1] <= LIMITS.box[1]).all()
    assert not SEVEN.touching(there, LIMITS.clearance_m)


def test_small_steps_about_the_start_pass() -> None:
    rng = np.random.default_rng(0)
    for way in rng.uniform(-0.02, 0.02, (50, 7)):
        GUARD.check_command(reading(SEVEN.start), Command(SEVEN.start + way, 0.05))


@pytest.mark.parametrize("joint", range(7))
@pytest.mark.parametrize("side", [0, 1])
def test_a_joint_beyond_its_limit_is_named(joint: int, side: int) -> None:
    edge = SEVEN.start.copy()
    edge[joint] = LIMITS.positions[side][joint]
    beyond = edge.copy()
    beyond[joint] += 0.001 * (2 * side - 1)
    with pytest.raises(BeyondLimit, match=f"position of joint{joint + 1} in the command"):
        GUARD.check_command(reading(edge), Command(beyond, 0.05))


def test_a_joint_that_would_be_too_fast_is_named() -> None:
    there = SEVEN.start.copy()
    there[6] += 1.01 * 2.61 * 0.05
    with pytest.raises(BeyondLimit, match=r"speed of joint7 in the command is 2.636 rad/s"):
        GUARD.check_command(reading(SEVEN.start), Command(there, 0.05))


def test_the_tool_stays_in_its_box_and_under_its_speed() -> None:
    up = joint_targets(SEVEN, SEVEN.start[None], np.array([[0.0, 0.0, 0.01]]))[0]
    height = float(SEVEN.tool(SEVEN.start)[2])
    GUARD.check_command(reading(SEVEN.start), Command(up, 0.05))
    low = Guard(replace(LIMITS, box=[[-2, -2, -2], [2, 2, height + 0.005]]), SEVEN)
    with pytest.raises(BeyondLimit, match="z of the tool"):
        low.check_command(reading(SEVEN.start), Command(up, 0.05))
    slow = Guard(replace(LIMITS, tool_speed=0.1), SEVEN)
    with pytest.raises(BeyondLimit, match="speed of the tool"):
        slow.check_command(reading(SEVEN.start), Command(up, 0.05))


def test_a_command_that_would_touch_names_the_pair() -> None:
    def push(here: Floats) -> None:
        for _ in range(20):
            there = joint_targets(SEVEN, here[None], np.array([[0.01, 0.0, 0.0]]))[0]
            GUARD.check_command(reading(here), Command(there, 0.05))
            assert not SEVEN.touching(there, 0.01)
            here = there

    with pytest.raises(ArmContact, match="stand1"):
        push(SEVEN.start)


def test_joints_without_a_servo_stay_where_they_are() -> None:
    guard = Guard(limits_of(THREE, Simulator().abilities(THREE), Safety()), THREE)
    for joint in (0, 2, 4, 6):
        there = THREE.start.copy()
        there[joint] += 0.015
        with pytest.raises(BeyondLimit, match=f"joint{joint + 1} in the command"):
            guard.check_command(reading(THREE.start), Command(there, 0.05))
    tilted = THREE.start.copy()
    tilted[0] = 0.05
    with pytest.raises(BeyondLimit, match="joint1 in the reading"):
        guard.check_reading(None, reading(tilted))


def test_the_narrower_of_model_and_arm_counts() -> None:
    limits = limits_of(SEVEN, Franky().abilities(SEVEN), Safety(speed=0.1))
    assert limits.positions[0][3] == RANGES[3][0] > SEVEN.position_range[0][3]
    assert limits.positions[1][5] == SEVEN.position_range[1][5] < RANGES[5][1]
    assert limits.speeds[0] == pytest.approx(0.262)


def test_readings_that_are_old_or_feel_contact_or_lag_are_refused() -> None:
    before = reading(SEVEN.start, 1.0)
    GUARD.check_reading(before, reading(SEVEN.start, 1.05))
    with pytest.raises(StaleReading, match=r"1\.000 s"):
        GUARD.check_reading(before, reading(SEVEN.start, 1.0))
    with pytest.raises(ArmContact, match="palm"):
        GUARD.check_reading(before, reading(SEVEN.start, 1.05, "palm – stand1"))
    with pytest.raises(BeyondLimit, match="lag of joint1"):
        GUARD.check_reading(before, reading(SEVEN.start, 1.05, desired=SEVEN.start + 0.21))
    with pytest.raises(BeyondLimit, match="not a number"):
        GUARD.check_reading(before, reading(np.full(7, math.nan), 1.05))


def test_nonsense_is_refused_before_it_is_anything() -> None:
    with pytest.raises(BadCommand, match="finite"):
        Command(np.array([0.0, math.inf]), 0.05)
    with pytest.raises(BadOption, match="box"):
        Safety(low=(0.5, 0.0, 0.0), high=(0.4, 1.0, 1.0))
    with pytest.raises(BadOption, match="speed"):
        Safety(speed=1.5)
    with pytest.raises(BadModel, match="servos"):
        ArmModel(parse_robot("hopper"))
