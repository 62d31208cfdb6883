# SPDX-License-Identifier: MIT
"""`imitable inspect`: what is in a set of demonstrations."""

import numpy as np

from imitable.cli.console import document, say, table
from imitable.cli.summary import demonstrator_table
from imitable.cli.verbs import Inspect
from imitable.command_text import command
from imitable.demos.store import read
from imitable.errors import BadOption
from imitable.types import Demonstrations, Floats


def run(verb: Inspect) -> None:
    """Carry out the verb: rows from the episode table, ranges from one pass over all states."""
    if not verb.demos:
        raise BadOption("DEMOS", "(none)", "name one folder of demonstrations or several")
    demos = read(*verb.demos)
    columns, rows = demonstrator_table(demos.episodes)
    ranges = _state_ranges(demos)
    title = ", ".join(str(path) for path in verb.demos)
    table(verb.common, f"{title}: {len(demos):,} demonstrations, {demos.layout.period_s:g} s a step", columns, rows)
    names = demos.layout.state
    entries = ("entry", "lowest", "mean", "highest")
    state_rows = [(name, *(round(float(x), 4) for x in ranges[:, column])) for column, name in enumerate(names)]
    table(verb.common, "State entries", entries, state_rows)
    duplicates = len(demos) - len({episode.hash for episode in demos.episodes})
    if duplicates:
        say(verb.common, f"{duplicates} demonstrations are copies of others")
    say(verb.common, f"next: {_next(verb, demos)}")
    document(
        verb.common,
        {
            "demos": [str(path) for path in verb.demos],
            "episodes": len(demos),
            "period_s": demos.layout.period_s,
            "actions": demos.layout.actuators,
            "duplicates": duplicates,
            "demonstrators": [dict(zip(columns, row, strict=True)) for row in rows],
            "state": [dict(zip(entries, row, strict=True)) for row in state_rows],
        },
    )


def _next(verb: Inspect, demos: Demonstrations) -> str:
    """Return what can be done with them: positions without velocities are no states of a robot yet."""
    if not demos.layout.qvel:
        return command("convert", [verb.demos[0], "demos"], {"imitator": "SPEC"})
    return command("check", verb.demos, {"imitator": "SPEC"})


def _state_ranges(demos: Demonstrations) -> Floats:
    """(3, S) lowest, mean and highest value of every state entry, in one streamed pass that also checks every episode."""
    size = len(demos.layout.state)
    low, total, high, count = np.full(size, np.inf), np.zeros(size), np.full(size, -np.inf), 0
    for trajectory in demos:
        low, high = np.minimum(low, trajectory.states.min(axis=0)), np.maximum(high, trajectory.states.max(axis=0))
        total, count = total + trajectory.states.sum(axis=0), count + len(trajectory.states)
    return np.stack([low, total / max(count, 1), high])
