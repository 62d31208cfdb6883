# SPDX-License-Identifier: MIT
"""How much of its own a body with many actuators is asked to do, so that calibrating it does not take longer than scoring."""

from imitable.robots.robot import Robot

WIDE = 16
"""Actuators from which on less is asked: two arms with grippers have 14 or 16, a humanoid 20 to 40."""


def affordable(robot: Robot, count: int, least: int) -> int:
    """Return count · (16 / actuators)² of a wide body, at least `least`; `count` of all others.

    With the actuators grow both the simulated steps that following takes and the time of each.
    """
    wide = max(1.0, len(robot.layout.actuators) / WIDE)
    return max(min(least, count), round(count / wide**2))
