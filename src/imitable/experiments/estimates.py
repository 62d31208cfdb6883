# SPDX-License-Identifier: MIT
"""How long will it take? Core-hours of pieces of work, from rates that were recorded (results/throughput.md): rough."""

from collections.abc import Iterable
from functools import cache

from imitable.experiments.cases import Recording
from imitable.experiments.jobs import DemoSet, ScoreJob
from imitable.experiments.work import Job
from imitable.feasibility.expected_steps import expected_steps
from imitable.feasibility.methods import parse_scorer
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.spec_text import split

FIRST_GOAL, BUDGET_HOURS = 3, 30
"""Seeds of the rows that claims are about in the first goal (all else has one), and the core-hours it may take."""

LEARNING = {"swimmer": 14_500, "walker2d": 7_200, "half_cheetah": 22_000, "hopper": 11_300}
"""Control steps a second of one core of two, with GAIfO."""

SIMULATING = {"swimmer": 19_000, "walker2d": 8_100, "half_cheetah": 33_000, "hopper": 13_900}
"""The simulator alone; playing and following take about that."""

SLOWER = {"sail": 1.4, "dcc": 1.2}
"""Learners that take more than GAIfO, by their names."""

EPISODE = 1000
"""Control steps of an episode, at most."""

OTHER = 5_000
"""Rate of a body that has none here."""


def core_hours(jobs: Iterable[Job]) -> float:
    """Return about how many hours of one core some pieces take."""
    return sum(map(seconds, jobs)) / 3600


def seconds(job: Job) -> float:
    """Return about how many seconds of one core a piece takes."""
    if isinstance(job, Recording):
        return EPISODE * job.count / SIMULATING.get(split(job.body)[0], OTHER)
    family = split(job.imitator)[0]
    if isinstance(job, ScoreJob):
        return _score_steps(job) / SIMULATING.get(family, OTHER)
    learning = job.steps / LEARNING.get(family, OTHER) * SLOWER.get(split(job.learner)[0], 1.0)
    return learning + EPISODE * sum(job.episodes) / SIMULATING.get(family, OTHER)


def _score_steps(job: ScoreJob) -> int:
    scorer = parse_scorer(job.scoring.method)
    steps = expected_steps(scorer, _robot(job.imitator), demonstrations(job.demos), len(job.demos.recordings))
    return steps * job.scoring.measuring.rollouts


def demonstrations(demos: DemoSet) -> int:
    """Return how many demonstrations a set has."""
    if demos.acquisition is not None:
        return len(demos.recordings) + demos.acquisition.budget
    return sum(recording.count for recording in demos.recordings)


@cache
def _robot(text: str) -> Robot:
    return parse_robot(text)
