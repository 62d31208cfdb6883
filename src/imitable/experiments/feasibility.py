# SPDX-License-Identifier: MIT
"""Score the paper's settings with every method, and other imitators with `direct`: python -m imitable.experiments.feasibility.

Records go to RESULTS/feasibility/SETTING.CASE.json; a record that is there is not made again. Demonstrations and score files
lie in RUNS/feasibility.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from imitable.experiments.cases import SCORING_CASES, Recording, ScoringCase
from imitable.experiments.demonstrations import record_demonstrations, recorded
from imitable.experiments.feasibility_records import (
    DemonstratorScores,
    FeasibilityRecord,
    RecordedCertificate,
    record_name,
    record_path,
)
from imitable.experiments.options import add_places, places_of
from imitable.experiments.records import Places, record_or_skip
from imitable.experiments.settings import BY_NAME, DEVELOPMENT, FRESH, SETTINGS, Setting
from imitable.feasibility.score import score
from imitable.feasibility.scores import Scores
from imitable.files import Output
from imitable.policies.shipped import policy_for
from imitable.robots.parse import parse_robot
from imitable.sim.babble import scales
from imitable.sim.batch import Batch
from imitable.sim.rollout import episodes
from imitable.sim.task import Locomotion
from imitable.tracking.certificate import found_again
from imitable.tracking.solver import Lanes, Solver
from imitable.types import Demonstrations, Floats
from imitable.workers import Workers

CERTIFIED_EPISODES, CERTIFIED_TRANSITIONS = 8, 50
"""Of the recorded certificate: episodes, and transitions drawn of each."""


class _Printer:
    """Prints what a job says, and not how far it is: it runs in a worker, without a terminal."""

    def progress(self, done: int, total: int, note: str = "") -> None:
        del done, total, note

    def say(self, line: str) -> None:
        print(line, flush=True)


def measure(setting: Setting, case: ScoringCase, runs: Path) -> FeasibilityRecord:
    """Score one setting with one method; call it in a process of one thread, because it takes the time."""
    recordings = case.recordings(setting)
    for recording in recordings:
        record_demonstrations(runs, recording)
    out = runs / "scores" / f"{record_name(setting.name, case.name)}.parquet"
    demos = recorded(runs, recordings)
    asked = Output(out, resume=True, observer=_Printer())
    started = time.perf_counter()
    scores = score(demos, setting.imitator, case.method, case.seed, measuring=case.measuring, out=asked)
    return FeasibilityRecord(
        setting.name,
        case.name,
        case.method,
        {name: value for name, value in scores.metadata().items() if name != "key"},
        {body: by_demonstrator(scores, body) for body in setting.demonstrators},
        time.perf_counter() - started,
        one_pass_s(setting, recordings, runs),
        recorded_certificate(setting) if case.name == "direct" and setting in SETTINGS else None,
    )


def by_demonstrator(scores: Scores, body: str) -> DemonstratorScores:
    """Return the scores of one demonstrator's demonstrations."""
    rows = [row for row, episode in enumerate(scores.episodes) if episode.demonstrator == body]
    return DemonstratorScores(
        tuple(float(scores.distance[row]) for row in rows),
        tuple(float(scores.share[row]) for row in rows),
        tuple(scores.verdict[row] for row in rows),
    )


def one_pass_s(setting: Setting, recordings: Sequence[Recording], runs: Path) -> float:
    """Return the seconds that the simulator needs to replay the demonstrations once on the imitator."""
    return sum(_replay_s(setting.imitator, recorded(runs, [recording])) for recording in recordings)


def _replay_s(imitator: str, demos: Demonstrations) -> float:
    """Replay up to the end of the shortest demonstration, side by side, and extrapolate to all transitions."""
    trajectories = list(demos)
    steps = min(len(trajectory) for trajectory in trajectories)
    batch = Batch(parse_robot(imitator), len(trajectories))
    batch.set_state(np.stack([trajectory.states[0] for trajectory in trajectories]))
    actions = [trajectory.actions for trajectory in trajectories]
    started = time.perf_counter()
    for t in range(steps):
        batch.step(np.stack([one[t] for one in actions if one is not None]))
    transitions = sum(len(trajectory) for trajectory in trajectories)
    return (time.perf_counter() - started) * transitions / (steps * len(trajectories))


def recorded_certificate(setting: Setting) -> RecordedCertificate:
    """Return the certificate on transitions that the imitator's shipped policy recorded, with mean and sampled actions."""
    return RecordedCertificate(_certificate(setting, sampled=False), _certificate(setting, sampled=True))


def _certificate(setting: Setting, *, sampled: bool) -> float:
    task, rng = Locomotion(parse_robot(setting.imitator)), np.random.default_rng(0)
    policy = policy_for(task.robot, setting.name)
    states: list[Floats] = []
    targets: list[Floats] = []
    for trajectory, _ in episodes(task, policy, list(range(CERTIFIED_EPISODES)), sampled=sampled):
        rows = rng.choice(len(trajectory), CERTIFIED_TRANSITIONS, replace=False)
        states.append(trajectory.states[rows])
        targets.append(trajectory.states[rows + 1])
    lanes = Lanes(task.robot, scales(task.robot).difference)
    return found_again(lanes, Solver(), np.concatenate(states), np.concatenate(targets), 0)


def make_records(settings: Sequence[str], cases: Sequence[str], places: Places) -> None:
    """Make the records that are missing."""
    with Workers(1) as workers:
        for case in (case for case in SCORING_CASES if case.name in cases):
            for setting in (*SETTINGS, *((*DEVELOPMENT, *FRESH) if case.everywhere else ())):
                if setting.name in settings:
                    path = record_path(places.results, setting.name, case.name)
                    job = (setting, case, places.runs / "feasibility")
                    record_or_skip(path, lambda job=job: _in_worker(workers, *job))


def _in_worker(workers: Workers, setting: Setting, case: ScoringCase, runs: Path) -> FeasibilityRecord:
    [(_, record)] = workers.run(measure, [(setting, case, runs)])
    print(f"{setting.name} {case.name}: {record.seconds:.0f} s", flush=True)
    return record


def main() -> None:
    """Make the records that are asked for and missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", default=",".join(BY_NAME))
    parser.add_argument("--cases", default=";".join(case.name for case in SCORING_CASES), help="separated by semicolons")
    add_places(parser)
    options = parser.parse_args()
    make_records(options.settings.split(","), options.cases.split(";"), places_of(options))


if __name__ == "__main__":
    main()
