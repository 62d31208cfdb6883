# SPDX-License-Identifier: MIT
"""`imitable imitate`: a policy from weighted demonstrations, one process a seed."""

from collections.abc import Sequence
from dataclasses import replace

from imitable.cli.console import Bar, bar, document, say, table
from imitable.cli.demonstrations import demonstrations
from imitable.cli.estimate import announce
from imitable.cli.evaluation_table import evaluation_table
from imitable.cli.method_help import helped
from imitable.cli.verbs import Common, Imitate
from imitable.command_text import command
from imitable.errors import BadOption
from imitable.evaluation import result
from imitable.evaluation.evaluate import what_is_reported
from imitable.evaluation.reward_function import import_reward
from imitable.feasibility.score_files import read_scores
from imitable.files import Output
from imitable.imitation.imitate import imitate
from imitable.imitation.methods import parse_learner
from imitable.imitation.run import PARTS, Imitated, Run, check_input
from imitable.imitation.run_folder import RunFolder
from imitable.imitation.seeds import check_folders, folder_of, runs_of
from imitable.imitation.setting import SCHEMA
from imitable.robots.parse import parse_robot
from imitable.types import Weights
from imitable.workers import cores

OVERHEAD = 2.0
"""A step of learning costs about so many steps of the bare simulator."""


def run(verb: Imitate) -> None:
    """Carry out the verb."""
    if helped(verb.common, verb.method, parse_learner):
        return
    asked = _run(verb)
    runs, out = runs_of(asked, verb.seeds), Output(verb.out, verb.resume, verb.overwrite)
    demos, imitator, learner = (
        demonstrations(verb.demos, verb.leave_out),
        parse_robot(verb.imitator),
        parse_learner(verb.method),
    )
    weights = _weights(verb)
    if verb.reward is not None:
        import_reward(verb.reward)  # refused before anything is said
    check_input(demos, imitator, learner, weights, asked)
    check_folders(demos, imitator, learner, weights, runs, out)
    steps = verb.steps if learner.least_steps else 0  # cloning simulates nothing
    times = f"{verb.seeds} × " if verb.seeds > 1 else ""
    job = f"{times}{verb.steps:,} steps of {verb.method}"
    announce(verb.common, job, imitator, OVERHEAD * steps * -(-verb.seeds // cores()))
    say(verb.common, f"{imitator}: {what_is_reported(imitator, verb.reward)}")
    folders = [folder_of(verb.out, one) for one in runs]
    try:
        with bar(verb.common, PARTS, "imitating") as shown:
            watched = Output(verb.out, verb.resume, verb.overwrite, _Shown(verb.common, shown))
            results = imitate(demos, imitator, learner, weights, seeds=verb.seeds, run=asked, out=watched)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_interrupted(verb, folders)) from None
    _report(verb, runs, folders, results)


class _Shown:
    """A bar and lines on a terminal."""

    def __init__(self, common: Common, shown: Bar) -> None:
        self._common, self._bar = common, shown

    def progress(self, done: int, total: int, note: str = "") -> None:
        """Move the bar."""
        self._bar.move_to(PARTS * done // total, note)

    def say(self, line: str) -> None:
        """Say a line."""
        say(self._common, line)


def _run(verb: Imitate) -> Run:
    return Run(
        steps=verb.steps,
        seed=verb.common.seed,
        episodes=verb.episodes,
        horizon=verb.horizon,
        reward=verb.reward,
        threads=verb.common.threads,
        checkpoint_s=verb.checkpoint_every,
    )


def _weights(verb: Imitate) -> Weights | None:
    """Return the weights of a score file, made for this very imitator."""
    if verb.scores is None:
        return None
    scores = read_scores(verb.scores)
    if scores.measurement.key.imitator_hash != parse_robot(verb.imitator).hash:
        reason = f"{verb.scores} was made for another body ({scores.imitator}); give that, or score for this one"
        raise BadOption("--imitator", verb.imitator, reason)
    return replace(scores.weights, source=str(verb.scores))


def _interrupted(verb: Imitate, folders: Sequence[RunFolder]) -> str:
    again = f"the same command with --resume goes on in {verb.out}"
    if any(folder.checkpoint or folder.complete for folder in folders):
        return f"What is done is kept: {again}."
    return f"There was no checkpoint yet: {again}, from the beginning."


def _report(verb: Imitate, runs: Sequence[Run], folders: Sequence[RunFolder], results: Sequence[Imitated]) -> None:
    """Show what every seed came to."""
    evaluations = [imitated.evaluation for imitated in results]
    rows = evaluation_table([folder.path.name for folder in folders], evaluations)
    table(verb.common, f"{verb.out}: {verb.method} on {parse_robot(verb.imitator)}", *rows)
    say(verb.common, "best: chosen by a reward that an imitator does not have; last is the result")
    say(verb.common, f"next: {command('evaluate', [verb.out])}")
    summaries = [
        {"folder": str(folder.path), "seed": one.seed, "schema": SCHEMA, **result.to_json(evaluation)}
        for folder, one, evaluation in zip(folders, runs, evaluations, strict=True)
    ]
    document(verb.common, {"out": str(verb.out), "runs": summaries})
