# SPDX-License-Identifier: MIT
"""Demonstrations in a few rows."""

from collections.abc import Sequence

import numpy as np

from imitable.feasibility.scores import Scores
from imitable.types import Episode, by_demonstrator

COLUMNS = ("demonstrator", "episodes", "transitions", "return_mean", "return_std", "length_mean", "terminated")


def demonstrator_table(episodes: Sequence[Episode]) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Return column names and one row a demonstrator, in the order they first appear."""
    groups = by_demonstrator(episodes)
    return COLUMNS, [_row(name, [episodes[place] for place in places]) for name, places in groups.items()]


def _row(name: str, group: Sequence[Episode]) -> tuple[object, ...]:
    returns = np.array([episode.total_return for episode in group])
    lengths = np.array([episode.length for episode in group])
    return (
        name,
        len(group),
        int(lengths.sum()),
        round(float(returns.mean()), 1),
        round(float(returns.std()), 1),
        round(float(lengths.mean()), 1),
        sum(episode.terminated for episode in group),
    )


VERDICT_COLUMNS = ("demonstrator", "episodes", "feasible", "nearly", "infeasible", "share", "score", "weight", "diverges")


def by_verdict(scores: Scores) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Return column names and one row a demonstrator, the highest weight first."""
    ordered = sorted(by_demonstrator(scores.episodes).items(), key=lambda group: -float(scores.weight[group[1]].sum()))
    return VERDICT_COLUMNS, [_verdict_row(name, scores, places) for name, places in ordered]


def _verdict_row(name: str, scores: Scores, places: list[int]) -> tuple[object, ...]:
    """Counts, mean share and score, the group's mass, and the median step of divergence (NaN: none diverges)."""
    words = [scores.verdict[place] for place in places]
    divergences = scores.first_divergence[places]
    return (
        name,
        len(places),
        *(words.count(verdict) for verdict in ("feasible", "nearly", "infeasible")),
        round(float(scores.share[places].mean()), 3),
        float(f"{scores.score[places].mean():.2g}"),
        round(float(scores.weight[places].sum()), 3),
        float(np.median(divergences[divergences >= 0])) if (divergences >= 0).any() else float("nan"),
    )


def narrow(columns: tuple[str, ...], rows: list[tuple[object, ...]]) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Return the same for a terminal of 80 columns: the verdicts in one column (feasible/nearly/infeasible), short scores."""
    heads = (columns[0], "verdicts", *columns[5:])
    return heads, [(row[0], "/".join(map(str, row[2:5])), row[5], f"{row[6]:.1g}", *row[7:]) for row in rows]
