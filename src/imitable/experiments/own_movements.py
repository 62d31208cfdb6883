# SPDX-License-Identifier: MIT
"""Are verdicts right where the truth is known? python -m imitable.experiments.own_movements.

What a body did itself it can do: gaits of its shipped policy with mean and with sampled actions, rest, gaits under actions
scaled by 0.3, babble. What it cannot do by construction: movements recorded while something else pushes every joint harder
than the actuators can, a gait lifted off the ground, a joint beyond its stop. All are scored by `direct` at its default. The
record of every body is RESULTS/own_movements/BODY.json.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from imitable.experiments.known_movements import SEED, movements
from imitable.experiments.options import add_places, places_of
from imitable.experiments.records import read_record, record_or_skip
from imitable.experiments.settings import SETTINGS
from imitable.feasibility.score import score
from imitable.robots.parse import parse_robot
from imitable.types import InMemory, Trajectory
from imitable.workers import Workers

BODIES = tuple(dict.fromkeys(body for setting in SETTINGS for body in setting.bodies))
ROBOTS = ("examples/robots/servo_arm.xml", "examples/robots/floating.xml")
"""Besides the bodies of the settings: a servo arm, and a free-floating body with quaternions."""


@dataclass(frozen=True)
class Movements:
    """Movements of one kind, scored."""

    can: bool
    """Whether the body can do them."""
    share: tuple[float, ...]
    score: tuple[float, ...]
    verdict: tuple[str, ...]

    @property
    def called_feasible(self) -> float:
        """Part of them that the verdict calls feasible."""
        return self.verdict.count("feasible") / len(self.verdict)


@dataclass(frozen=True)
class BodyRecord:
    """One body's movements by kind."""

    body: str
    noise: float
    """τ of its scores."""
    simulator_steps: int
    kinds: dict[str, Movements]


def record_path(results: Path, body: str) -> Path:
    """Return where the record of a body lies."""
    return results / "own_movements" / f"{Path(body).stem if '/' in body else body.replace(':', '_')}.json"


def read_bodies(results: Path) -> list[BodyRecord]:
    """Return all records, by name."""
    return [read_record(BodyRecord, path) for path in sorted((results / "own_movements").glob("*.json"))]


def measure(body: str) -> BodyRecord:
    """Score all movements of a body in one job."""
    robot = parse_robot(body)
    kinds = movements(robot)
    demos = InMemory(robot.layout, [Trajectory(one.states, name) for name, (_, some) in kinds.items() for one in some])
    scores = score(demos, robot, seed=SEED)
    found: dict[str, Movements] = {}
    for name, (can, _) in kinds.items():
        rows = [row for row, episode in enumerate(scores.episodes) if episode.demonstrator == name]
        said = scores.at(rows)
        found[name] = Movements(can, tuple(said.share.tolist()), tuple(said.score.tolist()), said.verdict)
    return BodyRecord(body, scores.measurement.noise, scores.measurement.simulator_steps, found)


def main() -> None:
    """Make the records that are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bodies", nargs="*", default=[*BODIES, *ROBOTS])
    parser.add_argument("--workers", type=int, default=1)
    add_places(parser)
    options = parser.parse_args()
    results = places_of(options).results
    missing = [body for body in options.bodies if not record_path(results, body).exists()]
    with Workers(options.workers) as workers:
        for place, record in workers.run(measure, [(body,) for body in missing]):
            record_or_skip(record_path(results, missing[place]), _constant(record))
            print(missing[place], {name: round(kind.called_feasible, 2) for name, kind in record.kinds.items()}, flush=True)


def _constant(record: BodyRecord) -> Callable[[], BodyRecord]:
    return lambda: record


if __name__ == "__main__":
    main()
