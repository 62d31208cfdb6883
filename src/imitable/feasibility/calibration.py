# SPDX-License-Identifier: MIT
"""What a method leaves of movements that the imitator made itself, which it can follow for certain.

No expert and no demonstration is asked: the imitator babbles (`sim/babble.py`), and the tracker follows that, and once more
with noise on what it follows. All are measured as demonstrations are.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from imitable import seeding
from imitable.feasibility.ruler import Ruler, ruler
from imitable.feasibility.scorer import Measurer, Scorer, ScoringJob
from imitable.feasibility.scores import ScoreKey
from imitable.robots.robot import Robot
from imitable.sim.babble import babble
from imitable.tracking.economy import affordable
from imitable.types import Floats, InMemory, Trajectory

MOVEMENTS, LENGTHS = 12, 4
"""Movements, and their length in windows of the method."""

LEAST = 4
"""Movements of a body with many actuators, at least."""

SEED = 0
"""Of the movements and of following them, whatever the seed of the job: one imitator has one noise."""

JITTER = 1e-3
"""Noise on what is followed a second time, in scales of the imitator's own movements."""


@dataclass(frozen=True)
class Calibration:
    """What the imitator's own movements show."""

    distance: Floats
    """(M) of all movements."""
    share: Floats
    """(M)."""
    error: float
    """99th percentile of the error of one step."""
    jitter: float
    """Root mean square change of a share when what is followed is noisy."""
    spent: int = 0
    """Simulated control steps that a measurer of its own took."""


def movement_count(imitator: Robot) -> int:
    """Return how many movements a body makes; a humanoid 4. τ is bounded on either side, so that more would hardly move it."""
    return affordable(imitator, MOVEMENTS, LEAST)


def calibrated(job: ScoringJob, measurer: Measurer) -> Calibration:
    """Measure the imitator's own movements, and measure them again under noise."""
    own = babble(job.imitator, movement_count(job.imitator), LENGTHS * measurer.horizon, SEED, threads=job.threads)
    first = measurer(own)
    second = measurer([jittered(one, job.ruler) for one in own])
    shares = np.array([[one.share for one in measured] for measured in (first, second)])
    errors = np.concatenate([one.trace.errors for one in first])
    return Calibration(
        np.array([one.distance for one in (*first, *second)]),
        shares.reshape(-1),
        float(np.nanquantile(errors, 0.99)),
        float(np.sqrt(np.square(shares[1] - shares[0]).mean() / 2)),
    )


@lru_cache(maxsize=64)
def calibrated_alone(imitator: Robot, scorer: Scorer, key: ScoreKey, threads: int) -> Calibration:
    """Calibrate a scorer whose measures do not depend on the set (`Scorer.alone`), once for all sets of a process."""
    rule = ruler(imitator, key.distance, key.entries, key.discount)
    job = ScoringJob(InMemory(imitator.layout, []), imitator, rule, SEED, key.rollouts, threads)
    measurer = scorer.prepared(job)
    own = calibrated(job, measurer)
    return replace(own, spent=measurer.spent)


def jittered(trajectory: Trajectory, ruler: Ruler) -> Trajectory:
    """Return a movement with noise on its states, but for the first."""
    rng = seeding.generator(SEED, "jitter", trajectory.hash)
    noise = JITTER * ruler.scale * rng.standard_normal((len(trajectory), len(ruler.scale)))
    states = trajectory.states.copy()
    states[1:] = ruler.space.moved(states[1:], noise)
    return replace(trajectory, states=states)
