# SPDX-License-Identifier: MIT
"""Tables that fit the window: sentences and headings break between words, numbers and names never; else one block a row."""

from collections.abc import Sequence

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

SENTENCE = 24
"""A cell with spaces in it is broken into lines of at least this width."""


def fitted(heads: Sequence[str], rows: Sequence[Sequence[str]], room: int) -> Table | Text:
    """Return a table of at most `room` characters a line; with fewer lines, then as blocks of text if it does not fit."""
    count = len(heads)
    columns = [[row[place] for row in rows] for place in range(count)]
    if (widths := _widths(heads, columns, room - 3 * count - 1)) is not None:
        return _table(heads, rows, widths, Table())
    for gap in (2, 1):
        if (widths := _widths(heads, columns, room - gap * (count - 1))) is not None:
            bare = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, gap - 1, 0, 0))
            return _table(heads, rows, widths, bare)
    return _blocks(heads, rows)


def _widths(heads: Sequence[str], columns: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """Return the width of every column, the widest made narrower until all take `room` together; None if they cannot."""
    widths = [max(map(cell_len, (head, *cells))) for head, cells in zip(heads, columns, strict=True)]
    least = [_least(head, cells, whole=place == 0) for place, (head, cells) in enumerate(zip(heads, columns, strict=True))]
    while sum(widths) > room:
        place = max(range(len(widths)), key=lambda place: (widths[place] > least[place], widths[place]))
        if widths[place] <= least[place]:
            return None
        widths[place] -= 1
    return widths


def _least(head: str, cells: Sequence[str], *, whole: bool) -> int:
    """Return the least width that breaks neither a word nor, if `whole`, a cell."""
    least = max(map(cell_len, head.split()), default=1)
    for cell in cells:
        words = max(map(cell_len, cell.split()), default=0)
        least = max(least, cell_len(cell) if whole else max(words, min(cell_len(cell), SENTENCE)))
    return least


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int], shown: Table) -> Table:
    for place, (head, width) in enumerate(zip(heads, widths, strict=True)):
        sentences = any(" " in row[place] for row in rows)
        shown.add_column(Text(head), width=width, justify="left" if place == 0 or sentences else "right")
    for row in rows:
        shown.add_row(*map(Text, row))
    return shown


def _blocks(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Text:
    """Return a paragraph a row, `heading  cell` a line: what is longer than the window, the terminal wraps."""
    size = max(map(cell_len, heads))
    labels = [head + " " * (size - cell_len(head)) for head in heads]
    blocks = ("\n".join(f"{label}  {cell}" for label, cell in zip(labels, row, strict=True)) for row in rows)
    return Text("\n\n".join(blocks) + "\n")
