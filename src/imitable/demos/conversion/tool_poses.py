# SPDX-License-Identifier: MIT
"""Data that have only poses of a tool: which columns they are, and the joints that put the robot's hand there."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from imitable.demos.conversion.base import in_our_world
from imitable.demos.conversion.body import Joint, Poses, joints_of
from imitable.demos.conversion.find import Found, actions_of, check_mapping, check_options, period_of, sample_of
from imitable.demos.conversion.following import Reached, Targets, follow, following_joints
from imitable.demos.conversion.mapping import FOLLOWED, LENGTHS, Entry, JointMapping, PoseMapping, gather, joint_at, references
from imitable.demos.conversion.other_arm import check_site
from imitable.demos.conversion.proposal import MappingOptions, Place, entry_list, fixed_joints
from imitable.demos.conversion.trials import CLEAR, Sample, unit_rotations
from imitable.demos.formats.source import Recording, Source
from imitable.errors import BadMapping, BadOption, one_of
from imitable.robots.robot import Robot
from imitable.types import Floats

NAMES = ("x", "y", "z", "qw", "qx", "qy", "qz")
"""What a pose is made of."""
FAR_M = 0.05
"""A pose that the hand stays farther away from is far out of reach."""
TRIED = 12
"""Poses that are tried before anything is converted."""
MOST_FAR = 0.5
"""If more than this part of the poses that are tried is far out of reach, they are not the robot's."""


def find_pose_mapping(source: Source, robot: Robot, options: MappingOptions) -> Found:
    """Find the columns of a pose, the order of its quaternion and the joints that follow; refuse poses that are far away."""
    check_options(options)
    _check_alone(options)
    site, sample, (length, joint_units) = _site(robot, options), sample_of(source), _units(options.unit)
    places = references("--pose", options.pose, source.columns)
    if len(places) not in (3, 7):
        expected = f"name 3 entries (x, y, z) or 7 (and a quaternion); these are {len(places)}"
        raise BadOption("--pose", options.pose, expected)
    mapping = JointMapping(
        format=source.format,
        columns=source.signature,
        period_s=period_of(source, robot, options),
        positions=_positions(source, robot, replace(options, unit=joint_units), site),
        velocities=(),
        actions=actions_of(source, robot, options),
        angular="local",
        differentiate="always",
        pose=PoseMapping(site, options.base, _entries(places, length)),
    )
    mapping, remark = _with_order(source, robot, options, mapping, sample)
    remarks = (remark, check_mapping(robot, mapping, sample, beyond_range=options.beyond_range))
    check_poses(robot, mapping, sample, beyond_range=options.beyond_range)
    return Found(mapping, tuple(filter(None, remarks)))


def check_poses(robot: Robot, mapping: JointMapping, sample: Sample, *, beyond_range: bool) -> None:
    """Refuse poses that the robot cannot have, most of them: in another unit, or another robot's."""
    assert mapping.pose is not None
    check_site(mapping.pose.site, robot)
    reached = _tried(robot, mapping, sample)
    if beyond_range or not _strange(reached):
        return
    guess = "is the base elsewhere (--base x,y,z,yaw)? --beyond-range takes the nearest that can be reached"
    for unit, name in (("mm", "millimetres"), ("cm", "centimetres")):
        entries = tuple(replace(one, unit=unit) if place < 3 else one for place, one in enumerate(mapping.pose.entries))
        if not _strange(_tried(robot, replace(mapping, pose=replace(mapping.pose, entries=entries)), sample)):
            guess = f"{name}? (--unit {unit})"
            break
    far = f"{mapping.pose.site} cannot come within {100 * FAR_M:g} cm of {np.mean(reached.gaps_m > FAR_M):.0%} of the poses"
    raise BadMapping(sample.where, f"{far} (the farthest: {100 * reached.gap_m:.3g} cm): {guess}")


