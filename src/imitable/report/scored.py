# SPDX-License-Identifier: MIT
"""What the page says of one score file."""

import shlex
from collections.abc import Callable
from dataclasses import asdict, replace
from math import exp, isfinite
from pathlib import Path
from typing import Any

from imitable.acquisition import acquire
from imitable.command_text import command
from imitable.feasibility.episode_score import VERDICTS, cells_of
from imitable.feasibility.ruler import MEMORY_S, compared
from imitable.feasibility.score import Measuring
from imitable.feasibility.scores import Scores
from imitable.feasibility.weighting import SHARE, is_balanced, parse_temperature
from imitable.files import content_hash
from imitable.report.detail import details
from imitable.report.motion import rounded
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.types import by_demonstrator

BUDGET = 10
"""Demonstrations that the page asks for: as `imitable acquire` does by default."""

ERROR_UNITS = {
    "standardised": "deviations of the imitator's own movements",
    "l2": "l2, units of the state",
    "l1": "l1, units of the state",
    "cosine": "1 − cosine",
}
"""What an error is measured in, by distance."""


SHOWN = {
    "demonstrator": "demonstrator",
    "source": "source",
    "index": "episode_index",
    "length": "length",
    "return": "return",
    "share": "share",
    "score": "score",
    "low": "score_low",
    "high": "score_high",
    "followed": "followed",
    "lost": "lost_at",
    "weight": "weight",
    "verdict": "verdict",
    "reason": "reason",
    "divergence": "first_divergence",
}
"""Columns of the page, and of the record."""


def scored(
    path: Path, scores: Scores, *, detailed: int, explain: int, threads: int, on_progress: Callable[[int, int], None]
) -> dict[str, Any]:
    """Return everything that the page says of the score file at `path`."""
    imitator, measured, weighing = parse_robot(scores.imitator), scores.measurement, scores.weighing
    shown = details(path, scores, detailed, explain, threads, on_progress)
    return {
        "path": str(path),
        "imitator": scores.imitator,
        "meaning": meaning(scores, imitator),
        "remarks": list(weighing.remarks),
        "temperature": start_temperature(scores),
        "temperature_text": weighing.temperature,
        "keep": weighing.keep,
        "keep_option": "" if weighing.keep in ("all", "auto") else f" {shlex.join(['--keep', weighing.keep])}",
        "balance": "demonstrator" if is_balanced(weighing.balance, SHARE, measured.rule) else "none",
        "effective_size": scores.weights.effective_size,
        "thresholds": [weighing.feasible_share, weighing.borderline_share],
        "own_error": measured.own_error,
        "error_unit": measured.measure or ERROR_UNITS[measured.key.distance],
        "period_s": imitator.layout.period_s,
        "verdicts": list(VERDICTS),
        **page_columns(scores),
        "details": shown,
        "detailed": detailed,
        "weigh": f"{command('weigh', [path])} --temperature",
        "explain": f"{score_command(path, scores)} --explain",
        "advice": {"budget": BUDGET, **asdict(acquire(scores, BUDGET))},
        "provenance": provenance(path, scores),
    }


def meaning(scores: Scores, imitator: Robot) -> str:
    """Say in one sentence what feasible means here."""
    measured, weighing, tracker = scores.measurement, scores.weighing, "the method carries no certificate"
    if measured.certificate is not None:
        tracker = f"the tracker's certificate is {measured.certificate:.1%} (how often it finds an action known to be perfect)"
    steps = f"{measured.horizon} steps"
    pieces = f"{measured.attempts} pieces of {steps}" if measured.attempts > 1 else f"the first {steps}"
    if measured.measure:
        return (
            f"A demonstration is feasible here if, over {pieces} of it ({measured.horizon_s:.2g} s), its share, from the "
            f"{measured.measure}, is at most {weighing.feasible_share:.2g} (up to {weighing.borderline_share:.2g}: borderline) "
            f"on {scores.imitator}; {tracker}; objects that are missing from the model are not judged."
        )
    return (
        f"A demonstration is feasible here if {scores.imitator} can follow {pieces} of it ({measured.horizon_s:.2g} s) so "
        f"closely that, over {_entries(measured.key.entries, imitator)} and by {measured.key.distance} distance, at most "
        f"{weighing.feasible_share:.2g} of the gap remains that a passive imitator would leave (up to "
        f"{weighing.borderline_share:.2g}: borderline); {tracker}; objects that are missing from the model are not judged."
    )


