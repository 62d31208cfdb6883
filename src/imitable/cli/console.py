# SPDX-License-Identifier: MIT
"""What a person sees: tables and progress bars on stderr, JSON on stdout."""

import json
import math
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from textwrap import wrap

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from imitable.cli.verbs import Common

SHORTEST_HEAD = 4
"""Letters of a heading's line, at least."""


def _console() -> Console:
    return Console(stderr=True, highlight=False)


def table(common: Common, title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Show a table, unless the user wants JSON or silence."""
    if common.quiet or common.json:
        return
    console, shown = _console(), Table(title=escape(title), title_justify="left")
    cells = [[_cell(value) for value in row] for row in rows]
    heads = _heads([column.replace("_", " ") for column in columns], cells, console.width)
    for place, head in enumerate(heads):
        # names and numbers stay whole, sentences may wrap
        whole = place == 0 or not any(" " in row[place] for row in cells)
        shown.add_column(head, overflow="fold", no_wrap=whole, justify="left" if place == 0 else "right")
    for row in cells:
        shown.add_row(*map(escape, row))
    console.print(shown)


def _heads(names: Sequence[str], cells: Sequence[Sequence[str]], room: int) -> list[str]:
    """Break headings into lines until the table fits: between words if that will do, else inside them; never numbers."""
    widest = [max((len(row[place]) for row in cells), default=0) for place in range(len(names))]
    if max(widest, default=0) > room // 2:
        return list(names)  # sentences: rich finds them room
    heads = list(names)
    for limit in range(max(map(len, names)), SHORTEST_HEAD - 1, -1):
        heads = ["\n".join(wrap(name, max(limit, width))) for name, width in zip(names, widest, strict=True)]
        taken = [max(width, *map(len, head.split("\n"))) for head, width in zip(heads, widest, strict=True)]
        if sum(taken) + 3 * len(taken) + 1 <= room:
            break
    return heads


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


class Watched:
    """An observer that moves a bar and says lines."""

    def __init__(self, common: Common, shown: Bar) -> None:
        self._common, self._bar = common, shown

    def progress(self, done: int, total: int, note: str = "") -> None:
        """Move the bar."""
        self._bar.move_to(done, note or f"{done:,} of {total:,}")

    def say(self, line: str) -> None:
        """Say a line, unless the user wants JSON or silence."""
        say(self._common, line)


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
