# SPDX-License-Identifier: MIT
"""Many seeds: one run each, in worker processes, each in a folder of its own: `seed-0`, `seed-1`, and so on."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

from imitable.errors import BadOption
from imitable.files import Output
from imitable.imitation.learner import Learner
from imitable.imitation.run import PARTS, Imitated, Pace, Run, carry_out, setting_of
from imitable.imitation.run_folder import RunFolder
from imitable.observer import Observer
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.types import Demonstrations, Weights
from imitable.workers import Workers, cores

MOST_SEEDS = 1000

WATCH_S = 0.5
"""Seconds between two looks at the metrics of other processes."""


def runs_of(run: Run, seeds: int) -> list[Run]:
    """Return one run a seed, from the run's own seed on."""
    if not 1 <= seeds <= MOST_SEEDS:
        raise BadOption("seeds", seeds, f"give a number of seeds from 1 to {MOST_SEEDS}")
    return [replace(run, seed=seed) for seed in range(run.seed, run.seed + seeds)]


def folder_of(out: Path, run: Run) -> RunFolder:
    """Return the folder of one of several runs."""
    return RunFolder(out / f"seed-{run.seed}")


def check_folders(
    demos: Demonstrations, imitator: Robot, learner: Learner, weights: Weights | None, runs: Sequence[Run], out: Output
) -> None:
    """Refuse all runs if one of their folders must not be written, or is being written."""
    if out.path is None:
        return
    for run in runs:
        folder = folder_of(out.path, run)
        with folder.locked() if folder.path.exists() else nullcontext():
            folder.check(setting_of(demos, imitator, learner, weights, run), out)


def imitate_seeds(
    demos: Demonstrations, imitator: Robot, learner: Learner, weights: Weights | None, runs: Sequence[Run], out: Output
) -> tuple[Imitated, ...]:
    """Carry out the runs: a single one here, several in worker processes of one thread each."""
    check_folders(demos, imitator, learner, weights, runs, out)
    outputs = [_output(out, run) for run in runs]
    if len(runs) == 1:
        return (carry_out(demos, imitator, learner, weights, runs[0], outputs[0]),)
    # functions do not cross processes: what a worker has to say comes back with its result
    calls = [
        (demos, str(imitator), learner, weights, run, output.path, output.resume, output.overwrite)
        for run, output in zip(runs, outputs, strict=True)
    ]
    results: dict[int, Imitated] = {}
    folders = [RunFolder(output.path) for output in outputs if output.path is not None]
    with (
        _watched(folders, out.observer),
        Workers(min(cores(), len(calls)), preload=("imitable.imitation.training",)) as workers,
    ):
        for place, (imitated, lines) in workers.run(_one_seed, calls):
            results[place] = imitated
            for line in lines:
                out.observer.say(f"seed {runs[place].seed}: {line}")
    return tuple(results[place] for place in range(len(runs)))


def _output(out: Output, run: Run) -> Output:
    path = None if out.path is None else folder_of(out.path, run).path
    return Output(path, out.resume, out.overwrite, out.observer)


class _Lines:
    """Collects lines for a person."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def progress(self, done: int, total: int, note: str = "") -> None:
        del done, total, note

    def say(self, line: str) -> None:
        self.lines.append(line)


def _one_seed(
    demos: Demonstrations,
    imitator: str,
    learner: Learner,
    weights: Weights | None,
    run: Run,
    path: Path | None,
    resume: bool,
    overwrite: bool,
) -> tuple[Imitated, list[str]]:
    """Carry out one run in a worker."""
    heard = _Lines()
    out = Output(path, resume, overwrite, heard)
    return carry_out(demos, parse_robot(imitator), learner, weights, run, out), heard.lines


@contextmanager
def _watched(folders: Sequence[RunFolder], observer: Observer) -> Generator[None]:
    """Tell the observer what the metrics on disk say, until the block ends; without folders there is nothing to see."""
    ended = Event()
    thread = Thread(target=_watch, args=(folders, observer, ended), daemon=True)
    if folders:
        thread.start()
    try:
        yield
    finally:
        ended.set()


def _watch(folders: Sequence[RunFolder], observer: Observer, ended: Event) -> None:
    pace = Pace()
    while not ended.wait(WATCH_S):
        last = [rows[-1] for folder in folders if (rows := folder.metrics())]
        if not last:
            continue
        returns = [row["mean_return"] for row in last if row["mean_return"] is not None]
        note = pace.note(sum(row["steps"] or 0.0 for row in last), sum(returns) / len(returns) if returns else float("nan"))
        observer.progress(round(PARTS * sum(row["progress"] or 0.0 for row in last)), PARTS * len(folders), note)
