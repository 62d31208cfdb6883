# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false
"""Figures of docs/prediction.md, from records alone: outcomes of pairs, predictions against outcomes, reliability."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle
from reproduction_figures import COLOURS, panels_of, svg, with_legend

from imitable.experiments.halves import IMITATORS, family_of
from imitable.experiments.pair_results import Bin, Cluster, Pair, Predictor, by_family, columns
from imitable.experiments.prediction import IMITABLE

FAMILIES = tuple(dict.fromkeys(map(family_of, IMITATORS)))


def heat_map(pairs: Sequence[Pair], scores: Predictor) -> bytes | None:
    """Return the outcomes of one family as a map, scores below them where they are known; None if nothing is recorded."""
    if not any(pair.outcomes for pair in pairs):
        return None
    imitators = list(dict.fromkeys(pair.imitator for pair in pairs))
    demonstrators = sorted({pair.demonstrator for pair in pairs}, key=_by_knob)
    figure, panel = plt.subplots(figsize=(1.6 + 1.05 * len(imitators), 0.9 + 0.42 * len(demonstrators)), layout="constrained")
    values = np.full((len(demonstrators), len(imitators)), np.nan)
    for pair in pairs:
        row, column = demonstrators.index(pair.demonstrator), imitators.index(pair.imitator)
        values[row, column] = pair.outcome
        panel.text(column, row, _cell_text(pair, scores), ha="center", va="center", fontsize=7)
        if pair.is_own:
            panel.add_patch(Rectangle((column - 0.48, row - 0.46), 0.96, 0.92, fill=False, edgecolor="#333333"))
    panel.set_facecolor("#eeeeee")
    shown = panel.imshow(values, cmap="YlGnBu", vmin=0, vmax=1, aspect="auto", alpha=0.6)
    panel.set_xticks(range(len(imitators)), map(_short, imitators), fontsize=8)
    panel.set_yticks(range(len(demonstrators)), map(_short, demonstrators), fontsize=8)
    panel.set_xlabel("imitator", fontsize=8)
    panel.set_ylabel("demonstrator", fontsize=8)
    panel.set_title(family_of(imitators[0]), fontsize=9)
    figure.colorbar(shown, label="normalised return").ax.tick_params(labelsize=7)
    return svg(figure)


def _by_knob(body: str) -> tuple[str, float]:
    knob, _, value = body.partition(":")[2].partition("=")
    return knob, float(value or 0)


def _short(body: str) -> str:
    return body.partition(":")[2] or "base"


def _cell_text(pair: Pair, scores: Predictor) -> str:
    if not pair.outcomes:
        return "–"
    score = scores.get((pair.imitator, pair.demonstrator))
    return f"{pair.outcome:.2f}" + ("" if score is None else f"\n({score:.2f})")


def scatter(clusters: Mapping[str, Sequence[Cluster]]) -> bytes | None:
    """Return every pair as a point, prediction against outcome, a panel per predictor; None if nothing is recorded."""
    there = {name: one for name, one in clusters.items() if one}
    if not there:
        return None
    figure, panels = panels_of(len(there))
    for (name, one), panel in zip(there.items(), panels, strict=True):
        for family, part in by_family(one).items():
            predicted, outcomes = columns(part)
            panel.plot(predicted, outcomes, "o", markersize=4, alpha=0.8, label=family, color=COLOURS[FAMILIES.index(family)])
        panel.axhline(IMITABLE, color="#999999", linewidth=0.8, linestyle="--")
        panel.set_title(name, fontsize=9)
        panel.tick_params(labelsize=7)
    panels[0].set_ylabel("normalised return", fontsize=8)
    return with_legend(figure, panels, columns=4)


def reliability_diagram(bins: Mapping[str, Sequence[Bin]]) -> bytes | None:
    """Return the fraction imitated against a prediction in [0, 1], a panel per predictor; None if nothing is recorded."""
    there = {name: some for name, some in bins.items() if any(one.count for one in some)}
    if not there:
        return None
    figure, panels = panels_of(len(there))
    for (name, some), panel in zip(there.items(), panels, strict=True):
        known = [one for one in some if one.count]
        middles = [(one.low + one.high) / 2 for one in known]
        fractions = [one.imitated / one.count for one in known]
        panel.bar(middles, fractions, width=0.18, color=COLOURS[0], alpha=0.6)
        for middle, fraction, one in zip(middles, fractions, known, strict=True):
            panel.text(middle, fraction, str(one.count), ha="center", va="bottom", fontsize=7)
        panel.plot((0, 1), (0, 1), color="#999999", linewidth=0.8, linestyle="--")
        panel.set_xlim(0, 1)
        panel.set_ylim(0, 1.1)
        panel.set_title(name, fontsize=9)
        panel.set_xlabel("mean score", fontsize=8)
    panels[0].set_ylabel("fraction imitated", fontsize=8)
    return svg(figure)
