# SPDX-License-Identifier: MIT
"""Demonstrations in a few rows."""

from collections.abc import Iterable, Sequence

import numpy as np

from imitable.feasibility.episode_score import VERDICTS
from imitable.feasibility.score import weigh
from imitable.feasibility.scores import Scores
from imitable.types import Episode, Floats, by_demonstrator

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


VERDICT_COLUMNS = (
    "demonstrator",
    "episodes",
    "feasible",
    "borderline",
    "infeasible",
    "unknown",
    "feasible_part",
    "covered_dynamic",
    "covered_static",
    "share",
    "score",
    "score_low",
    "score_high",
    "weight",
    "plain",
    "balanced",
    "followed",
    "error_m",
    "diverges",
)


def by_verdict(scores: Scores) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Return column names and one row a demonstrator, the highest weight first."""
    plain, even = (weigh(scores, balance=balance).weight for balance in ("none", "demonstrator"))
    ordered = sorted(by_demonstrator(scores.episodes).items(), key=lambda group: -float(scores.weight[group[1]].sum()))
    return VERDICT_COLUMNS, [_verdict_row(name, scores, (scores.weight, plain, even), places) for name, places in ordered]


def _verdict_row(name: str, scores: Scores, masses: Iterable[Floats], places: list[int]) -> tuple[object, ...]:
    """Counts; parts; mean share and scores; mass of the group, as it is, plain and balanced; part followed; metres; divergence.

    The last is the median step of divergence (NaN: none diverges).
    """
    words = [scores.verdict[place] for place in places]
    divergences = scores.first_divergence[places]
    return (
        name,
        len(places),
        *(words.count(verdict) for verdict in VERDICTS),
        *(_mean(values[places]) for values in (scores.feasible_part, scores.covered_dynamic, scores.covered_static)),
        round(float(scores.share[places].mean()), 3),
        *(float(f"{values[places].mean():.2g}") for values in (scores.score, scores.score_low, scores.score_high)),
        *(round(float(values[places].sum()), 3) for values in masses),
        round(float(scores.followed[places].mean()), 3),
        round(float(scores.error_mean_m[places].mean()), 3),
        float(np.median(divergences[divergences >= 0])) if (divergences >= 0).any() else float("nan"),
    )


def _mean(values: Floats) -> float:
    """Return the mean of what is known, in percent's precision; NaN if nothing is."""
    known = values[np.isfinite(values)]
    return round(float(known.mean()), 3) if len(known) else float("nan")


def narrow(columns: tuple[str, ...], rows: list[tuple[object, ...]]) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Return the same for a terminal of 80 columns: the verdicts in one column, in the order of `VERDICTS`, short scores.

    Columns about the whole motion are there where any was evaluated.
    """
    place = {name: i for i, name in enumerate(columns)}
    evaluated = any(str(row[place["feasible_part"]]) != "nan" for row in rows)
    heads = (
        "demonstrator",
        "verdicts",
        *(("possible", "covered") if evaluated else ()),
        "share",
        "score",
        "weight",
        "followed",
        "diverges",
    )
    shown: list[tuple[object, ...]] = []
    for row in rows:
        low, middle, high = (f"{row[place[name]]:.1g}" for name in ("score_low", "score", "score_high"))
        verdicts = "/".join(str(row[place[name]]) for name in VERDICTS)
        possible, dynamic, static = (
            f"{row[place[name]]:.0%}" for name in ("feasible_part", "covered_dynamic", "covered_static")
        )
        whole = (possible, f"{dynamic}/{static}") if evaluated else ()
        score = middle if low == middle == high else f"{middle} ({low}–{high})"
        shown.append((row[0], verdicts, *whole, row[place["share"]], score, *(row[place[name]] for name in heads[-3:])))
    return heads, shown
