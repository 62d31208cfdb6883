# SPDX-License-Identifier: MIT
"""The verb `convert`: data of any format become demonstrations of a robot, an episode at a time."""

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from imitable.demos.conversion.find import Found, check_mapping, find_mapping, sample_of
from imitable.demos.conversion.mapper import Mapped, mapped, posed, retargeted
from imitable.demos.conversion.mapping import FILE, JointMapping, read_mapping
from imitable.demos.conversion.other_arm import OtherArm, check_other
from imitable.demos.conversion.parts import Parts, key_of, remove_parts
from imitable.demos.conversion.proposal import MappingOptions
from imitable.demos.conversion.shortfall import Shortfall, shortfall_remarks
from imitable.demos.conversion.tool_poses import check_poses, find_pose_mapping
from imitable.demos.formats import open_source
from imitable.demos.formats.direct import trajectory_of
from imitable.demos.formats.source import Recording, Source
from imitable.demos.store import SHARD_MB, TASK, check_replaceable, write_with
from imitable.demos.writer import Writer
from imitable.errors import BadDataset, BadMapping, BadOption, BadTrajectory
from imitable.files import Output, check_apart, check_free, locked
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.types import Layout, Trajectory

ORIGIN = "meta/origin.json"
"""Where episodes came from: for exports to whoever has the originals."""
POSES_ALONE = "the imitator follows poses without the arm that they are of: leave it out"


@dataclass(frozen=True)
class Conversion:
    """What a conversion did."""

    out: Path
    format: str
    episodes: int
    frames: int
    """Frames that were read."""
    resampled: int
    """Episodes at another rate than the robot's."""
    mapping: JointMapping | None
    remarks: tuple[str, ...]
    """What a person should know."""


def convert(
    source: str | Path,
    out: str | Path | Output,
    imitator: str | Robot | None = None,
    *,
    format_name: str | None = None,
    options: MappingOptions | None = None,
    label: str | None = None,
    other: OtherArm | None = None,
) -> Conversion:
    """Convert data of any format into a LeRobot v3 dataset of an imitator's states.

    Args:
        source: a file, a folder, or the id of a local Minari dataset; it is never changed.
        out: folder to write, whole or not at all.
        imitator: the robot whose states they shall be; without one, data that are whole states already are taken as they are.
        format_name: of the data, see `imitable.demos.formats.FORMATS`. Default: seen from the files.
        options: what is known of the columns, or a `mapping.json` of earlier.
        label: name of the demonstrator; `file` gives every recording its own. Default: what the data say, else the folder's
            name.
        other: the arm that the data are of, if it is not the imitator: its hand is followed.
    """
    output, opened = Output.of(out), open_source(source, format_name)
    assert output.path is not None
    robot = parse_robot(imitator) if isinstance(imitator, str) else imitator
    check_apart(output.path, [opened.path])
    job = _Job(opened, output, robot, label, other)
    if other is not None:
        if robot is None:
            raise BadOption("--imitator", "(none)", "the hand of another arm is followed by a robot: say which")
        check_other(other, robot)
    with locked(output.path):
        return job.run(_found(opened, robot, options or MappingOptions(), other))


def _found(source: Source, imitator: Robot | None, options: MappingOptions, other: OtherArm | None) -> Found | None:
    """Return the mapping that is asked for; None: the data are whole states already."""
    robot = other.robot if other else imitator
    if robot is None:
        if options != MappingOptions():
            raise BadOption("--imitator", "(none)", "columns are mapped onto a robot: say which")
        if source.layout is None:
            raise BadMapping(str(source.path), "its states have no names or no period: give --imitator, whose joints they are")
        return None
    if other is not None and options.pose:
        raise BadOption("--demonstrator", robot, POSES_ALONE)
    if (mapping := options.kept) is None:
        return (find_pose_mapping if options.pose else find_mapping)(source, robot, options)
    if options != MappingOptions(beyond_range=options.beyond_range, kept=mapping):
        raise BadOption("--map", mapping, "it says all about the columns: leave out the other options, or edit it")
    kept = read_mapping(Path(mapping))
    kept.check(str(mapping), source, robot)
    sample = sample_of(source)
    remark = check_mapping(robot, kept, sample, beyond_range=options.beyond_range)
    if kept.pose is not None:
        if other is not None:
            raise BadOption("--demonstrator", robot, POSES_ALONE)
        check_poses(robot, kept, sample, beyond_range=options.beyond_range)
    return Found(kept, (remark,) if remark else ())


