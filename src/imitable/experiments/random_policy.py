# SPDX-License-Identifier: MIT
"""What a random policy returns on every imitator: the zero of normalised returns. python -m imitable.experiments.random_policy.

Actions are drawn uniformly from the control range, anew at every step. The record is RESULTS/random_policy.json.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from imitable import seeding
from imitable.evaluation.returns import EVALUATION_SEED
from imitable.experiments.halves import IMITATORS
from imitable.experiments.options import add_places, places_of
from imitable.experiments.records import read_if_there, record_or_skip
from imitable.experiments.settings import DEVELOPMENT, SETTINGS
from imitable.robots.parse import parse_robot
from imitable.sim.batch import Batch
from imitable.sim.task import Locomotion, outcome_after
from imitable.types import Floats

EPISODES = 100


@dataclass(frozen=True)
class RandomReturns:
    """Mean returns of a random policy."""

    episodes: int
    returns: dict[str, float]
    """By body."""


def random_returns(body: str, episodes: int = EPISODES) -> Floats:
    """(E) returns of episodes with uniformly random actions."""
    task, rng = Locomotion(parse_robot(body)), seeding.generator(EVALUATION_SEED, "random policy", body)
    batch, moment = Batch(task.robot, episodes), task.start(rng, episodes)
    batch.set_state(moment.states)
    low, high = task.robot.control_range
    total, alive = np.zeros(episodes), np.ones(episodes, bool)
    for _ in range(task.horizon):
        actions: Floats = rng.uniform(low, high, (episodes, len(low)))
        unstable = batch.step(actions)
        after, outcome = outcome_after(task, moment, batch.states, unstable, task.horizon)
        total += np.where(alive & ~unstable, task.reward(moment, actions, after), 0.0)
        alive &= ~outcome.ended
        moment = after
        if not alive.any():
            break
    return total


def measure_all() -> RandomReturns:
    """Measure all imitators of the settings and of pairs."""
    bodies = dict.fromkeys((*(setting.imitator for setting in (*SETTINGS, *DEVELOPMENT)), *IMITATORS))
    return RandomReturns(EPISODES, {body: round(float(random_returns(body).mean()), 2) for body in bodies})


def random_path(results: Path) -> Path:
    """Return where the record lies."""
    return results / "random_policy.json"


def read_random(results: Path) -> RandomReturns | None:
    """Return the record, if it is there."""
    return read_if_there(RandomReturns, random_path(results))


def main() -> None:
    """Measure, unless that is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_places(parser)
    record_or_skip(random_path(places_of(parser.parse_args()).results), measure_all, indent=1)


if __name__ == "__main__":
    main()
