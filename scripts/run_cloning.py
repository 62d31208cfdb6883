# SPDX-License-Identifier: MIT
"""Cloning against GAIfO, by total simulator steps: python scripts/run_cloning.py.

Own body: 50 own demonstrations without their actions, projected, cloned. HalfCheetah-1: the paper's composition weighted by
`direct`; GAIfO alone, and GAIfO that begins from a clone of the 25 heaviest demonstrations' projection, both looked at with
mean actions every 25,000 steps. Records go to results/imitation/cloning.NAME.json; a record that is there is not made again.
"""

import json
import os
from typing import Any

from imitable.runtime import one_thread

one_thread()

import numpy as np  # noqa: E402
from run_imitation import BY_NAME, RECORDS, Case, folders_of, make_scores, record_demonstrations, scores_of  # noqa: E402

from imitable.demos.store import read  # noqa: E402
from imitable.evaluation.returns import EVALUATION_SEED, measure_returns  # noqa: E402
from imitable.feasibility.score_files import read_scores  # noqa: E402
from imitable.files import write_bytes  # noqa: E402
from imitable.imitation.learner import Job, Training  # noqa: E402
from imitable.imitation.methods.cloning import FINE_LOG_STD, Cloning  # noqa: E402
from imitable.imitation.methods.gaifo import Gaifo  # noqa: E402
from imitable.projection import project  # noqa: E402
from imitable.robots.parse import parse_robot  # noqa: E402
from imitable.sim.task import Locomotion  # noqa: E402
from imitable.types import InMemory, Trajectory, Weights  # noqa: E402
from imitable.workers import Workers  # noqa: E402

STEPS = 400_000
SEEDS, LOOK_STEPS, LOOK_EPISODES, GOAL = (0, 1, 2), 25_000, 20, 0.95
OWN = {
    "half_cheetah:front=0.01": (2, 65),
    "hopper:gravity=15": (2, 140),
    "swimmer:back=10": (2, 65),
    "walker2d:friction=24.9": (2, 140),
}
"""Length and number of the pieces that each demonstration is projected in."""
HEAVIEST, PIECES = 25, (2, 26)


def own(body: str, seed: int) -> dict[str, Any]:
    """Project, clone and evaluate on the body's own demonstrations."""
    case = Case("own", "", body, (body,), (50,), 0)
    bare = [Trajectory(one.states, one.demonstrator) for one in read(*folders_of(case))]
    robot = parse_robot(body)
    length, pieces = OWN[body]
    projected = project(InMemory(robot.layout, bare), robot, length=length, pieces=pieces, seed=seed)
    training = Cloning().begin(Job(projected, robot, None, 0, seed))
    while not training.done:
        training.iterate()
    found = measure_returns(Locomotion(robot), training.policy, 100, EVALUATION_SEED)
    return {"return": found.mean, "lowest": float(found.returns.min()), "steps": projected.simulator_steps}


def curve(kind: str, seed: int) -> dict[str, Any]:
    """Learn on HalfCheetah-1; return looks at the mean policy by total simulator steps."""
    setting = BY_NAME["half_cheetah-1"]
    case = Case(
        "weighted", "half_cheetah-1.weighted", setting.imitator, setting.demonstrators, setting.counts, 0, weighted=True
    )
    demos, robot = read(*folders_of(case)), parse_robot(setting.imitator)
    weights = read_scores(scores_of(case)).weights
    spent, begin = (0, None) if kind == "gaifo" else _clone(demos, robot, weights, seed)
    job = Job(demos, robot, weights, STEPS, seed)
    training = (Gaifo() if begin is None else Gaifo(log_std=FINE_LOG_STD)).begin(job, begin)
    first = (spent, 0.0 if begin is None else _look(robot, begin))
    return {"projected": spent, "looks": [first, *_looks(training, robot, spent)]}


