# SPDX-License-Identifier: MIT
"""Work: what must be made before a cell can be, in the order in which it can be made, each piece once.

A piece is done when its file is there: complete ones are skipped, broken ones are gone on with, to the same bits.
What it takes is its process's own time on the cores, so that a busy machine does not make it look dearer.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from imitable.errors import BadOption
from imitable.evaluation.result import Performance
from imitable.experiments.cases import Recording
from imitable.experiments.cell_records import SCHEMA, CellRecord, Episodes, Provenance, Spent, record_path, write_cell
from imitable.experiments.code_hash import code_hash
from imitable.experiments.demonstrations import record_demonstrations
from imitable.experiments.jobs import DemoSet, RunJob, ScoreJob
from imitable.experiments.store import ScoringCost, Store, first_scores
from imitable.feasibility.score import score
from imitable.feasibility.score_files import parts_path, read_scores
from imitable.files import Output, locked
from imitable.imitation.imitate import imitate
from imitable.imitation.methods import parse_learner
from imitable.imitation.run import Run
from imitable.imitation.run_folder import RunFolder
from imitable.imitation.setting import hash_of
from imitable.types import Demonstrations, Weights

Job = Recording | ScoreJob | RunJob

POINTS = 100
"""Points of a recorded learning curve, at most."""


@dataclass(frozen=True)
class Piece:
    """One piece of work."""

    key: str
    """What it makes, as a path in the store."""
    needs: tuple[str, ...]
    """Keys of what must be there before."""
    job: Job


@dataclass(frozen=True)
class Workshop:
    """Where pieces are made, and under which protocol."""

    store: Store
    records: Path
    """Folder of the records of cells."""
    protocol: str
    """Hash of the protocol."""
    scale: float = 1.0
    """By which everything is shrunk, for trials; the jobs are shrunk already."""

    def is_done(self, piece: Piece) -> bool:
        """Return whether nothing is left to do."""
        if isinstance(piece.job, RunJob):
            return record_path(self.records, piece.job).exists()
        path = self.store.path / piece.key
        return path.exists() and not parts_path(path).exists()


def pieces_of(jobs: Iterable[RunJob], workshop: Workshop) -> list[Piece]:
    """Return what is left to do for some runs, in an order in which it can be done."""
    found: dict[str, Piece] = {}
    for job in jobs:
        if not workshop.is_done(_piece(job, workshop.store)):
            for piece in _needed(job, workshop.store):
                if piece.key not in found and not workshop.is_done(piece):
                    found[piece.key] = piece
    return list(found.values())


def _needed(job: Job, store: Store) -> Iterator[Piece]:
    """Yield the pieces of a job, itself last."""
    for need in _needs(job):
        yield from _needed(need, store)
    yield _piece(job, store)


def _piece(job: Job, store: Store) -> Piece:
    return Piece(_key(job, store), tuple(_key(need, store) for need in _needs(job)), job)


def _key(job: Job, store: Store) -> str:
    if isinstance(job, Recording):
        path = store.demos(job)
    else:
        path = store.scores(job) if isinstance(job, ScoreJob) else store.run(job)
    return path.relative_to(store.path).as_posix()


def _needs(job: Job) -> list[Job]:
    if isinstance(job, Recording):
        return []
    needs = _needs_of_set(job.demos, job.imitator, job.seed)
    return [*needs, job.scores] if isinstance(job, RunJob) and job.scores is not None else needs


def _needs_of_set(demos: DemoSet, imitator: str, seed: int) -> list[Job]:
    asked: list[Job] = [] if demos.acquisition is None else [first_scores(demos, imitator, seed)]
    return [*demos.recordings, *asked]


def make(job: Job, workshop: Workshop) -> None:
    """Make one piece, whose needs are there."""
    if isinstance(job, Recording):
        record_demonstrations(workshop.store.path, job)
    elif isinstance(job, ScoreJob):
        make_scores(job, workshop.store)
    else:
        write_cell(workshop.records, make_run(job, workshop))


def make_scores(job: ScoreJob, store: Store) -> None:
    """Score demonstrations, or go on with it; nobody else may write the same file meanwhile."""
    demos, out, started = store.read(job.demos, job.imitator, job.seed), store.scores(job), time.process_time()
    with locked(out):
        score(demos, job.imitator, job.scoring.method, job.seed, measuring=job.scoring.measuring, out=Output(out, resume=True))
    store.keep_cost(job, ScoringCost(round(time.process_time() - started, 1), code_hash()))


def make_run(job: RunJob, workshop: Workshop) -> CellRecord:
    """Imitate, or go on with it; return what it came to."""
    store, started = workshop.store, time.process_time()
    demos = store.read(job.demos, job.imitator, job.seed)
    weights, score_steps = store.weights(job, demos), _score_steps(job, store)
    asked = Run(steps=_steps(job, score_steps), seed=job.seed, episodes=job.episodes, evaluate_best=False)
    folder = RunFolder(store.run(job))
    evaluation = imitate(demos, job.imitator, job.learner, weights, run=asked, out=Output(folder.path, resume=True)).evaluation
    rows, seconds = folder.metrics(), time.process_time() - started
    masses = masses_of(demos, weights)
    last = rows[-1] if rows else {}
    cost = ScoringCost(0.0, "") if job.scores is None else store.scoring_cost(job.scores)
    projection = evaluation.projection
    projected = 0 if projection is None else projection.steps
    spent = Spent(
        score_steps,
        projected,
        int(last.get("steps") or 0) - projected,  # a run's steps are all that it simulated
        cost.seconds,
        round(seconds, 1),
        *((None, None) if projection is None else (projection.kept, projection.dropped)),
    )
    setting = folder.setting
    return CellRecord(
        schema=SCHEMA,
        job=job,
        mean_actions=_episodes(evaluation.last.mean_actions),
        sampled_actions=_episodes(evaluation.last.sampled_actions),
        demonstrations=len(demos),
        demonstrated_return=round(sum(one.total_return for one in demos.episodes) / len(demos), 1),
        masses=masses,
        effective_size=round(len(demos) if weights is None else weights.effective_size, 1),
        spent=spent,
        provenance=Provenance(
            code_hash(),
            cost.code,
            workshop.protocol,
            hash_of(setting),
            folder.policy.hash[:16],
            setting.versions,
            workshop.scale,
        ),
        curve=learning_curve(folder),
    )


def _score_steps(job: RunJob, store: Store) -> int:
    return 0 if job.scores is None else read_scores(store.scores(job.scores)).measurement.simulator_steps


def _steps(job: RunJob, score_steps: int) -> int:
    """Return the steps of the learner: those of the job, less those of the scores where they count."""
    if not job.scores_count:
        return job.steps
    left, least = job.steps - score_steps, parse_learner(job.learner).least_steps
    if left < least:
        reason = f"the scores alone take {score_steps:,}, and the learner needs {least:,}: give the protocol more"
        raise BadOption("steps", job.steps, reason)
    return left


def masses_of(demos: Demonstrations, weights: Weights | None) -> dict[str, float]:
    """Return the probability mass of every demonstrator's transitions."""
    lengths = [float(episode.length) for episode in demos.episodes]
    values = [length / sum(lengths) for length in lengths] if weights is None else weights.of(demos).tolist()
    masses: dict[str, float] = {}
    for episode, value in zip(demos.episodes, values, strict=True):
        masses[episode.demonstrator] = masses.get(episode.demonstrator, 0.0) + value
    return {name: round(mass, 6) for name, mass in masses.items()}


def _episodes(performance: Performance) -> Episodes:
    returns = performance.returns or ()
    return Episodes(
        tuple(round(one, 1) for one in returns),
        sum(returns) / len(returns) if returns else float("nan"),
        performance.length_mean,
        performance.falls,
    )


def learning_curve(folder: RunFolder) -> tuple[tuple[int, float | None], ...]:
    """Return steps and mean return of at most `POINTS` iterations, evenly spread, the last among them."""
    rows = folder.metrics()
    every = -(-len(rows) // POINTS)
    return tuple((int(row["steps"] or 0), row["mean_return"]) for row in rows[::-1][::every][::-1]) if rows else ()
