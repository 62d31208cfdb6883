# SPDX-License-Identifier: MIT
"""Demonstrations from journals: what an arm did under a policy, as a LeRobot dataset like all others."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from imitable.demos.store import write
from imitable.drivers.journal import Head, Line, read_journal
from imitable.errors import BadJournal
from imitable.types import Trajectory


def journal_path(out: Path) -> Path:
    """Return where the journal of a set of demonstrations lies: beside it."""
    return out.with_name(f"{out.name}.journal.jsonl")


def read_recording(journal: Path) -> tuple[Head, list[Trajectory]]:
    """Return what a journal belongs to, and its episodes.

    An episode is the readings from where the policy began, with the actions between them. A command after which nothing was
    read is in the journal alone.
    """
    head, lines = read_journal(journal)
    try:
        return head, list(_episodes(head, lines))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise BadJournal(str(journal), f"a line lacks something ({error})") from None


def write_recording(journal: Path, out: Path, *, overwrite: bool = False) -> int:
    """Write the episodes of a journal as demonstrations; return how many there are, and write nothing if there are none."""
    head, found = read_recording(journal)
    if found:
        write(out, head.layout, found, overwrite=overwrite, task="arm")
    return len(found)


def _episodes(head: Head, lines: list[Line]) -> Iterator[Trajectory]:
    begins = [place for place, line in enumerate(lines) if line["kind"] == "episode"]
    for begin, end in pairwise([*begins, len(lines)]):
        if (trajectory := _trajectory(head, lines[begin], lines[begin + 1 : end])) is not None:
            yield trajectory


def _trajectory(head: Head, about: Line, lines: list[Line]) -> Trajectory | None:
    """Return what the policy did in one episode; None if that is not a single step."""
    kinds = [str(line["kind"]) for line in lines]
    if "policy" not in kinds:
        return None
    ended = lines[kinds.index("end")] if "end" in kinds else Line()
    last = kinds.index("end") if "end" in kinds else len(kinds)
    entries, states, actions = _entries(head), list[list[float]](), list[Any]()
    for line in lines[kinds.index("policy") : last]:
        if line["kind"] == "reading":
            read = [*line["positions"], *line["velocities"]]
            states.append([read[entry] for entry in entries])
        elif line["kind"] == "command":
            actions.append(line["action"])
    actions = actions[: len(states) - 1]
    if not actions:
        return None
    return Trajectory(
        states=np.array(states[: len(actions) + 1]),
        actions=np.array(actions),
        demonstrator=head.robot,
        terminated=bool(ended.get("terminated", False)),
        total_return=float(ended.get("total_return", "nan")),
        seed=int(about["seed"]),
    )


def _entries(head: Head) -> list[int]:
    """Return which of the positions and velocities that were read are entries of the imitator's state."""
    names = [*head.joints, *(f"{joint}_velocity" for joint in head.joints)]
    return [names.index(name) for name in (*head.qpos, *head.qvel)]
