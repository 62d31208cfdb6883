# SPDX-License-Identifier: MIT
"""From a source, a robot and what the user says to a mapping: proposed, tried, checked."""

from dataclasses import dataclass, replace

import numpy as np

from imitable.demos.conversion.base import HERE
from imitable.demos.conversion.body import joints_of
from imitable.demos.conversion.mapping import ANGULAR, Entry, JointMapping, gather, joint_at, references
from imitable.demos.conversion.proposal import MappingOptions, Proposal, entry_list, propose
from imitable.demos.conversion.ranges import check_ranges, spread
from imitable.demos.conversion.trials import Sample, angular_frame, joint_order, quaternion_order, rolled, unit_rotations
from imitable.demos.formats.source import Recording, Source
from imitable.errors import BadOption
from imitable.robots.robot import Robot
from imitable.types import Floats

SAMPLED = 16
"""Recordings that a mapping is tried and checked on before anything is converted."""

SHOWN = 6
"""Names that a remark lists."""


@dataclass(frozen=True)
class Found:
    """A mapping, and what a person should know of it."""

    mapping: JointMapping
    remarks: tuple[str, ...]


def find_mapping(source: Source, robot: Robot, options: MappingOptions) -> Found:
    """Propose a mapping, try on the robot what the data do not say, and refuse what its joints cannot be."""
    check_options(options)
    sample = sample_of(source)
    proposal, order_remark = joint_order(robot, propose(source, robot, options), sample)
    positions, rotation_remark = _positions(source, robot, options, proposal, sample)
    mapping = JointMapping(
        format=source.format,
        columns=source.signature,
        period_s=period_of(source, robot, options),
        positions=positions,
        velocities=entry_list(robot, proposal.velocities, options, speed=True),
        actions=actions_of(source, robot, options),
        angular="local",
        differentiate=options.differentiate,
    )
    mapping, angular_remark = _with_frame(source, robot, options, mapping, sample)
    range_remark = check_mapping(robot, mapping, sample, beyond_range=options.beyond_range)
    remarks = (order_remark, rotation_remark, angular_remark, range_remark, _left_out(source, mapping))
    return Found(mapping, tuple(filter(None, remarks)))


def _left_out(source: Source, mapping: JointMapping) -> str:
    """Say which entries of the columns that are used have no place on the robot, such as a gripper that it lacks."""
    used = {(entry.column, entry.index) for entry in (*mapping.positions, *mapping.velocities, *mapping.actions)}
    columns = {column: source.columns[column].names for column in sorted({column for column, _ in used if column})}
    left = [name for column, names in columns.items() for place, name in enumerate(names) if (column, place) not in used]
    more = f" and {len(left) - SHOWN} more" if len(left) > SHOWN else ""
    return f"left out, as the robot has no such joint: {', '.join(left[:SHOWN])}{more}" if left else ""


def sample_of(source: Source) -> Sample:
    """Return a few recordings, spread over the source."""
    return Sample(str(source.path), tuple(source[place] for place in spread(len(source), SAMPLED)))


def check_mapping(robot: Robot, mapping: JointMapping, sample: Sample, *, beyond_range: bool) -> str:
    """Refuse a mapping whose values are not those of the robot's joints; return a remark, if there is one."""
    joints, _ = joint_at(robot)
    rows = [gather(sample.where, one, mapping.positions, joints, speed=False) for one in sample.recordings]
    return "" if beyond_range else check_ranges(sample.where, robot, mapping, np.concatenate(rows))


def clock(mapping: JointMapping, recording: Recording) -> Floats:
    """Return the seconds of all frames, (n), or say that nobody knows them."""
    if recording.times is not None:
        if not (np.diff(recording.times) > 0).all():
            frame = int(np.argmax(np.diff(recording.times) <= 0)) + 1
            raise BadOption("SRC", recording.name, f"its clock does not go on at frame {frame}; mend it, or leave it out")
        return recording.times - recording.times[0]
    if mapping.period_s is None:
        raise BadOption("--fps", "(none)", f"{recording.name} does not say how long a frame lasts; give --fps")
    return mapping.period_s * np.arange(float(recording.frames))


def period_of(source: Source, robot: Robot, options: MappingOptions) -> float | None:
    """Return the seconds between two frames: as the user, the format or the data say."""
    if options.fps:
        return 1 / options.fps
    return robot.layout.period_s if source.habits.robots_period else source.period_s


def check_options(options: MappingOptions) -> None:
    """Refuse values that no option has."""
    for option, value, allowed in (
        ("--quaternion", options.quaternion, ("auto", "wxyz", "xyzw")),
        ("--angular", options.angular, ("auto", *ANGULAR)),
        ("--differentiate", options.differentiate, ("auto", "never", "always")),
    ):
        if value not in allowed:
            raise BadOption(option, value, f"give {', '.join(allowed)}")
    if options.fps is not None and not 0 < options.fps < float("inf"):
        raise BadOption("--fps", options.fps, "give frames a second, a number above 0")
    if not options.pose and (options.site or options.base != HERE):
        name, value = ("--site", options.site) if options.site else ("--base", ",".join(map(str, options.base)))
        raise BadOption(name, value, "it is for the hand of another arm: give --demonstrator, or for poses: give --pose")


def _positions(
    source: Source, robot: Robot, options: MappingOptions, proposal: Proposal, sample: Sample
) -> tuple[tuple[Entry, ...], str]:
    """Return the entries of positions, with quaternions in the order that is known, or suits the robot."""
    entries = {
        "wxyz": entry_list(robot, proposal.positions, options, speed=False),
        "xyzw": entry_list(robot, rolled(robot, proposal.positions), options, speed=False),
    }
    known = options.quaternion if options.quaternion != "auto" else source.habits.quaternion
    if entries["wxyz"] == entries["xyzw"]:
        return entries["wxyz"], ""
    if known is not None:
        unit_rotations(sample.where, robot, sample.frames(robot, entries[known]))
        return entries[known], ""
    order, why = quaternion_order(robot, sample, entries)
    return entries[order], why


def _with_frame(
    source: Source, robot: Robot, options: MappingOptions, mapping: JointMapping, sample: Sample
) -> tuple[JointMapping, str]:
    known = options.angular if options.angular != "auto" else source.habits.angular
    if not mapping.velocities or not any(joint.kind == "free" for joint in joints_of(robot)):
        return mapping, ""
    if known is not None:
        return replace(mapping, angular=known), ""
    times = [clock(mapping, recording) for recording in sample.recordings]
    frame, remark = angular_frame(robot, mapping, sample, times)
    return replace(mapping, angular=frame), remark


def actions_of(source: Source, robot: Robot, options: MappingOptions) -> tuple[Entry, ...]:
    """Return the entries of the controls: as the user says, or of a column whose names are those of the actuators."""
    actuators = robot.layout.actuators
    if options.action:
        places = references("--action", options.action, source.columns)
        if len(places) != len(actuators):
            expected = f"these are {len(places)} entries, the robot has {len(actuators)} actuators: {', '.join(actuators)}"
            raise BadOption("--action", options.action, expected)
        return tuple(Entry(name, *place) for name, place in zip(actuators, places, strict=True))
    column = source.columns.get("action")
    if column is None or column.names != actuators:
        return ()
    return tuple(Entry(name, "action", place) for place, name in enumerate(actuators))
