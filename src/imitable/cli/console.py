# SPDX-License-Identifier: MIT
"""What a person sees: tables on stdout, remarks and progress bars on stderr; with `--json` one document on stdout alone."""

import json
import math
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from shutil import get_terminal_size

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from imitable.cli.tables import fitted
from imitable.cli.verbs import Common
from imitable.errors import printable

UNKNOWN_ROOM = 120
"""Characters a line where the output is no terminal and nobody says how wide it is."""


LONG = 120
"""Characters of a robot's text that headings show."""


def shortened(text: str) -> str:
    """Return a robot's text for a heading: a humanoid's servos alone take a thousand characters."""
    return text if len(text) <= LONG else f"{text[:LONG]}…"


class _Output(Console):
    """The standard output; a reader that has enough is left to the entry point."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def table(common: Common, title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Show a table on stdout, unless the user wants JSON or silence."""
    if common.quiet or common.json:
        return
    room = get_terminal_size((UNKNOWN_ROOM, 0)).columns
    cells = [[_cell(value) for value in row] for row in rows]
    output = _Output(highlight=False, width=room)
    output.print(Text(printable(title), style="italic"), soft_wrap=True)
    shown = fitted([printable(column.replace("_", " ")) for column in columns], cells, room)
    output.print(shown, soft_wrap=isinstance(shown, Text))


def tell(common: Common, line: str) -> None:
    """Print one line of the result on stdout, unless the user wants JSON or silence."""
    if not (common.quiet or common.json):
        print(printable(line))


def say(common: Common, line: str) -> None:
    """Say one line on stderr, unless the user wants JSON or silence."""
    if not (common.quiet or common.json):
        aloud(line)


def aloud(line: str) -> None:
    """Say one line on stderr in any case."""
    print(printable(line), file=sys.stderr)


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
        self._task = progress.add_task(printable(what), total=total, note="")

    def move_to(self, done: int, note: str = "") -> None:
        """Move the bar to `done` and show a note beside it."""
        self._progress.update(self._task, completed=done, note=printable(note))


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
        *columns, TimeRemainingColumn(), TextColumn("{task.fields[note]}"), console=Console(stderr=True), disable=hidden
    ) as shown:
        yield Bar(shown, total, what)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:,.6g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else printable(str(value))
