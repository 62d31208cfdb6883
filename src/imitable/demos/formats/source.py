# SPDX-License-Identifier: MIT
"""What all formats have in common: a source of recordings, each a few named columns of numbers, one row a frame."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from imitable.errors import BadDataset
from imitable.types import Floats, Layout

ROOT_POSITION, ROOT_ROTATION, JOINT_POSITIONS = "root_pos", "root_quat", "joint_pos"
"""Columns by which formats of motion clips say where a body is."""
ROOT_VELOCITY, ROOT_TURN, JOINT_VELOCITIES = "root_lin_vel", "root_ang_vel", "joint_vel"
"""And how it moves."""
BODIES = "body_pos_w"
"""Positions of all bodies in the world, three entries each: what a guess about a clip can be tried against."""


@dataclass(frozen=True)
class Column:
    """A column of a source."""

    width: int
    """Numbers a frame."""
    names: tuple[str, ...] = ()
    """Of its entries, where the data name them."""


@dataclass(frozen=True)
class Habits:
    """What a format fixes, whatever is in its files; None: it must be found out."""

    quaternion: str | None = None
    """Order of a rotation's entries: wxyz or xyzw."""
    angular: str | None = None
    """Frame of a root's angular velocity: world or local."""
    robots_period: bool = False
    """Frames are a control period of the robot apart."""


@dataclass(frozen=True, eq=False)
class Recording:
    """One episode as its file has it."""

    name: str
    """How messages call it: a file, or an episode in one."""
    index: int
    """Its index at the source."""
    columns: Mapping[str, Floats]
    """(n, width) each."""
    times: Floats | None = None
    """(n) seconds, where frames are not a period apart."""
    demonstrator: str | None = None
    """Who demonstrated, where the data say it."""
    terminated: bool = False
    total_return: float = float("nan")
    seed: int | None = None
    has_actions: bool = True

    @property
    def frames(self) -> int:
        """N."""
        return len(next(iter(self.columns.values())))


class Source(ABC):
    """Recordings at some path; knows the columns, reads a recording when asked."""

    format: str = ""
    """Its name in the table of formats."""
    habits: Habits = Habits()

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    @abstractmethod
    def columns(self) -> Mapping[str, Column]:
        """Columns that every recording has."""

    @property
    @abstractmethod
    def period_s(self) -> float | None:
        """Seconds between two frames; None if the data do not say."""

    @property
    def robot(self) -> str:
        """Who demonstrated, where a recording does not say it."""
        return self.path.resolve().name if self.path.is_dir() else self.path.stem

    @property
    def layout(self) -> Layout | None:
        """Names and period, if the data are whole states that need no mapping."""
        return None

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of recordings."""

    @abstractmethod
    def __getitem__(self, place: int) -> Recording:
        """Read one recording."""

    def __iter__(self) -> Iterator[Recording]:
        """Read all recordings, one at a time."""
        return (self[place] for place in range(len(self)))

    @property
    def signature(self) -> dict[str, list[str] | int]:
        """Columns with their names or widths: what a mapping is made for."""
        return {name: list(column.names) or column.width for name, column in self.columns.items()}

    def origins(self) -> list[dict[str, str | int]]:
        """Return name, index and number of frames of every recording, as far as they are known without reading it."""
        return [{"name": str(place), "index": place} for place in range(len(self))]

    @property
    def fingerprint(self) -> str:
        """Hash of format, columns and files (names and sizes): a conversion goes on only with the same source."""
        files = [self.path] if self.path.is_file() else sorted(path for path in self.path.rglob("*") if path.is_file())
        sizes = [(str(path.relative_to(self.path)), path.stat().st_size) for path in files]
        parts = (self.format, self.signature, self.period_s, len(self), sizes)
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


@dataclass(frozen=True, eq=False)
class Clip:
    """What one file of a format holds, where each file is one recording."""

    columns: Mapping[str, Floats]
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Of entries, by column."""
    period_s: float | None = None
    times: Floats | None = None
    demonstrator: str | None = None


