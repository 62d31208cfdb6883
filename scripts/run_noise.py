# SPDX-License-Identifier: MIT
"""Does a Swimmer's return depend on its noise? python scripts/run_noise.py, after scripts/run_imitation.py.

The policies of Swimmer's runs, and demonstrators, play with 0, 0.1, 0.3 and 1 times their own exploration; and how much of the
time they stand still. The record goes to results/imitation/noise.swimmer.json.
"""

import json
import os
from dataclasses import replace

from imitable.runtime import one_thread

one_thread()

import numpy as np  # noqa: E402
from run_imitation import RECORDS, ROOT, RUNS  # noqa: E402

from imitable.evaluation.returns import EVALUATION_SEED, play  # noqa: E402
from imitable.files import write_bytes  # noqa: E402
from imitable.imitation.run_folder import RunFolder  # noqa: E402
from imitable.policies.shipped import policy_for  # noqa: E402
from imitable.robots.parse import parse_robot  # noqa: E402
from imitable.sim.task import Locomotion  # noqa: E402
from imitable.types import Policy  # noqa: E402

RECORD = RECORDS / "noise.swimmer.json"
SCALES, EPISODES, STILL = (0.0, 0.1, 0.3, 1.0), 20, 0.05
"""A step stands still if no joint moves faster than this, in radians a second, after step 300."""


def row(body: str, policy: Policy) -> dict[str, object]:
    """Return a policy's returns by noise, and its pauses with mean actions."""
    task, returns = Locomotion(parse_robot(body)), []
    pauses = 0.0
    for scale in SCALES:
        loud = policy if scale == 0 else replace(policy, log_std=policy.log_std + np.float32(np.log(scale)))
        rollouts = play(task, loud, EPISODES, EVALUATION_SEED, sampled=scale > 0)
        returns.append(round(float(np.mean([one.total_return for one in rollouts])), 1))
        if scale == 0:
            speeds = np.abs(np.stack([one.states[300:, 8:10] for one in rollouts])).max(axis=2)
            pauses = float((speeds < STILL).mean())
    return {"returns": returns, "pauses": round(pauses, 3), "std": [round(float(x), 3) for x in np.exp(policy.log_std)]}


def main() -> None:
    """Measure every run that is there, unless that is done."""
    if RECORD.exists():
        return
    os.chdir(ROOT)
    rows: dict[str, dict[str, object]] = {}
    for body in ("swimmer:back=10", "swimmer:back=12", "swimmer:back=20", "swimmer", "swimmer:front=10"):
        rows[f"demonstrator {body}"] = row(body, policy_for(parse_robot(body)))
    for path in sorted((RUNS / "runs").glob("*swimmer*/seed-*/evaluation.json")):
        folder = RunFolder(path.parent)
        rows[f"{path.parents[1].name} {path.parent.name}"] = row(folder.setting["imitator"], folder.policy)
    record = {"scales": SCALES, "episodes": EPISODES, "still": STILL, "rows": rows}
    write_bytes(RECORD, (json.dumps({"group": "noise", **record}, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
