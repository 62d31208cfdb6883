# SPDX-License-Identifier: MIT
"""GAIfO with its defaults imitates the imitator's own expert: one recipe for all bodies, three seeds, the last policy.

`make slow` runs this and records it in `results/imitation/own.*.json`; records that are there are not made again.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
GOALS = {"half_cheetah": 0.95, "hopper": 0.95, "walker2d": 0.9, "swimmer": 0.9}


@pytest.mark.slow
@pytest.mark.parametrize("body", GOALS)
def test_gaifo_reaches_the_demonstrations_on_their_own_body(body: str) -> None:
    command = [sys.executable, str(ROOT / "scripts" / "run_imitation.py"), "--groups", "own", "--only", body]
    subprocess.run(command, check=True)
    record = json.loads((ROOT / "results" / "imitation" / f"own.{body}.json").read_text())
    mean, sampled = (
        np.mean([run[kind]["return_mean"] for run in record["runs"]]) for kind in ("mean_actions", "sampled_actions")
    )
    assert len(record["runs"]) == 3
    assert mean >= GOALS[body] * record["runs"][0]["demonstrated_return"]
    if body == "swimmer":
        assert abs(mean - sampled) <= 0.1 * abs(sampled)
