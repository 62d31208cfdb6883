# SPDX-License-Identifier: MIT
"""Does a Swimmer's return depend on its noise? python -m imitable.experiments.noise, after imitable.experiments.imitation.

The policies of Swimmer's runs, and demonstrators, play with 0, 0.1, 0.3 and 1 times their own exploration; and how much of the
time they stand still. The record is RESULTS/imitation/noise.swimmer.json.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from imitable.evaluation.returns import EVALUATION_SEED, play
from imitable.experiments.options import add_places, places_of
from imitable.experiments.records import read_if_there, record_or_skip
from imitable.experiments.settings import BY_NAME
from imitable.imitation.run_folder import RunFolder
from imitable.policies.shipped import policy_for
from imitable.robots.parse import parse_robot
from imitable.sim.task import Locomotion
from imitable.types import Policy, Trajectory
from imitable.workers import Workers

SCALES, EPISODES, STILL = (0.0, 0.1, 0.3, 1.0), 20, 0.05
"""Parts of the exploration; episodes; a step stands still if no joint moves faster than this, in rad/s."""
SETTLED = 300
"""Steps before are not looked at for pauses."""
JOINT_SPEEDS = slice(8, 10)
"""Of a Swimmer's state."""
SETTING = BY_NAME["swimmer"]


@dataclass(frozen=True)
class NoiseRow:
    """One policy."""

    returns: tuple[float, ...]
    """One a scale."""
    pauses: float
    """Part of the time in which it stands still, mean actions."""
    std: tuple[float, ...]
    """Its own exploration, one an action."""


@dataclass(frozen=True)
class NoiseRecord:
    """All policies by name."""

    group: str
    scales: tuple[float, ...]
    episodes: int
    still: float
    rows: dict[str, NoiseRow]


def noise_path(results: Path) -> Path:
    """Return where the record lies."""
    return results / "imitation" / "noise.swimmer.json"


def read_noise(results: Path) -> NoiseRecord | None:
    """Return the record, if it is there."""
    return read_if_there(NoiseRecord, noise_path(results))


def measure(body: str, policy: Policy) -> NoiseRow:
    """Return a policy's returns by noise, and its pauses with mean actions."""
    task, std = Locomotion(parse_robot(body)), np.exp(policy.log_std)
    quiet = play(task, policy, EPISODES, EVALUATION_SEED)
    returns = [_mean_return(quiet)]
    for scale in SCALES[1:]:
        loud = replace(policy, log_std=policy.log_std + np.float32(np.log(scale)))
        returns.append(_mean_return(play(task, loud, EPISODES, EVALUATION_SEED, sampled=True)))
    return NoiseRow(tuple(returns), round(still_fraction(quiet), 3), tuple(round(float(each), 3) for each in std))


def _mean_return(rollouts: Sequence[Trajectory]) -> float:
    return round(float(np.mean([one.total_return for one in rollouts])), 1)


def still_fraction(rollouts: Sequence[Trajectory]) -> float:
    """Return the part of the states after the first 300 steps in which no joint moves."""
    speeds = np.abs(np.stack([one.states[SETTLED:, JOINT_SPEEDS] for one in rollouts])).max(axis=2)
    return float((speeds < STILL).mean())


def measure_all(runs: Path) -> NoiseRecord:
    """Measure the demonstrators and every run of a Swimmer that is there."""
    rows = {f"demonstrator {body}": measure(body, policy_for(parse_robot(body), SETTING.name)) for body in SETTING.bodies}
    for path in sorted((runs / "runs").glob("*swimmer*/seed-*/evaluation.json")):
        folder = RunFolder(path.parent)
        rows[f"{path.parents[1].name} {path.parent.name}"] = measure(folder.setting.imitator, folder.policy)
    return NoiseRecord("noise", SCALES, EPISODES, STILL, rows)


def main() -> None:
    """Measure, unless that is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_places(parser)
    places = places_of(parser.parse_args())
    calls = [(places.runs / "imitation",)]
    with Workers(1) as workers:
        record_or_skip(noise_path(places.results), lambda: next(workers.run(measure_all, calls))[1], indent=1)


if __name__ == "__main__":
    main()
