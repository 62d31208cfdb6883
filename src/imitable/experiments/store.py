# SPDX-License-Identifier: MIT
"""The store of an experiment: demonstrations, scores and runs, each under a name made of its content, so that all share them.

STORE/demos/…      LeRobot datasets        STORE/runs/…       run folders, as `imitable imitate` writes them
STORE/scores/…     score files             STORE/records/…    what cells came to, small
STORE/projections/…  what became of pieces of demonstrations on the imitator
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from imitable.acquisition import acquire
from imitable.demos.part import Part
from imitable.experiments.cases import Recording
from imitable.experiments.demonstrations import demos_folder, recorded
from imitable.experiments.jobs import DemoSet, RunJob, ScoreJob, WeightRule
from imitable.feasibility import weighting
from imitable.feasibility.score import subset, weigh
from imitable.feasibility.score_files import read_scores
from imitable.feasibility.scores import Scores
from imitable.types import Demonstrations, Weights

RECORDS = "records"
"""Folder of what cells came to."""


@dataclass(frozen=True)
class Store:
    """The folder of an experiment."""

    path: Path

    def demos(self, recording: Recording) -> Path:
        """Folder of demonstrations."""
        return demos_folder(self.path, recording)

    def scores(self, job: ScoreJob) -> Path:
        """Score file."""
        return self.path / "scores" / f"{job.name}.parquet"

    def run(self, job: RunJob) -> Path:
        """Run folder."""
        return self.path / "runs" / job.name

    def projections(self, code: str) -> Path:
        """Folder of projections that runs of one version of the code share."""
        return self.path / "projections" / code

    def scoring_cost(self, job: ScoreJob) -> Path:
        """File with what a score file took."""
        return self.scores(job).with_suffix(".cost.json")

    def run_cost(self, job: RunJob) -> Path:
        """File with what a run took."""
        return self.run(job) / "cost.json"

    def read(self, demos: DemoSet, imitator: str, seed: int) -> Demonstrations:
        """Return a set of demonstrations, those that were asked for by score included."""
        whole = recorded(self.path, demos.recordings)
        if demos.acquisition is None:
            return whole
        asked = self.asked_for(demos, imitator, seed)
        places: list[int] = []
        begin = 0
        for one in demos.recordings:
            places += range(begin, begin + 1 + asked.get(one.body, 0))
            begin += one.count
        return Part(whole, places)

    def asked_for(self, demos: DemoSet, imitator: str, seed: int) -> Mapping[str, int]:
        """Return how many more demonstrations every demonstrator is asked for, by the scores of its first one."""
        if (how := demos.acquisition) is None:
            return {}
        first = weighed(read_scores(self.scores(first_scores(demos, imitator, seed))), how.rule)
        return {source.name: source.queries for source in acquire(first, how.budget, draw=seed).sources}

    def weights(self, job: RunJob, demos: Demonstrations) -> Weights | None:
        """Return the weights of a job's demonstrations; None: every transition counts the same."""
        if job.scores is not None:
            scores = read_scores(self.scores(job.scores))
            return weighed(subset(scores, [episode.hash for episode in demos.episodes]), job.rule).weights
        if job.rule.balance == "none" and job.rule.masses is None:
            return None
        lengths = np.array([episode.length for episode in demos.episodes], np.int64)
        names = [episode.demonstrator for episode in demos.episodes]
        fixed = dict.fromkeys(names, 1.0) if job.rule.masses is None else dict(job.rule.masses)
        with np.errstate(divide="ignore"):  # log 0 is −∞
            masses = weighting.balanced(np.log([fixed[name] for name in names]), lengths, names)
        return Weights(tuple(episode.hash for episode in demos.episodes), masses)


def first_scores(demos: DemoSet, imitator: str, seed: int) -> ScoreJob:
    """Return the job that scores the first demonstration of every demonstrator, before others are asked for."""
    assert demos.acquisition is not None
    return ScoreJob(imitator, demos.first_ones, demos.acquisition.scoring, seed)


def weighed(scores: Scores, rule: WeightRule) -> Scores:
    """Return scores under a weight rule."""
    if rule.scored_as:
        scores = replace(scores, measurement=replace(scores.measurement, rule=rule.scored_as))
    return weigh(scores, rule.temperature, rule.keep, rule.balance, segments=rule.segments)
