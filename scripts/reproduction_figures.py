# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false
"""Figures of docs/reproduction.md, from records alone: returns against steps, returns against an amount."""

import io
from collections.abc import Callable, Sequence

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from imitable.experiments.rows import styles
from imitable.experiments.tables import Table
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

GRID = 200
"""Points of a mean curve."""


def curves(table: Table, rows: Sequence[str]) -> bytes | None:
    """Return mean return against steps, a panel a place; the band is the range of the seeds. None if nothing is there."""
    places = [place for place in table.places if any(table.at(place, row) for row in rows)]
    if not places:
        return None
    figure, panels = panels_of(len(places))
    for place, panel in zip(places, panels, strict=True):
        for row, style in styles(rows).items():
            draw_curve(panel, [record.curve for record in table.at(place, row)], COLOURS[style % len(COLOURS)], row)
        panel.set_title(place, fontsize=9)
        panel.set_xlabel("steps")
    panels[0].set_ylabel("return, sampled actions")
    return with_legend(figure, panels)


def draw_curve(panel: Axes, seeds: Sequence[Sequence[tuple[int, float | None]]], colour: str, name: str) -> None:
    """Draw the mean of some learning curves, (steps, return) each, and the range between them."""
    known = [[(steps, value) for steps, value in curve if value is not None] for curve in seeds]
    known = [curve for curve in known if len(curve) > 1]
    if not known:
        return
    steps = np.linspace(max(curve[0][0] for curve in known), min(curve[-1][0] for curve in known), GRID)
    seen = [(np.array([at for at, _ in curve], float), np.array([value for _, value in curve])) for curve in known]
    values: Floats = np.array([np.interp(steps, at, value) for at, value in seen])
    panel.plot(steps, values.mean(axis=0), color=colour, label=name, linewidth=1.2)
    panel.fill_between(steps, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.15, linewidth=0)


def against(table: Table, groups: dict[str, list[tuple[float, str]]], rows: Sequence[str], label: str) -> bytes | None:
    """Return mean returns against an amount, a panel a group of (amount, place); bars are deviations between seeds."""
    there = {
        name: points for name, points in groups.items() if any(table.at(place, row) for _, place in points for row in rows)
    }
    if not there:
        return None
    figure, panels = panels_of(len(there))
    for (name, points), panel in zip(there.items(), panels, strict=True):
        for row, style in styles(rows).items():
            found = [(amount, table.returns(place, row)) for amount, place in points if len(table.returns(place, row))]
            if not found:
                continue
            means, stds = [float(values.mean()) for _, values in found], [_std(values) for _, values in found]
            panel.errorbar(
                [amount for amount, _ in found],
                means,
                stds,
                color=COLOURS[style % len(COLOURS)],
                label=row,
                marker="o",
                capsize=3,
            )
        panel.set_title(name, fontsize=9)
        panel.set_xlabel(label, fontsize=8)
    panels[0].set_ylabel("return, mean actions")
    return with_legend(figure, panels)


def _std(values: Floats) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0


def panels_of(count: int) -> tuple[Figure, list[Axes]]:
    """Return a figure of so many panels, three in a row; four make a square."""
    columns = 2 if count == 4 else min(count, 3)
    lines = -(-count // columns)
    figure, panels = plt.subplots(lines, columns, figsize=(3.2 * columns, 2.5 * lines), squeeze=False, layout="constrained")
    flat: list[Axes] = list(panels.flat)
    for panel in flat[count:]:
        panel.set_axis_off()
    return figure, flat[:count]


def with_legend(figure: Figure, panels: Sequence[Axes], columns: int = 4) -> bytes:
    """Return a figure with one legend of all that its panels show below it, as SVG."""
    pairs = [panel.get_legend_handles_labels() for panel in panels]
    shown = {label: handle for handles, labels in pairs for handle, label in zip(handles, labels, strict=True)}
    figure.legend([*shown.values()], [*shown], loc="outside lower center", ncols=columns, frameon=False, fontsize=8)
    return svg(figure)


def svg(figure: Figure) -> bytes:
    """Return a figure as SVG, and close it."""
    out = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "imitable"}):  # the same records, the same bytes
        figure.savefig(out, format="svg", metadata={"Date": None})
    plt.close(figure)
    return out.getvalue()


Drawing = Callable[[Table], bytes | None]
"""Draws a table, if there is anything to draw."""
