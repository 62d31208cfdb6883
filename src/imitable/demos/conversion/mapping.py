# SPDX-License-Identifier: MIT
"""`mapping.json`: from which entry of which column every state entry of a robot comes, in which unit."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from imitable.demos.conversion.base import Base
from imitable.demos.conversion.body import Joint, joints_of
from imitable.demos.formats.source import Column, Recording, Source
from imitable.errors import BadDataset, BadMapping, BadOption, one_of
from imitable.robots.robot import Robot
from imitable.types import Floats

SCHEMA = 1
FILE = "mapping.json"

UNITS = ("rad", "deg", "range_m100_100", "range_0_100")
"""Units of joints: the last two are LeRobot's, parts of a joint's range in hundredths, from −100 or from 0 on."""
LENGTHS = {"m": 1.0, "cm": 0.01, "mm": 0.001}
"""Units of a pose's place, in metres."""
SI = "si"
"""Unit of all entries that are no angles of a joint: they stay as they are."""
FOLLOWED = "follows the pose"
"""Unit of entries of joints that inverse kinematics finds: they have no column."""
ANGULAR = ("local", "world")
"""Frames that the angular velocity of a free body can be in; MuJoCo's is the local one."""


@dataclass(frozen=True)
class Entry:
    """Where one entry comes from: unit(scale · column[index]) + offset; without a column it is `offset` for ever."""

    entry: str
    """Name of the robot's entry."""
    column: str
    """Column of the data; empty: none."""
    index: int = 0
    """Entry in that column."""
    unit: str = SI
    """Of the data: one of `UNITS` for joints, of `LENGTHS` for places, `FOLLOWED`, else `si`."""
    scale: float = 1.0
    """A factor, such as −1 for a joint that turns the other way."""
    offset: float = 0.0
    """Added in the robot's unit."""

    def __str__(self) -> str:
        """Name the data's entry."""
        return f"{self.column}[{self.index}]" if self.column else "(none)"


@dataclass(frozen=True)
class PoseMapping:
    """Where the poses come from that a hand follows."""

    site: str
    """Of the robot, that stands for the hand."""
    base: Base
    """Where the frame that the poses are in stands in the robot's world."""
    entries: tuple[Entry, ...]
    """(3) x, y, z, or (7) with the quaternion qw, qx, qy, qz."""


@dataclass(frozen=True)
class JointMapping:
    """All that turns a recording's columns into positions, velocities and actions of a robot."""

    format: str
    """Of the data it was made for."""
    columns: Mapping[str, Any]
    """Their columns: names of the entries, or how many."""
    period_s: float | None
    """Seconds between two frames; None: every recording has a clock of its own."""
    positions: tuple[Entry, ...]
    """(nq)."""
    velocities: tuple[Entry, ...]
    """(nv), or empty: differentiated."""
    actions: tuple[Entry, ...]
    """(A), or empty: none."""
    angular: str
    """Frame of a free body's angular velocity in the data."""
    differentiate: str
    """Velocities of the data: auto (used where they agree with the positions), never or always differentiated."""
    pose: PoseMapping | None = None
    """Of data that have poses of a hand instead of joints."""

    def text(self) -> str:
        """Return the contents of `mapping.json`."""
        held = {name: value for name, value in asdict(self).items() if value is not None or name != "pose"}
        return json.dumps({"schema": SCHEMA, **held}, indent=2, ensure_ascii=False) + "\n"

    def check(self, where: str, source: Source, robot: Robot) -> None:
        """Refuse a mapping of other data or of another robot."""
        if dict(self.columns) != source.signature:
            name = next((n for n in (*source.signature, *self.columns) if source.signature.get(n) != self.columns.get(n)), "")
            raise BadMapping(where, f"it was made for other data: their column {name} is not that of {source.path}")
        if tuple(entry.entry for entry in self.positions) != robot.layout.qpos:
            raise BadMapping(where, f"it was made for another robot than {robot}")
        if (self.pose is None) == any(entry.unit == FOLLOWED for entry in self.positions):
            raise BadMapping(where, "joints follow a pose that it does not have, or none follows its pose")


def read_mapping(path: Path) -> JointMapping:
    """Read `mapping.json`, or that of a converted folder."""
    path = path / FILE if path.is_dir() else path
    try:
        raw = json.loads(path.read_bytes())
        if raw["schema"] > SCHEMA:
            raise ValueError("a newer imitable wrote it")
        if raw["angular"] not in ANGULAR or raw["differentiate"] not in ("auto", "never", "always"):
            raise ValueError("angular or differentiate has no such value")
        lists = ("positions", "velocities", "actions")
        values = {field.name: raw[field.name] for field in fields(JointMapping) if field.name != "pose"}
        values |= {name: tuple(_entry(entry) for entry in raw[name]) for name in lists}
        values |= {"pose": _pose(raw["pose"]) if "pose" in raw else None}
        return JointMapping(**values)
    except OSError as error:
        raise BadMapping(str(path), error.strerror or str(error)) from None
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise BadMapping(str(path), f"it is no mapping.json ({type(error).__name__}: {error})") from None


