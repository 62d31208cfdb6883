# SPDX-License-Identifier: MIT
"""Tables that fit the window."""

import io

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Table
from rich.text import Text

from imitable.cli.tables import SENTENCE, fitted

HEADS = ["demonstrator", "episodes", "transitions", "return mean", "terminated"]
ROWS = [["half_cheetah:front=0.05", "30", "180", "3,361.9", "0"], ["[/arm][red]:x:", "1", "1,000,000", "-0.5", "1"]]


def shown(heads: list[str], rows: list[list[str]], room: int) -> tuple[type[Table | Text], str]:
    output = Console(file=io.StringIO(), width=room, highlight=False)
    what = fitted(heads, rows, room)
    output.print(what, soft_wrap=isinstance(what, Text))
    assert isinstance(output.file, io.StringIO)
    return type(what), output.file.getvalue()


def test_a_wide_window_shows_one_row_a_line() -> None:
    kind, text = shown(HEADS, ROWS, 120)
    assert kind is Table
    lines = [[cell.strip() for cell in line.strip("│").split("│")] for line in text.splitlines() if line.startswith("│")]
    assert lines == ROWS, "names from outside are shown as they are"


def test_a_narrower_one_does_without_lines_and_breaks_headings_between_words() -> None:
    kind, text = shown(HEADS, ROWS, 68)
    assert kind is Table
    assert "│" not in text
    assert [line.split() for line in text.splitlines()[-2:]] == ROWS
    heads = [line.split() for line in text.splitlines()[:2]]
    assert heads == [["return"], ["demonstrator", "episodes", "transitions", "mean", "terminated"]]


def test_a_narrow_one_shows_one_block_a_row() -> None:
    kind, text = shown(HEADS, ROWS, 40)
    assert kind is Text
    first, second = text.strip().split("\n\n")
    assert first.splitlines()[2].split() == ["transitions", "180"]
    assert [line.split()[-1] for line in second.splitlines()] == ROWS[1]


def test_sentences_wrap_between_words() -> None:
    sentence = "standard deviation of the Gaussian noise on every control (stochastic dynamics)"
    kind, text = shown(["knob", "about"], [["noise", sentence]], 50)
    assert kind is Table
    assert max(map(len, text.splitlines())) <= 50
    assert set(sentence.split()) <= set(text.split())


WORDS = st.text("abcXYZ0189.,%[]:=", min_size=1, max_size=14)
SENTENCES = st.lists(WORDS, min_size=1, max_size=8).map(" ".join)


@settings(deadline=None)
@given(st.data(), st.integers(1, 5), st.integers(0, 4), st.integers(1, 140))
def test_no_word_is_broken_and_no_line_of_a_table_is_too_long(data: st.DataObject, columns: int, rows: int, room: int) -> None:
    heads = data.draw(st.lists(SENTENCES, min_size=columns, max_size=columns))
    cells = [data.draw(st.lists(SENTENCES, min_size=columns, max_size=columns)) for _ in range(rows)]
    kind, text = shown(heads, cells, room)
    words = set(text.translate(str.maketrans("│┃", "  ")).split())
    assert {word for line in [heads, *cells] for cell in line for word in cell.split()} <= words or (not rows and kind is Text)
    if kind is Table:
        assert max(map(len, text.splitlines())) <= room
    short = [cell for row in cells for cell in row if len(cell) <= SENTENCE]
    assert all(cell in text for cell in short), "short cells stay on one line"
