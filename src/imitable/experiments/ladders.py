# SPDX-License-Identifier: MIT
"""Score demonstrations of bodies along one knob: python -m imitable.experiments.ladders.

Every rung is a body between the imitator's value of the knob and far beyond it. Its demonstrations are made without training:
the imitator's own shipped policy is played on the rung's body, so that only the dynamics change along the ladder. The record
is RESULTS/feasibility/ladders.json.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from imitable.experiments.options import add_places, places_of
from imitable.experiments.records import read_if_there, record_or_skip
from imitable.experiments.settings import home_of
from imitable.experiments.statistics import rank_correlation
from imitable.feasibility.ladders import turned
from imitable.feasibility.score import score
from imitable.policies.shipped import policy_for
from imitable.robots.parse import parse_robot
from imitable.sim.rollout import episodes
from imitable.sim.task import Locomotion
from imitable.types import InMemory
from imitable.workers import Workers

EACH, SEED = 8, 1

LADDERS: dict[tuple[str, str], tuple[float, ...]] = {
    ("swimmer:back=10", "back"): (10, 12, 15, 20, 28, 40, 60, 80, 100),
    ("walker2d:friction=24.9", "friction"): (24.9, 19.9, 14.9, 9.9, 5.9, 3.9, 1.9, 1.1, 0.9, 0.7),
    ("walker2d", "friction"): (0.9, 1.1, 1.5, 1.9, 3.9, 5.9, 9.9, 19.9, 29.9),
    ("half_cheetah:front=0.01", "front"): (0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0),
    ("half_cheetah:front=0.01", "back"): (1.0, 0.8, 0.65, 0.5, 0.35, 0.2, 0.1, 0.05, 0.01),
    ("hopper:gravity=15", "gravity"): (15, 13, 11, 9.81, 8, 6.5, 5, 3.5, 2),
}
"""Imitator and knob, and the values of the demonstrating bodies, from the imitator's own on."""


@dataclass(frozen=True)
class Ladder:
    """One imitator and one knob."""

    imitator: str
    knob: str
    values: tuple[float, ...]
    shares: tuple[tuple[float, ...], ...]
    """One a demonstration, for every value."""

    @property
    def means(self) -> list[float]:
        """Mean share at every value."""
        return [float(np.mean(shares)) for shares in self.shares]

    @property
    def steadiness(self) -> float:
        """Rank correlation of the mean share with the place on the ladder; 1: it grows from rung to rung."""
        return rank_correlation(range(len(self.shares)), self.means)


@dataclass(frozen=True)
class LadderRecord:
    """All ladders."""

    each: int
    """Demonstrations a rung."""
    seed: int
    ladders: tuple[Ladder, ...]


def ladders_path(results: Path) -> Path:
    """Return where the record lies."""
    return results / "feasibility" / "ladders.json"


def read_ladders(results: Path) -> LadderRecord | None:
    """Return the record, if it is there."""
    return read_if_there(LadderRecord, ladders_path(results))


def climb(imitator: str, knob: str, values: Sequence[float]) -> Ladder:
    """Score one ladder."""
    own = parse_robot(imitator)
    policy, shares = policy_for(own, home_of(imitator)), list[tuple[float, ...]]()
    for value in values:
        task = Locomotion(turned(own, knob, value))
        demos = [trajectory for trajectory, _ in episodes(task, policy, [SEED * 1000 + k for k in range(EACH)])]
        long_enough = [trajectory for trajectory in demos if len(trajectory) > 1]
        shares.append(tuple(score(InMemory(own.layout, long_enough), own, seed=SEED).share.tolist()))
    return Ladder(imitator, knob, tuple(values), tuple(shares))


def climb_all() -> LadderRecord:
    """Score all ladders."""
    with Workers(1) as workers:
        calls = [(imitator, knob, values) for (imitator, knob), values in LADDERS.items()]
        results = sorted(workers.run(climb, calls), key=lambda one: one[0])
    return LadderRecord(EACH, SEED, tuple(ladder for _, ladder in results))


def main() -> None:
    """Score every ladder, unless that is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_places(parser)
    record_or_skip(ladders_path(places_of(parser.parse_args()).results), climb_all)


if __name__ == "__main__":
    main()
