# SPDX-License-Identifier: MIT
"""Who is told how far a long job is: the command line's bar, a notebook's widget, or nobody."""

from typing import Protocol


class Observer(Protocol):
    """Sees a job from outside; nothing that it does changes a result."""

    def progress(self, done: int, total: int, note: str = "") -> None:
        """Hear that `done` of `total` parts are done; `note` says more in a few words."""
        ...

    def say(self, line: str) -> None:
        """Hear one line for a person."""
        ...


class _Silent:
    """Hears and does nothing."""

    def progress(self, done: int, total: int, note: str = "") -> None:
        del done, total, note

    def say(self, line: str) -> None:
        del line


SILENT: Observer = _Silent()
"""Nobody is told."""
