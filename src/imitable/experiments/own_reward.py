# SPDX-License-Identifier: MIT
"""What could the imitators of `limits` do? Experts that learn from the task's reward without a goal to stop at.

python -m imitable.experiments.own_reward. The shipped demonstrators stop at one return a setting, so that they are equally
good; these do not. The record is RESULTS/own_reward.json.
"""

import argparse

from imitable.experiments.catalogue import PAPER
from imitable.experiments.options import add_places, places_of
from imitable.experiments.own_reward_records import OwnReward, own_reward_path
from imitable.experiments.records import record_or_skip
from imitable.rl.expert import train
from imitable.robots.parse import parse_robot
from imitable.sim.task import Locomotion
from imitable.spec_text import split
from imitable.workers import Workers

SEEDS = (0, 1, 2)
RECIPES = {"half_cheetah": ("ppo", 1_000_000), "swimmer": ("ppo:discount=0.9995,gae_lambda=0.98", 2_000_000)}
"""Learner and steps by robot; a swimmer's strokes are long, so that it must look far ahead."""


def expert_return(body: str, seed: int) -> float:
    """Return what an expert of a body returns."""
    method, steps = RECIPES[split(body)[0]]
    return round(train(Locomotion(parse_robot(body)), method, steps, seed).mean.mean, 1)


def measure_all() -> OwnReward:
    """Train and play all experts."""
    [limits] = [experiment for experiment in PAPER if experiment.name == "limits"]
    bodies = list(dict.fromkeys(entry.where.imitator for entry in limits.entries))
    cases = [(body, seed) for body in bodies for seed in SEEDS]
    with Workers(preload=["imitable.rl.expert"]) as workers:
        found = dict(workers.run(expert_return, cases))
    returns = [found[index] for index in range(len(cases))]
    each = [tuple(returns[index : index + len(SEEDS)]) for index in range(0, len(cases), len(SEEDS))]
    return OwnReward(SEEDS, dict(zip(bodies, each, strict=True)))


def main() -> None:
    """Measure, unless that is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_places(parser)
    record_or_skip(own_reward_path(places_of(parser.parse_args()).results), measure_all, indent=1)


if __name__ == "__main__":
    main()
