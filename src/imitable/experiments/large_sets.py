# SPDX-License-Identifier: MIT
"""Score sets of growing size with `direct`, and record memory and time: python -m imitable.experiments.large_sets.

The demonstrations are 50 recorded ones, repeated with changes of a billionth, so that every episode is one of its own. The
record is RESULTS/feasibility/many.json.
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from imitable.demos.store import read, write
from imitable.experiments.options import add_places, places_of
from imitable.experiments.records import read_if_there, record_or_skip
from imitable.feasibility.score import score
from imitable.files import Output
from imitable.policies.shipped import policy_for
from imitable.robots.parse import parse_robot
from imitable.sim.rollout import episodes
from imitable.sim.task import Locomotion
from imitable.types import Trajectory
from imitable.workers import Workers

SIZES = (100, 1_000, 10_000)
DEMONSTRATOR, IMITATOR, SETTING, RECORDED = "half_cheetah:front=0.05", "half_cheetah:front=0.01", "half_cheetah-1", 50


@dataclass(frozen=True)
class LargeSet:
    """What one set took."""

    demonstrations: int
    seconds: float
    """Of the processor."""
    steps: int
    """Of the simulator."""
    peak_mb: float


@dataclass(frozen=True)
class LargeSetsRecord:
    """All sizes."""

    robot: str
    rows: tuple[LargeSet, ...]


def large_sets_path(results: Path) -> Path:
    """Return where the record lies."""
    return results / "feasibility" / "many.json"


def read_large_sets(results: Path) -> LargeSetsRecord | None:
    """Return the record, if it is there."""
    return read_if_there(LargeSetsRecord, large_sets_path(results))


def repeated(count: int) -> Iterator[Trajectory]:
    """Yield `count` demonstrations of 1000 steps."""
    task = Locomotion(parse_robot(DEMONSTRATOR))
    originals = [trajectory for trajectory, _ in episodes(task, policy_for(task.robot, SETTING), list(range(RECORDED)))]
    for k in range(count):
        source = originals[k % RECORDED]
        yield Trajectory(source.states * (1 + 1e-9 * (k // RECORDED)), source.demonstrator, source.actions)


def measure(demos: str, out: str) -> LargeSet:
    """Score a folder in this process, which must have done nothing before, and return what it took."""
    started = time.process_time()
    scores = score(read(demos), IMITATOR, out=Output(out, overwrite=True))
    seconds = time.process_time() - started
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return LargeSet(len(scores), seconds, scores.measurement.simulator_steps, peak_mb)


def measure_all(sizes: Sequence[int]) -> LargeSetsRecord:
    """Measure every size in a process of its own."""
    rows: list[LargeSet] = []
    for count in sizes:
        with tempfile.TemporaryDirectory() as folder, Workers(1) as workers:
            write(f"{folder}/demos", parse_robot(DEMONSTRATOR).layout, repeated(count))
            [(_, row)] = workers.run(measure, [(f"{folder}/demos", f"{folder}/scores.parquet")])
        print(row, flush=True)
        rows.append(row)
    return LargeSetsRecord(IMITATOR, tuple(rows))


def main() -> None:
    """Measure every size, unless that is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=SIZES[-1], help="demonstrations of the largest set")
    add_places(parser)
    options = parser.parse_args()
    sizes = [count for count in SIZES if count <= options.most]
    record_or_skip(large_sets_path(places_of(options).results), lambda: measure_all(sizes))


if __name__ == "__main__":
    main()
