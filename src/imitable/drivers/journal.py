# SPDX-License-Identifier: MIT
"""The journal of an arm: one JSON line for everything that was commanded, read, refused or stopped, in order.

Every line is flushed before the next thing happens, and a command's line before the command leaves: whatever ends the process,
what the arm was told is there. `recording.py` makes demonstrations of it.
"""

import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, cast

from imitable.drivers.driver import Command, Reading
from imitable.errors import BadJournal, CannotWrite
from imitable.types import Floats, Layout

SCHEMA = 1

Line = dict[str, Any]


@dataclass(frozen=True)
class Head:
    """What all lines of a journal belong to."""

    robot: str
    """The imitator, as text."""
    driver: str
    """As text."""
    policy: str
    """Hash of the policy, or a name of whoever else decided."""
    seed: int
    joints: tuple[str, ...]
    """Names of the joints in readings and commands."""
    qpos: tuple[str, ...]
    """Of the imitator's states: see `Layout`."""
    qvel: tuple[str, ...]
    actuators: tuple[str, ...]
    """Of the imitator's actions."""
    period_s: float

    @property
    def layout(self) -> Layout:
        """Names of the demonstrations that the journal makes."""
        return Layout(self.qpos, self.qvel, self.actuators, self.period_s)


class Journal:
    """A journal that is being written."""

    def __init__(self, file: IO[str]) -> None:
        """Write to an open file."""
        self._file = file

    def begin(self, head: Head) -> None:
        """Say what follows."""
        self._write("head", schema=SCHEMA, **asdict(head))

    def episode(self, index: int, seed: int) -> None:
        """Begin an episode; the arm may have to go to its start first."""
        self._write("episode", index=index, seed=seed)

    def policy_begins(self) -> None:
        """From here on the policy decides: what was before is no demonstration."""
        self._write("policy")

    def reading(self, reading: Reading) -> None:
        """Keep what was read."""
        self._write(
            "reading",
            arm_s=reading.arm_s,
            positions=reading.positions.tolist(),
            velocities=reading.velocities.tolist(),
            desired=reading.desired.tolist(),
            contact=reading.contact,
        )

    def command(self, command: Command, action: Floats | None = None) -> None:
        """Keep what is about to leave, and the policy's action that it stands for."""
        self._write("command", **_told(command, action))

    def refused(self, command: Command, action: Floats | None, reason: str) -> None:
        """Keep what did not leave, and why."""
        self._write("refused", **_told(command, action), reason=reason)

    def stopped(self, reason: str) -> None:
        """Keep that the arm was told to stop, and why; empty: because all is done."""
        self._write("stopped", reason=reason)

    def unanswered(self, reason: str) -> None:
        """Keep that the arm did not answer when it was told to stop."""
        self._write("unanswered", reason=reason)

    def end(self, *, terminated: bool, total_return: float) -> None:
        """End an episode."""
        self._write("end", terminated=terminated, total_return=total_return)

    def _write(self, kind: str, **content: Any) -> None:
        self._file.write(json.dumps({"kind": kind, **content}) + "\n")
        self._file.flush()


def _told(command: Command, action: Floats | None) -> Line:
    told = {"positions": command.positions.tolist(), "period_s": command.period_s}
    return told | ({} if action is None else {"action": action.tolist()})


@contextmanager
def writing(path: Path, *, append: bool = False) -> Generator[Journal]:
    """Give a journal, which stays whatever happens in the block: a new one, or one that goes on after its last whole line."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if append:
            whole = path.read_bytes()
            os.truncate(path, whole.rfind(b"\n") + 1)
        file = path.open("a" if append else "w", encoding="utf-8")
    except OSError as error:
        raise CannotWrite(str(path), error.strerror or str(error)) from None
    with file:
        yield Journal(file)


def read_journal(path: Path) -> tuple[Head, list[Line]]:
    """Return what a journal belongs to and all lines after; a last line that a kill cut short is left out."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadJournal(str(path), error.strerror or str(error)) from None
    whole = text[: text.rfind("\n") + 1].splitlines()
    try:
        lines = [cast(Line, json.loads(line)) for line in whole]
        first = lines.pop(0)
        if first.get("kind") != "head" or int(first["schema"]) > SCHEMA:
            raise BadJournal(str(path), f"it does not begin with a head of schema {SCHEMA} or older")
        return _head(first), lines
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise BadJournal(str(path), f"a line is damaged ({error})") from None


def _head(line: Line) -> Head:
    robot, driver, policy = (str(line[name]) for name in ("robot", "driver", "policy"))
    joints, qpos, qvel, actuators = (tuple(map(str, line[name])) for name in ("joints", "qpos", "qvel", "actuators"))
    return Head(robot, driver, policy, int(line["seed"]), joints, qpos, qvel, actuators, float(line["period_s"]))
