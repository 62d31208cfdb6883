# SPDX-License-Identifier: MIT
"""Demonstrations and weights of the experiments: recorded and scored once, shared by the cases that need them."""

from collections.abc import Iterable
from pathlib import Path

from imitable.demos.collect import collect
from imitable.demos.store import read, write
from imitable.experiments.cases import DEMO_SEED, LearningCase, Recording
from imitable.feasibility.score import score, subset
from imitable.feasibility.score_files import read_scores
from imitable.files import Output
from imitable.policies.shipped import policy_for
from imitable.robots.parse import parse_robot
from imitable.sim.task import Locomotion
from imitable.types import Demonstrations, Policy, Weights


def demos_folder(runs: Path, recording: Recording) -> Path:
    """Return where demonstrations lie: named by body, number and policy, so that two policies never share a folder."""
    body = recording.body.replace(":", "_").replace("=", "")
    return runs / "demos" / f"{body}-{recording.count}-{_policy(recording).hash[:8]}"


def record_demonstrations(runs: Path, recording: Recording) -> None:
    """Record demonstrations, unless they are there."""
    folder = demos_folder(runs, recording)
    if not folder.exists():
        task = Locomotion(parse_robot(recording.body))
        write(folder, task.robot.layout, collect(task, _policy(recording), recording.count, DEMO_SEED))


def distinct(runs: Path, recordings: Iterable[Recording]) -> list[Recording]:
    """Return one recording a folder: two settings may share a body's demonstrator."""
    return list({demos_folder(runs, recording): recording for recording in sorted(recordings)}.values())


def recorded(runs: Path, recordings: Iterable[Recording]) -> Demonstrations:
    """Return the recorded demonstrations of some bodies as one set."""
    return read(*(demos_folder(runs, recording) for recording in recordings))


def _policy(recording: Recording) -> Policy:
    return policy_for(parse_robot(recording.body), recording.setting)


def scores_file(runs: Path, case: LearningCase) -> Path:
    """Return the score file of a case's demonstrations: one a setting."""
    return runs / "scores" / f"{case.name.split('.')[0]}.parquet"


def score_demonstrations(runs: Path, case: LearningCase) -> None:
    """Score a case's demonstrations by `direct`, unless that is done."""
    score(recorded(runs, case.recordings), case.imitator, "direct", DEMO_SEED, out=Output(scores_file(runs, case), resume=True))


def weights_of(runs: Path, case: LearningCase, demos: Demonstrations) -> Weights | None:
    """Return the weights of a case's demonstrations by its score file; None if they are not weighted."""
    if not case.weighted:
        return None
    scores = read_scores(scores_file(runs, case))
    return subset(scores, [episode.hash for episode in demos.episodes]).weights
