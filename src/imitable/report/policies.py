# SPDX-License-Identifier: MIT
"""What the page says of run folders: curves, returns, what they could have been, what the paper printed, policies in motion.

Numbers of several seeds are shown as `imitable.experiments.intervals` says.
"""

from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from os.path import commonpath
from pathlib import Path
from typing import Any

import numpy as np

from imitable.command_text import command
from imitable.demos.store import read
from imitable.errors import ImitableError
from imitable.evaluation.evaluate import COLUMNS, episode_counts, first_episode
from imitable.evaluation.reference import Reference
from imitable.evaluation.result import Performance
from imitable.experiments.intervals import interval
from imitable.experiments.paper_numbers import PAPER, setting_name
from imitable.feasibility.scores import Scores
from imitable.imitation.run_folder import RunFolder
from imitable.imitation.setting import Setting, episodes_hash
from imitable.policies.shipped import card, has_policy
from imitable.report.motion import motion, rounded
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.types import Episode, Floats, Policy, by_demonstrator

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


def policies(runs: Sequence[tuple[Path, list[RunFolder]]], scores: Sequence[Scores]) -> list[dict[str, Any]]:
    """Return one entry a path that holds runs."""
    room, entries = VIDEO_BYTES, list[dict[str, Any]]()
    for place, (label, (path, folders)) in enumerate(zip(_labels([path for path, _ in runs]), runs, strict=True)):
        videos = list[dict[str, Any]]()
        for file in (file for folder in folders for file in sorted(folder.path.iterdir()) if file.suffix in VIDEOS):
            videos.append(_video(file, room))
            room -= len(videos[-1]["data"] or "")
        watched, remarks = _shown([folder for folder in folders if folder.complete], watch=place < WATCHED)
        entries.append(
            {"label": label, **_group(path, folders, scores), "motion": watched, "videos": videos, "remarks": remarks}
        )
    return entries


def _shown(finished: Sequence[RunFolder], *, watch: bool) -> tuple[dict[str, Any] | None, list[str]]:
    """Return the first finished seed in motion, and which seeds have policies that cannot be played any more, and why.

    Their numbers stand: those are in a file of their own.
    """
    motions, remarks = list[dict[str, Any] | None](), list[str]()
    for folder in finished:
        try:
            played = folder.imitator, folder.policy, folder.reference
            motions.append(_watched(folder.setting.seed, *played) if watch and folder is finished[0] else None)
        except ImitableError as error:
            remarks.append(f"{folder.path}: its policy cannot be shown in motion: {error}")
    return next((one for one in motions if one), None), remarks


def _watched(seed: int, imitator: Robot, policy: Policy, reference: Reference | None) -> dict[str, Any] | None:
    """Return the beginning of the first evaluated episode with mean actions."""
    states = first_episode(imitator, policy, reference).states
    states = states[: 1 + round(WATCHED_S / imitator.layout.period_s)]
    drawn = motion(imitator, np.arange(len(states)), [("attempted", imitator, states)])
    return None if drawn is None else {**drawn, "seed": seed}


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
    return {
        "name": str(path),
        "imitator": first.imitator,
        "method": first.method,
        "weighted": first.weights is not None,
        "seeds": [setting.seed for setting in settings],
        "curve": _curve(folders),
        "final": _final(folders),
        "rows": _rows(folders),
        "marks": _marks(first.imitator, episodes),
        "paper": _paper(first.imitator, list(by_demonstrator(episodes))),
        "provenance": _provenance(path, folders, settings),
    }


def _episodes(setting: Setting, scores: Sequence[Scores]) -> tuple[Episode, ...]:
    """Return the demonstrations of a run: from their folders, or from a score file of the same set."""
    try:
        episodes = read(*setting.sources).episodes if all(setting.sources) else ()  # without a name: they were in memory
        if episodes and episodes_hash(episodes) == setting.demonstrations_hash:
            return episodes
    except ImitableError:
        pass
    same = (s for s in scores if len(s) == setting.demonstrations and s.imitator == setting.imitator)
    return next((s.episodes for s in same), ())


