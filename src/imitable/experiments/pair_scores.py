# SPDX-License-Identifier: MIT
"""What scorers predict of every pair, and what costs nothing to predict. python -m imitable.experiments.pair_scores.

One score file per imitator and scorer, of the first `SCORED` demonstrations of all demonstrators of its family, as a user would
score them. Records are RESULTS/prediction/IMITATOR.SCORER.json and RESULTS/prediction/IMITATOR.gaits.json; what is there is
skipped, and a score file that was interrupted is continued.
"""

import argparse
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from imitable import seeding
from imitable.evaluation.occupancy import Cloud, cloud_in_scales
from imitable.experiments.cases import Recording
from imitable.experiments.code_hash import code_hash
from imitable.experiments.costs import read_cost
from imitable.experiments.demonstrations import record_demonstrations, recorded
from imitable.experiments.halves import IMITATORS, fixed_halves
from imitable.experiments.jobs import DemoSet, ScoreJob, Scoring, slug
from imitable.experiments.options import add_places, places_of
from imitable.experiments.prediction import CHOOSER, demonstrators_for
from imitable.experiments.records import Places, read_if_there, record_or_skip
from imitable.experiments.store import Store
from imitable.experiments.work import make_scores
from imitable.feasibility.score_files import read_scores
from imitable.imitation.gaits import distances_between
from imitable.robots.parse import parse_robot
from imitable.sim.babble import babble
from imitable.types import Trajectory

SCORED = 12
"""Demonstrations of each demonstrator that are scored."""

SCORERS = ("direct", "neighbours", "inverse-dynamics", "transferability", "trajectory", "one-step")
"""Each with its defaults, the quickest first."""

COSTLY = ("trajectory", "one-step")
"""The f-MDPs learn a tracker per demonstrator, so only imitators of the reporting half are scored by them."""

BABBLED = 500
"""Control steps of each of the imitator's own random motions that gaits are compared with."""


@dataclass(frozen=True)
class ScoredDemonstrator:
    """One demonstrator on one imitator."""

    scores: tuple[float, ...]
    """One per demonstration."""
    residuals: tuple[float, ...]
    """The same: tracking error, relative to doing nothing."""
    verdicts: tuple[str, ...]


@dataclass(frozen=True)
class PairScores:
    """All demonstrators on one imitator, by one scorer."""

    imitator: str
    scorer: str
    seed: int
    seconds: float
    """Of one core."""
    code: str
    """Hash of the code that scored."""
    demonstrators: dict[str, ScoredDemonstrator]


@dataclass(frozen=True)
class Gaits:
    """How far apart gaits are in one imitator's scales, see `imitation.gaits`."""

    imitator: str
    babble: dict[str, float]
    """From each demonstrator to the imitator's own random motions."""
    between: dict[str, dict[str, float]]
    """From each demonstrator to every other one."""


def recordings_for(imitator: str) -> tuple[Recording, ...]:
    """Return what is scored on an imitator."""
    return tuple(Recording(body, SCORED, "prediction", CHOOSER) for body in demonstrators_for(imitator))


def score_pairs(imitator: str, scorer: str, runs: Path) -> PairScores:
    """Score all demonstrators on one imitator, or continue it."""
    job, store = ScoreJob(imitator, DemoSet(recordings_for(imitator)), Scoring(scorer), CHOOSER), Store(runs)
    for recording in job.demos.recordings:
        record_demonstrations(runs, recording)
    make_scores(job, store)
    rows, cost = read_scores(store.scores(job)).rows, read_cost(store.scoring_cost(job))
    found: dict[str, ScoredDemonstrator] = {}
    for body in demonstrators_for(imitator):
        own = [row for row in rows if row.episode.demonstrator == body]
        found[body] = ScoredDemonstrator(
            tuple(round(float(row.score), 4) for row in own),
            tuple(round(float(row.share), 4) for row in own),
            tuple(row.verdict for row in own),
        )
    return PairScores(imitator, scorer, CHOOSER, cost.seconds, cost.code, found)


