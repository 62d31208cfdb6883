# SPDX-License-Identifier: MIT
"""Who is told how a long job goes: the library itself is silent."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Observer:
    """Two functions that a job calls."""

    progress: Callable[[int, int, str], None] = lambda done, total, note: None
    """(done, total, note): how much of the work is done, and a few words about it."""
    say: Callable[[str], None] = lambda line: None
    """One line for a person."""


SILENT = Observer()
"""Tells nobody."""