class FileSource(Source):
    """A file that is one recording, or a folder of such files, in the order of their names."""

    suffixes: tuple[str, ...] = ()

    def __init__(self, path: Path) -> None:
        """Read the first file, which says what all have."""
        super().__init__(path)
        self.files = tuple(_files(path, self.suffixes))
        if not self.files:
            raise BadDataset(str(path), f"there is no {' or '.join(self.suffixes)} file in it")
        first = self.clip(self.files[0])
        self._columns = {name: Column(rows.shape[1], first.names.get(name, ())) for name, rows in first.columns.items()}
        self._period_s = first.period_s

    @abstractmethod
    def clip(self, path: Path) -> Clip:
        """Read one file."""

    @property
    def columns(self) -> Mapping[str, Column]:
        """Those of the first file; all others must have the same."""
        return self._columns

    @property
    def period_s(self) -> float | None:
        """That of the first file."""
        return self._period_s

    def __len__(self) -> int:
        """Return the number of files."""
        return len(self.files)

    def origins(self) -> list[dict[str, str | int]]:
        """Return the files."""
        return [{"name": file.name, "index": place} for place, file in enumerate(self.files)]

    def __getitem__(self, place: int) -> Recording:
        """Read one file."""
        path = self.files[place]
        clip = self.clip(path)
        self._check_alike(path, clip)
        return Recording(path.name, place, clip.columns, clip.times, clip.demonstrator)

    def _check_alike(self, path: Path, clip: Clip) -> None:
        first = self.files[0].name
        for name, column in self._columns.items():
            if name not in clip.columns:
                raise BadDataset(str(path), f"it lacks the column {name} that {first} has")
            if (width := clip.columns[name].shape[1]) != column.width or clip.names.get(name, ()) != column.names:
                what = f"{width} entries" if width != column.width else "other names"
                raise BadDataset(str(path), f"its column {name} has {what}, that of {first} {column.width}: another robot's?")
        if clip.period_s != self._period_s:
            raise BadDataset(str(path), f"a frame lasts {clip.period_s} s, in {first} {self._period_s} s: convert them apart")


def _files(path: Path, suffixes: Sequence[str]) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.iterdir() if file.suffix.lower() in suffixes and file.is_file())


def finite(where: str, columns: Mapping[str, Floats]) -> Mapping[str, Floats]:
    """Refuse columns with a frame that is not a number, and of different lengths; return them."""
    lengths = {name: len(rows) for name, rows in columns.items()}
    if len(set(lengths.values())) > 1:
        raise BadDataset(where, f"its columns differ in length: {', '.join(f'{k} {v}' for k, v in lengths.items())}")
    for name, rows in columns.items():
        bad = np.argwhere(~np.isfinite(rows))
        if len(bad):
            frame, entry = bad[0].tolist()
            raise BadDataset(where, f"frame {frame} of {name}[{entry}] is not a finite number; cut it out, or mend it")
    if not lengths or min(lengths.values()) < 2:
        raise BadDataset(where, f"it has {min(lengths.values(), default=0)} frames, a demonstration needs two")
    return columns


def matrix(where: str, name: str, values: object, width: int | None = None) -> Floats:
    """Return values as an array (n, width) of float64, or refuse them."""
    try:
        rows = np.asarray(values, np.float64)
    except (TypeError, ValueError, MemoryError):
        raise BadDataset(where, f"{name} does not hold numbers") from None
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim != 2 or (width is not None and rows.shape[1] != width):
        wanted = "(frames, entries)" if width is None else f"(frames, {width})"
        raise BadDataset(where, f"{name} has shape {np.shape(rows)}, expected {wanted}")
    return rows


def positive(where: str, name: str, value: object) -> float:
    """Return a rate or a period that makes sense: one number above 0."""
    try:
        number = float(np.asarray(value, np.float64).reshape(-1)[0])
    except (IndexError, TypeError, ValueError):
        number = float("nan")
    if not 0 < number < float("inf"):
        raise BadDataset(where, f"{name} is {value}, expected a number above 0")
    return number
