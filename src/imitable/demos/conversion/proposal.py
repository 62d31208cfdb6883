# SPDX-License-Identifier: MIT
"""Which columns are a robot's positions and velocities: as the user says, as the format says, or by the data's own names."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from imitable.demos.conversion.body import WIDTHS, Joint, joints_of
from imitable.demos.conversion.joint_names import is_speed, match
from imitable.demos.conversion.mapping import SI, UNITS, Entry, references
from imitable.demos.formats.source import (
    JOINT_POSITIONS,
    JOINT_VELOCITIES,
    ROOT_POSITION,
    ROOT_ROTATION,
    ROOT_TURN,
    ROOT_VELOCITY,
    Source,
)
from imitable.errors import BadMapping, BadOption, one_of
from imitable.robots.robot import Robot

Place = tuple[str, int]
"""A column and an entry of it."""


@dataclass(frozen=True)
class MappingOptions:
    """What the user says of the columns; everything that is left out is proposed, tried or checked."""

    state: str = ""
    """Columns that are the whole state, positions first, or the positions alone: `observation.state[0:18]`."""
    qpos: str = ""
    """Columns that are the positions, in the robot's order."""
    qvel: str = ""
    """Columns that are the velocities."""
    action: str = ""
    """Columns that are the controls, in the order of the actuators."""
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """Joints of the robot by names of the data."""
    fixed: tuple[str, ...] = ()
    """Joints that the data lack: they stay at the robot's start."""
    unit: str = "rad"
    """Of angles: rad, deg, range_m100_100, range_0_100; UNIT,JOINT=UNIT,… for single joints. Of poses: m, cm, mm."""
    quaternion: str = "auto"
    """Order of rotations: wxyz, xyzw, or auto."""
    angular: str = "auto"
    """Frame of a root's angular velocity: local, world, or auto."""
    differentiate: str = "auto"
    """Whether velocities are differentiated: auto (where they do not agree with the positions), never, always."""
    fps: float | None = None
    """Frames a second, where the data do not say."""
    pose: str = ""
    """Columns of a tool's pose, x, y, z and perhaps a quaternion, for data without joints: the site goes there."""
    site: str = ""
    """With `pose`: the robot's site that has these poses. Default: the tool of an arm that has one."""
    base: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    """With `pose`: where the frame that poses are in stands in the robot's world, x, y, z in metres and yaw in radians."""
    beyond_range: bool = False
    """Take joints that leave the robot's range as they are, and approach poses that are far out of reach."""
    kept: str | Path | None = None
    """A `mapping.json` of earlier, or the folder that holds it, to use again: it says all of the above but `beyond_range`."""


@dataclass(frozen=True)
class Proposal:
    """Where entries come from, before anything is tried."""

    positions: dict[int, Place]
    """By entry of qpos; what is missing is fixed."""
    velocities: dict[int, Place]
    """By entry of qvel; all or none."""
    certain: bool
    """Whether the order of the joints is known: by names, or because the user says so."""


def propose(source: Source, robot: Robot, options: MappingOptions) -> Proposal:
    """Return a proposal, or say what is missing."""
    if options.state or options.qpos:
        return _told(source, robot, options)
    found = _by_role(source, robot, options) or _by_names(source, robot, options) or _by_width(source, robot)
    if found is None:
        raise BadMapping(str(source.path), _unclear(source, robot))
    _check_complete(source, robot, options, found)
    return found


def _told(source: Source, robot: Robot, options: MappingOptions) -> Proposal:
    """Use what `--state`, or `--qpos` and `--qvel`, name, joint after joint; fixed joints are left out."""
    fixed = fixed_joints(robot, options)
    moving = [joint for joint in joints_of(robot) if joint not in fixed]
    qpos, qvel = ([entry for joint in moving for entry in entries_of(joint, speed=speed)] for speed in (False, True))
    if not options.state:
        positions, velocities = (
            _in_order(source, f"--{option}", getattr(options, option), entries, robot)
            for option, entries in (("qpos", qpos), ("qvel", qvel))
        )
        return Proposal(positions, velocities, certain=True)
    places = references("--state", options.state, source.columns)
    if len(places) not in (len(qpos), len(qpos) + len(qvel)):
        expected = f"name {len(qpos)} entries (positions) or {len(qpos) + len(qvel)} (and velocities)"
        raise BadOption("--state", options.state, f"{expected}; these are {len(places)}")
    speeds = dict(zip(qvel, places[len(qpos) :], strict=True)) if len(places) > len(qpos) else {}
    return Proposal(dict(zip(qpos, places[: len(qpos)], strict=True)), speeds, certain=True)


