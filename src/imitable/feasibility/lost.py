# SPDX-License-Identifier: MIT
"""Where an attempt is lost, by thresholds of the body's size and of plain angles: not by how wildly the body babbles."""

from dataclasses import dataclass

import numpy as np

from imitable.feasibility.body_errors import BodyErrors
from imitable.feasibility.reach import OUT_M
from imitable.feasibility.tolerance import root_errors
from imitable.robots.robot import Robot
from imitable.sim.poses import size
from imitable.tracking.balance import frame
from imitable.tracking.inverse_dynamics import actuator_limits
from imitable.types import Bools, Floats, Ints

POSITION_PART = 0.3
"""Mean distance of the bodies, in sizes of the body: 0.5 m of a person, the humanoid groups' rule."""

HEIGHT_PART = 0.15
"""Error of the root's height, in sizes of the body: 0.25 m of a person."""

TILT_RAD, JOINT_RAD = 0.8, 1.0
"""Error of the root's upright direction (46°), and of any joint (57°)."""

CAUSES = ("position", "height", "tilt", "joint")
"""What can be lost."""


@dataclass(frozen=True)
class LostThresholds:
    """From where on an attempt counts as lost; infinite switches one off."""

    position_m: float
    """Mean distance of the bodies."""
    height_m: float
    """Of the root."""
    tilt_rad: float
    """Of the root's upright direction; its heading does not count."""
    joint_rad: float
    """Of the worst turning joint."""


@dataclass(frozen=True, eq=False)
class Lost:
    """Where n attempts of at most H steps are lost."""

    steps: Ints
    """(n) the first row from which on an attempt is lost, 0 to H − 1; −1: never."""
    causes: tuple[str, ...]
    """(n) what is lost most there, one of `CAUSES`; empty: nothing."""
    ratios: Floats
    """(n, H) the largest error ÷ its threshold; NaN beyond an attempt's end."""
    heights_m: Floats
    """(n, H) error of the root's height; NaN beyond an attempt's end."""
    tilts_rad: Floats
    """(n, H) error of its upright direction."""
    fell: Bools
    """(n) whether height or tilt stays beyond its threshold to the attempt's end: the imitator lies where it should stand."""


def lost_thresholds(robot: Robot) -> LostThresholds:
    """Return a body's thresholds: parts of its size, and plain angles. Height and tilt are those of a root that can travel.

    Of an arm only its tool's distance counts.
    """
    if robot.tool is not None:
        return LostThresholds(OUT_M, np.inf, np.inf, np.inf)
    travels = bool(frame(robot, actuator_limits(robot) > 0).travel.any())
    extent = size(robot)
    return LostThresholds(
        position_m=POSITION_PART * extent,
        height_m=HEIGHT_PART * extent if travels else np.inf,
        tilt_rad=TILT_RAD if travels else np.inf,
        joint_rad=JOINT_RAD,
    )


def lost(
    imitator: Robot,
    errors: BodyErrors,
    followed: Floats,
    demonstrated: Floats,
    thresholds: LostThresholds | None = None,
    *,
    for_good: bool = True,
) -> Lost:
    """Say where attempts are lost; followed and demonstrated states (n, H, S), `errors` of the same.

    ratio_t = max(position / position_m, height / height_m, tilt / tilt_rad, joint / joint_rad)

    `for_good`: the first step from which on the ratio stays above 1 until the attempt ends, as for a first divergence. Else
    the first step at which it is above 1, as success is counted.
    """
    limits = thresholds or lost_thresholds(imitator)
    heights, tilts = root_errors(imitator, followed, demonstrated)
    joints = errors.joints_rad.max(axis=2, initial=0.0)
    columns = (
        errors.body_steps_m / limits.position_m,
        heights / limits.height_m,
        tilts / limits.tilt_rad,
        joints / limits.joint_rad,
    )
    ratios = np.stack(columns, axis=2)
    judged: Bools = ~np.isnan(errors.body_steps_m)
    # a state that does not exist any more is infinitely far in every way
    ratios = np.where(np.isnan(ratios), np.inf, ratios)
    largest = np.where(judged, ratios.max(axis=2), np.nan)
    steps = first_lost(largest, for_good=for_good)
    fallen = first_lost(np.where(judged, ratios[:, :, 1:3].max(axis=2), np.nan), for_good=True) >= 0
    worst = (CAUSES[int(ratios[row, step].argmax())] if step >= 0 else "" for row, step in enumerate(steps.tolist()))
    heights, tilts = (np.where(judged, np.where(np.isnan(one), np.inf, one), np.nan) for one in (heights, tilts))
    return Lost(steps, tuple(worst), largest, heights, tilts, fallen)


def first_lost(ratios: Floats, *, for_good: bool = True) -> Ints:
    """(n, H) ratios, NaN beyond the ends → (n) the first row above 1 (for good: and after which none is below), or −1."""
    above: Bools = ratios > 1
    if for_good:
        held = above | np.isnan(ratios)
        above = np.logical_and.accumulate(held[:, ::-1], axis=1)[:, ::-1] & above
    return np.where(above.any(axis=1), above.argmax(axis=1), -1)
