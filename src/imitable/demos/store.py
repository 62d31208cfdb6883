# SPDX-License-Identifier: MIT
"""Demonstrations on disk: genuine LeRobot v3.0 datasets, written in one stream and read an episode at a time.

States are float64 and come back bit for bit; every episode carries the hash of its contents, which reading checks.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from imitable.demos.filed import Filed
from imitable.demos.formats import open_source
from imitable.demos.formats.direct import DirectFiles
from imitable.demos.formats.recognise import recognise
from imitable.demos.lerobot import INFO_FILE
from imitable.demos.reader import Folder
from imitable.demos.writer import Writer
from imitable.errors import BadDataset, CannotWrite, MixedDatasets
from imitable.files import check_free, locked, new_folder
from imitable.robots.robot import Robot
from imitable.types import Demonstrations, Episode, Layout, Trajectory

TASK, SHARD_MB = "demonstration", 100.0
"""What is demonstrated, if nothing is said, and LeRobot's own size of a data file in megabytes."""


def write(
    path: str | Path,
    layout: Layout,
    trajectories: Iterable[Trajectory],
    *,
    overwrite: bool = False,
    task: str = TASK,
    shard_mb: float = SHARD_MB,
    arm: Robot | None = None,
) -> None:
    """Write trajectories as a LeRobot dataset, in a stream: memory holds about a thousand frames.

    The folder appears when it is complete. On any error nothing is left behind, and what stood there before still stands.

    Args:
        path: the folder to make.
        layout: names of the state and action entries, and the period; every trajectory must fit it.
        trajectories: read once, in order.
        overwrite: replace a dataset that is there.
        task: what LeRobot's `task` column says of every frame.
        shard_mb: size in megabytes at which a new data file is started.
        arm: a robot with these joints, the pose of whose tool is written beside every state.
    """
    target = Path(path)
    with locked(target):
        check_free(target, overwrite=overwrite)
        write_with(target, trajectories, partial(Writer, layout=layout, task=task, shard_mb=shard_mb, arm=arm), {})


def write_with(
    target: Path, trajectories: Iterable[Trajectory], writer_of: Callable[[Path], Writer], beside: Mapping[str, str]
) -> None:
    """Write a dataset in the place of any other that is there; the caller has locked it.

    `beside` are further texts, by their paths in the folder.
    """
    check_replaceable(target)
    with new_folder(target) as folder:
        writer = writer_of(folder)
        try:
            for trajectory in trajectories:
                writer.add(trajectory)
            if not writer.count:
                raise CannotWrite(str(target), "there is no demonstration to write")
            for name, text in beside.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(text, encoding="utf-8")
            writer.finish()
        finally:
            writer.abandon()


def check_replaceable(target: Path) -> None:
    """Refuse to replace anything but a dataset or an empty folder, whatever the user allows."""
    if target.exists() and not (target / INFO_FILE).is_file() and not (target.is_dir() and not any(target.iterdir())):
        raise CannotWrite(str(target), "what stands there is no set of demonstrations, and is not replaced")


def read(first: str | Path, *more: str | Path) -> Demonstrations:
    """Read one LeRobot dataset (v3.0, v2.1, v2.0), several as one set, or other data that are whole states already.

    Datasets that imitable did not write can be read if their frames have `observation.state`: all its entries count as
    positions, the demonstrator is the dataset's robot type, returns are NaN, and hashes are computed when first asked for.
    Other formats can be read if they name the entries of `qpos` and `qvel` and the period; the rest is for `convert`.
    """
    if not more and _is_other(Path(first)):
        return _direct(Path(first))
    folders = [Folder(Path(path)) for path in (first, *more)]
    for folder in folders[1:]:
        if reason := _difference(folders[0].info.layout, folder.info.layout):
            raise MixedDatasets(str(folders[0].path), str(folder.path), reason)
    for index, folder in enumerate(folders):
        if folder.path.resolve() in (other.path.resolve() for other in folders[:index]):
            raise MixedDatasets(str(folder.path), str(folder.path), "it is the same folder twice")
    return Filed(folders[0].info.layout, _Folders(folders))


def _is_other(path: Path) -> bool:
    """Return whether a path, or the id of a local Minari dataset, holds data of another format than LeRobot's."""
    try:
        return recognise(path)[1] != "lerobot"
    except BadDataset:
        return path.is_file()


def _direct(path: Path) -> Demonstrations:
    source = open_source(path)
    if source.layout is None:
        how = f"imitable convert {path} DST --imitator SPEC"
        raise BadDataset(str(path), f"its {source.format} data are no whole, named states; convert them first ({how})")
    return Filed(source.layout, DirectFiles(source, source.layout))


def _difference(a: Layout, b: Layout) -> str | None:
    for what, left, right in (
        ("positions", a.qpos, b.qpos),
        ("velocities", a.qvel, b.qvel),
        ("actuators", a.actuators, b.actuators),
    ):
        if left != right:
            return f"their {what} differ: ({', '.join(left)}) and ({', '.join(right)})"
    if not math.isclose(a.period_s, b.period_s, rel_tol=1e-9):
        return f"their frame periods differ: {a.period_s:g} s and {b.period_s:g} s"
    return None


class _Folders:
    """Episodes in one or several folders."""

    def __init__(self, folders: list[Folder]) -> None:
        self._folders = tuple(folders)
        self._places = tuple((folder, row) for folder in folders for row in folder.rows)

    def __len__(self) -> int:
        """Return the number of episodes, without reading any."""
        return len(self._places)

    def row(self, place: int) -> Episode:
        """Return one row; no states are read, except those of an episode that carries no hash."""
        folder, row = self._places[place]
        return row.episode(folder.path, row.hash or folder.read(row).hash)

    def read(self, place: int) -> Trajectory:
        """Read one trajectory: the row group that holds it, and nothing else."""
        folder, row = self._places[place]
        return folder.read(row)

    def __iter__(self) -> Iterator[Trajectory]:
        """Read all trajectories in order; memory holds one row group."""
        for folder in self._folders:
            yield from folder
