# SPDX-License-Identifier: MIT
"""What scoring costs at the paper's composition: python -m imitable.experiments.scoring_cost.

A few demonstrations of every demonstrator are scored alone, so that the cost of 1,020 to 1,100 follows from the composition
without scoring all of them: `direct` takes as long for a demonstration whatever the others are. Time is a ratio to one pass of
the simulator over the same demonstrations. The record is RESULTS/feasibility/cost.json.
"""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from imitable.experiments.cases import Recording
from imitable.experiments.demonstrations import record_demonstrations, recorded
from imitable.experiments.feasibility import one_pass_s
from imitable.experiments.options import add_places, places_of
from imitable.experiments.records import read_if_there, record_or_skip
from imitable.experiments.settings import BY_NAME, SETTINGS
from imitable.feasibility.score import score
from imitable.workers import Workers

EACH, EFFORTS = 8, ("quick", "standard")


@dataclass(frozen=True)
class Cost:
    """Of one setting at one effort."""

    setting: str
    effort: str
    steps_each: tuple[float, ...]
    """Simulated control steps a demonstration, one a demonstrator."""
    passes_each: tuple[float, ...]
    """Time a demonstration, in passes of the simulator over it; calibration not included."""
    calibration_steps: int
    """Once a job."""

    @property
    def steps(self) -> float:
        """Simulated control steps at the paper's composition."""
        return float(np.dot(self.steps_each, BY_NAME[self.setting].counts)) + self.calibration_steps

    @property
    def passes(self) -> float:
        """Time in passes of the simulator, at the paper's composition."""
        counts = BY_NAME[self.setting].counts
        return float(np.dot(self.passes_each, counts) / sum(counts))


@dataclass(frozen=True)
class CostRecord:
    """All settings and efforts."""

    each: int
    rows: tuple[Cost, ...]


def cost_path(results: Path) -> Path:
    """Return where the record lies."""
    return results / "feasibility" / "cost.json"


def read_costs(results: Path) -> CostRecord | None:
    """Return the record, if it is there."""
    return read_if_there(CostRecord, cost_path(results))


def measure(name: str, effort: str, runs: Path) -> Cost:
    """Score a few demonstrations of every demonstrator. Time is shared out between them and the calibration by steps."""
    setting, method = BY_NAME[name], f"direct:effort={effort}"
    steps, passes, calibration = list[float](), list[float](), 0
    for body in setting.demonstrators:
        recording = Recording(body, EACH, name)
        record_demonstrations(runs, recording)
        demos = recorded(runs, [recording])
        started = time.perf_counter()
        measured = score(demos, setting.imitator, method).measurement
        seconds = time.perf_counter() - started
        calibration = measured.simulator_steps - measured.measured_steps
        steps.append(measured.measured_steps / EACH)
        part = measured.measured_steps / measured.simulator_steps
        passes.append(part * seconds / one_pass_s(setting, [recording], runs))
    return Cost(name, effort, tuple(steps), tuple(passes), calibration)


def measure_all(runs: Path) -> CostRecord:
    """Measure every setting in one process of one thread."""
    calls = [(setting.name, effort, runs) for setting in SETTINGS for effort in EFFORTS]
    with Workers(1) as workers:
        return CostRecord(EACH, tuple(cost for _, cost in sorted(workers.run(measure, calls), key=lambda one: one[0])))


def main() -> None:
    """Measure, unless that is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_places(parser)
    places = places_of(parser.parse_args())
    record_or_skip(cost_path(places.results), lambda: measure_all(places.runs / "feasibility"), indent=1)


if __name__ == "__main__":
    main()