def _clone(demos: Any, robot: Any, weights: Weights, seed: int) -> tuple[int, Any]:
    """Return the simulator steps and the policy of a clone of the heaviest demonstrations."""
    heaviest = np.argsort(-weights.of(demos), kind="stable")[:HEAVIEST]
    part = InMemory(robot.layout, [Trajectory(demos[int(i)].states, demos[int(i)].demonstrator) for i in heaviest])
    projected = project(part, robot, length=PIECES[0], pieces=PIECES[1], seed=seed)
    training = Cloning().begin(Job(projected, robot, None, 0, seed))
    while not training.done:
        training.iterate()
    return projected.simulator_steps, training.policy


def _look(robot: Any, policy: Any) -> float:
    return measure_returns(Locomotion(robot), policy, LOOK_EPISODES, EVALUATION_SEED).mean


def _looks(training: Training, robot: Any, spent: int) -> list[tuple[int, float]]:
    found, due = [], LOOK_STEPS
    while not training.done:
        steps = training.iterate().steps
        if steps >= due:
            found.append((spent + steps, _look(robot, training.policy)))
            due += LOOK_STEPS
    return found


def _first(looks: list[tuple[int, float]], goal: float) -> int | None:
    return next((steps for steps, value in looks if value >= goal), None)


def main() -> None:
    """Make the records that are missing."""
    os.chdir(RECORDS.parents[1])
    setting = BY_NAME["half_cheetah-1"]
    case = Case(
        "weighted", "half_cheetah-1.weighted", setting.imitator, setting.demonstrators, setting.counts, 0, weighted=True
    )
    with Workers(2, ["imitable.imitation.training"]) as workers:
        calls = [(body, seed) for body in OWN for seed in SEEDS if not _path(parse_robot(body).family.name).exists()]
        rows: dict[str, list[dict[str, Any]]] = {}
        list(workers.run(record_demonstrations, [(body, 50) for body in dict.fromkeys(body for body, _ in calls)]))
        for index, result in sorted(workers.run(own, calls), key=lambda one: one[0]):
            rows.setdefault(parse_robot(calls[index][0]).family.name, []).append(result)
        for name, results in rows.items():
            _keep_own(name, results)
        for kind in ("gaifo", "cloning, then gaifo"):
            name = f"half_cheetah-1 {kind}"
            if _path(name).exists():
                continue
            list(workers.run(record_demonstrations, sorted(zip(case.demonstrators, case.counts, strict=True))))
            make_scores(case)
            _keep_curve(name, kind, [result for _, result in sorted(workers.run(curve, [(kind, seed) for seed in SEEDS]))])


def _path(name: str) -> Any:
    return RECORDS / f"cloning.{name.replace(', ', '-').replace(' ', '.')}.json"


def _keep_own(name: str, results: list[dict[str, Any]]) -> None:
    reached = ", ".join(f"{one['return']:,.0f} (lowest {one['lowest']:,.0f})" for one in results)
    _write(name, "project, cloning", ", ".join(f"{one['steps']:,}" for one in results), reached, "–", results)


def _keep_curve(name: str, kind: str, results: list[dict[str, Any]]) -> None:
    demos = read(*folders_of(Case("", "", "", BY_NAME["half_cheetah-1"].demonstrators[:1], (25,), 0)))
    goal = GOAL * sum(episode.total_return for episode in demos.episodes) / len(demos)
    reached = ", ".join(f"{one['looks'][-1][1]:,.0f}" for one in results)
    first = [_first(one["looks"], goal) for one in results]
    to_goal = ", ".join("never" if steps is None else f"{steps:,}" for steps in first)
    spent = ", ".join(f"{one['looks'][-1][0]:,}" for one in results)
    _write(name, kind, spent, reached, f"{to_goal} (goal {goal:,.0f})", results)


def _write(name: str, what: str, steps: str, reached: str, to_goal: str, results: list[dict[str, Any]]) -> None:
    record = {"group": "cloning", "name": name, "what": what, "simulator_steps": steps, "reached": reached, "to_goal": to_goal}
    write_bytes(_path(name), (json.dumps(record | {"runs": results}, indent=1) + "\n").encode())
    print(name, what, steps, reached, to_goal, flush=True)


if __name__ == "__main__":
    main()
