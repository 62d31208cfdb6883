# SPDX-License-Identifier: MIT
"""Are an arm's own movements feasible? python -m imitable.experiments.own_arms ALOHA.xml SO100.xml.

Two pairs of arms of other people's packages, each with a cube that is no part of them. Their servos are told smooth paths
between random postures within their ranges, slowly and fast, and what they do is scored on them by `direct` at its default.
What they cannot do by construction stands beside it: pushed by 3 times the actuators' forces, a joint beyond its stop, and
the fast movements on the same arms with 0.3 of their strength, less than the dry friction of some of their joints. The record
is RESULTS/own_arms.json.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from imitable import seeding
from imitable.experiments.known_movements import FREE_STEPS, beyond_stops, outer_forces, replayed
from imitable.experiments.options import add_places, places_of
from imitable.experiments.own_movements import BodyRecord, Movements
from imitable.experiments.records import read_record, record_or_skip
from imitable.feasibility.score import score
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.batch import Batch
from imitable.sim.objects import own_entries
from imitable.types import Floats, InMemory, Trajectory

EACH, SEED, WEAK = 5, 5, 0.3
"""Movements of a kind; their seed; strength of the weak arms."""


@dataclass(frozen=True)
class Pace:
    """How servos are led from posture to posture."""

    seconds: float
    """From one posture to the next."""
    reach: float
    """How far from the start to a posture anywhere in the ranges."""


PACES = {"slow": Pace(2.0, 0.4), "medium": Pace(1.0, 0.4), "fast": Pace(0.4, 0.4), "wild": Pace(0.5, 0.9)}
"""The wild ones are told postures nearly anywhere, twice a second: arms hit the table and each other."""


@dataclass(frozen=True)
class ArmsRecord:
    """All arms."""

    arms: tuple[BodyRecord, ...]


def commands(robot: Robot, pace: Pace, count: int, steps: int, seed: int) -> Floats:
    """(count, steps, A) servo targets: u(s) = p_k + (10 s³ − 15 s⁴ + 6 s⁵)(p_{k+1} − p_k), from the start on."""
    rng, period = seeding.generator(seed, "own arms", str(pace)), robot.layout.period_s
    low, high = robot.control_range
    start = np.clip(_start_controls(robot), low, high)
    clock = period * np.arange(steps) / pace.seconds
    last = int(clock[-1]) + 1
    postures = start + pace.reach * (rng.uniform(low, high, (count, last + 1, len(low))) - start)
    postures[:, 0] = start
    k, s = clock.astype(int), clock - clock.astype(int)
    blend = (10 * s**3 - 15 * s**4 + 6 * s**5)[None, :, None]
    return postures[:, k] + blend * (postures[:, k + 1] - postures[:, k])


def own_paths(robot: Robot, pace: Pace, count: int, steps: int = FREE_STEPS, seed: int = SEED) -> list[Trajectory]:
    """Return what the arm does when its servos are told smooth paths."""
    told, batch = commands(robot, pace, count, steps, seed), Batch(robot, count)
    batch.set_state(np.tile(robot.start, (count, 1)))
    states = [batch.states]
    for t in range(steps):
        batch.step(told[:, t])
        states.append(batch.states)
    return [Trajectory(one, str(robot), told[row]) for row, one in enumerate(np.stack(states, axis=1))]


def measure(robot: Robot, name: str, each: int = EACH) -> BodyRecord:
    """Score the movements of one pair of arms, and the fast ones on weak arms."""
    can = {kind: own_paths(robot, pace, each) for kind, pace in PACES.items()}
    forces = outer_forces(robot) * own_entries(robot)[robot.layout.nq :]
    cannot = {"pushed": replayed(robot, can["fast"], 1.0, forces), "beyond stops": beyond_stops(robot, can["slow"])}
    found, noise, steps = scored(robot, can, cannot)
    weak = parse_robot(f"{robot}:strength.*={WEAK}")
    too_strong, _, more = scored(weak, {}, {"weak": can["fast"]})
    return BodyRecord(name, noise, steps + more, found | too_strong)


def scored(
    robot: Robot, can: dict[str, list[Trajectory]], cannot: dict[str, list[Trajectory]]
) -> tuple[dict[str, Movements], float, int]:
    """Score all kinds in one job; return them, τ, and the simulated steps."""
    kinds = {name: (True, some) for name, some in can.items()} | {name: (False, some) for name, some in cannot.items()}
    demos = InMemory(robot.layout, [Trajectory(one.states, name) for name, (_, some) in kinds.items() for one in some])
    scores = score(demos, robot, seed=SEED)
    found: dict[str, Movements] = {}
    for name, (good, _) in kinds.items():
        said = scores.at([row for row, episode in enumerate(scores.episodes) if episode.demonstrator == name])
        found[name] = Movements(good, tuple(said.share.tolist()), tuple(said.score.tolist()), said.verdict)
    return found, scores.measurement.noise, scores.measurement.simulator_steps


def _start_controls(robot: Robot) -> Floats:
    """(A) where the joints of the servos are at the start."""
    joints = robot.model.actuator_trnid[:, 0]
    return robot.start[robot.model.jnt_qposadr[joints]]


def record_path(results: Path) -> Path:
    """Return where the record lies."""
    return results / "own_arms.json"


def read_arms(results: Path) -> Sequence[BodyRecord]:
    """Return the record's arms; none, if there is no record."""
    path = record_path(results)
    return read_record(ArmsRecord, path).arms if path.is_file() else ()


def main() -> None:
    """Make the record if it is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", help="model files of the arms")
    add_places(parser)
    options = parser.parse_args()
    robots = [(parse_robot(model), Path(model).parents[1].name) for model in options.models]
    path = record_path(places_of(options).results)
    record_or_skip(path, lambda: ArmsRecord(tuple(measure(*each) for each in robots)))
    for arm in read_record(ArmsRecord, path).arms:
        print(arm.body, {name: round(kind.called_feasible, 2) for name, kind in arm.kinds.items()}, flush=True)


if __name__ == "__main__":
    main()
