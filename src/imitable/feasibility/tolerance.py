# SPDX-License-Identifier: MIT
"""How far from a demonstration a motion may be and still count as that motion: a tube around it, in metres and radians.

A demonstration is feasible if *some* motion of the imitator stays in this tube throughout.
"""

import math
import re
from dataclasses import dataclass, fields, replace
from functools import lru_cache

import numpy as np

from imitable.errors import BadOption, one_of
from imitable.feasibility.body_errors import BodyErrors
from imitable.feasibility.reach import OUT_M
from imitable.robots.robot import Robot
from imitable.sim.poses import joint_columns, limited_joints, positions, size, uprights
from imitable.tracking.balance import frame
from imitable.tracking.inverse_dynamics import actuator_limits
from imitable.types import Floats

ARM_M, ARM_RAD = 0.02, 0.1
"""Tolerance of an arm that is bolted down: of the centres of its links, and of its joints and their ranges."""

FLOATING_M, FLOATING_PART = 0.25, 0.15
"""Of bodies that stand on their own, as BeyondMimic and mjlab count a motion as lost; of small ones this part of their size."""

TILT_RAD, JOINT_RAD, RANGE_RAD = 0.8, 0.5, 0.2
"""Of the root's upright direction (mjlab's `anchor_ori`), of joints, and of joints beyond their ranges, of such bodies."""


JOINT_PART, RANGE_PART = 0.25, 0.15
"""A joint may be off by this part of its range at most, and beyond its range by this part."""


@dataclass(frozen=True)
class Tolerance:
    """The half-width of the tube; infinite where something may be anywhere."""

    position_m: float
    """Of the centre of every link, or of the tool of an arm that is controlled by it (mjlab: `ee_body_pos`)."""
    joint_rad: float
    """Of every joint that turns."""
    height_m: float
    """Of the root's height (mjlab: `anchor_pos`)."""
    tilt_rad: float
    """Of the root's upright direction (mjlab: `anchor_ori`); its heading is seen in the positions of the links."""
    range_rad: float
    """How far a joint may be beyond its range: recordings overshoot soft stops, and calibrations differ. Joints that slide
    may be off by `position_m`."""

    def __str__(self) -> str:
        """Return the text that `parse_tolerance` reads."""
        finite = [(field.name, getattr(self, field.name)) for field in fields(self) if math.isfinite(getattr(self, field.name))]
        return ",".join(f"{name.rpartition('_')[0]}={value:g}{name.rpartition('_')[2]}" for name, value in finite)

    def of_joints(self, imitator: Robot) -> Floats:
        """(J) tolerance of the joints that turn, in the order of `joint_columns`: of a short range only a part of it."""
        spans = dict(zip(limited_joints(imitator).names, np.diff(limited_joints(imitator).ranges)[:, 0].tolist(), strict=True))
        return np.array([min(self.joint_rad, JOINT_PART * spans.get(name, math.inf)) for name in joint_columns(imitator).names])

    def of_ranges(self, imitator: Robot) -> Floats:
        """(J) how far joints may be beyond their ranges, in the order of `limited_joints`: of a short one a part of it."""
        joints = limited_joints(imitator)
        limits = np.array([self.position_m if unit == "m" else self.range_rad for unit in joints.units])
        return np.minimum(limits, RANGE_PART * np.diff(joints.ranges)[:, 0])

    def ratios(self, imitator: Robot, errors: BodyErrors, followed: Floats, demonstrated: Floats) -> Floats:
        """(n, H) the largest error ÷ its tolerance, of followed against demonstrated states (n, H, S) and their `errors`.

        At most 1 in the tube; NaN beyond an attempt's end, infinite where it has no state any more.
        """
        heights, tilts = root_errors(imitator, followed, demonstrated)
        with np.errstate(invalid="ignore"):  # infinitely far, where anything is allowed: still no motion
            columns = (
                errors.bodies_m.max(axis=2) / self.position_m,
                (errors.joints_rad / self.of_joints(imitator)).max(axis=2, initial=0.0),
                heights / self.height_m,
                tilts / self.tilt_rad,
            )
        largest = np.stack([np.where(np.isnan(one), np.inf, one) for one in columns]).max(axis=0)
        return np.where(np.isnan(errors.body_steps_m), np.nan, largest)


@lru_cache(maxsize=64)
def default_tolerance(robot: Robot) -> Tolerance:
    """Return the tolerance of a kind of body: an arm controlled by its tool, a body that is bolted down, one that is not."""
    if robot.tool is not None:
        return Tolerance(OUT_M, math.inf, math.inf, math.inf, math.inf)
    if not frame(robot, actuator_limits(robot) > 0).travel.any():
        return Tolerance(ARM_M, ARM_RAD, math.inf, math.inf, ARM_RAD)
    length = min(FLOATING_M, FLOATING_PART * size(robot))
    return Tolerance(length, JOINT_RAD, length, TILT_RAD, RANGE_RAD)


UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "rad": 1.0, "deg": math.pi / 180, "": 1.0}
NAMES = {"ee_body_pos": "position", "anchor_pos": "height", "anchor_ori": "tilt"}
"""mjlab's names of what it watches."""


def parse_tolerance(text: str, robot: Robot) -> Tolerance:
    """Read `2cm,0.1rad` or `position=0.25m,tilt=0.8,height=20cm`: a bare length is a position, a bare angle is of joints.

    What is not named keeps its default; an angle of joints is also that of their ranges, unless `range` is given.
    """
    given: dict[str, float] = {}
    suffixes = {field.name.rpartition("_")[0]: field.name.rpartition("_")[2] for field in fields(Tolerance)}
    for part in filter(None, (one.strip() for one in text.split(","))):
        found = re.fullmatch(r"(?:(\w+)\s*=\s*)?([\d.]+(?:e-?\d+)?)\s*(m|cm|mm|rad|deg|)", part)
        if found is None:
            raise BadOption("--tolerance", part, "give lengths and angles such as 2cm,0.1rad or position=0.25m,tilt=0.8rad")
        name, number, unit = found.groups()
        kind = "m" if unit.endswith("m") else "rad" if unit else ""
        name = NAMES.get(name, name) or {"m": "position", "rad": "joint"}.get(kind, "")
        if name not in suffixes:
            raise BadOption(
                "--tolerance", part, one_of(name, [*suffixes, *NAMES]) if name else "give a unit: m, cm, mm, rad or deg"
            )
        if kind not in ("", suffixes[name]):
            raise BadOption("--tolerance", part, f"{name} is measured in {suffixes[name]}")
        value = float(number) * UNITS[unit]
        if not 0 < value < math.inf:
            raise BadOption("--tolerance", part, "give a number above 0")
        given[name] = value
    if "joint" in given:
        given.setdefault("range", given["joint"])
    return replace(default_tolerance(robot), **{f"{name}_{suffixes[name]}": value for name, value in given.items()})


def root_errors(robot: Robot, followed: Floats, demonstrated: Floats) -> tuple[Floats, Floats]:
    """(n, H, S), (n, H, S) → (n, H) errors of the root's height in metres, and (n, H) of its upright direction in radians."""
    ours, theirs = (positions(robot, states)[..., 0, 2] for states in (followed, demonstrated))
    up, wanted = uprights(robot, followed), uprights(robot, demonstrated)
    sine, cosine = np.linalg.norm(np.cross(up, wanted), axis=-1), (up * wanted).sum(axis=-1)
    return np.abs(ours - theirs), np.arctan2(sine, cosine)
