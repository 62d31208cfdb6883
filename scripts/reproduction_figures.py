# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false
"""Figures of docs/reproduction.md, from records alone: returns against steps, against an amount, over all settings together."""

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Protocol

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from imitable.experiments.captions import AMOUNTS, CURVES, PAPERS_LINE
from imitable.experiments.curves import Curve, mean_curve
from imitable.experiments.paper_numbers import printed
from imitable.experiments.rows import CONTROLS, OWN_EXPERT, RELATED_ONLY, styles
from imitable.experiments.tables import Aggregate, Table, aggregate, strata
from imitable.types import Floats

COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#000000",
    "#999999",
    "#882255",
    "#44aa99",
    "#ddcc77",
)
"""A palette that colour-blind people tell apart."""

DASHES = {RELATED_ONLY.name: "--", OWN_EXPERT.name: "--", **{row.name: ":" for row in CONTROLS}}
"""Ceilings are dashed and control rows dotted; all others are solid."""


class Drawing(Protocol):
    """Draws a table, and says what is seen."""

    @property
    def caption(self) -> str:
        """What is seen."""
        ...

    def __call__(self, table: Table) -> bytes | None:
        """Return the picture as SVG; None if there is nothing to draw."""
        ...


AFTER, ASIDE = 1.03, 0.02
"""Where dots of final returns stand, times the steps of learning: side by side, else rows would hide each other."""


@dataclass(frozen=True)
class Curves:
    """Returns against steps, a panel a place."""

    paper: bool = False
    """Whether the paper's own return is drawn, too."""

    @property
    def caption(self) -> str:
        """What is seen."""
        return f"{CURVES} Dashed: ceilings; dotted: control rows.{f' {PAPERS_LINE}' if self.paper else ''}"

    def __call__(self, table: Table) -> bytes | None:
        """Return the picture; None if nothing is recorded."""
        places = [place for place in table.places if any(table.at(place, row) for row in table.rows)]
        if not places:
            return None
        figure, panels = panels_of(len(places))
        for place, panel in zip(places, panels, strict=True):
            drawn = {row: style for row, style in styles(table.rows).items() if table.at(place, row)}
            for column, (row, style) in enumerate(drawn.items()):
                curves, colour = [record.curve for record in table.at(place, row)], COLOURS[style % len(COLOURS)]
                draw_curve(panel, curves, colour, row, DASHES.get(row, "-"))
                end = (AFTER + ASIDE * column) * max(curve[-1][0] for curve in curves)
                panel.plot(end, table.returns(place, row).mean(), "o", color=colour, markersize=4)
            if self.paper and (theirs := printed(place, "Ours")) is not None:
                panel.axhline(theirs.mean, color="#666666", linestyle=":", linewidth=1)
            panel.set_title(place, fontsize=9)
            panel.set_xlabel("steps")
        panels[0].set_ylabel("return")
        return with_legend(figure, panels)


def draw_curve(panel: Axes, seeds: Sequence[Curve], colour: str, name: str, dashes: str = "-") -> None:
    """Draw the mean of some learning curves, and the range between them."""
    if (found := mean_curve(seeds)) is None:
        return
    panel.plot(found.steps, found.mean, color=colour, label=name, linewidth=1.2, linestyle=dashes)
    if len(seeds) > 1:
        panel.fill_between(found.steps, found.low, found.high, color=colour, alpha=0.15, linewidth=0)


@dataclass(frozen=True)
class Against:
    """Returns against an amount, a panel a group."""

    groups: Mapping[str, Sequence[tuple[float, str]]]
    """Amounts and the places that have them, by the name of the group."""
    label: str
    """What the amount is."""

    @property
    def caption(self) -> str:
        """What is seen."""
        return f"{AMOUNTS} Rows of one amount stand side by side."

    def __call__(self, table: Table) -> bytes | None:
        """Return the picture; None if nothing is recorded."""
        rows = table.rows
        there = {
            name: points
            for name, points in self.groups.items()
            if any(table.at(place, row) for _, place in points for row in rows)
        }
        if not there:
            return None
        figure, panels = panels_of(len(there))
        for (name, points), panel in zip(there.items(), panels, strict=True):
            amounts = [amount for amount, _ in points]
            for (row, style), aside in zip(styles(rows).items(), _asides(amounts, len(rows)), strict=True):
                returns = [table.returns(place, row) for _, place in points]
                if any(map(len, returns)):
                    means, stds = _means(returns)
                    colour, at = COLOURS[style % len(COLOURS)], [amount + aside for amount in amounts]
                    panel.errorbar(at, means, stds, color=colour, label=row, marker="o", markersize=4, capsize=2)
            panel.set_title(name, fontsize=9)
            panel.set_xticks(amounts)
            panel.set_xlabel(self.label, fontsize=8)
        panels[0].set_ylabel("return")
        return with_legend(figure, panels)


def _asides(amounts: Sequence[float], rows: int) -> list[float]:
    """Return how far each row is drawn beside the amounts: rows of equal returns do not hide each other."""
    return [0.012 * (max(amounts) - min(amounts)) * (place - (rows - 1) / 2) for place in range(rows)]


