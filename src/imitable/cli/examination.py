# SPDX-License-Identifier: MIT
"""`imitable inspect --imitator`: are these demonstrations healthy ones for this body, and what can be repaired?"""

from collections.abc import Iterator

from imitable.cli.console import say, table, tell
from imitable.cli.verbs import Inspect
from imitable.demos.fit import check_layout
from imitable.demos.store import write
from imitable.errors import BadOption
from imitable.feasibility.health import Health, health
from imitable.feasibility.repair import repaired
from imitable.files import check_free
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.types import Demonstrations, Trajectory

SHOWN = 40
"""Remarks that the table shows."""


def check_options(verb: Inspect) -> None:
    """Refuse a repair that cannot be made, before anything is shown."""
    if verb.repair is not None:
        if verb.imitator is None:
            raise BadOption("--repair", verb.repair, "for which robot? give --imitator, too")
        check_free(verb.repair, overwrite=verb.overwrite)


def examine(verb: Inspect, demos: Demonstrations) -> dict[str, object]:
    """Examine demonstrations on the imitator, and repair them, if asked for; return what the document says of it."""
    if verb.imitator is None:
        return {}
    imitator = parse_robot(verb.imitator)
    check_layout(demos.layout, imitator.layout, str(verb.demos[0]))
    found = [health(episode, one, imitator) for episode, one in zip(demos.episodes, demos, strict=True)]
    _show(verb, demos, found)
    return {
        "imitator": str(imitator),
        "health": [_said(demos, place, one) for place, one in enumerate(found)],
        "repaired": _repair(verb, demos, imitator),
    }


def _said(demos: Demonstrations, place: int, found: Health) -> dict[str, object]:
    episode = demos.episodes[place]
    where = {"episode": place, "source": episode.source, "episode_index": episode.index}
    return {**where, "demonstrator": episode.demonstrator, "unfit": found.unfit or None, "remarks": list(found.remarks)}


def _show(verb: Inspect, demos: Demonstrations, found: list[Health]) -> None:
    rows = [
        (place, demos.episodes[place].demonstrator, remark)
        for place, one in enumerate(found)
        for remark in ([f"unfit: {one.unfit}"] if one.unfit else []) + list(one.remarks)
    ]
    healthy = sum(not one.unfit and not one.remarks for one in found)
    unfit = sum(bool(one.unfit) for one in found)
    title = f"Health on {verb.imitator}: {healthy:,} of {len(found):,} without a remark, {unfit:,} unfit"
    if rows:
        table(verb.common, title, ("episode", "demonstrator", "remark"), rows[:SHOWN])
    else:
        tell(verb.common, title)
    if len(rows) > SHOWN:
        say(verb.common, f"and {len(rows) - SHOWN:,} more remarks (--json lists all)")


def _repair(verb: Inspect, demos: Demonstrations, imitator: Robot) -> list[dict[str, object]]:
    """Write the repaired set, and say what was done to which demonstration."""
    done: list[dict[str, object]] = []
    if verb.repair is None:
        return done

    def stream() -> Iterator[Trajectory]:
        for place, trajectory in enumerate(demos):
            made = repaired(trajectory, imitator)
            done.extend({"episode": place, "done": line} for line in made.done)
            yield made.trajectory

    write(verb.repair, demos.layout, stream(), overwrite=verb.overwrite)
    for row in done[:SHOWN]:
        say(verb.common, f"episode {row['episode']}: {row['done']}")
    say(
        verb.common, f"{verb.repair}: {len(demos):,} demonstrations, {len({row['episode'] for row in done}):,} of them repaired"
    )
    return done
