# SPDX-License-Identifier: MIT
"""Imitate what the pages compare, two processes at a time, and keep the records: python scripts/run_imitation.py.

Records go to results/imitation/GROUP.NAME.json; a record that is there is not made again. Demonstrations, score files and run
folders lie in runs/imitation; interrupted runs go on. `scripts/write_results.py` makes results/imitation.md of the records.

Groups: own (50 demonstrations of the imitator's own expert), weighted (the paper's composition: weighted, unweighted, related
demonstrators only), utility (one demonstrator alone), learners (the other learners and presets).
"""

import argparse
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from imitable.runtime import one_thread

one_thread()

from imitable.demos.collect import collect  # noqa: E402
from imitable.demos.store import read, write  # noqa: E402
from imitable.experiments.settings import SETTINGS, Setting  # noqa: E402
from imitable.feasibility.score import score, subset  # noqa: E402
from imitable.feasibility.score_files import read_scores  # noqa: E402
from imitable.files import Output, write_bytes  # noqa: E402
from imitable.imitation.imitate import imitate  # noqa: E402
from imitable.imitation.run_folder import RunFolder  # noqa: E402
from imitable.policies.shipped import policy_for  # noqa: E402
from imitable.robots.parse import parse_robot  # noqa: E402
from imitable.sim.task import Locomotion  # noqa: E402
from imitable.workers import Workers  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
RUNS, RECORDS = ROOT / "runs" / "imitation", ROOT / "results" / "imitation"
DEMO_SEED, EACH, POINTS = 1, 50, 60
MILLION, WEIGHTED = 1_000_000, 600_000
ALONE = {"half_cheetah": 200_000, "hopper": 300_000, "swimmer": 1_000_000, "walker2d": 300_000}
"""Steps of imitating one demonstrator alone: enough to tell good lessons from bad ones, not to learn all there is."""
SHORT = 300_000
"""Steps of the other learners."""
BY_NAME = {setting.name: setting for setting in SETTINGS}


@dataclass(frozen=True)
class Case:
    """One row of a table: who imitates whom, how, for how long."""

    group: str
    name: str
    imitator: str
    demonstrators: tuple[str, ...]
    counts: tuple[int, ...]
    steps: int
    method: str = "gaifo"
    weighted: bool = False
    """Whether `direct` scores weigh the demonstrations."""
    seeds: tuple[int, ...] = (0, 1, 2)
    episodes: int = 100
    """Episodes of the evaluation."""

    @property
    def record(self) -> Path:
        """Where its record lies."""
        return RECORDS / f"{self.group}.{self.name}.json"


def _own() -> list[Case]:
    steps = {"half_cheetah:front=0.01": 1, "hopper:gravity=15": 1, "swimmer:back=10": 3, "walker2d:friction=24.9": 2}
    return [Case("own", parse_robot(body).family.name, body, (body,), (EACH,), n * MILLION) for body, n in steps.items()]


def _weighted(setting: Setting) -> list[Case]:
    whole = (setting.imitator, setting.demonstrators, setting.counts)
    part = (setting.imitator, setting.demonstrators[: setting.related], setting.counts[: setting.related])
    return [
        Case("weighted", f"{setting.name}.weighted", *whole, WEIGHTED, weighted=True),
        Case("weighted", f"{setting.name}.unweighted", *whole, WEIGHTED),
        Case("weighted", f"{setting.name}.related", *part, WEIGHTED),
        Case("weighted", f"{setting.name}.own", setting.imitator, (setting.imitator,), (EACH,), WEIGHTED),
    ]


def _utility() -> list[Case]:
    pairs = {(setting.imitator, body) for setting in SETTINGS for body in setting.demonstrators}
    return [
        Case(
            "utility",
            f"{imitator}.{body}".replace(":", "_"),
            imitator,
            (body,),
            (EACH,),
            ALONE[body.split(":")[0]],
            seeds=(0,),
            episodes=25,
        )
        for imitator, body in sorted(pairs)
    ]


def _learners() -> list[Case]:
    body, setting = "half_cheetah:front=0.01", BY_NAME["half_cheetah-1"]
    texts = {"gaifo": "gaifo", "trpo": "gaifo:preset=trpo", "paper": "gaifo:preset=paper", "sail": "sail", "dcc": "dcc"}
    own = [
        Case("learners", f"half_cheetah.{name}", body, (body,), (EACH,), SHORT, text, seeds=(0,))
        for name, text in texts.items()
    ]
    whole = (body, setting.demonstrators, setting.counts)
    by_loss = Case("learners", "half_cheetah-1.loss", *whole, WEIGHTED, "gaifo:weighting=loss", weighted=True, seeds=(0,))
    swimmer = ("swimmer:back=10", ("swimmer:back=10",), (EACH,), MILLION)
    short = Case("learners", "swimmer.short", *swimmer)
    quiet = Case("learners", "swimmer.quiet", *swimmer, "gaifo:quiet_share=0.25")
    calm = Case("learners", "swimmer.calm", *swimmer, "gaifo:log_std_end=-3")
    return [*own, by_loss, short, quiet, calm]


