# SPDX-License-Identifier: MIT
"""`imitable score --uncertain`: on how many plausible bodies is a demonstration feasible?"""

from imitable.cli.console import Watched, bar, say, table
from imitable.cli.verbs import Score
from imitable.errors import BadOption
from imitable.feasibility.scores import Scores
from imitable.feasibility.uncertainty import BODIES, Uncertainty, parse_doubts, uncertain
from imitable.feasibility.uncertainty_file import uncertain_path, write_uncertainty
from imitable.robots.robot import Robot
from imitable.types import Demonstrations

SHOWN = 40
"""Demonstrations that the table shows."""


def check_doubts(verb: Score, imitator: Robot) -> None:
    """Refuse doubts that cannot be drawn, before hours of scoring."""
    if verb.uncertain is None:
        return
    for name in ("shard", "explain"):
        if getattr(verb, name) is not None:
            raise BadOption("--uncertain", verb.uncertain, f"it is for a whole set; leave out --{name}")
    parse_doubts(imitator, verb.uncertain)


def follow_plausible(verb: Score, scores: Scores, demos: Demonstrations) -> dict[str, object]:
    """Follow all demonstrations on plausible bodies, show and write what came of it; return what the document says."""
    if verb.uncertain is None:
        return {}
    say(verb.common, f"{len(demos):,} demonstrations on {BODIES} plausible bodies: about {BODIES} times as long as before")
    with bar(verb.common, len(demos), "plausible bodies") as shown:
        watched = Watched(verb.common, shown)
        found = uncertain(scores, demos, verb.uncertain, threads=verb.common.threads, observer=watched)
    write_uncertainty(uncertain_path(verb.out), scores, found)
    columns = ("episode", "demonstrator", "verdict", "feasible_on", "share_low", "share_high", "worst_knob")
    rows = [_row(scores, found, place) for place in range(len(scores))]
    table(verb.common, f"{uncertain_path(verb.out)}: {verb.uncertain}", columns, rows[:SHOWN])
    if len(rows) > SHOWN:
        say(verb.common, f"and {len(rows) - SHOWN:,} more (in the file, and with --json)")
    uncertain_rows = [dict(zip(columns, row, strict=True)) for row in rows]
    return {"uncertain": {"bodies": found.bodies, "doubts": verb.uncertain, "episodes": uncertain_rows}}


def _row(scores: Scores, found: Uncertainty, place: int) -> tuple[object, ...]:
    shares = found.shares[place]
    return (
        place,
        scores.episodes[place].demonstrator,
        scores.verdict[place],
        f"{int(found.feasible[place])} of {found.bodies}",
        round(float(shares.min()), 3),
        round(float(shares.max()), 3),
        found.worst_knob[place] or "–",
    )