class _Job:
    """One conversion under way."""

    def __init__(self, source: Source, output: Output, robot: Robot | None, label: str | None, other: OtherArm | None) -> None:
        assert output.path is not None
        self._source, self._output, self._robot, self._label, self._other = source, output, robot, label, other
        self._gap, self._turn = 0.0, 0.0
        self._out = output.path
        self._replaced: list[tuple[float, str]] = []
        self._shortfalls: list[Shortfall] = []
        self._counts: Counter[str] = Counter()

    def run(self, found: Found | None) -> Conversion:
        """Convert, and write the output when all is converted."""
        check_free(self._out, overwrite=self._output.overwrite or self._output.resume, resume=True)
        check_replaceable(self._out)
        layout = self._source.layout if found is None or self._robot is None else self._robot.layout
        assert layout is not None
        other = self._other and (self._other.robot.hash, self._other.site, self._other.base)
        robot, mapping = self._robot and self._robot.hash, found and found.mapping.text()
        key = key_of(self._source.fingerprint, mapping, robot, self._label, other)
        if not (self._output.resume and _key_of_output(self._out) == _short(key)):
            parts = Parts(self._out, key, resume=self._output.resume, overwrite=self._output.overwrite)
            writer = partial(Writer, layout=layout, task=TASK, shard_mb=SHARD_MB)
            with parts.keeping():
                parts.fill(layout, len(self._source), lambda place: self._convert(place, layout, found))
                write_with(self._out, parts, writer, self._beside(found, key))
        remove_parts(self._out)  # also those of a job that was killed when its output stood
        return Conversion(
            out=self._out,
            format=self._source.format,
            episodes=len(self._source),
            frames=self._counts["frames"],
            resampled=self._counts["resampled"],
            mapping=found.mapping if found else None,
            remarks=(*(found.remarks if found else ()), *self._remarks()),
        )

    def _convert(self, place: int, layout: Layout, found: Found | None) -> Trajectory:
        recording = self._source[place]
        self._counts["frames"] += recording.frames
        try:
            if found is None or self._robot is None:
                trajectory = trajectory_of(self._source, recording, layout, self._name(recording))
            else:
                trajectory = self._account(self._mapped(recording, found.mapping, self._robot), self._robot)
        except BadTrajectory as error:
            raise BadDataset(str(self._source.path), f"{recording.name} is {error}") from None
        self._output.observer.progress(place + 1, len(self._source), recording.name)
        return trajectory

    def _mapped(self, recording: Recording, mapping: JointMapping, robot: Robot) -> Mapped:
        where, name = str(self._source.path), self._name(recording)
        if mapping.pose is not None:
            return posed(where, recording, mapping, robot, name)
        if self._other is None:
            return mapped(where, recording, mapping, robot, name)
        return retargeted(where, recording, mapping, self._other, robot, name)

    def _account(self, made: Mapped, robot: Robot) -> Trajectory:
        self._counts["resampled"] += made.resampled
        if made.reached is not None:
            self._gap, self._turn = max(self._gap, made.reached.gap_m), max(self._turn, made.reached.turn)
        if made.shortfall is not None:
            self._shortfalls.append(made.shortfall)
        if made.disagreement is not None:
            self._replaced.append((made.disagreement.part, robot.layout.qvel[made.disagreement.entry]))
        return made.trajectory

    def _name(self, recording: Recording) -> str:
        if self._label == "file":
            return Path(recording.name).stem
        return self._label or recording.demonstrator or (str(self._other.robot) if self._other else self._source.robot)

    def _remarks(self) -> list[str]:
        if self._other is not None and self._counts["frames"]:
            return [f"the hand stays within {self._gap:.2g} m and {self._turn:.2g} rad of the other arm's"]
        if not self._replaced:
            return shortfall_remarks(self._shortfalls)
        part, entry = max(self._replaced)
        count = f"{len(self._replaced)} of {len(self._source)} recordings"
        return [
            f"velocities of {count} do not agree with their positions (worst: {entry}, off by {part:.0%} of its speed) "
            "and were differentiated; --differentiate never keeps them"
        ]

    def _beside(self, found: Found | None, key: str) -> dict[str, str]:
        origin = {"schema": 1, "key": _short(key), "source": str(self._source.path.resolve()), "format": self._source.format}
        origin |= {"episodes": self._source.origins()}
        files = {ORIGIN: json.dumps(origin, indent=1)}
        return files | ({FILE: found.mapping.text()} if found else {})


def _short(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:32]


def _key_of_output(out: Path) -> str | None:
    """Return what an output that is there was made of."""
    try:
        return json.loads((out / ORIGIN).read_bytes()).get("key")
    except (AttributeError, OSError, ValueError):
        return None
