# SPDX-License-Identifier: MIT
"""What the page shows of single demonstrations: both bodies in motion, the error over time, and why it fails.

Kept for at most `DETAILED` demonstrations, thinned in time and rounded, so that a page stays small whatever the set is.
"""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from imitable.errors import ImitableError
from imitable.feasibility.ladders import ladders
from imitable.feasibility.reach import out_of_reach
from imitable.feasibility.reasons import FailingEntry, broken_limits, failing_entries, needed_forces
from imitable.feasibility.scores import Scores
from imitable.feasibility.sources import Sources
from imitable.feasibility.step_files import copy_steps, read_steps, steps_path
from imitable.report.motion import motion, rounded, thinned
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.tracking.attempts import Trace
from imitable.types import Episode, Floats, Ints, Trajectory, by_demonstrator

DETAILED = 40
"""Demonstrations of a page whose details are kept, at most."""

CURVE = 400
"""Points of an error curve, at most."""


def detailed_rows(scores: Scores, most: int) -> list[int]:
    """Return the rows whose details are kept: by turns from every demonstrator and verdict, each spread over its shares."""
    groups: dict[tuple[str, str], list[int]] = {}
    for row in map(int, np.argsort(scores.share, kind="stable")):
        groups.setdefault((scores.episodes[row].demonstrator, scores.verdict[row]), []).append(row)
    spread = [[rows[place] for place in _spread(len(rows))] for rows in groups.values()]
    turns = [rows[turn] for turn in range(most) for rows in spread if turn < len(rows)]
    return sorted(turns[:most])


def _spread(count: int) -> list[int]:
    """Return 0 … count − 1 in an order whose every beginning is spread out: first, last, middle, quarters and so on."""
    order, step = [0, count - 1], float(count - 1)
    while step > 1:
        step /= 2
        order += [round(step * k) for k in range(1, round((count - 1) / step), 2)]
    return list(dict.fromkeys([*order, *range(count)]))


def explained_rows(scores: Scores, rows: Sequence[int], count: int) -> list[int]:
    """Return the rows that are followed on other bodies: of every demonstrator the nearest, then of every one the farthest."""
    nearest_first = sorted(rows, key=lambda row: float(scores.share[row]))
    groups = by_demonstrator(scores.episodes[row] for row in nearest_first).values()
    wanted = [nearest_first[places[end]] for end in (0, -1) for places in groups]
    return list(dict.fromkeys(wanted))[:count]


@dataclass(frozen=True, eq=False)
class Looked:
    """One demonstration and what its scorer saw of it."""

    scores: Scores
    row: int
    imitator: Robot
    trace: Trace
    demonstrated: Trajectory | None

    @cached_property
    def path(self) -> Ints:
        """Rows of the trace, one a step, in order: where several attempts judge a step, that of the least mean error."""
        numbers = np.unique(self.trace.attempts)
        means = [float(np.mean(self.trace.errors[self.trace.attempts == number])) for number in numbers]
        rank = np.argsort(np.argsort(means, kind="stable"))[np.searchsorted(numbers, self.trace.attempts)]
        order = np.lexsort((rank, self.trace.steps))
        _, firsts = np.unique(self.trace.steps[order], return_index=True)
        return order[firsts]

    @property
    def followed(self) -> bool:
        """Whether the scorer simulated the imitator."""
        return bool(np.isfinite(self.trace.states[self.path]).all())


def details(
    path: Path, scores: Scores, most: int, explain: int, threads: int, on_progress: Callable[[int, int], None]
) -> dict[str, dict[str, Any]]:
    """Return the details of at most `most` demonstrations by row; `explain` of them with ladders, which simulate."""
    rows, imitator, sources = detailed_rows(scores, most), parse_robot(scores.imitator), Sources(path.parent)
    chosen, shown = explained_rows(scores, rows, explain), dict[str, dict[str, Any]]()
    for done, (row, trace) in enumerate(zip(rows, _traces(path, [scores.episodes[row] for row in rows]), strict=True)):
        on_progress(done, len(rows))
        if trace is not None:
            looked = Looked(scores, row, imitator, trace, sources.trajectory(scores.episodes[row]))
            shown[str(row)] = _detail(looked, threads if row in chosen else None)
    on_progress(len(rows), len(rows))
    return shown


