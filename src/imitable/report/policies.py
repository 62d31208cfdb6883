# SPDX-License-Identifier: MIT
"""What the page says of run folders: curves, returns, what they could have been, what the paper printed, policies in motion.

Over n seeds: mean, standard deviation and an interval, mean ± t(0.975, n − 1) · std / √n; of fewer than three seeds, lowest to
highest.
"""

import shlex
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from os.path import commonpath
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import stdtrit

from imitable.demos.store import read
from imitable.errors import ImitableError
from imitable.evaluation.evaluate import SHOWN, shown
from imitable.experiments.paper_numbers import PAPER, setting_name
from imitable.feasibility.scores import Scores
from imitable.imitation.imitate import METHODS, episodes_hash
from imitable.imitation.run_folder import RunFolder
from imitable.policies.shipped import card, has_policy
from imitable.report.motion import motion, rounded
from imitable.report.scored import method_text
from imitable.robots.parse import parse_robot
from imitable.types import Episode, Floats

POINTS = 300
"""Points of a learning curve, at most."""

WATCHED_S = 8.0
"""Seconds of a policy in motion."""

WATCHED = 8
"""Policies in motion on a page, at most."""

VIDEOS = {".mp4": "video/mp4", ".webm": "video/webm", ".gif": "image/gif"}
"""Files of a run folder that the page can play."""

VIDEO_BYTES = 6_000_000
"""Of videos on a page, at most; those beyond are named only."""


@dataclass(frozen=True)
class Interval:
    """Some numbers in brief."""

    mean: float
    std: float
    """0 of a single number."""
    low: float
    high: float
    count: int


def interval(numbers: Sequence[float]) -> Interval:
    """Return mean, deviation and interval of some seeds' numbers."""
    values = np.array(numbers, float)
    mean, count = float(values.mean()), len(values)
    std = float(values.std(ddof=1)) if count > 1 else 0.0
    if count < 3:
        return Interval(mean, std, float(values.min()), float(values.max()), count)
    half = float(stdtrit(count - 1, 0.975)) * std / count**0.5
    return Interval(mean, std, mean - half, mean + half, count)


def policies(runs: Sequence[tuple[Path, list[RunFolder]]], scores: Sequence[Scores]) -> list[dict[str, Any]]:
    """Return one entry a path that holds runs."""
    room, found = VIDEO_BYTES, list[dict[str, Any]]()
    for place, (label, (path, folders)) in enumerate(zip(_labels([path for path, _ in runs]), runs, strict=True)):
        videos = list[dict[str, Any]]()
        for file in (file for folder in folders for file in sorted(folder.path.iterdir()) if file.suffix in VIDEOS):
            videos.append(_video(file, room))
            room -= len(videos[-1]["data"] or "")
        watched = _watched(folders) if place < WATCHED else None
        found.append({"label": label, **_group(path, folders, scores), "motion": watched, "videos": videos})
    return found


def _watched(folders: Sequence[RunFolder]) -> dict[str, Any] | None:
    """Return the beginning of the first finished seed's first evaluated episode: its last policy, mean actions."""
    folder = next((one for one in folders if one.complete), None)
    if folder is None:
        return None
    try:
        imitator = folder.imitator
        states = shown(imitator, folder.policy, folder.reference).states
    except ImitableError:  # the model's file has gone, or is another robot's by now
        return None
    states = states[: 1 + round(WATCHED_S / imitator.layout.period_s)]
    drawn = motion(imitator, np.arange(len(states)), [("attempted", imitator, states)])
    return None if drawn is None else {**drawn, "seed": folder.setting["seed"]}


def _video(file: Path, room: int) -> dict[str, Any]:
    """Return a video as text, if it fits."""
    data = b64encode(file.read_bytes()).decode() if file.stat().st_size * 4 // 3 < room else None
    return {"path": str(file), "type": VIDEOS[file.suffix], "data": data}


def _labels(paths: Sequence[Path]) -> list[str]:
    """Return what tells the paths apart: the last part of a single one, else all below the folder that they share."""
    if not paths:
        return []
    shared = Path(commonpath([path.absolute().parent for path in paths]))
    return [str(path.absolute().relative_to(shared)) for path in paths]


def _group(path: Path, folders: list[RunFolder], scores: Sequence[Scores]) -> dict[str, Any]:
    settings = [folder.setting for folder in folders]
    first = settings[0]
    episodes = _episodes(first, scores)
    demonstrators = list(dict.fromkeys(episode.demonstrator for episode in episodes))
    return {
        "name": str(path),
        "imitator": first["imitator"],
        "method": method_text(first["method"], first["settings"], METHODS),
        "weighted": first["weights"] is not None,
        "seeds": [setting["seed"] for setting in settings],
        "curve": _curve(folders),
        "final": _final(folders),
        "rows": _rows(folders),
        "marks": _marks(first["imitator"], episodes),
        "paper": _paper(first["imitator"], demonstrators),
        "provenance": _provenance(path, folders, settings),
    }


def _episodes(setting: dict[str, Any], scores: Sequence[Scores]) -> tuple[Episode, ...]:
    """Return the demonstrations of a run: from their folders, or from a score file of the same set."""
    sources: list[str] = setting["sources"]
    try:
        found = read(*sources).episodes if all(sources) else ()  # without a name: they were in memory
        if found and episodes_hash(found) == setting["demonstrations_hash"]:
            return found
    except ImitableError:
        pass
    same = (s for s in scores if len(s) == setting["demonstrations"] and s.imitator == setting["imitator"])
    return next((s.episodes for s in same), ())


