# SPDX-License-Identifier: MIT
"""Work: what must be made before a cell can be, in the order in which it can be made, each piece once.

A piece is done when its file is there: complete ones are skipped, broken ones are gone on with, to the same bits.
"""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from imitable.errors import BadOption, ScoreWarning
from imitable.evaluation.occupancy import compare_occupancy
from imitable.evaluation.result import Performance, ProjectionCount
from imitable.evaluation.returns import EVALUATION_SEED, play
from imitable.experiments.cases import Recording
from imitable.experiments.cell_records import (
    SCHEMA,
    CellRecord,
    Episodes,
    Occupied,
    Provenance,
    Spent,
    record_path,
    write_cell,
)
from imitable.experiments.code_hash import code_hash
from imitable.experiments.costs import Cost, counted, read_cost
from imitable.experiments.demonstrations import record_demonstrations
from imitable.experiments.jobs import DemoSet, RunJob, ScoreJob
from imitable.experiments.store import Store, first_scores
from imitable.feasibility.methods import parse_scorer
from imitable.feasibility.score import score
from imitable.feasibility.score_files import parts_path, read_scores
from imitable.files import Output, locked
from imitable.imitation.imitate import imitate
from imitable.imitation.methods import parse_learner
from imitable.imitation.run import Run
from imitable.imitation.run_folder import Row, RunFolder
from imitable.imitation.setting import hash_of
from imitable.robots.parse import parse_robot
from imitable.sim.task import Locomotion
from imitable.types import Demonstrations, Policy, Weights

Job = Recording | ScoreJob | RunJob

code_hash()  # now, and remembered: files that are edited while this process works are not what it runs

OCCUPYING = 20
"""Episodes of which visited states are compared with demonstrated ones."""

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
    found: dict[str, Piece | None] = {}
    for job in jobs:
        if not record_path(workshop.records, job).exists():
            _add(job, workshop, found)
    return [piece for piece in found.values() if piece is not None]


def _add(job: Job, workshop: Workshop, found: dict[str, Piece | None]) -> str:
    """Add what a job needs, then the job itself, under their keys, None for what is done; return the job's key."""
    key = _key(job, workshop.store)
    if key not in found:
        piece = Piece(key, tuple(_add(need, workshop, found) for need in _needs(job)), job)
        found[key] = None if workshop.is_done(piece) else piece
    return key


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


def make(piece: Piece, workshop: Workshop) -> None:
    """Make one piece, whose needs are there. Whoever makes the same is waited for: then there is nothing left to do."""
    path, job = workshop.store.path / piece.key, piece.job
    with locked(path.with_name(f"{path.name}.piece"), wait=True):
        if workshop.is_done(piece):
            return
        if isinstance(job, Recording):
            record_demonstrations(workshop.store.path, job)
        elif isinstance(job, ScoreJob):
            make_scores(job, workshop.store)
        else:
            write_cell(workshop.records, make_run(job, workshop))


def make_scores(job: ScoreJob, store: Store) -> None:
    """Score demonstrations, or go on with it."""
    with counted(store.scoring_cost(job)):
        out = Output(store.scores(job), resume=True)
        demos = store.read(job.demos, job.imitator, job.seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ScoreWarning)  # remarks are in the score file
            score(demos, job.imitator, parse_scorer(job.scoring.method), job.seed, measuring=job.scoring.measuring, out=out)


def make_run(job: RunJob, workshop: Workshop) -> CellRecord:
    """Imitate, or go on with it; return what it came to."""
    store = workshop.store
    demos, folder = store.read(job.demos, job.imitator, job.seed), RunFolder(store.run(job))
    with counted(store.run_cost(job)):
        weights = store.weights(job, demos)
        asked = Run(
            steps=_steps(job, store),
            seed=job.seed,
            episodes=job.episodes,
            evaluate_best=False,
            projections=store.projections(code_hash()),
        )
        imitate(demos, job.imitator, parse_learner(job.learner), weights, run=asked, out=Output(folder.path, resume=True))
    return _cell_record(job, demos, weights, folder, workshop)


def _cell_record(
    job: RunJob, demos: Demonstrations, weights: Weights | None, folder: RunFolder, workshop: Workshop
) -> CellRecord:
    """Return what a run that has ended came to."""
    store, evaluation, setting, rows = workshop.store, folder.evaluation, folder.setting, folder.metrics()
    scoring = Cost() if job.scores is None else read_cost(store.scoring_cost(job.scores))
    learning = read_cost(store.run_cost(job))
    return CellRecord(
        schema=SCHEMA,
        job=job,
        mean_actions=_episodes(evaluation.last.mean_actions),
        sampled_actions=_episodes(evaluation.last.sampled_actions),
        demonstrations=len(demos),
        demonstrated_return=round(sum(one.total_return for one in demos.episodes) / len(demos), 1),
        masses=masses_of(demos, weights),
        effective_size=round(len(demos) if weights is None else weights.effective_size, 1),
        spent=_spent(rows, evaluation.projection, _score_steps(job, store), scoring.seconds, learning.seconds),
        provenance=Provenance(
            learning.code,
            scoring.code,
            workshop.protocol,
            hash_of(setting),
            folder.policy.hash[:16],
            setting.versions,
            workshop.scale,
        ),
        curve=learning_curve(rows),
        occupancy=occupied(job.imitator, folder.policy, demos, weights),
    )


def occupied(imitator: str, policy: Policy, demos: Demonstrations, weights: Weights | None) -> Occupied | None:
    """Return how near a policy comes to demonstrated states, each as likely as it is drawn in learning; None of an arm."""
    robot = parse_robot(imitator)
    if not robot.family.rules:
        return None
    rollouts = play(Locomotion(robot), policy, OCCUPYING, EVALUATION_SEED)
    lengths = np.array([episode.length for episode in demos.episodes])
    density = np.repeat(np.ones(len(lengths)) if weights is None else weights.of(demos) / lengths, lengths)
    states = np.concatenate([trajectory.states[:-1] for trajectory in demos])
    found = compare_occupancy(robot, rollouts, states, density, np.repeat(np.arange(len(lengths)), lengths))
    return Occupied(round(found.distance, 4), None if np.isnan(found.floor) else round(found.floor, 4))


def _spent(
    rows: Sequence[Row], projection: ProjectionCount | None, score_steps: int, score_s: float, learner_s: float
) -> Spent:
    """Return what a run took; its last row counts all steps that it simulated, those of the projection included."""
    simulated = int(rows[-1]["steps"] or 0) if rows else 0
    if projection is None:
        return Spent(score_steps, 0, simulated, score_s, learner_s)
    steps = projection.steps
    return Spent(score_steps, steps, simulated - steps, score_s, learner_s, projection.kept, projection.dropped)


def _score_steps(job: RunJob, store: Store) -> int:
    return 0 if job.scores is None else read_scores(store.scores(job.scores)).measurement.simulator_steps


def _steps(job: RunJob, store: Store) -> int:
    """Return the steps of the learner: those of the job, less those of the scores where they count."""
    if not job.scores_count:
        return job.steps
    score_steps = _score_steps(job, store)
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


def learning_curve(rows: Sequence[Row]) -> tuple[tuple[int, float | None], ...]:
    """Return steps and mean return of at most `POINTS` iterations, evenly spread, the last among them."""
    every = -(-len(rows) // POINTS)
    return tuple((int(row["steps"] or 0), row["mean_return"]) for row in rows[::-1][::every][::-1]) if rows else ()
