# SPDX-License-Identifier: MIT
"""A wrong map is seen before a simulator runs: joints that leave the robot's range by far are in another unit or another's."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from imitable.demos.conversion.body import Joint, joints_of
from imitable.demos.conversion.mapping import Entry, JointMapping, affine
from imitable.errors import BadMapping
from imitable.robots.robot import Robot
from imitable.types import Floats

FAR = 0.1
"""A joint may leave its range by so much of its span, or so many radians or metres, whichever is more."""
STILL = 0.03
"""If no joint moves through more than this part of its range, the unit was one too many."""


@dataclass(frozen=True)
class Reach:
    """How far one joint goes in the data, in the robot's unit."""

    joint: Joint
    entry: Entry
    low: float
    high: float

    @property
    def leaves(self) -> bool:
        """Whether it leaves the joint's range by far."""
        return not _inside(self.joint, self.low, self.high)

    @property
    def part(self) -> float:
        """The part of its range that it moves through."""
        return (self.high - self.low) / (self.joint.high - self.joint.low)


def check_ranges(where: str, robot: Robot, mapping: JointMapping, qpos: Floats) -> str:
    """Refuse positions (n, nq) that the robot's joints are far from, with a guess why; return a remark, if there is one."""
    low, high = qpos.min(axis=0).tolist(), qpos.max(axis=0).tolist()
    reaches = [
        Reach(joint, mapping.positions[joint.position], low[joint.position], high[joint.position])
        for joint in joints_of(robot)
        if joint.single and math.isfinite(joint.low + joint.high) and mapping.positions[joint.position].column
    ]
    worst = next((reach for reach in reaches if reach.leaves), None)
    if worst is not None:
        spans = f"{worst.entry} of the data spans {_span(*_raw(worst))}, the range of {worst.joint.name} is"
        raise BadMapping(where, f"{spans} {_span(worst.joint.low, worst.joint.high)}: {_guess(reaches)}")
    if reaches and max(reach.part for reach in reaches) < STILL and reaches[0].entry.unit == "deg":
        return f"no joint moves through more than {STILL:.0%} of its range: are they radians? (--unit rad)"
    return ""


def _inside(joint: Joint, low: float, high: float) -> bool:
    slack = max(FAR * (joint.high - joint.low), FAR)
    return joint.low - slack <= low and high <= joint.high + slack


def _raw(reach: Reach) -> tuple[float, float]:
    """Return the span in the data's own unit."""
    a, b = affine(reach.entry, reach.joint, speed=False)
    low, high = sorted(((reach.low - b) / a, (reach.high - b) / a)) if a else (reach.low, reach.high)
    return low, high


def _guess(reaches: Sequence[Reach]) -> str:
    """Return the first other unit in which all joints would stay inside."""
    for unit, question in (
        ("deg", "degrees? (--unit deg)"),
        ("rad", "radians? (--unit rad)"),
        ("range_m100_100", "LeRobot's −100…100? (--unit range_m100_100)"),
    ):
        if all(_fits(reach, unit) for reach in reaches) and any(reach.entry.unit != unit for reach in reaches):
            return question
    return "another order of joints, or another robot? If its joints do reach farther, give --beyond-range"


def _fits(reach: Reach, unit: str) -> bool:
    entry = Entry(reach.entry.entry, reach.entry.column, reach.entry.index, unit, reach.entry.scale, reach.entry.offset)
    a, b = affine(entry, reach.joint, speed=False)
    low, high = sorted(a * value + b for value in _raw(reach))
    if unit == "range_m100_100" and reach.joint.kind == "slide":
        return True  # grippers have other units
    return _inside(reach.joint, low, high)


def _span(low: float, high: float) -> str:
    largest = max(abs(low), abs(high))
    return f"±{largest:.2g}" if abs(low + high) < 0.05 * largest else f"{low:.3g}..{high:.3g}"


def spread(count: int, most: int) -> Iterator[int]:
    """Yield up to `most` places spread over `count`, the first and the last among them."""
    yield from np.unique(np.linspace(0, count - 1, min(most, count)).astype(int)).tolist()
