# SPDX-License-Identifier: MIT
"""Score demonstrations of bodies along one knob, and keep the record: python scripts/run_ladders.py.

Every rung is a body between the imitator's value of the knob and far beyond it. Its demonstrations are made without training:
the imitator's own shipped policy is played on the rung's body, so that only the dynamics change along the ladder.
"""

import json
from pathlib import Path

from imitable.runtime import one_thread

one_thread()

import numpy as np  # noqa: E402

from imitable.feasibility.ladders import turned  # noqa: E402
from imitable.feasibility.score import score  # noqa: E402
from imitable.files import write_bytes  # noqa: E402
from imitable.policies.shipped import policy_for  # noqa: E402
from imitable.robots.parse import parse_robot  # noqa: E402
from imitable.sim.rollout import episodes  # noqa: E402
from imitable.sim.task import Locomotion  # noqa: E402
from imitable.types import InMemory  # noqa: E402

RECORD = Path(__file__).resolve().parents[1] / "results" / "feasibility" / "ladders.json"
EACH, SEED = 8, 1

LADDERS: dict[tuple[str, str], tuple[float, ...]] = {
    ("swimmer:back=10", "back"): (10, 12, 15, 20, 28, 40, 60, 80, 100),
    ("walker2d:friction=24.9", "friction"): (24.9, 19.9, 14.9, 9.9, 5.9, 3.9, 1.9, 1.1, 0.9, 0.7),
    ("walker2d", "friction"): (0.9, 1.1, 1.5, 1.9, 3.9, 5.9, 9.9, 19.9, 29.9),
    ("half_cheetah:front=0.01", "front"): (0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0),
    ("half_cheetah:front=0.01", "back"): (1.0, 0.8, 0.65, 0.5, 0.35, 0.2, 0.1, 0.05, 0.01),
    ("hopper:gravity=15", "gravity"): (15, 13, 11, 9.81, 8, 6.5, 5, 3.5, 2),
}
"""Imitator and knob, and the values of the demonstrating bodies, from the imitator's own on."""


def main() -> None:
    """Score every ladder, unless that is done."""
    if RECORD.exists():
        return
    found = []
    for (imitator, knob), values in LADDERS.items():
        own = parse_robot(imitator)
        policy, shares = policy_for(own), []
        for value in values:
            task = Locomotion(turned(own, knob, value))
            demos = [trajectory for trajectory, _ in episodes(task, policy, [SEED * 1000 + k for k in range(EACH)])]
            long_enough = [trajectory for trajectory in demos if len(trajectory) > 1]
            shares.append(score(InMemory(own.layout, long_enough), own, seed=SEED).share.tolist())
        found.append({"imitator": imitator, "knob": knob, "values": values, "shares": shares})
        print(imitator, knob, [round(float(np.mean(s)), 3) for s in shares], flush=True)
    write_bytes(RECORD, json.dumps({"each": EACH, "seed": SEED, "ladders": found}).encode())


if __name__ == "__main__":
    main()
