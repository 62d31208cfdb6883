# SPDX-License-Identifier: MIT
"""`imitable imitate`: a policy from weighted demonstrations, one process a seed."""

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Event, Thread
from typing import Any

from imitable.cli.console import Bar, bar, document, say, table
from imitable.cli.demonstrations import demonstrations
from imitable.cli.estimate import announce
from imitable.cli.method_help import helped
from imitable.cli.verbs import Imitate
from imitable.errors import BadOption
from imitable.evaluation.evaluate import SHOWN, reported
from imitable.evaluation.reward_function import reward_function
from imitable.feasibility.score_files import read_scores
from imitable.imitation.imitate import check_input, imitate, method, setting_of
from imitable.imitation.learner import Learner
from imitable.imitation.run_folder import RunFolder
from imitable.rl.progress import Progress
from imitable.robots.parse import parse_robot
from imitable.types import Demonstrations, Weights
from imitable.workers import Workers, cores

OVERHEAD = 2.0
"""A step of learning costs about so many steps of the bare simulator."""

WATCH_S = 0.5
"""Seconds between two looks at the metrics of other processes."""


def run(verb: Imitate) -> None:
    """Carry out the verb."""
    if helped(verb.common, verb.method, method):
        return
    if not 1 <= verb.seeds <= 1000:
        raise BadOption("--seeds", verb.seeds, "give a number of seeds from 1 to 1000")
    demos, imitator, learner = demonstrations(verb.demos, verb.leave_out), parse_robot(verb.imitator), method(verb.method)
    weights, reward = _weights(verb), None if verb.reward is None else reward_function(verb.reward)
    check_input(demos, imitator, learner, weights, verb.steps, verb.episodes, verb.horizon)
    folders = _folders(verb, demos, learner, weights)
    rounds = -(-verb.seeds // cores())
    times = f"{verb.seeds} × " if verb.seeds > 1 else ""
    # cloning alone simulates nothing
    steps = verb.steps * int(getattr(learner, "fine_tune", 1))
    announce(verb.common, f"{times}{verb.steps:,} steps of {verb.method}", imitator, OVERHEAD * steps * rounds)
    say(verb.common, f"{imitator}: {reported(imitator, reward)}")
    try:
        _alone(verb, demos, learner, weights) if verb.seeds == 1 else _together(verb, learner, weights, folders)
    except KeyboardInterrupt:
        again = f"the same command with --resume goes on in {verb.out}"
        kept = any((folder.path / "checkpoint").exists() or folder.complete for folder in folders)
        raise KeyboardInterrupt(
            f"What is done is kept: {again}." if kept else f"There was no checkpoint yet: {again}, from the beginning."
        ) from None
    report(verb, folders)


def _weights(verb: Imitate) -> Weights | None:
    """Return the weights of a score file, made for this very imitator."""
    if verb.scores is None:
        return None
    scores = read_scores(verb.scores)
    if scores.measurement.key.imitator_hash != parse_robot(verb.imitator).hash:
        reason = f"{verb.scores} was made for another body ({scores.imitator}); give that, or score for this one"
        raise BadOption("--imitator", verb.imitator, reason)
    return replace(scores.weights, source=str(verb.scores))


def _folders(verb: Imitate, demos: Demonstrations, learner: Learner, weights: Weights | None) -> list[RunFolder]:
    """Return one run folder a seed; refuse all if one of them must not be written."""
    imitator, first = parse_robot(verb.imitator), verb.common.seed
    folders = [RunFolder(verb.out / f"seed-{seed}") for seed in range(first, first + verb.seeds)]
    for seed, folder in enumerate(folders, first):
        setting = setting_of(demos, imitator, learner, weights, seed, verb.steps, verb.episodes, verb.reward, verb.horizon)
        folder.check(setting, resume=verb.resume, overwrite=verb.overwrite)
    return folders


def _alone(verb: Imitate, demos: Demonstrations, learner: Learner, weights: Weights | None) -> None:
    """Run one seed here."""
    started, before = time.monotonic(), -1
    with bar(verb.common, 1000, "imitating") as shown:

        def on_progress(progress: Progress, share: float) -> None:
            nonlocal started, before
            if before < 0:  # the rate of this session: a resumed run begins with the steps of earlier ones
                started, before = time.monotonic(), progress.steps
            rate = (progress.steps - before) / max(time.monotonic() - started, 1e-9)
            known = "" if math.isnan(progress.mean_return) else f"return {progress.mean_return:,.0f}  "
            shown.move_to(round(1000 * share), f"{known}{rate:,.0f} steps/s")

        _imitated(verb, demos, learner, weights, verb.common.seed, on_progress)


def _together(verb: Imitate, learner: Learner, weights: Weights | None, folders: Sequence[RunFolder]) -> None:
    """Run several seeds in worker processes, and show how far they have come together."""
    calls = [(verb, learner, weights, seed) for seed in range(verb.common.seed, verb.common.seed + verb.seeds)]
    ended = Event()
    with (
        bar(verb.common, 1000 * len(folders), "imitating") as shown,
        Workers(min(cores(), len(calls)), preload=("imitable.cli.imitate", "imitable.imitation.training")) as workers,
    ):
        Thread(target=_watch, args=(shown, folders, ended), daemon=True).start()
        try:
            list(workers.run(_one_seed, calls))
        finally:
            ended.set()


def _one_seed(verb: Imitate, learner: Learner, weights: Weights | None, seed: int) -> None:
    """Run one seed in a worker."""
    _imitated(verb, demonstrations(verb.demos, verb.leave_out), learner, weights, seed, lambda progress, share: None)


def _imitated(
    verb: Imitate,
    demos: Demonstrations,
    learner: Learner,
    weights: Weights | None,
    seed: int,
    on_progress: Callable[[Progress, float], None],
) -> None:
    imitate(
        demos,
        verb.imitator,
        learner,
        weights,
        seed,
        steps=verb.steps,
        episodes=verb.episodes,
        horizon=verb.horizon,
        reward=verb.reward,
        threads=verb.common.threads,
        out=verb.out / f"seed-{seed}",
        resume=verb.resume,
        overwrite=verb.overwrite,
        checkpoint_s=verb.checkpoint_every,
        on_progress=on_progress,
        say=lambda line: say(verb.common, line),
    )


def _watch(shown: Bar, folders: Sequence[RunFolder], ended: Event) -> None:
    """Move the bar to what the metrics on disk say, until the runs have ended."""
    begun: tuple[float, float] | None = None
    while not ended.wait(WATCH_S):
        last = [rows[-1] for folder in folders if (rows := folder.metrics())]
        returns = [row["mean_return"] for row in last if row["mean_return"] is not None]
        steps, now = sum(row["steps"] or 0.0 for row in last), time.monotonic()
        begun = begun or ((steps, now) if last else None)
        rate = (steps - begun[0]) / max(now - begun[1], 1e-9) if begun else 0.0
        known = f"return {sum(returns) / len(returns):,.0f}  " if returns else ""
        note = f"{known}{rate:,.0f} steps/s"
        shown.move_to(round(1000 * sum(row["share"] or 0.0 for row in last)), note)


def report(verb: Imitate, folders: Sequence[RunFolder]) -> None:
    """Show what every seed came to."""
    shown = evaluation_table([folder.path.name for folder in folders], [folder.evaluation for folder in folders])
    table(verb.common, f"{verb.out}: {verb.method} on {parse_robot(verb.imitator)}", *shown)
    say(verb.common, "best: chosen by a reward that an imitator does not have; the last policy is the result")
    say(verb.common, f"next: imitable evaluate {verb.out}")
    document(verb.common, {"out": str(verb.out), "runs": [_summary(folder) for folder in folders]})


def evaluation_table(
    names: Sequence[str], evaluations: Sequence[dict[str, Any]]
) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Return columns and rows of several runs' evaluations."""
    first: dict[str, Any] = evaluations[0]["last"]["mean_actions"]
    # without a task nothing falls
    keys = [key for key in SHOWN if key in first and not (key == "falls" and "occupancy" in first)]
    rows: list[tuple[object, ...]] = [
        (name, which, kind.removesuffix("_actions"), *(_short(numbers[key]) for key in keys))
        for name, evaluation in zip(names, evaluations, strict=True)
        for which in ("last", "best")
        if evaluation[which] is not None
        for kind, numbers in evaluation[which].items()
    ]
    return ("run", "policy", "actions", *(SHOWN[key] for key in keys)), rows


def _short(value: float) -> float:
    return round(value, 3)


def _summary(folder: RunFolder) -> dict[str, Any]:
    return {"folder": str(folder.path), "seed": folder.setting["seed"], **json.loads(json.dumps(folder.evaluation))}