def _in_order(source: Source, option: str, text: str, entries: Sequence[int], robot: Robot) -> dict[int, Place]:
    if not text:
        return {}
    places = references(option, text, source.columns)
    if len(places) != len(entries):
        raise BadOption(option, text, f"these are {len(places)} entries, the robot has {len(entries)}: {_names(robot)}")
    return dict(zip(entries, places, strict=True))


def _by_role(source: Source, robot: Robot, options: MappingOptions) -> Proposal | None:
    """Use what formats of motion clips call root and joints."""
    columns, joints = source.columns, joints_of(robot)
    if not {ROOT_POSITION, ROOT_ROTATION, JOINT_POSITIONS} <= columns.keys():
        return None
    if not joints or joints[0].kind != "free":
        raise BadMapping(str(source.path), f"its body moves freely, {robot} has no free joint at its root")
    fixed = fixed_joints(robot, options)
    others = [joint for joint in joints[1:] if joint.single and joint not in fixed]
    names, width = columns[JOINT_POSITIONS].names, columns[JOINT_POSITIONS].width
    order = _named_order(source, robot, names, others, options) if names else list(range(len(others)))
    if width < len(others) or (not names and width != len(others)):
        theirs, ours = (
            f"it has {7 + width} numbers a frame (7 of the root, {width} joints)",
            f"{robot} has {len(others)} joints",
        )
        raise BadMapping(str(source.path), f"{theirs}, {ours}: {_names(robot)}; it is a clip of another robot")
    root = {ROOT_POSITION: 3, ROOT_ROTATION: 4}
    positions = dict(enumerate((column, k) for column, size in root.items() for k in range(size)))
    positions |= {joint.position: (JOINT_POSITIONS, place) for joint, place in zip(others, order, strict=True)}
    moving = {ROOT_VELOCITY: 3, ROOT_TURN: 3}
    velocities: dict[int, Place] = {}
    if {*moving, JOINT_VELOCITIES} <= columns.keys():
        velocities = dict(enumerate((column, k) for column, size in moving.items() for k in range(size)))
        velocities |= {joint.velocity: (JOINT_VELOCITIES, place) for joint, place in zip(others, order, strict=True)}
    return Proposal(positions, velocities, certain=bool(names))


def _named_order(
    source: Source, robot: Robot, names: Sequence[str], others: Sequence[Joint], options: MappingOptions
) -> list[int]:
    """Return where the data have each joint."""
    found = {joint: name for name, joint in match(names, [joint.name for joint in others], options.names).items()}
    missing = [joint.name for joint in others if joint.name not in found]
    if missing:
        reason = f"it has no joint {', '.join(missing[:4])}, but {', '.join(names[:4])}, …; name them (--names THEIRS=OURS,…)"
        raise BadMapping(
            str(source.path), f"{reason} or leave them at rest (--fixed); is it a clip of another robot than {robot}?"
        )
    return [list(names).index(found[joint.name]) for joint in others]


def _by_names(source: Source, robot: Robot, options: MappingOptions) -> Proposal | None:
    """Match the names of all columns but actions with the state's entries, then with the joints."""
    pool = {
        name: (column, place)
        for column, held in source.columns.items()
        if not column.startswith("action")
        for place, name in enumerate(held.names)
    }
    layout = robot.layout
    exact = {place: pool[name] for place, name in enumerate(layout.qpos) if name in pool}
    if len(exact) == layout.nq:
        speeds = {place: pool[name] for place, name in enumerate(layout.qvel) if name in pool}
        return Proposal(exact, speeds if len(speeds) == len(layout.qvel) else {}, certain=True)
    singles = [joint for joint in joints_of(robot) if joint.single and joint not in fixed_joints(robot, options)]
    slow, fast = ([name for name in pool if is_speed(name) == speed] for speed in (False, True))
    positions = _matched(pool, slow, singles, options, lambda joint: joint.position)
    velocities = _matched(pool, fast, singles, options, lambda joint: joint.velocity)
    if not positions:
        return None
    return Proposal(positions, velocities if velocities.keys() == {j.velocity for j in singles} else {}, certain=True)


def _matched(
    pool: Mapping[str, Place],
    names: Sequence[str],
    joints: Sequence[Joint],
    options: MappingOptions,
    entry: Callable[[Joint], int],
) -> dict[int, Place]:
    by_name = {joint.name: joint for joint in joints}
    given = {name: joint for name, joint in options.names.items() if name in pool}
    return {entry(by_name[joint]): pool[name] for name, joint in match(names, list(by_name), given).items() if joint in by_name}


