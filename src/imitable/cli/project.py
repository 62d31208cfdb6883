# SPDX-License-Identifier: MIT
"""`imitable project`: demonstrations as the imitator itself can do them, with its actions."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from imitable.cli.console import Watched, bar, document, say, table
from imitable.cli.demonstrations import demonstrations
from imitable.cli.estimate import announce
from imitable.cli.verbs import Project
from imitable.command_text import command
from imitable.demos.store import read, write
from imitable.feasibility.score_files import write_scores
from imitable.files import check_free, keeping, locked
from imitable.projection import Cut, Origin, Projection
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.types import Demonstrations, by_demonstrator

COST = 20
"""Simulated steps a followed step takes, roughly: for the estimate before a long job."""

FOLLOWED = 0.5
"""A projection that keeps a smaller part of what it was to follow says what to do."""

COLUMNS = ("demonstrator", "pieces", "left_out", "transitions", "followed", "error")


def run(verb: Project) -> None:
    """Carry out the verb."""
    demos, imitator = demonstrations(verb.demos, verb.leave_out), parse_robot(verb.imitator)
    with locked(scores_path(verb.out)):
        projection = _projected(verb, demos, imitator)
    _report(verb, demos, imitator, projection)


def _projected(verb: Project, demos: Demonstrations, imitator: Robot) -> Projection:
    """Write the projection, and the scores of its pieces, if there are any."""
    for path in (verb.out, *([] if verb.scores is None else [scores_path(verb.out)])):
        check_free(path, overwrite=verb.overwrite)
    with bar(verb.common, len(demos), "projecting") as shown:
        projection = Projection(
            demos,
            imitator,
            scores=verb.scores,
            cut=Cut(verb.length, verb.pieces),
            seed=verb.common.seed,
            threads=verb.common.threads,
            observer=Watched(verb.common, shown),
        )
        if projection.skipped:
            say(verb.common, f"{projection.skipped:,} demonstrations have no weight and are skipped")
        if projection.simulates:
            size = f"{projection.planned:,} steps to follow, about {COST * projection.planned:,} simulated ones"
            announce(verb.common, size, imitator, COST * projection.planned)
        write(verb.out, imitator.layout, projection, overwrite=verb.overwrite)
    scores = projection.scores_of(read(verb.out).episodes)
    if scores is not None:
        with keeping(verb.out, then="give --overwrite to write it with its scores"):
            write_scores(scores_path(verb.out), scores)
    return projection


def scores_path(out: Path) -> Path:
    """Return where the weights of the pieces go: `projected` → `projected.scores.parquet`."""
    return out.with_name(f"{out.name}.scores.parquet")


def _report(verb: Project, demos: Demonstrations, imitator: Robot, projection: Projection) -> None:
    rows = _by_demonstrator(projection.origins, projection.left_out)
    table(verb.common, f"{verb.out}: {len(projection.origins):,} demonstrations of {verb.imitator}", COLUMNS, rows)
    say(verb.common, "followed: part of the steps that were meant; error: in deviations of the imitator's own babbling")
    lost = sorted({origin.place for origin in projection.left_out} - {origin.place for origin in projection.origins})
    if lost:
        say(verb.common, f"! {len(lost):,} demonstrations cannot be followed and are left out: {_few(lost)}")
    meant = sum(origin.meant for origin in (*projection.origins, *projection.left_out))
    if sum(origin.length for origin in projection.origins) < FOLLOWED * meant:
        say(
            verb.common,
            "! less than half of the steps are followed: shorter pieces begin anew more often (--length 5 --pieces 27)",
        )
    say(verb.common, f"{projection.simulator_steps:,} simulated steps")
    options = {
        "imitator": verb.imitator,
        "scores": None if verb.scores is None else scores_path(verb.out),
        # pieces are short: a robot without a task is to be judged for as long as the demonstrations were
        "horizon": None if imitator.family.has_task else max(episode.length for episode in demos.episodes),
        "method": "cloning",
    }
    say(verb.common, f"next: {command('imitate', [verb.out], options)}")
    document(
        verb.common,
        {
            "out": str(verb.out),
            "scores": None if verb.scores is None else str(scores_path(verb.out)),
            "simulator_steps": projection.simulator_steps,
            "demonstrators": [dict(zip(COLUMNS, row, strict=True)) for row in rows],
            "lost": lost,
            "skipped": projection.skipped,
            "episodes": [_origin(origin) for origin in projection.origins],
            "left_out": [_origin(origin) for origin in projection.left_out],
        },
    )


def _by_demonstrator(origins: Sequence[Origin], left_out: Sequence[Origin]) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    pieces = (*origins, *left_out)
    for name, places in by_demonstrator(piece.episode for piece in pieces).items():
        mine = [pieces[place] for place in places if place < len(origins)]
        lost = [pieces[place] for place in places if place >= len(origins)]
        lengths = np.array([origin.length for origin in mine])
        total, meant = int(lengths.sum()), sum(origin.meant for origin in (*mine, *lost))
        error = float(np.average([origin.error for origin in mine], weights=lengths)) if mine else float("nan")
        rows.append((name, len(mine), len(lost), total, round(total / meant, 3), float(f"{error:.2g}")))
    return rows


def _origin(origin: Origin) -> dict[str, object]:
    """Say where a piece came from."""
    return {
        "episode": origin.place,
        "source": origin.episode.source,
        "episode_index": origin.episode.index,
        "episode_hash": origin.episode.hash,
        "demonstrator": origin.episode.demonstrator,
        "begin": origin.begin,
        "meant": origin.meant,
        "length": origin.length,
        "error": origin.error,
    }


def _few(places: Sequence[int], most: int = 10) -> str:
    more = f" and {len(places) - most:,} more (--json lists all)" if len(places) > most else ""
    return ", ".join(map(str, places[:most])) + more
