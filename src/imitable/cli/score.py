# SPDX-License-Identifier: MIT
"""`imitable score`: which demonstrations can the imitator follow?"""

import json
import shlex
import tempfile
from dataclasses import asdict
from pathlib import Path

import numpy as np

from imitable.cli.console import bar, document, say, table
from imitable.cli.demonstrations import demonstrations
from imitable.cli.estimate import announce
from imitable.cli.method_help import helped
from imitable.cli.summary import by_verdict, narrow
from imitable.cli.verbs import Score
from imitable.errors import BadOption
from imitable.feasibility.explain import explain, lines
from imitable.feasibility.ruler import ruler
from imitable.feasibility.score import Measuring, job_key, method, score
from imitable.feasibility.score_files import parts_path, read_scores, read_steps
from imitable.feasibility.scorer import Scorer, Trace
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.types import Demonstrations, InMemory, Scores

STEPS_EACH = 1_500
"""Simulated steps a demonstration that tracking takes, roughly: for the estimate before a long job."""

COVERED = 0.1
"""A score that judges a smaller part of the episodes than this says so loudly."""


def run(verb: Score) -> None:
    """Carry out the verb."""
    if helped(verb.common, verb.method, method):
        return
    demos, imitator, scorer = demonstrations(verb.demos, verb.leave_out), parse_robot(verb.imitator), method(verb.method)
    if verb.explain is not None:
        _explain(verb, demos, imitator, scorer)
        return
    _estimate(verb, demos, imitator, scorer)
    with bar(verb.common, len(demos), "scoring") as shown:
        try:
            scores = score(
                demos,
                imitator,
                scorer,
                verb.common.seed,
                measuring=_measuring(verb),
                temperature=verb.temperature,
                threads=verb.common.threads,
                out=verb.out,
                resume=verb.resume,
                overwrite=verb.overwrite,
                on_progress=lambda done, total: shown.move_to(done, f"{done:,} of {total:,}"),
                say=lambda line: say(verb.common, line),
            )
        except KeyboardInterrupt:
            kept = f"What is done is kept in {parts_path(verb.out)}: the same command with --resume goes on from there."
            raise KeyboardInterrupt(kept) from None
    report(verb, scores, verb.out)
    say(verb.common, f"next: {_again(verb)} --explain EPISODE")


def _again(verb: Score) -> str:
    """Return the command with all that the measures depend on, so that an explanation finds them again."""
    plain = Score(verb.demos, verb.imitator)
    words = ["imitable", "score", *map(str, verb.demos), "--imitator", verb.imitator, "--out", str(verb.out)]
    for name in ("method", "distance", "entries", "discount", "rollouts"):
        if (value := getattr(verb, name)) != getattr(plain, name):
            words += [f"--{name}", str(value)]
    words += ["--leave-out", verb.leave_out] if verb.leave_out else []
    return shlex.join(words + (["--seed", str(verb.common.seed)] if verb.common.seed else []))


def report(verb: Score, scores: Scores, out: Path) -> None:
    """Show the verdicts by demonstrator, the caveats first."""
    about = scores.about
    for remark in about["remarks"]:
        say(verb.common, f"! {remark}")
    columns, rows = by_verdict(scores)
    table(verb.common, f"{out}: {len(scores):,} demonstrations on {about['imitator']}", *narrow(columns, rows))
    say(verb.common, "verdicts: feasible/nearly/infeasible; diverges: median step from which on the tracker is lost")
    say(verb.common, _judged(scores))
    if _covered(scores) < COVERED:
        say(verb.common, "! that is less than a tenth of the episodes: --method direct:form=windows looks at later parts, too")
    document(
        verb.common,
        {
            "out": str(out),
            **{name: value for name, value in about.items() if name != "key"},
            "demonstrators": [dict(zip(columns, row, strict=True)) for row in rows],
            "episodes": [
                {
                    "episode": place,
                    "source": episode.source,
                    "episode_index": episode.index,
                    "demonstrator": episode.demonstrator,
                    "distance": float(scores.distance[place]),
                    "share": float(scores.share[place]),
                    "verdict": scores.verdict[place],
                    "score": float(scores.score[place]),
                    "weight": float(scores.weight[place]),
                    "first_divergence": None if scores.first_divergence[place] < 0 else int(scores.first_divergence[place]),
                }
                for place, episode in enumerate(scores.episodes)
            ],
        },
    )