def follow_poses(where: str, recording: Recording, mapping: JointMapping, robot: Robot) -> Reached:
    """Return the positions (n, nq) that put the hand at a recording's poses, as near as they can."""
    assert mapping.pose is not None
    rows = _rows(where, recording, mapping, robot)
    return follow(robot, mapping.pose.site, _targets(where, recording, mapping.pose), rows, _followers(robot, mapping))


def _check_alone(options: MappingOptions) -> None:
    for name in ("state", "qpos", "qvel"):
        if value := getattr(options, name):
            raise BadOption(f"--{name}", value, "joints follow --pose: leave it out (--names takes single joints along)")
    if options.differentiate == "never":
        raise BadOption("--differentiate", "never", "poses (--pose) have no joint velocities that could be kept")


def _site(robot: Robot, options: MappingOptions) -> str:
    site = options.site or (robot.tool.site if robot.tool is not None else "")
    if not site:
        raise BadOption("--pose", options.pose, f"say which site of {robot} has these poses (--site)")
    check_site(site, robot)
    if not following_joints(robot, site):
        raise BadOption("--site", site, "no joint moves it: take one that a hand or a tool carries")
    return site


def _units(text: str) -> tuple[str, str]:
    """Return the unit of places, and what is said of joints: `mm,gripper=range_0_100` → `mm`, `gripper=range_0_100`."""
    parts = [part.strip() for part in text.split(",")]
    length = next((part for part in parts if part in LENGTHS), "m")
    return length, ",".join(part for part in parts if part not in LENGTHS) or "rad"


def _positions(source: Source, robot: Robot, options: MappingOptions, site: str) -> tuple[Entry, ...]:
    """Return entries of joints that the data name, that are fixed, and of those that follow."""
    joints, places = {joint.name: joint for joint in joints_of(robot) if joint.single}, dict[int, Place]()
    for theirs, ours in options.names.items():
        if ours not in joints:
            raise BadOption("--names", ours, one_of(ours, joints))
        found = references("--names", theirs, source.columns)
        if len(found) != 1:
            raise BadOption("--names", theirs, f"name one entry for {ours}; these are {len(found)}")
        places[joints[ours].position] = found[0]
    entries = list(entry_list(robot, places, options, speed=False))
    fixed = fixed_joints(robot, options)
    for joint in following_joints(robot, site):
        if joint not in fixed and joint.position not in places:
            span = slice(joint.position, joint.position + (4 if joint.kind == "ball" else 1))
            entries[span] = [replace(entry, unit=FOLLOWED) for entry in entries[span]]
    if not any(entry.unit == FOLLOWED for entry in entries):
        raise BadOption("--pose", options.pose, f"every joint that moves {site} is fixed or named: none is left to follow")
    return tuple(entries)


def _entries(places: Sequence[Place], length: str) -> tuple[Entry, ...]:
    units = (length if length != "m" else "si",) * 3 + ("si",) * 4
    return tuple(Entry(name, *place, unit=unit) for name, place, unit in zip(NAMES, places, units, strict=False))


def _with_order(
    source: Source, robot: Robot, options: MappingOptions, mapping: JointMapping, sample: Sample
) -> tuple[JointMapping, str]:
    """Read the quaternion as the user or the format says, as its entries are called, or as suits the robot."""
    pose = mapping.pose
    assert pose is not None
    if len(pose.entries) == 3:
        return mapping, ""
    places = [(entry.column, entry.index) for entry in pose.entries[3:]]
    by_order = {order: _reordered(mapping, [places[order.index(letter)] for letter in "wxyz"]) for order in ("wxyz", "xyzw")}
    known = options.quaternion if options.quaternion != "auto" else source.habits.quaternion
    if known is not None:
        return by_order[known], ""
    letters = [_called(source, place)[-1:].lower() for place in places]
    if sorted(letters) == sorted("wxyz"):
        return _reordered(mapping, [places[letters.index(letter)] for letter in "wxyz"]), ""
    lacks = {order: _lack(robot, one, sample) for order, one in by_order.items()}
    best, worst = sorted(lacks, key=lambda order: lacks[order][0])
    why = f"the hand stays {lacks[best][0]:.2f} rad from its pose, as {worst} {lacks[worst][0]:.2f}"
    if not lacks[worst][0] > CLEAR * max(lacks[best][0], 0.01):
        best, worst = sorted(lacks, key=lambda order: lacks[order][1])
        why = f"that turns the hand by {lacks[best][1]:.2f} rad from its start, {worst} by {lacks[worst][1]:.2f}"
    return by_order[best], f"quaternions are read as {best}: {why}; --quaternion says otherwise"


