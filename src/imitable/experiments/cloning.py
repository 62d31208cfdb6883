# SPDX-License-Identifier: MIT
"""Cloning and the warm start against GAIfO, by total simulator steps: python -m imitable.experiments.cloning.

Own body: 50 own demonstrations without their actions, projected, cloned. HalfCheetah-1: the paper's composition weighted by
`direct`; GAIfO alone, and its warm start, both looked at with mean actions every 25,000 steps. Records go to
RESULTS/imitation/cloning.NAME.json; one that is there is not made again.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from imitable.evaluation.returns import EVALUATION_SEED, measure_returns
from imitable.experiments.cases import EACH, Recording, weighted_cases
from imitable.experiments.cloning_records import CloningRecord, Curve, OwnClone, cloning_path, curve_record, own_record
from imitable.experiments.demonstrations import record_demonstrations, recorded, score_demonstrations, scores_file
from imitable.experiments.options import add_places, places_of
from imitable.experiments.records import Places, write_record
from imitable.experiments.settings import BY_NAME, home_of
from imitable.feasibility.score_files import read_scores
from imitable.imitation.learner import LearningJob, Projects
from imitable.imitation.methods import parse_learner
from imitable.imitation.methods.cloning import Cloning
from imitable.projection import project
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.task import Locomotion
from imitable.types import InMemory, Policy, Trajectory
from imitable.workers import Workers

STEPS = 400_000
SEEDS, LOOK_STEPS, LOOK_EPISODES, EPISODES = (0, 1, 2), 25_000, 20, 100
OWN_PIECES = {
    "half_cheetah:front=0.01": (2, 65),
    "hopper:gravity=15": (2, 140),
    "swimmer:back=10": (2, 65),
    "walker2d:friction=24.9": (2, 140),
}
"""Length and number of the pieces that each demonstration is projected in."""
KINDS = ("gaifo", "warm-start")
"""Learners of the curves. Until the warm start was one of them, a clone of the 25 heaviest demonstrations was its beginning;
the record of that is `cloning.half_cheetah-1.cloning-then.gaifo.json`."""

SETTING = BY_NAME["half_cheetah-1"]
CASE = weighted_cases(SETTING)[0]
"""The composition of the curves, weighted."""


def clone(demos: Sequence[Trajectory], robot: Robot, pieces: tuple[int, int], seed: int) -> tuple[int, Policy]:
    """Return the simulator steps and the policy of a clone of demonstrations' projection; their actions are not looked at."""
    bare = InMemory(robot.layout, [Trajectory(one.states, one.demonstrator) for one in demos])
    projected = project(bare, robot, length=pieces[0], pieces=pieces[1], seed=seed)
    training = Cloning().begin(LearningJob(projected, robot, None, 0, seed))
    while not training.done:
        training.iterate()
    return projected.simulator_steps, training.policy


def own(body: str, seed: int, runs: Path) -> OwnClone:
    """Project, clone and evaluate on the body's own demonstrations."""
    robot = parse_robot(body)
    steps, policy = clone(list(recorded(runs, [_own_recording(body)])), robot, OWN_PIECES[body], seed)
    result = measure_returns(Locomotion(robot), policy, EPISODES, EVALUATION_SEED)
    return OwnClone(result.mean, float(result.returns.min()), steps)


def _own_recording(body: str) -> Recording:
    return Recording(body, EACH, home_of(body))


def curve(kind: str, seed: int, runs: Path) -> Curve:
    """Learn on HalfCheetah-1; return looks at the mean policy by total simulator steps."""
    demos, robot = recorded(runs, CASE.recordings), parse_robot(SETTING.imitator)
    weights = read_scores(scores_file(runs, CASE)).weights
    training = parse_learner(kind).begin(LearningJob(demos, robot, weights, STEPS, seed))
    looks, due = [(0, 0.0)], LOOK_STEPS
    while not training.done:
        steps = training.iterate().steps
        if steps >= due:
            looks.append((steps, measure_returns(Locomotion(robot), training.policy, LOOK_EPISODES, EVALUATION_SEED).mean))
            due = steps - steps % LOOK_STEPS + LOOK_STEPS
    return Curve(training.projection.steps if isinstance(training, Projects) else 0, tuple(looks))


def make_own_records(workers: Workers, places: Places) -> None:
    """Make the records of own demonstrations that are missing."""
    runs, names = places.runs / "imitation", {body: parse_robot(body).family.name for body in OWN_PIECES}
    bodies = [body for body, name in names.items() if not cloning_path(places.results, name).exists()]
    list(workers.run(record_demonstrations, [(runs, _own_recording(body)) for body in bodies]))
    calls = [(body, seed, runs) for body in bodies for seed in SEEDS]
    results = [result for _, result in sorted(workers.run(own, calls), key=lambda one: one[0])]
    for place, body in enumerate(bodies):
        _write(own_record(names[body], results[place * len(SEEDS) : (place + 1) * len(SEEDS)]), places)


def make_curve_records(workers: Workers, places: Places) -> None:
    """Make the records of HalfCheetah-1 that are missing."""
    runs = places.runs / "imitation"
    for kind in KINDS:
        name = f"{SETTING.name} {kind}"
        if cloning_path(places.results, name).exists():
            continue
        list(workers.run(record_demonstrations, [(runs, recording) for recording in CASE.recordings]))
        list(workers.run(score_demonstrations, [(runs, CASE)]))
        results = sorted(workers.run(curve, [(kind, seed, runs) for seed in SEEDS]), key=lambda one: one[0])
        related = recorded(runs, CASE.recordings[:1])
        demonstrated = sum(episode.total_return for episode in related.episodes) / len(related)
        _write(curve_record(name, kind, demonstrated, [result for _, result in results]), places)


def _write(record: CloningRecord, places: Places) -> None:
    write_record(cloning_path(places.results, record.name), record, indent=1)
    print(record.name, record.what, record.simulator_steps, record.reached, record.to_goal, flush=True)


def main() -> None:
    """Make the records that are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_places(parser)
    places = places_of(parser.parse_args())
    with Workers(2, ["imitable.imitation.training"]) as workers:
        make_own_records(workers, places)
        make_curve_records(workers, places)


if __name__ == "__main__":
    main()
