# SPDX-License-Identifier: MIT
"""Verdicts on a Unitree G1 with servos: OPENBLAS_NUM_THREADS=1 python -m imitable.experiments.g1 HOLOSOMA_DATA.

HOLOSOMA_DATA is the folder `holosoma/data` of the package holosoma 0.0.3, which has the robot and three clips. Asked is what
must hold: own balanced movements are feasible; the clip of the box scores better than itself at twice the speed, and than on
a G1 of 30 % strength; lifted by 0.3 m it is infeasible, because nothing supports it. The record is RESULTS/g1.json.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from imitable.demos.conversion.convert import convert
from imitable.demos.store import read
from imitable.experiments.balanced import balanced_movements, lowest_m
from imitable.experiments.records import read_if_there, write_record
from imitable.feasibility.score import score
from imitable.feasibility.scores import Scores
from imitable.feasibility.unusual import unusual
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.types import InMemory, Trajectory

PACKAGE, SCENE = "holosoma 0.0.3", "robots/g1/scenes/scene_g1_29dof_wbt_plane.xml"
CLIPS, BOX = "motions/g1_29dof/whole_body_tracking", "sub3_largebox_003_mj"
SERVOS, WEAK = Path("examples/robots/g1_servos.json"), "strength.*=0.3"
METHOD, SEED = "direct:effort=quick", 0
LIFT_M = 0.3
FAST, LIFTED = f"{BOX}, twice as fast", f"{BOX}, lifted by {LIFT_M} m"
"""What is made of the clip of the box."""


@dataclass(frozen=True)
class Judged:
    """A movement on a body."""

    movement: str
    share: float
    score: float
    verdict: str
    followed: float
    reasons: tuple[str, ...]
    """Where the states alone rule it out, the first three."""
    lowest_m: float
    """How low the root comes in it."""


@dataclass(frozen=True)
class Body:
    """One body's movements, scored in one job."""

    knobs: str
    """Besides the servos; empty: none."""
    noise: float
    """τ of its scores."""
    certificate: float
    simulator_steps: int
    job_s: float
    """Processor seconds of the job, its calibration included."""
    rows: tuple[Judged, ...]


@dataclass(frozen=True)
class G1Record:
    """Both bodies."""

    package: str
    method: str
    seed: int
    clip_s: float
    """Processor seconds of the clip of the box alone, once the body is calibrated."""
    clip_frames: int
    bodies: tuple[Body, ...]

    def row(self, movement: str, knobs: str = "") -> Judged:
        """Return what was said of a movement on a body."""
        [body] = [one for one in self.bodies if one.knobs == knobs]
        [row] = [one for one in body.rows if one.movement == movement]
        return row


def record_path(results: Path) -> Path:
    """Return where the record lies."""
    return results / "g1.json"


def read_g1(results: Path) -> G1Record | None:
    """Return the record, if it is there."""
    return read_if_there(G1Record, record_path(results))


def faster(clip: Trajectory, nq: int) -> Trajectory:
    """Return every second frame of a clip, at twice the speeds."""
    states = clip.states[::2].copy()
    states[:, nq:] *= 2
    return Trajectory(states, f"{clip.demonstrator}, twice as fast")


def lifted(clip: Trajectory) -> Trajectory:
    """Return a clip that is higher by `LIFT_M`."""
    states = clip.states.copy()
    states[:, 2] += LIFT_M
    return Trajectory(states, f"{clip.demonstrator}, lifted by {LIFT_M} m")


def g1(data: Path, servos: Path = SERVOS, knobs: str = "") -> Robot:
    """Return the robot of the package, with servos and further knobs."""
    return parse_robot(",".join(filter(None, (f"{data / SCENE}:servo={servos}", knobs))))


def clips_of(data: Path, robot: Robot) -> list[Trajectory]:
    """Return the package's clips as states of the robot."""
    with tempfile.TemporaryDirectory() as folder:
        convert(data / CLIPS, Path(folder) / "demos", robot, label="file")
        return list(read(Path(folder) / "demos"))


def measure(data: Path) -> G1Record:
    """Score everything on both bodies, and the clip of the box once more for its time."""
    strong, weak = g1(data), g1(data, knobs=WEAK)
    clips = clips_of(data, strong)
    [box] = [clip for clip in clips if clip.demonstrator == BOX]
    movements = [*balanced_movements(strong), *clips, faster(box, strong.layout.nq), lifted(box)]
    first = _body(strong, "", movements)
    began = time.process_time()
    score(InMemory(strong.layout, [box]), strong, METHOD, SEED)
    clip_s = round(time.process_time() - began, 1)
    bodies = (first, _body(weak, WEAK, [box]))
    return G1Record(PACKAGE, METHOD, SEED, clip_s, len(box.states), bodies)


def _body(robot: Robot, knobs: str, movements: Sequence[Trajectory]) -> Body:
    began = time.process_time()
    scores = score(InMemory(robot.layout, movements), robot, METHOD, SEED)
    seconds, measured = round(time.process_time() - began, 1), scores.measurement
    rows = tuple(_judged(robot, scores, place, one) for place, one in enumerate(movements))
    return Body(knobs, measured.noise, measured.certificate or float("nan"), measured.simulator_steps, seconds, rows)


def _judged(robot: Robot, scores: Scores, place: int, movement: Trajectory) -> Judged:
    spans = unusual(robot, movement.states).spans
    return Judged(
        movement=movement.demonstrator,
        share=float(scores.share[place]),
        score=float(scores.score[place]),
        verdict=scores.verdict[place],
        followed=float(scores.followed[place]),
        reasons=tuple(span.sentence for span in spans[:3]),
        lowest_m=round(lowest_m(movement), 3),
    )


def main() -> None:
    """Write the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder holosoma/data of the installed package")
    parser.add_argument("--results", type=Path, default=Path("results"))
    options = parser.parse_args()
    write_record(record_path(options.results), measure(options.data), indent=1)


if __name__ == "__main__":
    main()
