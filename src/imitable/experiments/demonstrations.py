# SPDX-License-Identifier: MIT
"""Demonstrations and weights of the experiments: recorded and scored once, shared by the cases that need them."""

from collections.abc import Iterable
from pathlib import Path

from imitable.demos.collect import collect
from imitable.demos.store import read, write
from imitable.experiments.cases import DEMO_SEED, LearningCase
from imitable.feasibility.score import score, subset
from imitable.feasibility.score_files import read_scores
from imitable.files import Output
from imitable.policies.shipped import policy_for
from imitable.robots.parse import parse_robot
from imitable.sim.task import Locomotion
from imitable.types import Demonstrations, Weights


def demos_folder(runs: Path, body: str, count: int) -> Path:
    """Return where `count` demonstrations of a body's shipped demonstrator lie."""
    return runs / "demos" / f"{body.replace(':', '_').replace('=', '')}-{count}"


def record_demonstrations(runs: Path, body: str, count: int) -> None:
    """Record a body's demonstrations, unless they are there."""
    folder = demos_folder(runs, body, count)
    if not folder.exists():
        task = Locomotion(parse_robot(body))
        write(folder, task.robot.layout, collect(task, policy_for(task.robot), count, DEMO_SEED))


def recorded(runs: Path, sets: Iterable[tuple[str, int]]) -> Demonstrations:
    """Return the recorded demonstrations of some bodies as one set."""
    return read(*(demos_folder(runs, body, count) for body, count in sets))


def scores_file(runs: Path, case: LearningCase) -> Path:
    """Return the score file of a case's demonstrations: one a setting."""
    return runs / "scores" / f"{case.name.split('.')[0]}.parquet"


def score_demonstrations(runs: Path, case: LearningCase) -> None:
    """Score a case's demonstrations by `direct`, unless that is done."""
    score(recorded(runs, case.sets), case.imitator, "direct", DEMO_SEED, out=Output(scores_file(runs, case), resume=True))


def weights_of(runs: Path, case: LearningCase, demos: Demonstrations) -> Weights | None:
    """Return the weights of a case's demonstrations by its score file; None if they are not weighted."""
    if not case.weighted:
        return None
    scores = read_scores(scores_file(runs, case))
    return subset(scores, [episode.hash for episode in demos.episodes]).weights