def compare_gaits(imitator: str, runs: Path) -> Gaits:
    """Measure how far apart gaits are, and how far from the imitator's own random motions."""
    bodies, robot = demonstrators_for(imitator), parse_robot(imitator)
    for recording in recordings_for(imitator):
        record_demonstrations(runs, recording)
    shown = [_cloud(imitator, recorded(runs, [recording])) for recording in recordings_for(imitator)]
    own = _cloud(imitator, babble(robot, SCORED, BABBLED, CHOOSER))
    distances = {pair: round(value, 4) for pair, value in distances_between([*shown, own]).items()}
    between: dict[str, dict[str, float]] = {body: {} for body in bodies}
    for (i, j), value in distances.items():
        if j < len(bodies):
            between[bodies[i]][bodies[j]] = between[bodies[j]][bodies[i]] = value
    return Gaits(imitator, {body: distances[place, len(bodies)] for place, body in enumerate(bodies)}, between)


def _cloud(imitator: str, motions: Iterable[Trajectory]) -> Cloud:
    states = np.concatenate([motion.states[:-1] for motion in motions])
    return cloud_in_scales(parse_robot(imitator), states, np.ones(len(states)))


def knob_difference(imitator: str, demonstrator: str) -> float:
    """Return Σ |ln(a / b)| over the knobs of two bodies: 0 of equal ones, ln 2 if one knob is twice the other's."""
    one, other = parse_robot(imitator), parse_robot(demonstrator)
    names = {name for robot in (one, other) for name, _ in robot.values}
    values = [(float(str(one.value(name))), float(str(other.value(name)))) for name in sorted(names)]
    return sum(abs(math.log(a / b)) for a, b in values)


def random_prediction(imitator: str, demonstrator: str) -> float:
    """Return a number in [0, 1) that has nothing to do with the pair, and is always the same."""
    return float(seeding.generator(0, "random prediction", imitator, demonstrator).random())


def scores_path(results: Path, imitator: str, scorer: str) -> Path:
    """Return where the scores of an imitator are."""
    return results / "prediction" / f"{slug(imitator)}.{scorer}.json"


def gaits_path(results: Path, imitator: str) -> Path:
    """Return where the gait distances of an imitator are."""
    return results / "prediction" / f"{slug(imitator)}.gaits.json"


def read_pair_scores(results: Path, imitator: str, scorer: str) -> PairScores | None:
    """Return the scores of an imitator, if they are recorded."""
    return read_if_there(PairScores, scores_path(results, imitator, scorer))


def read_gaits(results: Path, imitator: str) -> Gaits | None:
    """Return the gait distances of an imitator, if they are recorded."""
    return read_if_there(Gaits, gaits_path(results, imitator))


def scorers_for(imitator: str) -> tuple[str, ...]:
    """Return which scorers an imitator's pairs are scored by."""
    reported = imitator in fixed_halves().reporting
    return tuple(scorer for scorer in SCORERS if reported or scorer not in COSTLY)


def make_missing(places: Places, imitators: Sequence[str], scorers: Sequence[str]) -> None:
    """Make what is missing, all imitators by one scorer before the next one."""
    code_hash()  # now, and remembered: files that are edited meanwhile are not what runs
    for imitator in imitators:
        record_or_skip(gaits_path(places.results, imitator), lambda body=imitator: compare_gaits(body, places.runs), indent=1)
    for scorer in scorers:
        for imitator in (body for body in imitators if scorer in scorers_for(body)):
            path = scores_path(places.results, imitator, scorer)
            record_or_skip(path, lambda body=imitator, by=scorer: score_pairs(body, by, places.runs), indent=1)


def main() -> None:
    """Make what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_places(parser)
    parser.add_argument("--imitators", nargs="*", default=IMITATORS, choices=IMITATORS, metavar="ROBOT")
    parser.add_argument("--scorers", nargs="*", default=SCORERS, choices=SCORERS, metavar="SCORER", help="none: only gaits")
    options = parser.parse_args()
    make_missing(places_of(options), options.imitators, options.scorers)


if __name__ == "__main__":
    main()
