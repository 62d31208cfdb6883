# SPDX-License-Identifier: MIT
"""`imitable check`: what of these demonstrations is impossible for this robot, without simulating, and what can be repaired?"""

from collections.abc import Iterator
from dataclasses import asdict

from imitable.cli.console import document, say, table, tell
from imitable.cli.verbs import Check
from imitable.command_text import command
from imitable.demos.fit import check_layout
from imitable.demos.store import read, write
from imitable.errors import BadOption
from imitable.feasibility.health import Health, health
from imitable.feasibility.repair import repaired
from imitable.files import check_free
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.types import Demonstrations, Trajectory

SHOWN = 40
"""Findings that the table shows."""


def run(verb: Check) -> None:
    """Carry out the verb: all static checks of every demonstration."""
    if not verb.demos:
        raise BadOption("DEMOS", "(none)", "name one folder of demonstrations or several")
    if verb.repair is not None:
        check_free(verb.repair, overwrite=verb.overwrite)
    demos, imitator = read(*verb.demos), parse_robot(verb.imitator)
    check_layout(demos.layout, imitator.layout, str(verb.demos[0]))
    found = [health(episode, one, imitator) for episode, one in zip(demos.episodes, demos, strict=True)]
    _show(verb, demos, found)
    fixed = _repair(verb, demos, imitator)
    sets = verb.demos if verb.repair is None else (verb.repair,)
    say(verb.common, f"next: {command('score', sets, {'imitator': verb.imitator})}")
    rows = [_row(demos, place, one) for place, one in enumerate(found)]
    document(verb.common, {"imitator": str(imitator), "checks": rows, "repaired": fixed})


def _row(demos: Demonstrations, place: int, found: Health) -> dict[str, object]:
    episode = demos.episodes[place]
    where = {"episode": place, "source": episode.source, "episode_index": episode.index}
    return {
        **where,
        "demonstrator": episode.demonstrator,
        "unfit": found.unfit or None,
        "remarks": list(found.remarks),
        "spans": [asdict(span) | {"sentence": span.sentence} for span in found.spans],
    }


def _show(verb: Check, demos: Demonstrations, found: list[Health]) -> None:
    rows = [
        (place, demos.episodes[place].demonstrator, kind, text)
        for place, one in enumerate(found)
        for kind, text in _findings(one)
    ]
    clean, unfit = sum(not _findings(one) for one in found), sum(bool(one.unfit) for one in found)
    impossible = sum(any(span.certain for span in one.spans) for one in found)
    title = (
        f"{verb.imitator}: {clean:,} of {len(found):,} without a finding, {impossible:,} certainly impossible, {unfit:,} unfit"
    )
    if rows:
        table(verb.common, title, ("episode", "demonstrator", "", "finding"), rows[:SHOWN])
        say(verb.common, "impossible: for every motion within the tolerance; suspicion: a simulation decides (imitable score)")
    else:
        tell(verb.common, title)
    if len(rows) > SHOWN:
        say(verb.common, f"and {len(rows) - SHOWN:,} more findings (--json lists all)")


def _findings(found: Health) -> list[tuple[str, str]]:
    """Return kind and text of what is shown: of every kind of check the worst span."""
    rows = [("unfit", found.unfit)] if found.unfit else []
    rows += [("data", remark) for remark in found.remarks]
    for span, count in found.worst:
        more = f"; {count - 1} more of this kind" if count > 1 else ""
        rows.append(("impossible" if span.certain else "suspicion", span.sentence + more))
    return rows


def _repair(verb: Check, demos: Demonstrations, imitator: Robot) -> list[dict[str, object]]:
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
