# SPDX-License-Identifier: MIT
"""TRPO and PPO reach what they should, with default settings, mean actions over 100 episodes, mean of three seeds.

`make slow` runs this and records it in `results/learning.json`.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from imitable.rl.expert import train
from imitable.rl.settings import METHODS
from imitable.robots.parse import parse_robot
from imitable.sim.task import Locomotion
from imitable.workers import Workers

SEEDS = (0, 1, 2)
GOALS = {"half_cheetah": (1_500_000, 3000.0), "hopper": (2_500_000, 2500.0)}
"""Robot → (steps, mean return)."""
RESULTS = Path(__file__).parents[2] / "results" / "learning.json"


def learn(name: str, method: str, seed: int) -> dict[str, object]:
    expert = train(Locomotion(parse_robot(name)), METHODS[method](), GOALS[name][0], seed)
    assert expert.steps <= GOALS[name][0]
    return {"seed": seed, "steps": expert.steps, "mean_actions": expert.mean.summary()}


@pytest.mark.slow
def test_trpo_and_ppo_reach_their_goals() -> None:
    cases = [(name, method, seed) for name in GOALS for method in METHODS for seed in SEEDS]
    rows: dict[str, list[dict[str, object]]] = {}
    with Workers(2, ["imitable.rl.expert"]) as workers:
        for index, result in workers.run(learn, cases):
            name, method, _ = cases[index]
            rows.setdefault(f"{name} {method}", []).append(result)
            print(cases[index], result["mean_actions"], flush=True)
    table = {}
    for case, results in sorted(rows.items()):
        returns = [result["mean_actions"]["return_mean"] for result in sorted(results, key=lambda r: r["seed"])]
        goal = GOALS[case.split()[0]][1]
        table[case] = {
            "steps": results[0]["steps"],
            "returns": returns,
            "mean": round(float(np.mean(returns)), 1),
            "goal": goal,
        }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({"command": "make slow", "seeds": SEEDS, "episodes": 100, "rows": table}, indent=2) + "\n")
    missed = {case: row["mean"] for case, row in table.items() if row["mean"] < row["goal"]}
    assert not missed