def _curve(folders: Sequence[RunFolder]) -> dict[str, Any] | None:
    """Mean return of the episodes on the way, over seeds, where all seeds have some."""
    curves = [curve for curve in map(_returns_by_steps, folders) if len(curve[0])]
    if not curves:
        return None
    steps = np.unique(np.concatenate([own for own, _ in curves]))
    steps = steps[steps >= max(own[0] for own, _ in curves)]
    steps = steps[:: -(-len(steps) // POINTS)]
    columns = np.stack([np.interp(steps, *curve) for curve in curves], axis=1)
    intervals = [interval(column) for column in columns.tolist()]
    return {
        "steps": [int(step) for step in steps],
        **{name: rounded([getattr(one, name) for one in intervals]) for name in ("mean", "low", "high")},
    }


def _returns_by_steps(folder: RunFolder) -> tuple[Floats, Floats]:
    rows = [row for row in folder.metrics() if row.get("mean_return") is not None and row.get("steps") is not None]
    return np.array([row["steps"] for row in rows], float), np.array([row["mean_return"] for row in rows], float)


def _final(folders: Iterable[RunFolder]) -> list[dict[str, Any]]:
    """Returns of the last and of the best policy, with mean and sampled actions, over the seeds that have ended."""
    returns: dict[tuple[str, str], list[float]] = {}
    for folder in folders:
        for policy, actions, performance in _performances(folder):
            if performance.return_mean is not None:
                returns.setdefault((policy, actions), []).append(performance.return_mean)
    return [
        {"policy": policy, "actions": actions, "returns": values, **asdict(interval(values))}
        for (policy, actions), values in returns.items()
    ]


def _performances(folder: RunFolder) -> tuple[tuple[str, str, Performance], ...]:
    """Return (policy, actions, performance) of a run that has ended."""
    return folder.evaluation.by_policy() if folder.complete else ()


def _rows(folders: Iterable[RunFolder]) -> dict[str, Any]:
    """One row a seed, policy and kind of actions."""
    performances = [(folder.setting.seed, *one) for folder in folders for one in _performances(folder)]
    keys = [key for key in COLUMNS if any(getattr(one, key) is not None for *_, one in performances)]
    return {
        "columns": ["seed", "policy", "actions", *(COLUMNS[key] for key in keys)],
        "rows": [
            [seed, policy, actions, *(getattr(performance, key) for key in keys)]
            for seed, policy, actions, performance in performances
        ],
        "unfinished": sum(not folder.complete for folder in folders),
    }


def _marks(imitator: str, episodes: Sequence[Episode]) -> list[dict[str, Any]]:
    """What a return can be held against: the demonstrators' mean returns, and an expert trained on the imitator itself."""
    marks = [
        {"name": name, "kind": "demonstrator", "value": float(np.mean([episodes[place].total_return for place in places]))}
        for name, places in by_demonstrator(episodes).items()
    ]
    try:
        body = parse_robot(imitator)
        if has_policy(body):
            setting = setting_name(imitator, by_demonstrator(episodes))
            value = float(card(body, setting or "")["mean_actions"]["return_mean"])
            marks.insert(0, {"name": f"expert trained on {imitator} with its reward", "kind": "ceiling", "value": value})
    except ImitableError:
        pass
    return [mark for mark in marks if np.isfinite(mark["value"])]


def _paper(imitator: str, demonstrators: Sequence[str]) -> dict[str, Any] | None:
    name = setting_name(imitator, demonstrators)
    return None if name is None else {"setting": name, "printed": [asdict(one) for one in PAPER[name]]}


def _provenance(path: Path, folders: Sequence[RunFolder], settings: Sequence[Setting]) -> list[tuple[str, str]]:
    first, seeds = settings[0], [setting.seed for setting in settings]
    weights = "every transition the same" if first.weights is None else f"by a score file, hash {first.weights}"
    return [
        ("runs", str(path)),
        ("command", imitate_command(path, first, seeds)),
        ("versions", ", ".join(f"{name} {number}" for name, number in first.versions.items())),
        ("imitator's hash", first.imitator_hash),
        ("demonstrations", f"{first.demonstrations:,}, hash {first.demonstrations_hash}"),
        ("weights", weights),
        ("seeds", ", ".join(map(str, seeds))),
        ("simulator steps", f"{sum(_steps(folder) for folder in folders):,} of learning"),
    ]


def imitate_command(path: Path, setting: Setting, seeds: Sequence[int]) -> str:
    """Return the command that makes the runs of these seeds in a folder."""
    in_a_row = list(seeds) == list(range(seeds[0], seeds[0] + len(seeds)))
    options = {
        "imitator": setting.imitator,
        "method": setting.method,
        "steps": setting.steps,
        "scores": None if setting.weights is None else setting.scores or "SCORES",
        "horizon": setting.horizon,
        "reward": setting.reward,
        "episodes": episode_counts(setting.episodes)[0],
        "seed": seeds[0],
        "seeds": len(seeds) if len(seeds) > 1 and in_a_row else None,
        "out": path.parent if path.name == f"seed-{seeds[0]}" else path,
    }
    return command("imitate", setting.sources, options)


def _steps(folder: RunFolder) -> int:
    rows = folder.metrics()
    return int(rows[-1]["steps"] or 0) if rows else 0