def _entries(entries: str, imitator: Robot) -> str:
    """Say which state entries are compared."""
    names, count = imitator.layout.state, int(compared(imitator, entries).sum())
    if count == len(names):
        return f"all {count} state entries"
    which = "all but the root's position" if entries == "rootless" else entries.replace(",", ", ")
    return f"{count} of {len(names)} state entries ({which})"


def start_temperature(scores: Scores) -> float | None:
    """Return the file's own temperature on the share; None if it weighs by another rule."""
    text = scores.weighing.temperature
    return parse_temperature(text) if text.startswith(SHARE) else None


def page_columns(scores: Scores) -> dict[str, Any]:
    """One list per column. Shares keep all their digits: the page weighs by them."""
    names, sources = list(by_demonstrator(scores.episodes)), list(dict.fromkeys(scores.source))
    coded = {"demonstrator": names, "source": sources, "verdict": list(VERDICTS)}
    cells = cells_of(scores.rows)
    columns = {shown: cells[name] for shown, name in SHOWN.items()}
    columns |= {name: [places.index(cell) for cell in cells[name]] for name, places in coded.items()}
    columns |= {name: rounded(columns[name]) for name in ("return", "score", "low", "high", "followed", "weight")}
    columns["share"] = [share if isfinite(share) else None for share in columns["share"]]
    spans = replace(scores.segment_rule, by_share=False)
    columns["possible"] = [exp(spans.mean_log(row)) for row in scores]
    return {"demonstrators": names, "sources": sources, "columns": columns}


def score_command(path: Path, scores: Scores) -> str:
    """Return the command that makes the score file, naming only what differs from the defaults."""
    key, usual = scores.measurement.key, Measuring()
    sources = dict.fromkeys(episode.source for episode in scores.episodes if episode.source)
    options = {
        "imitator": key.imitator,
        "method": key.method,
        "distance": key.distance,
        "entries": key.entries,
        "discount": key.discount,
        "rollouts": key.rollouts,
        "temperature": scores.weighing.temperature,
        "seed": key.seed,
        "out": path,
    }
    defaults = {
        "distance": usual.distance,
        "entries": usual.entries,
        "discount": exp(-parse_robot(key.imitator).layout.period_s / MEMORY_S),
        "rollouts": usual.rollouts,
        "temperature": "auto",
        "seed": 0,
    }
    return command("score", sources, options, defaults)


def provenance(path: Path, scores: Scores) -> list[tuple[str, str]]:
    """Return what the numbers come from, as names and values."""
    measured, key, weighing = scores.measurement, scores.measurement.key, scores.weighing
    mass, covered = f"{measured.horizon_mass:.1%} of the discount's mass", f"{measured.covered:.1%} of the data"
    rows = [
        ("score file", str(path)),
        ("its hash", content_hash(path)),
        ("command", score_command(path, scores)),
        ("imitable", key.version),
        ("imitator", key.imitator),
        ("imitator's hash", key.imitator_hash),
        ("seed", str(key.seed)),
        ("simulator steps", f"{measured.simulator_steps:,}"),
        ("judged", f"{measured.horizon} steps: {mass}, {covered}"),
        ("temperature", f"{weighing.temperature}, keeping {weighing.keep}"),
        ("demonstrations", f"{len(scores):,}, from {', '.join(dict.fromkeys(e.source or 'memory' for e in scores.episodes))}"),
    ]
    learned = (("certificate", measured.certificate), ("converged", measured.converged))
    return rows + [(name, str(value)) for name, value in learned if value is not None]
