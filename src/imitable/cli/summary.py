# SPDX-License-Identifier: MIT
"""Demonstrations in a few rows."""

from collections.abc import Iterable

import numpy as np

from imitable.types import Episode

COLUMNS = ("demonstrator", "episodes", "transitions", "return_mean", "return_std", "length_mean", "terminated")


def by_demonstrator(episodes: Iterable[Episode]) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Return column names and one row a demonstrator, in the order they first appear."""
    groups: dict[str, list[Episode]] = {}
    for episode in episodes:
        groups.setdefault(episode.demonstrator, []).append(episode)
    return COLUMNS, [_row(name, group) for name, group in groups.items()]


def _row(name: str, group: list[Episode]) -> tuple[object, ...]:
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