def _by_width(source: Source, robot: Robot) -> Proposal | None:
    """Use columns that are called as MuJoCo calls them, if they are as wide as the robot's."""
    nq, nv = robot.layout.nq, len(robot.layout.qvel)
    widths = {name: column.width for name, column in source.columns.items()}
    if widths.get("qpos") == nq:
        speeds = {k: ("qvel", k) for k in range(nv)} if widths.get("qvel") == nv else {}
        return Proposal({k: ("qpos", k) for k in range(nq)}, speeds, certain=True)
    for name, first in (("states", 1), ("states", 0)):  # robomimic's: time, qpos, qvel
        if widths.get(name) == first + nq + nv:
            places = [(name, first + k) for k in range(nq + nv)]
            return Proposal(dict(enumerate(places[:nq])), dict(enumerate(places[nq:])), certain=True)
    return None


def _check_complete(source: Source, robot: Robot, options: MappingOptions, found: Proposal) -> None:
    fixed = fixed_joints(robot, options)
    missing = [joint.name for joint in joints_of(robot) if joint not in fixed and joint.position not in found.positions]
    if missing:
        theirs = [name for column in source.columns.values() for name in column.names]
        reason = f"nothing in the data is {', '.join(missing[:6])}; the data have {', '.join(theirs[:12])}"
        how = (
            "name joints (--names THEIRS=OURS,…), say the order (--qpos COLUMN[0:N]), or leave joints at rest (--fixed NAME,…)"
        )
        raise BadMapping(str(source.path), f"{reason}; {how}")


def fixed_joints(robot: Robot, options: MappingOptions) -> list[Joint]:
    """Return the joints that stay at the robot's start."""
    joints = {joint.name: joint for joint in joints_of(robot)}
    for name in options.fixed:
        if name not in joints:
            raise BadOption("--fixed", name, one_of(name, joints))
    return [joints[name] for name in options.fixed]


def entries_of(joint: Joint, *, speed: bool) -> range:
    """Return the entries of a joint in qpos, or in qvel."""
    first, width = (joint.velocity if speed else joint.position), WIDTHS[joint.kind][speed]
    return range(first, first + width)


def entry_list(robot: Robot, places: Mapping[int, Place], options: MappingOptions, *, speed: bool) -> tuple[Entry, ...]:
    """Return the entries of a mapping; those without a place stay at the robot's start."""
    layout, nq = robot.layout, robot.layout.nq
    if speed and not places:
        return ()
    units = _units(robot, options.unit)
    joints = {entry: joint for joint in joints_of(robot) for entry in entries_of(joint, speed=speed)}
    names = layout.qvel if speed else layout.qpos
    start = robot.start[nq:] if speed else robot.start[:nq]
    return tuple(
        Entry(name, *places[entry], unit=_unit(units, joints[entry]))
        if entry in places
        else Entry(name, "", 0, offset=0.0 if speed else float(start[entry]))
        for entry, name in enumerate(names)
    )


def _unit(units: Mapping[str, str], joint: Joint) -> str:
    """Return the unit of a joint's entries: angles have one, and parts of a range."""
    unit = units[joint.name]
    return unit if joint.kind == "hinge" or (joint.single and unit.startswith("range_")) else SI


def _units(robot: Robot, text: str) -> dict[str, str]:
    """Return the unit of every joint, of `deg,gripper=range_0_100`."""
    joints = [joint.name for joint in joints_of(robot)]
    parts = [part.strip().rpartition("=") for part in text.split(",")]
    every = next((unit for name, _, unit in parts if not name), "rad")
    units = dict.fromkeys(joints, every) | {name: unit for name, _, unit in parts if name}
    for name, unit in units.items():
        if unit not in UNITS:
            raise BadOption("--unit", unit, one_of(unit, UNITS))
        if name not in joints:
            raise BadOption("--unit", name, one_of(name, joints))
    return units


def _names(robot: Robot) -> str:
    return ", ".join(joint.name for joint in joints_of(robot))


def _unclear(source: Source, robot: Robot) -> str:
    held = ", ".join(f"{name}[0:{column.width}]" for name, column in source.columns.items())
    nq, nv = robot.layout.nq, len(robot.layout.qvel)
    return (
        f"no column has names of its joints ({_names(robot)}); say which are the {nq} positions (--qpos) and, if there are, "
        f"the {nv} velocities (--qvel), or both in order (--state), or a tool's pose (--pose), of: {held}"
    )
