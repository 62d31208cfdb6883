# SPDX-License-Identifier: MIT
"""What the page says of one score file."""

import shlex
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from math import exp, isfinite
from pathlib import Path
from typing import Any, cast

from imitable import spec_text
from imitable.acquisition import acquire
from imitable.errors import ImitableError
from imitable.feasibility.ruler import MEMORY_S, compared
from imitable.feasibility.score import METHODS, Measuring
from imitable.feasibility.weighting import AUTO_TEMPERATURE, SHARE, VERDICTS, parse_temperature
from imitable.files import content_hash
from imitable.report.detail import details
from imitable.report.motion import rounded
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.spec_text import find_method, method_value
from imitable.types import Scores

BUDGET = 10
"""Demonstrations that the page asks for: as `imitable acquire` does by default."""

ERROR_UNITS = {
    "standardised": "deviations of the imitator's own movements",
    "l2": "l2, units of the state",
    "l1": "l1, units of the state",
    "cosine": "1 − cosine",
}
"""What an error is measured in, by distance."""


def scored(
    path: Path, scores: Scores, *, detailed: int, explain: int, threads: int, on_progress: Callable[[int, int], None]
) -> dict[str, Any]:
    """Return everything that the page says of the score file at `path`."""
    about, imitator = scores.about, parse_robot(scores.about["imitator"])
    found = details(path, scores, detailed, explain, threads, on_progress)
    return {
        "path": str(path),
        "imitator": about["imitator"],
        "meaning": meaning(scores, imitator),
        "remarks": about["remarks"],
        "temperature": start_temperature(scores),
        "temperature_text": about["temperature"],
        "keep": about["keep"],
        "effective_size": about["effective_size"],
        "thresholds": [about["feasible_share"], about["nearly_share"]],
        "own_error": about["own_error"],
        "error_unit": about.get("measure") or ERROR_UNITS[about["distance"]],
        "period_s": imitator.layout.period_s,
        "verdicts": list(VERDICTS),
        **_columns(scores),
        "details": found,
        "detailed": detailed,
        "weigh": f"imitable weigh {shlex.quote(str(path))} --temperature",
        "explain": f"{score_command(path, scores)} --explain",
        "advice": {"budget": BUDGET, **asdict(acquire(scores, BUDGET))},
        "provenance": provenance(path, scores),
    }


def meaning(scores: Scores, imitator: Robot) -> str:
    """Say in one sentence what feasible means here."""
    about, names = scores.about, imitator.layout.state
    count = int(compared(imitator, about["entries"]).sum())
    entries = f"all {count} state entries" if count == len(names) else f"{count} of {len(names)} state entries"
    if about["entries"] == "rootless":
        entries += " (all but the root's position)"
    elif count < len(names):
        entries += f" ({about['entries'].replace(',', ', ')})"
    attempts = about.get("attempts", 1)
    pieces = f"{attempts} pieces of {about['horizon']} steps" if attempts > 1 else f"the first {about['horizon']} steps"
    judge = "the method carries no certificate"
    if "certificate" in about:
        judge = f"the tracker's certificate is {about['certificate']:.1%} (how often it finds an action known to be perfect)"
    if about.get("measure"):
        return (
            f"A demonstration is feasible here if, over {pieces} of it ({about['horizon_s']:.2g} s), its share, from the "
            f"{about['measure']}, is at most {about['feasible_share']:.2g} (up to {about['nearly_share']:.2g}: nearly) on "
            f"{about['imitator']}; {judge}; objects that are missing from the model are not judged."
        )
    return (
        f"A demonstration is feasible here if {about['imitator']} can follow {pieces} of it ({about['horizon_s']:.2g} s) so "
        f"closely that, over {entries} and by {about['distance']} distance, at most {about['feasible_share']:.2g} of the gap "
        f"remains that an imitator doing nothing would leave (up to {about['nearly_share']:.2g}: nearly); {judge}; objects "
        "that are missing from the model are not judged."
    )