def _traces(path: Path, episodes: Sequence[Episode]) -> list[Trace | None]:
    """Return what the method saw of some demonstrations; the file of all steps is read once, in a stream."""
    if not steps_path(path).exists():
        return [None] * len(episodes)
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / path.name
        copy_steps(steps_path(part), [steps_path(path)], episodes)
        return [read_steps(part, episode.hash) for episode in episodes]


def _detail(looked: Looked, threads: int | None) -> dict[str, Any]:
    rows, period = looked.path, looked.imitator.layout.period_s
    curve = rows[thinned(len(rows), CURVE)]
    return {
        "hash": looked.scores.episodes[looked.row].hash,
        "times": rounded(looked.trace.steps[curve] * period),
        "errors": rounded(looked.trace.errors[curve]),
        "motion": _motion(looked),
        "reasons": None if looked.demonstrated is None else _reasons(looked, looked.demonstrated),
        "ladders": None if looked.demonstrated is None or threads is None else _ladders(looked, looked.demonstrated, threads),
    }


def _reasons(looked: Looked, demonstrated: Trajectory) -> dict[str, Any]:
    """Entries, limits and forces: from states alone, nothing is simulated."""
    last, reach = int(looked.trace.steps.max()), out_of_reach(looked.imitator, demonstrated)
    return {
        "reach": None if reach is None else reach.sentence,
        "entries": [asdict(entry) for entry in _entries(looked, demonstrated)],
        "limits": [asdict(limit) for limit in broken_limits(demonstrated, looked.imitator, last)],
        "forces": [asdict(force) for force in needed_forces(demonstrated, looked.imitator, last)],
    }


def _entries(looked: Looked, demonstrated: Trajectory) -> tuple[FailingEntry, ...]:
    """Return the entries that the shown attempt misses most after the divergence."""
    steps, first = looked.trace.steps[looked.path], int(looked.scores.first_divergence[looked.row])
    rows = looked.path[steps >= first] if (steps >= first).any() else looked.path
    return failing_entries(looked.imitator, looked.trace.states[rows], demonstrated.states[looked.trace.steps[rows]])


def _ladders(looked: Looked, demonstrated: Trajectory, threads: int) -> list[dict[str, Any]]:
    climbed = ladders(demonstrated, looked.imitator, looked.scores, threads=threads)
    return [{**asdict(ladder), "sentence": ladder.sentence} for ladder in climbed]


def _motion(looked: Looked) -> dict[str, Any] | None:
    """Both bodies, as far as they are known; the first frame is where both begin."""
    demonstrated, trace, rows = looked.demonstrated, looked.trace, looked.path
    steps, states = trace.steps[rows], trace.states[rows]
    bodies: list[tuple[str, Robot, Floats]] = []
    if demonstrated is not None:
        begin = int(steps[0]) - 1
        steps, states = np.r_[begin, steps], np.concatenate([demonstrated.states[begin : begin + 1], states])
        bodies.append(("demonstrated", _body(demonstrated, looked.imitator), demonstrated.states[steps]))
    if looked.followed:
        bodies.append(("attempted", looked.imitator, states))
    return motion(looked.imitator, steps, bodies)


def _body(demonstrated: Trajectory, imitator: Robot) -> Robot:
    """Return the demonstrator's body, if its name says which; else the imitator's stands in for it."""
    try:
        body = parse_robot(demonstrated.demonstrator)
    except ImitableError:
        return imitator
    return body if body.layout.state == imitator.layout.state else imitator
