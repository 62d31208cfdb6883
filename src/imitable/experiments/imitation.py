# SPDX-License-Identifier: MIT
"""Imitate what the pages compare, in several processes: python -m imitable.experiments.imitation.

Records go to RESULTS/imitation/GROUP.NAME.json; a record that is there is not made again. Demonstrations, score files and run
folders lie in RUNS/imitation; interrupted runs go on.

Groups: own (50 demonstrations of the imitator's own expert), weighted (the paper's composition: weighted, unweighted, related
demonstrators only), utility (one demonstrator alone), learners (the other learners and presets).
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path

from imitable.evaluation.result import Performance
from imitable.experiments.cases import LEARNING_CASES, LearningCase
from imitable.experiments.demonstrations import (
    distinct,
    record_demonstrations,
    recorded,
    score_demonstrations,
    scores_file,
    weights_of,
)
from imitable.experiments.imitation_records import LearningRecord, LearningRun, Returns, learning_path
from imitable.experiments.options import add_places, places_of
from imitable.experiments.records import Places, from_json, write_record
from imitable.experiments.work import learning_curve
from imitable.files import Output
from imitable.imitation.imitate import imitate
from imitable.imitation.run import Run
from imitable.imitation.run_folder import RunFolder
from imitable.workers import Workers

GROUPS = ("own", "weighted", "utility", "learners")


def run(case: LearningCase, seed: int, runs: Path) -> LearningRun:
    """Imitate with one seed; return what its run came to."""
    demos, folder = recorded(runs, case.recordings), RunFolder(runs / "runs" / f"{case.group}.{case.name}" / f"seed-{seed}")
    weights = weights_of(runs, case, demos)
    started = time.perf_counter()
    asked = Run(steps=case.steps, seed=seed, episodes=case.episodes)
    evaluation = imitate(demos, case.imitator, case.method, weights, run=asked, out=Output(folder.path, resume=True)).evaluation
    last, best = evaluation.last, evaluation.best or evaluation.last
    return LearningRun(
        seed,
        sum(episode.total_return for episode in demos.episodes) / len(demos),
        _in_brief(last.mean_actions),
        _in_brief(last.sampled_actions),
        _in_brief(best.mean_actions),
        round(time.perf_counter() - started),
        learning_curve(folder.metrics()),
    )


def _in_brief(performance: Performance) -> Returns:
    return from_json(Returns, {field.name: getattr(performance, field.name) for field in fields(Returns)})


def learn(cases: Sequence[LearningCase], places: Places, processes: int) -> Iterator[LearningRecord]:
    """Run every seed of every case, and write and yield the record of a case when its last seed has ended."""
    runs = places.runs / "imitation"
    with Workers(processes, ["imitable.imitation.training"]) as workers:
        recordings = distinct(runs, (recording for case in cases for recording in case.recordings))
        list(workers.run(record_demonstrations, [(runs, recording) for recording in recordings]))
        scored = {scores_file(runs, case): case for case in cases if case.weighted}
        list(workers.run(score_demonstrations, [(runs, case) for case in scored.values()]))
        calls = [(case, seed, runs) for case in cases for seed in case.seeds]
        finished: dict[LearningCase, list[LearningRun]] = {}
        for index, result in workers.run(run, calls):
            case = calls[index][0]
            print(_line(case, result), flush=True)
            finished.setdefault(case, []).append(result)
            if len(finished[case]) == len(case.seeds):
                record = LearningRecord(case, tuple(sorted(finished[case], key=lambda one: one.seed)))
                write_record(learning_path(places.results, case), record, indent=1)
                yield record


def _line(case: LearningCase, result: LearningRun) -> str:
    numbers = (result.mean_actions.return_mean, result.sampled_actions.return_mean, result.demonstrated_return)
    return f"{case.group} {case.name} {result.seed} {' '.join(f'{number:.1f}' for number in numbers)} {result.seconds} s"


def missing_cases(groups: Sequence[str], part_of_name: str, results: Path) -> list[LearningCase]:
    """Return the cases of some groups that have no record, in the order of the groups."""
    wanted = [case for group in groups for case in LEARNING_CASES if case.group == group and part_of_name in case.name]
    return [case for case in wanted if not learning_path(results, case).exists()]


def main() -> None:
    """Make the records that are asked for and missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", default=",".join(GROUPS))
    parser.add_argument("--only", default="", help="only cases whose name has this in it")
    parser.add_argument("--processes", type=int, default=2)
    add_places(parser)
    options = parser.parse_args()
    places = places_of(options)
    cases = missing_cases(options.groups.split(","), options.only, places.results)
    list(learn(cases, places, options.processes))


if __name__ == "__main__":
    main()
