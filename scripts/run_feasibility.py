# SPDX-License-Identifier: MIT
"""Score the paper's six MuJoCo settings with every method and keep the records: python scripts/run_feasibility.py.

Records go to results/feasibility/SETTING.CASE.json; a record that is there is not made again. Demonstrations and score files
lie in runs/feasibility. `scripts/write_results.py` makes results/feasibility.md of the records.
"""

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

from imitable.runtime import one_thread

one_thread()

import numpy as np  # noqa: E402

from imitable.demos.collect import collect  # noqa: E402
from imitable.demos.store import read, write  # noqa: E402
from imitable.experiments.settings import SETTINGS, Setting  # noqa: E402
from imitable.feasibility.score import Measuring, score  # noqa: E402
from imitable.files import Output, write_bytes  # noqa: E402
from imitable.policies.shipped import policy_for  # noqa: E402
from imitable.robots.parse import parse_robot  # noqa: E402
from imitable.sim.babble import scales  # noqa: E402
from imitable.sim.batch import Batch  # noqa: E402
from imitable.sim.rollout import episodes  # noqa: E402
from imitable.sim.task import Locomotion  # noqa: E402
from imitable.tracking.certificate import found_again  # noqa: E402
from imitable.tracking.solver import Lanes, Solver  # noqa: E402
from imitable.types import Demonstrations  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
RUNS, RECORDS = ROOT / "runs" / "feasibility", ROOT / "results" / "feasibility"
EACH, SEED = 50, 1

HELD_OUT = (
    Setting(
        "held-out swimmer",
        "swimmer:back=20",
        ("swimmer:back=12", "swimmer:back=10", "swimmer", "swimmer:front=10"),
        (50, 50, 500, 500),
    ),
    Setting(
        "held-out walker2d",
        "walker2d:friction=9.9",
        ("walker2d:friction=19.9", "walker2d:friction=24.9", "walker2d", "walker2d:friction=0.7"),
        (50, 50, 500, 500),
    ),
    Setting(
        "held-out half_cheetah",
        "half_cheetah:back=0.05",
        ("half_cheetah:back=0.01", "half_cheetah:back=0.5", "half_cheetah:front=0.5", "half_cheetah:front=0.05"),
        (50, 50, 500, 500),
    ),
    Setting(
        "held-out hopper",
        "hopper:gravity=5",
        ("hopper:gravity=2", "hopper", "hopper:gravity=15", "hopper:gravity=20"),
        (50, 50, 500, 500),
    ),
)
"""Other imitators for the same demonstrators, the related ones first: nothing was chosen by looking at these."""

CASES: dict[str, tuple[str, Measuring]] = {
    "direct": ("direct", Measuring()),
    "direct, windows": ("direct:form=windows", Measuring()),
    "direct, restart": ("direct:form=restart", Measuring()),
    "direct, l2": ("direct", Measuring(distance="l2")),
    "direct, discount 0.9": ("direct", Measuring(discount=0.9)),
    "trajectory": ("trajectory", Measuring()),
    "trajectory, discount 0.9": ("trajectory", Measuring(discount=0.9)),
    "trajectory, initial-state": ("trajectory:tracker_input=initial-state", Measuring(discount=0.9, distance="l2")),
    "trajectory, initial-state, 4 times the budget": (
        "trajectory:tracker_input=initial-state,steps=2000000,patience=10000",
        Measuring(discount=0.9, distance="l2"),
    ),
    "one-step": ("one-step", Measuring()),
    "inverse-dynamics": ("inverse-dynamics", Measuring()),
    "transferability": ("transferability", Measuring()),
    "neighbours": ("neighbours", Measuring()),
}
"""What the table compares: method and how it measures."""


class Printed:
    """An observer that prints lines."""

    def progress(self, done: int, total: int, note: str = "") -> None:
        """Show no progress."""

    def say(self, line: str) -> None:
        """Print it."""
        print(line, flush=True)


