# SPDX-License-Identifier: MIT
"""What a person sees: tables and progress bars on stderr, JSON on stdout."""

import json
import math
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from imitable.cli.verbs import Common


def _console() -> Console:
    return Console(stderr=True, highlight=False)


def table(common: Common, title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Show a table, unless the user wants JSON or silence."""
    if common.quiet or common.json:
        return
    shown = Table(title=escape(title), title_justify="left")
    for place, column in enumerate(columns):
        # the first column names the row: it stays whole, the others may wrap
        shown.add_column(
            column.replace("_", " "), overflow="fold", no_wrap=place == 0, justify="left" if place == 0 else "right"
        )
    for row in rows:
        shown.add_row(*(escape(_cell(value)) for value in row))
    _console().print(shown)


def say(common: Common, line: str) -> None:
    """Say one line, unless the user wants JSON or silence."""
    if not (common.quiet or common.json):
        _console().print(line, markup=False, soft_wrap=True)


def document(common: Common, content: object) -> None:
    """Print the JSON document, if the user wants it."""
    if common.json:
        # JSON has no NaN and no infinity: null stands for them
        finite = json.loads(json.dumps(content), parse_constant=lambda _: None)
        print(json.dumps(finite, indent=2))


class Bar:
    """A progress bar that a loop moves."""

    def __init__(self, progress: Progress, total: int, what: str) -> None:
        self._progress = progress
        self._task = progress.add_task(what, total=total, note="")

    def move_to(self, done: int, note: str = "") -> None:
        """Move the bar to `done` and show a note beside it."""
        self._progress.update(self._task, completed=done, note=note)


@contextmanager
def bar(common: Common, total: int, what: str) -> Generator[Bar]:
    """Show a progress bar on a terminal; nothing elsewhere."""
    hidden = common.quiet or common.json or not sys.stderr.isatty()
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"))
    with Progress(
        *columns, TimeRemainingColumn(), TextColumn("{task.fields[note]}"), console=_console(), disable=hidden
    ) as shown:
        yield Bar(shown, total, what)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:,.6g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
