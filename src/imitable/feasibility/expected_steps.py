# SPDX-License-Identifier: MIT
"""How many simulated steps will a scoring job take? For an estimate before a long one."""

from imitable.feasibility.calibration import movement_count
from imitable.feasibility.scorer import Scorer
from imitable.robots.robot import Robot

STEPS_EACH = 1_500
"""Simulated steps a demonstration that a method takes that says nothing else, roughly."""


def expected_steps(scorer: Scorer, imitator: Robot, demonstrations: int, demonstrators: int) -> int:
    """Return about how many; a method may say `steps_each(imitator)`, and learn for `steps` a demonstrator.

    The imitator's own movements are measured twice, as demonstrations are (`calibration.py`).
    """
    steps_each = getattr(scorer, "steps_each", None)
    each = STEPS_EACH if steps_each is None else int(steps_each(imitator))
    return (demonstrations + 2 * movement_count(imitator)) * each + demonstrators * int(getattr(scorer, "steps", 0))