def _curve(folders: Sequence[RunFolder]) -> dict[str, Any] | None:
    """Mean return of the episodes on the way, over seeds, where all seeds have some."""
    known = [one for one in map(_measured, folders) if len(one[0])]
    if not known:
        return None
    steps = np.unique(np.concatenate([own for own, _ in known]))
    steps = steps[steps >= max(own[0] for own, _ in known)]
    steps = steps[:: -(-len(steps) // POINTS)]
    columns = np.stack([np.interp(steps, *one) for one in known], axis=1)
    found = [interval(column) for column in columns.tolist()]
    return {
        "steps": [int(step) for step in steps],
        **{name: rounded([getattr(one, name) for one in found]) for name in ("mean", "low", "high")},
    }


def _measured(folder: RunFolder) -> tuple[Floats, Floats]:
    rows = [row for row in folder.metrics() if row.get("mean_return") is not None and row.get("steps") is not None]
    return np.array([row["steps"] for row in rows], float), np.array([row["mean_return"] for row in rows], float)


def _final(folders: Iterable[RunFolder]) -> list[dict[str, Any]]:
    """Returns of the last and of the best policy, with mean and sampled actions, over the seeds that have ended."""
    found: dict[tuple[str, str], list[float]] = {}
    for folder in folders:
        for which, kind, numbers in _evaluations(folder):
            if "return_mean" in numbers:
                found.setdefault((which, kind), []).append(float(numbers["return_mean"]))
    return [
        {"policy": which, "actions": kind, "returns": values, **asdict(interval(values))}
        for (which, kind), values in found.items()
    ]


def _evaluations(folder: RunFolder) -> list[tuple[str, str, dict[str, Any]]]:
    evaluation = folder.evaluation if folder.complete else {}
    return [
        (which, kind.removesuffix("_actions"), numbers)
        for which in ("last", "best")
        if evaluation.get(which)
        for kind, numbers in evaluation[which].items()
    ]


def _rows(folders: Iterable[RunFolder]) -> dict[str, Any]:
    """One row a seed, policy and kind of actions."""
    found = [(folder.setting["seed"], *one) for folder in folders for one in _evaluations(folder)]
    keys = [key for key in SHOWN if any(key in numbers for *_, numbers in found)]
    return {
        "columns": ["seed", "policy", "actions", *(SHOWN[key] for key in keys)],
        "rows": [[seed, which, kind, *(numbers.get(key) for key in keys)] for seed, which, kind, numbers in found],
        "unfinished": sum(not folder.complete for folder in folders),
    }


def _marks(imitator: str, episodes: Sequence[Episode]) -> list[dict[str, Any]]:
    """What a return can be held against: the demonstrators' mean returns, and an expert trained on the imitator itself."""
    groups: dict[str, list[float]] = {}
    for episode in episodes:
        groups.setdefault(episode.demonstrator, []).append(episode.total_return)
    found = [{"name": name, "kind": "demonstrator", "value": float(np.mean(values))} for name, values in groups.items()]
    try:
        body = parse_robot(imitator)
        if has_policy(body):
            value = float(card(body)["mean_actions"]["return_mean"])
            found.insert(0, {"name": f"expert trained on {imitator} with its reward", "kind": "ceiling", "value": value})
    except ImitableError:
        pass
    return [mark for mark in found if np.isfinite(mark["value"])]


def _paper(imitator: str, demonstrators: Sequence[str]) -> dict[str, Any] | None:
    name = setting_name(imitator, demonstrators)
    return None if name is None else {"setting": name, "printed": [asdict(one) for one in PAPER[name]]}


def _provenance(path: Path, folders: Sequence[RunFolder], settings: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    first = settings[0]
    weights = "every transition the same" if first["weights"] is None else f"by a score file, hash {first['weights']}"
    words = ["imitable", "imitate", *first["sources"], "--imitator", first["imitator"]]
    words += ["--method", method_text(first["method"], first["settings"], METHODS), "--steps", str(first["steps"])]
    if first["weights"] is not None:
        words += ["--scores", first.get("scores") or "SCORES"]
    if first.get("reward"):
        words += ["--reward", first["reward"]]
    seeds = [setting["seed"] for setting in settings]
    words += ["--episodes", str(first["episodes"]), "--seed", str(seeds[0])]
    if len(seeds) > 1 and seeds == list(range(seeds[0], seeds[0] + len(seeds))):
        words += ["--seeds", str(len(seeds))]
    words += ["--out", str(path.parent if path.name == f"seed-{seeds[0]}" else path)]
    return [
        ("runs", str(path)),
        ("command", shlex.join(words)),
        ("versions", ", ".join(f"{name} {number}" for name, number in first["versions"].items())),
        ("imitator's hash", first["imitator_hash"]),
        ("demonstrations", f"{first['demonstrations']:,}, hash {first['demonstrations_hash']}"),
        ("weights", weights),
        ("seeds", ", ".join(str(setting["seed"]) for setting in settings)),
        ("simulator steps", f"{sum(_steps(folder) for folder in folders):,} of learning"),
    ]


def _steps(folder: RunFolder) -> int:
    rows = folder.metrics()
    return int(rows[-1]["steps"] or 0) if rows else 0
