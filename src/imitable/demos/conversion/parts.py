# SPDX-License-Identifier: MIT
"""A long conversion in parts, each a small dataset beside the output, so that an interrupted one goes on."""

import json
import shutil
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

from imitable.demos.reader import Folder
from imitable.demos.store import write
from imitable.errors import CannotResume, OutputExists
from imitable.files import keeping, write_bytes
from imitable.types import Layout, Trajectory

PART_FRAMES = 50_000
"""A part is complete with this many frames, or so many recordings."""
PART_RECORDINGS = 500

KEY = "key.json"


def parts_path(out: Path) -> Path:
    """Folder of finished parts: `demos` → `demos.parts`."""
    return out.with_name(f"{out.name}.parts")


class Parts:
    """Finished parts of a conversion, and what comes next."""

    def __init__(self, out: Path, key: str, *, resume: bool, overwrite: bool) -> None:
        """Begin, or go on if `key` is that of the parts that are there."""
        self.folder = parts_path(out)
        if self.folder.exists() and not resume:
            if not overwrite:
                raise OutputExists(str(self.folder), resume=True)
            shutil.rmtree(self.folder)
        if self._finished and _text(self.folder / KEY) != key:
            raise CannotResume(str(out), "what is done is of another source, mapping or robot")
        write_bytes(self.folder / KEY, key.encode())

    @property
    def _finished(self) -> list[Path]:
        return sorted(self.folder.glob("part-*-*"))

    @property
    def done(self) -> int:
        """Recordings that are converted."""
        return sum(int(path.name.split("-")[2]) for path in self._finished)

    def fill(self, layout: Layout, count: int, convert: Callable[[int], Trajectory]) -> None:
        """Convert what is missing of `count` recordings, a part at a time."""
        while (begin := self.done) < count:
            size = 0

            def piece(begin: int = begin) -> Iterator[Trajectory]:
                nonlocal size
                frames = 0
                for place in range(begin, min(count, begin + PART_RECORDINGS)):
                    trajectory = convert(place)
                    frames, size = frames + len(trajectory), size + 1
                    yield trajectory
                    if frames >= PART_FRAMES:
                        return

            draft = self.folder / "draft"
            write(draft, layout, piece(), overwrite=True)
            draft.rename(self.folder / f"part-{begin:09d}-{size}")

    def __iter__(self) -> Iterator[Trajectory]:
        """Read all that is converted, in order."""
        for path in self._finished:
            yield from Folder(path)

    @contextmanager
    def keeping(self) -> Generator[None]:
        """Keep in the block the parts that are finished; a job that ends before its first leaves nothing behind."""
        with keeping(self.folder):
            try:
                yield
            finally:
                if not self._finished:
                    shutil.rmtree(self.folder, ignore_errors=True)


def remove_parts(out: Path) -> None:
    """Take the parts of an output away that stands."""
    shutil.rmtree(parts_path(out), ignore_errors=True)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def key_of(*parts: object) -> str:
    """Return what a conversion depends on, as text."""
    return json.dumps(parts, indent=1)
