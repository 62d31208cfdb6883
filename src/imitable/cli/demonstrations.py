# SPDX-License-Identifier: MIT
"""Which demonstrations a verb is about."""

from collections.abc import Sequence
from pathlib import Path

from imitable.demos.part import Part
from imitable.demos.store import read
from imitable.errors import BadOption
from imitable.types import Demonstrations


def demonstrations(folders: Sequence[Path], leave_out: str = "") -> Demonstrations:
    """Read folders as one set, without the demonstrations at the places that `leave_out` lists: 3,17,40-45."""
    if not folders:
        raise BadOption("DEMOS", "(none)", "name one folder of demonstrations or several")
    demos = read(*folders)
    gone = _places(leave_out, len(demos))
    if len(gone) == len(demos):
        raise BadOption("--leave-out", leave_out, "at least one demonstration must stay")
    return Part(demos, set(range(len(demos))) - gone) if gone else demos


def _places(text: str, count: int) -> set[int]:
    places: set[int] = set()
    for part in filter(None, (part.strip() for part in text.split(","))):
        first, _, last = part.partition("-")
        if not first.isdigit() or not (last or first).isdigit() or not int(first) <= int(last or first) < count:
            raise BadOption("--leave-out", part, f"give places from 0 to {count - 1}, such as 3,17,40-45")
        places |= set(range(int(first), int(last or first) + 1))
    return places