def _covered(scores: Scores) -> float:
    """Return the part of the episodes that all attempts together judge."""
    return min(1.0, scores.about["covered"] * scores.about.get("attempts", 1))


def _judged(scores: Scores) -> str:
    about = scores.about
    attempts = about.get("attempts", 1)
    pieces = f"up to {attempts} times {about['horizon']} steps" if attempts > 1 else f"the first {about['horizon']} steps"
    by = about.get("measure") or f"{about['distance']} distance"
    parts = [
        f"judged: {pieces} ({about['horizon_s']:.2g} s, {_covered(scores):.0%} of an episode) "
        f"by {by}, discount {about['discount']:.4g} ({about['horizon_mass']:.0%} of its mass)",
        f"effective sample size {about['effective_size']:.1f} of {len(scores)}",
        f"{about['simulator_steps']:,} simulated steps",
    ]
    if "certificate" in about:
        own = float(np.quantile(about["own_share"], 0.95))
        parts.insert(1, f"tracker certificate {about['certificate']:.1%}, own movements followed to a share of {own:.2g}")
    return "; ".join(parts)


def _measuring(verb: Score) -> Measuring:
    return Measuring(verb.distance, verb.entries, verb.discount, verb.rollouts)


def _estimate(verb: Score, demos: Demonstrations, imitator: Robot, scorer: Scorer) -> None:
    """Say how long a long job will take."""
    demonstrators = len({episode.demonstrator for episode in demos.episodes})
    steps = len(demos) * STEPS_EACH + demonstrators * int(getattr(scorer, "steps", 0))
    announce(verb.common, f"{len(demos):,} demonstrations, about {steps:,} simulated steps", imitator, steps)


def _explain(verb: Score, demos: Demonstrations, imitator: Robot, scorer: Scorer) -> None:
    place = verb.explain
    if place is None or not 0 <= place < len(demos):
        raise BadOption("--explain", place, f"give the place of a demonstration in the set, 0 to {len(demos) - 1}")
    trajectory = demos[place]
    scores, row, trace = _known(verb, imitator, scorer, trajectory.hash) or _measured(verb, demos, imitator, scorer, place)
    found = explain(trajectory, scores, row, trace, threads=verb.common.threads)
    say(verb.common, f"episode {place} ({trajectory.demonstrator}) on {imitator}:")
    for line in lines(found):
        say(verb.common, f"  {line}")
    for ladder in found.ladders:
        rows = [(rung.value, round(rung.share, 3), rung.verdict) for rung in ladder.rungs]
        table(verb.common, f"{ladder.knob} ({ladder.unit})", (ladder.knob, "share", "verdict"), rows)
    document(verb.common, {"episode": place, "lines": lines(found), **asdict(found)})


def _known(verb: Score, imitator: Robot, scorer: Scorer, name: str) -> tuple[Scores, int, Trace] | None:
    """Return what an existing score file of the same settings says of the demonstration."""
    if not verb.out.exists():
        return None
    scores, trace, measuring = read_scores(verb.out), read_steps(verb.out, name), _measuring(verb)
    rule = ruler(imitator, measuring.distance, measuring.entries, measuring.discount)
    key = json.loads(json.dumps(job_key(imitator, scorer, rule, measuring, verb.common.seed)))
    hashes = [episode.hash for episode in scores.episodes]
    if scores.about["key"] != key or name not in hashes or trace is None:
        return None
    return scores, hashes.index(name), trace


def _measured(verb: Score, demos: Demonstrations, imitator: Robot, scorer: Scorer, place: int) -> tuple[Scores, int, Trace]:
    """Score the one demonstration now, in a file of its own that is not kept."""
    trajectory = demos[place]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "one.parquet"
        scores = score(
            InMemory(demos.layout, [trajectory]),
            imitator,
            scorer,
            verb.common.seed,
            measuring=_measuring(verb),
            threads=verb.common.threads,
            out=out,
        )
        trace = read_steps(out, trajectory.hash)
    assert trace is not None
    return scores, 0, trace