def _entry(raw: Mapping[str, Any]) -> Entry:
    entry = Entry(**raw)
    numbers = (float(entry.scale), float(entry.offset))
    if entry.unit not in (*UNITS, *LENGTHS, SI, FOLLOWED) or int(entry.index) < 0 or not all(map(math.isfinite, numbers)):
        raise ValueError(f"{entry.entry} has an unknown unit, or a number that is none")
    return entry


def _pose(raw: Mapping[str, Any]) -> PoseMapping:
    x, y, z, yaw = map(float, raw["base"])
    pose = PoseMapping(str(raw["site"]), (x, y, z, yaw), tuple(_entry(entry) for entry in raw["entries"]))
    if len(pose.entries) not in (3, 7) or not all(map(math.isfinite, pose.base)):
        raise ValueError("a pose has 3 or 7 entries, and a base of four numbers")
    return pose


def affine(entry: Entry, joint: Joint | None, *, speed: bool) -> tuple[float, float]:
    """Return (a, b) of: robot's value = a · data + b.

    A joint in degrees is a = π / 180; in hundredths of its range [l, h] it is l + (h − l)(x + 100) / 200, or
    l + (h − l) x / 100. A speed has no b.
    """
    factor, shift = LENGTHS.get(entry.unit, 1.0), 0.0
    if joint is not None and joint.single and entry.unit == "deg" and joint.kind == "hinge":
        factor = math.pi / 180
    elif joint is not None and joint.single and entry.unit.startswith("range_"):
        if not math.isfinite(joint.low + joint.high):
            raise BadOption("--unit", entry.unit, f"joint {joint.name} has no range, so hundredths of it say nothing")
        span = joint.high - joint.low
        factor, shift = (span / 200, joint.low + span / 2) if entry.unit == "range_m100_100" else (span / 100, joint.low)
    return factor * entry.scale, (0.0 if speed else shift) + entry.offset


def joint_at(robot: Robot) -> tuple[dict[int, Joint], dict[int, Joint]]:
    """Return the joint of every position entry, and of every velocity entry."""
    joints = joints_of(robot)
    sizes = {"free": (7, 6), "ball": (4, 3), "slide": (1, 1), "hinge": (1, 1)}
    positions = {joint.position + k: joint for joint in joints for k in range(sizes[joint.kind][0])}
    return positions, {joint.velocity + k: joint for joint in joints for k in range(sizes[joint.kind][1])}


def gather(where: str, recording: Recording, entries: Sequence[Entry], joints: Mapping[int, Joint], *, speed: bool) -> Floats:
    """Return the entries of a recording, (n, len(entries)); values that need no change keep their bits."""
    rows = np.empty((recording.frames, len(entries)))
    for place, entry in enumerate(entries):
        a, b = affine(entry, joints.get(place), speed=speed)
        if not entry.column:
            rows[:, place] = b
            continue
        column = recording.columns.get(entry.column)
        if column is None or entry.index >= column.shape[1]:
            raise BadMapping(where, f"{entry.entry} comes from {entry}, which {recording.name} does not have")
        values = column[:, entry.index]
        if not np.isfinite(values).all():
            frame = int(np.argmin(np.isfinite(values)))
            raise BadDataset(where, f"frame {frame} of {entry} in {recording.name} is not a finite number; mend or cut it")
        rows[:, place] = values if (a, b) == (1.0, 0.0) else a * values + b
    return rows


_REFERENCE = re.compile(r"(?P<column>.+?)(?:\[(?P<first>\d+)?(?P<colon>:)?(?P<last>\d+)?\])?")


def references(option: str, text: str, columns: Mapping[str, Column]) -> list[tuple[str, int]]:
    """Return the entries that `observation.state[0:7],gripper` names: parts of columns, or entries by their own names."""
    named = {name: (column, place) for column, held in columns.items() for place, name in enumerate(held.names)}
    found: list[tuple[str, int]] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        if part in named:
            found.append(named[part])
            continue
        match = _REFERENCE.fullmatch(part)
        assert match is not None
        column = match["column"]
        if column not in columns:
            raise BadOption(option, part, f"the data have no such column; {one_of(column, columns)}")
        width = columns[column].width
        first = int(match["first"] or 0)
        one = match["first"] is not None and match["colon"] is None
        last = first + 1 if one else int(match["last"] or width)
        if not 0 <= first < last <= width:
            raise BadOption(option, part, f"column {column} has entries 0 to {width - 1}")
        found.extend((column, place) for place in range(first, last))
    return found