MARKERS = "osD^v*"
"""Of the settings, in their order."""

TOGETHER = (
    "Returns of mean actions; 0: a random policy, 1: the row `own expert` of the same table. Marks: a setting's mean over its "
    "seeds. Bars: the interquartile mean of all runs; bands: its 95 % interval, where every setting has three seeds or more."
)
"""What `draw_together` shows."""


def draw_together(tables: Mapping[str, Table], random: Mapping[str, float]) -> bytes | None:
    """Return every row over all settings together, a panel a table under its title; rows that lack a setting are left out.

    Args:
        tables: by the title of their panel.
        random: returns of random policies by imitator.
    """
    found = {title: _wholes(table, dict(random)) for title, table in tables.items()}
    there = [title for title, rows in found.items() if rows]
    if not there:
        return None
    figure, panels = panels_of(len(there))
    figure.set_size_inches(4.4 * len(there), 0.6 + 0.27 * max(map(len, found.values())) + 0.5)
    for title, panel in zip(there, panels, strict=True):
        table, rows = tables[title], found[title]
        for height, (row, whole) in enumerate(reversed(rows.items())):
            colour = COLOURS[styles(table.rows)[row] % len(COLOURS)]
            for mark, runs in zip(cycle(MARKERS), strata(table, row, dict(random)).values(), strict=False):
                panel.plot(runs.mean(), height, mark, color=colour, alpha=0.7, markersize=4.5, markeredgewidth=0)
            panel.plot((whole.low, whole.high), (height, height), color=colour, alpha=0.3, linewidth=7, solid_capstyle="butt")
            panel.plot(whole.iqm, height, "|", color=colour, markersize=13, markeredgewidth=2.5)
        panel.set_yticks(range(len(rows)), [*reversed(rows)], fontsize=8)
        panel.axvline(1, color="#999999", linewidth=0.8, linestyle="--")
        panel.sharex(panels[0])
        panel.set_title(title, fontsize=9)
        panel.set_xlabel("normalised return", fontsize=8)
    _legend_of_settings(panels[0], tables[there[0]].places)
    return with_legend(figure, panels[:1], columns=6)


def _wholes(table: Table, random: dict[str, float]) -> dict[str, Aggregate]:
    """Return the rows of a table that have runs in all its places."""
    wholes = {row: whole for row in table.rows if (whole := aggregate(table, row, random)) is not None}
    return {row: whole for row, whole in wholes.items() if whole.places == len(table.places)}


def _legend_of_settings(panel: Axes, places: Sequence[str]) -> None:
    """Name the marks of the settings, without drawing any of them."""
    for mark, place in zip(cycle(MARKERS), places, strict=False):
        panel.plot([], [], mark, color="#666666", markersize=4, label=place)


def _means(returns: Sequence[Floats]) -> tuple[list[float], list[float]]:
    """Return means, and deviations between seeds; NaN, which is not drawn, where there is no seed, or only one."""
    means = [float(values.mean()) if len(values) else float("nan") for values in returns]
    return means, [float(values.std(ddof=1)) if len(values) > 1 else float("nan") for values in returns]


def panels_of(count: int) -> tuple[Figure, list[Axes]]:
    """Return a figure of so many panels, three in a row; four make a square."""
    columns = 2 if count == 4 else min(count, 3)
    lines = -(-count // columns)
    figure, panels = plt.subplots(lines, columns, figsize=(3.2 * columns, 2.5 * lines), squeeze=False, layout="constrained")
    flat: list[Axes] = list(panels.flat)
    for panel in flat[count:]:
        panel.set_axis_off()
    return figure, flat[:count]


def with_legend(figure: Figure, panels: Sequence[Axes], columns: int = 0) -> bytes:
    """Return a figure with one legend of all that its panels show below it, as SVG; 0 columns: as many as have room."""
    pairs = [panel.get_legend_handles_labels() for panel in panels]
    shown = {label: handle for handles, labels in pairs for handle, label in zip(handles, labels, strict=True)}
    figure.legend(
        [*shown.values()],
        [*shown],
        loc="outside lower center",
        ncols=columns or min(4, 2 * len(panels)),
        frameon=False,
        fontsize=8,
    )
    return svg(figure)


def svg(figure: Figure) -> bytes:
    """Return a figure as SVG, and close it."""
    out = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "imitable"}):  # the same records, the same bytes
        figure.savefig(out, format="svg", metadata={"Date": None})
    plt.close(figure)
    return _PATH.sub(_shorter, out.getvalue())


_PATH = re.compile(rb' d="[^"]*"')
"""The points of a line."""


def _shorter(found: re.Match[bytes]) -> bytes:
    """Return a line in one line of text, to a hundredth of a point, so that a diff can be read."""
    return re.sub(rb"(\.\d\d)\d+", rb"\1", b" ".join(found[0].split())).replace(b"d=", b" d=", 1)