CASES = [
    *_own(),
    *(case for name in ("half_cheetah-1", "hopper", "swimmer") for case in _weighted(BY_NAME[name])),
    *_utility(),
    *_learners(),
]


def folder_of(body: str, count: int) -> Path:
    """Return where the demonstrations of a body lie."""
    return RUNS / "demos" / f"{body.replace(':', '_').replace('=', '')}-{count}"


def record_demonstrations(body: str, count: int) -> None:
    """Record a body's demonstrations, unless they are there."""
    if not folder_of(body, count).exists():
        task = Locomotion(parse_robot(body))
        write(folder_of(body, count), task.robot.layout, collect(task, policy_for(task.robot), count, DEMO_SEED))


def folders_of(case: Case) -> list[Path]:
    """Return the demonstration folders of a case."""
    return [folder_of(body, count) for body, count in zip(case.demonstrators, case.counts, strict=True)]


def scores_of(case: Case) -> Path:
    """Return the score file of a case's demonstrations."""
    return RUNS / "scores" / f"{case.name.split('.')[0]}.parquet"


def make_scores(case: Case) -> None:
    """Score a case's demonstrations by `direct`, unless that is done."""
    score(read(*folders_of(case)), case.imitator, "direct", DEMO_SEED, out=Output(scores_of(case), resume=True))


def run(case: Case, seed: int) -> dict[str, Any]:
    """Imitate with one seed; return what its run came to."""
    demos, out = read(*folders_of(case)), RUNS / "runs" / f"{case.group}.{case.name}" / f"seed-{seed}"
    weights = None
    if case.weighted:
        scores = read_scores(scores_of(case))
        weights = subset(scores, [episode.hash for episode in demos.episodes]).weights
    started = time.perf_counter()
    imitate(demos, case.imitator, case.method, weights, seed, steps=case.steps, episodes=case.episodes, out=out, resume=True)
    folder = RunFolder(out)
    metrics = folder.metrics()
    best = folder.evaluation["best"] or folder.evaluation["last"]
    return {
        "seed": seed,
        "demonstrated_return": sum(episode.total_return for episode in demos.episodes) / len(demos),
        **{kind: _short(numbers) for kind, numbers in folder.evaluation["last"].items()},
        "best_mean_actions": _short(best["mean_actions"]),
        "seconds": round(time.perf_counter() - started),
        "curve": [(row["steps"], row["mean_return"]) for row in metrics[:: max(1, len(metrics) // POINTS)]],
    }


def _short(numbers: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in numbers.items() if not isinstance(value, list)}


def keep(case: Case, runs: list[dict[str, Any]]) -> None:
    """Write the record of a case whose runs are all there."""
    content = {**asdict(case), "runs": sorted(runs, key=lambda one: one["seed"])}
    write_bytes(case.record, (json.dumps(content, indent=1) + "\n").encode())


def main() -> None:
    """Make all records that are asked for and missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", default="own,weighted,utility,learners")
    parser.add_argument("--only", default="", help="only cases whose name has this in it")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    os.chdir(ROOT)
    groups = options.groups.split(",")
    cases = [case for group in groups for case in CASES if case.group == group and options.only in case.name]
    cases = [case for case in cases if not case.record.exists()]
    with Workers(options.processes, ["imitable.imitation.training"]) as workers:
        sets = sorted({pair for case in cases for pair in zip(case.demonstrators, case.counts, strict=True)})
        list(workers.run(record_demonstrations, sets))
        scored = {scores_of(case): case for case in cases if case.weighted}
        list(workers.run(make_scores, [(case,) for case in scored.values()]))
        calls = [(case, seed) for case in cases for seed in case.seeds]
        found: dict[str, list[dict[str, Any]]] = {}
        for index, result in workers.run(run, calls):
            case, seed = calls[index]
            numbers = (
                result["mean_actions"]["return_mean"],
                result["sampled_actions"]["return_mean"],
                result["demonstrated_return"],
            )
            print(case.group, case.name, seed, *(f"{n:.1f}" for n in numbers), f"{result['seconds']} s", flush=True)
            found.setdefault(case.name, []).append(result)
            if len(found[case.name]) == len(case.seeds):
                keep(case, found[case.name])


if __name__ == "__main__":
    main()