def start_temperature(scores: Scores) -> float | None:
    """Return the file's own temperature on the share; None if it weighs by another rule."""
    text = str(scores.about["temperature"])
    if text == "auto" and scores.about["rule"] == "share":
        return AUTO_TEMPERATURE
    return parse_temperature(text) if text.startswith(SHARE) else None


def _columns(scores: Scores) -> dict[str, Any]:
    """One list a column. Shares keep all their digits: the page weighs by them."""
    episodes = scores.episodes
    names, sources = (
        list(dict.fromkeys(values)) for values in ([e.demonstrator for e in episodes], [e.source for e in episodes])
    )
    place, origin = ({name: i for i, name in enumerate(values)} for values in (names, sources))
    return {
        "demonstrators": names,
        "sources": sources,
        "columns": {
            "demonstrator": [place[e.demonstrator] for e in episodes],
            "source": [origin[e.source] for e in episodes],
            "index": [e.index for e in episodes],
            "length": [e.length for e in episodes],
            "return": rounded([e.total_return for e in episodes]),
            "share": [share if isfinite(share) else None for share in scores.share.tolist()],
            "score": rounded(scores.score.tolist()),
            "weight": rounded(scores.weight.tolist()),
            "verdict": [VERDICTS.index(verdict) for verdict in scores.verdict],
            "divergence": [None if step < 0 else step for step in scores.first_divergence.tolist()],
        },
    }


def score_command(path: Path, scores: Scores) -> str:
    """Return the command that makes the score file, naming only what differs from the defaults."""
    about, plain = scores.about, asdict(Measuring())
    words = ["imitable", "score", *dict.fromkeys(episode.source for episode in scores.episodes if episode.source)]
    words += ["--imitator", about["imitator"], "--method", method_text(about["method"], about["settings"], METHODS)]
    plain["discount"] = exp(-parse_robot(about["imitator"]).layout.period_s / MEMORY_S)
    for name, usual in (plain | {"temperature": "auto", "seed": 0}).items():
        if about[name] != usual:
            words += [f"--{name}", str(about[name])]
    return shlex.join([*words, "--out", str(path)])


def method_text(home: str, settings: dict[str, Any], methods: dict[str, str]) -> str:
    """Return a method as text on the command line: `direct:form=windows`; all its settings if it is not one of ours."""
    name = next((name for name, place in methods.items() if place.replace(":", ".") == home), None)
    values = {key: tuple(cast(list[object], value)) if isinstance(value, list) else value for key, value in settings.items()}
    if name is not None:  # a class that a file names is never loaded, unless it is ours
        with suppress(ImitableError, TypeError):
            return spec_text.method_text(name, find_method(name, methods)(**values))
    return f"{name or home}:{','.join(f'{key}={method_value(value)}' for key, value in values.items())}"


def provenance(path: Path, scores: Scores) -> list[tuple[str, str]]:
    """Return what the numbers come from, as names and values."""
    about = scores.about
    rows = [
        ("score file", str(path)),
        ("its hash", content_hash(path)),
        ("command", score_command(path, scores)),
        ("imitable", about["version"]),
        ("imitator", about["imitator"]),
        ("imitator's hash", about["key"]["imitator_hash"]),
        ("seed", str(about["seed"])),
        ("simulator steps", f"{about['simulator_steps']:,}"),
        (
            "judged",
            f"{about['horizon']} steps: {about['horizon_mass']:.1%} of the discount's mass, {about['covered']:.1%} of the data",
        ),
        ("temperature", f"{about['temperature']}, keeping {about['keep']}"),
        ("demonstrations", f"{len(scores):,}, from {', '.join(dict.fromkeys(e.source or 'memory' for e in scores.episodes))}"),
    ]
    return rows + [(name, str(about[name])) for name in ("certificate", "converged") if name in about]
