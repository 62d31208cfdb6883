# SPDX-License-Identifier: MIT
"""What a piece of work took, over all sessions that it was made in."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from imitable.experiments.code_hash import code_hash
from imitable.experiments.records import read_record, write_record

AND = "+"
"""Joins the hashes of code, if it changed between sessions."""


@dataclass(frozen=True)
class Cost:
    """Time and code of a piece."""

    seconds: float = 0.0
    """Of one core. What a session took that was killed is not known."""
    code: str = ""
    """Hash of the code that computed it; several if it changed between sessions, joined by `AND`."""

    def plus(self, seconds: float, code: str) -> "Cost":
        """Return the cost with another session."""
        codes = dict.fromkeys([*filter(None, self.code.split(AND)), code])
        return Cost(round(self.seconds + seconds, 1), AND.join(codes))


def read_cost(path: Path) -> Cost:
    """Return what is kept at `path`; nothing if nothing is."""
    return read_record(Cost, path) if path.exists() else Cost()


@contextmanager
def counted(path: Path) -> Generator[None]:
    """Add what the block takes to the cost at `path`, in a folder that is there by then; else nothing was begun.

    Time is the process's own on the cores, so that a busy machine does not make a piece look dearer.
    """
    before, started = read_cost(path), time.process_time()
    try:
        yield
    finally:
        if path.parent.exists():
            write_record(path, before.plus(time.process_time() - started, code_hash()))