def _reordered(mapping: JointMapping, places: Sequence[Place]) -> JointMapping:
    """Return a mapping whose quaternion, w first, comes from these places."""
    assert mapping.pose is not None
    turned = tuple(Entry(name, *place) for name, place in zip(NAMES[3:], places, strict=True))
    return replace(mapping, pose=replace(mapping.pose, entries=(*mapping.pose.entries[:3], *turned)))


def _called(source: Source, place: Place) -> str:
    names = source.columns[place[0]].names
    return names[place[1]] if names else ""


def _lack(robot: Robot, mapping: JointMapping, sample: Sample) -> tuple[float, float]:
    """Return the mean angle that the hand lacks on some frames, and that of the poses from the hand at the robot's start."""
    assert mapping.pose is not None
    reached, turns = _tried(robot, mapping, sample), _sampled(robot, mapping, sample)[0].turns
    assert turns is not None
    _, start = Poses(robot).site(mapping.pose.site, robot.start[: robot.layout.nq])
    return float(reached.turns.mean()), float(2 * np.arccos(np.clip(np.abs(turns @ start), 0, 1)).mean())


def _tried(robot: Robot, mapping: JointMapping, sample: Sample) -> Reached:
    """Put the hand at poses that are spread over all recordings, each for itself."""
    assert mapping.pose is not None
    targets, rows = _sampled(robot, mapping, sample)
    return follow(robot, mapping.pose.site, targets, rows, _followers(robot, mapping), apart=True)


def _sampled(robot: Robot, mapping: JointMapping, sample: Sample) -> tuple[Targets, Floats]:
    assert mapping.pose is not None
    targets = [_targets(sample.where, one, mapping.pose) for one in sample.recordings]
    places = np.concatenate([one.places for one in targets])
    turns = [one.turns for one in targets if one.turns is not None]
    rows = np.concatenate([_rows(sample.where, one, mapping, robot) for one in sample.recordings])
    kept = np.unique(np.linspace(0, len(rows) - 1, TRIED).astype(int))
    return Targets(places[kept], np.concatenate(turns)[kept] if turns else None), rows[kept]


def _targets(where: str, recording: Recording, pose: PoseMapping) -> Targets:
    """Return a recording's poses in the robot's world."""
    rows = gather(where, recording, pose.entries, {}, speed=False)
    if rows.shape[1] == 3:
        return in_our_world(Targets(rows), pose.base)
    lengths = np.linalg.norm(rows[:, 3:], axis=1)
    if (off := np.abs(lengths - 1)).max() > 0.1:
        worst = int(off.argmax())
        reason = f"the pose at frame {worst} of {recording.name} is no rotation: its quaternion has the length"
        raise BadMapping(where, f"{reason} {lengths[worst]:.3g}")
    return in_our_world(Targets(rows[:, :3], rows[:, 3:] / lengths[:, None]), pose.base)


def _rows(where: str, recording: Recording, mapping: JointMapping, robot: Robot) -> Floats:
    joints, _ = joint_at(robot)
    return unit_rotations(f"{where}: {recording.name}", robot, gather(where, recording, mapping.positions, joints, speed=False))


def _followers(robot: Robot, mapping: JointMapping) -> list[Joint]:
    return [joint for joint in joints_of(robot) if mapping.positions[joint.position].unit == FOLLOWED]


def _strange(reached: Reached) -> bool:
    return float(np.mean(reached.gaps_m > FAR_M)) > MOST_FAR
