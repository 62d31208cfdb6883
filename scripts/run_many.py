# SPDX-License-Identifier: MIT
"""Score sets of growing size with `direct`, and keep memory and time: python scripts/run_many.py [--most 10000].

The demonstrations are 50 recorded ones, repeated with changes of a billionth, so that every episode is one of its own.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from imitable.runtime import one_thread

one_thread()

from imitable.demos.store import read, write  # noqa: E402
from imitable.feasibility.score import score  # noqa: E402
from imitable.files import Output, write_bytes  # noqa: E402
from imitable.policies.shipped import policy_for  # noqa: E402
from imitable.robots.parse import parse_robot  # noqa: E402
from imitable.sim.rollout import episodes  # noqa: E402
from imitable.sim.task import Locomotion  # noqa: E402
from imitable.types import Trajectory  # noqa: E402

RECORD = Path(__file__).resolve().parents[1] / "results" / "feasibility" / "many.json"
ROBOT, IMITATOR = "half_cheetah:front=0.05", "half_cheetah:front=0.01"


def repeated(count: int) -> Iterator[Trajectory]:
    """Yield `count` demonstrations of 1000 steps."""
    task = Locomotion(parse_robot(ROBOT))
    recorded = [trajectory for trajectory, _ in episodes(task, policy_for(task.robot), list(range(50)))]
    for k in range(count):
        source = recorded[k % len(recorded)]
        yield Trajectory(source.states * (1 + 1e-9 * (k // len(recorded))), source.demonstrator, source.actions)


def measure(demos: str, out: str) -> None:
    """Score a folder in this process and print what it took."""
    started = time.process_time()
    scores = score(read(demos), IMITATOR, out=Output(out, overwrite=True))
    row = {
        "demonstrations": len(scores),
        "seconds": time.process_time() - started,
        "steps": scores.measurement.simulator_steps,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(row))


def main() -> None:
    """Measure every size in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=10_000)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        measure(*options.one)
        return
    if RECORD.exists():
        return
    rows = []
    for count in (count for count in (100, 1_000, 10_000) if count <= options.most):
        with tempfile.TemporaryDirectory() as folder:
            write(f"{folder}/demos", parse_robot(ROBOT).layout, repeated(count))
            command = [sys.executable, __file__, "--one", f"{folder}/demos", f"{folder}/scores.parquet"]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
        rows.append(json.loads(done.stdout))
        print(rows[-1], flush=True)
    write_bytes(RECORD, json.dumps({"robot": IMITATOR, "rows": rows}).encode())


if __name__ == "__main__":
    main()