def demonstrations(body: str) -> Demonstrations:
    """Return 50 episodes of a shipped demonstrator, recorded once."""
    folder = RUNS / "demos" / body.replace(":", "_").replace("=", "")
    if not folder.exists():
        task = Locomotion(parse_robot(body))
        write(folder, task.robot.layout, collect(task, policy_for(task.robot), EACH, SEED))
    return read(folder)


def one_pass(setting: Setting) -> float:
    """Return the seconds that the simulator needs to replay the setting's demonstrations once on the imitator."""
    robot, total = parse_robot(setting.imitator), 0.0
    for body in setting.demonstrators:
        demos = list(demonstrations(body))
        steps = min(len(trajectory) for trajectory in demos)
        batch = Batch(robot, len(demos))
        batch.set_state(np.stack([trajectory.states[0] for trajectory in demos]))
        actions = [trajectory.actions for trajectory in demos]
        started = time.perf_counter()
        for t in range(steps):
            batch.step(np.stack([a[t] for a in actions if a is not None]))
        transitions = sum(len(trajectory) for trajectory in demos)
        total += (time.perf_counter() - started) * transitions / (steps * len(demos))
    return total


def recorded_certificate(setting: Setting) -> dict[str, float]:
    """Return the certificate on transitions that the imitator's shipped policy recorded, with mean and sampled actions."""
    task = Locomotion(parse_robot(setting.imitator))
    found: dict[str, float] = {}
    for name, sampled in (("mean", False), ("sampled", True)):
        rng, states, targets = np.random.default_rng(0), [], []
        for trajectory, _ in episodes(task, policy_for(task.robot), list(range(8)), sampled=sampled):
            rows = rng.choice(len(trajectory), 50, replace=False)
            states.append(trajectory.states[rows])
            targets.append(trajectory.states[rows + 1])
        lanes = Lanes(task.robot, scales(task.robot).difference)
        found[name] = found_again(lanes, Solver(), np.concatenate(states), np.concatenate(targets), 0)
    return found


def record(setting: Setting, case: str) -> None:
    """Score one setting with one method, unless its record is there."""
    path = RECORDS / f"{setting.name}.{case}.json".replace(", ", "-").replace(" ", "_")
    if path.exists():
        return
    method, measuring = CASES[case]
    for body in setting.demonstrators:
        demonstrations(body)
    folders = [RUNS / "demos" / body.replace(":", "_").replace("=", "") for body in setting.demonstrators]
    out = RUNS / "scores" / f"{path.stem}.parquet"
    started = time.perf_counter()
    scores = score(
        read(*folders), setting.imitator, method, SEED, measuring=measuring, out=Output(out, resume=True, observer=Printed())
    )
    seconds = time.perf_counter() - started
    by_body: dict[str, Any] = {body: {"distance": [], "share": [], "verdict": []} for body in setting.demonstrators}
    for episode, distance, share, verdict in zip(scores.episodes, scores.distance, scores.share, scores.verdict, strict=True):
        row = by_body[episode.demonstrator]
        row["distance"].append(float(distance))
        row["share"].append(float(share))
        row["verdict"].append(verdict)
    content = {
        "setting": setting.name,
        "case": case,
        "method": method,
        "about": {name: value for name, value in scores.metadata().items() if name != "key"},
        "demonstrators": by_body,
        "seconds": seconds,
        "one_pass_s": one_pass(setting),
    }
    if case == "direct":
        content["recorded_certificate"] = recorded_certificate(setting)
    write_bytes(path, json.dumps(content).encode())
    print(f"{setting.name} {case}: {seconds:.0f} s", flush=True)


def main() -> None:
    """Make all records that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", default=",".join(setting.name for setting in (*SETTINGS, *HELD_OUT)))
    parser.add_argument("--cases", default=";".join(CASES), help="separated by semicolons")
    options = parser.parse_args()
    os.chdir(ROOT)
    wanted = options.settings.split(",")
    for case in options.cases.split(";"):
        for setting in (*SETTINGS, *(HELD_OUT if case == "direct" else ())):
            if setting.name in wanted:
                record(setting, case)


if __name__ == "__main__":
    main()
