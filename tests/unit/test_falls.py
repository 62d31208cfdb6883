# SPDX-License-Identifier: MIT
"""Who lies where the demonstration stands is not borderline."""

import math
from pathlib import Path

import numpy as np
import pytest

from imitable.feasibility import score_files, weighting
from imitable.feasibility.body_errors import body_errors
from imitable.feasibility.episode_score import COLUMNS
from imitable.feasibility.lost import lost, lost_thresholds
from imitable.feasibility.score import score, weigh
from imitable.feasibility.scorer import Measured
from imitable.feasibility.sealed import read_sealed, write_sealed
from imitable.feasibility.tracking_summary import summarise_tracking
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.babble import babble
from imitable.tracking.attempts import Trace
from imitable.types import Floats, InMemory, Trajectory, episode_of
from tests.unit.test_health import LANDER

STEPS = 20
TILT = math.radians(70)


@pytest.fixture
def lander(tmp_path: Path) -> Robot:
    path = tmp_path / "lander.xml"
    path.write_text(LANDER)
    return parse_robot(str(path))


def followed(robot: Robot, rows: slice, tilt: float, lower: float) -> Floats:
    """(1, STEPS, S) the start, but tilted and lowered in some rows."""
    states = np.tile(robot.start, (1, STEPS, 1))
    states[0, rows, 3:7] = math.cos(tilt / 2), math.sin(tilt / 2), 0, 0
    states[0, rows, 2] -= lower
    return states


@pytest.mark.parametrize(
    ("rows", "tilt", "lower", "fell"),
    [
        (slice(15, None), TILT, 0.37, True),
        (slice(15, None), TILT, 0.0, True),
        (slice(19, None), 0.0, 0.37, True),
        (slice(5, 15), TILT, 0.37, False),
        (slice(0, None), 0.3, 0.05, False),
    ],
)
def test_a_fall_is_where_it_ends(lander: Robot, rows: slice, tilt: float, lower: float, *, fell: bool) -> None:
    demonstrated, attempted = np.tile(lander.start, (1, STEPS, 1)), followed(lander, rows, tilt, lower)
    gone = lost(lander, body_errors(lander, attempted, demonstrated), attempted, demonstrated)
    assert gone.fell.tolist() == [fell]
    assert gone.tilts_rad.max() == pytest.approx(tilt)
    assert gone.heights_m.max() == pytest.approx(lower)
    assert lost_thresholds(lander).height_m == pytest.approx(0.15 * 0.8, rel=0.05), "a part of its size"


def test_a_record_names_what_was_worst(lander: Robot) -> None:
    attempted = followed(lander, slice(10, None), TILT, 0.37)[0]
    attempted[:, 7] = 0.2
    trace = Trace(np.arange(1, STEPS + 1), np.zeros(STEPS, np.int64), np.zeros(STEPS), attempted, np.zeros((STEPS, 1)))
    demonstration = Trajectory(np.tile(lander.start, (STEPS + 1, 1)), "x")
    said = summarise_tracking(Measured(0.1, 0.1, trace), demonstration, episode_of(demonstration, 0), lander, 1.0)
    assert said.fell
    assert said.height_error_m == pytest.approx(0.37)
    assert said.tilt_error_rad == pytest.approx(TILT)
    assert (said.worst_joint, said.worst_body) == ("root", "mast")
    assert said.joint_error_rad == pytest.approx(TILT)


def test_who_falls_is_not_borderline() -> None:
    feasible, borderline = weighting.thresholds(0.1)
    between = (feasible + borderline) / 2
    assert weighting.verdict_of_share(between, feasible, borderline) == "borderline"
    assert weighting.verdict_of_share(between, feasible, borderline, fell=True) == "infeasible"
    assert weighting.verdict_of_share(0.0, feasible, borderline, fell=True) == "feasible"


def test_files_of_schema_2_are_read(slider: Robot, tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    scores = score(InMemory(slider.layout, babble(slider, 2, 40, 1)), slider, "direct:effort=quick", out=path)
    assert score_files.read_scores(path).worst_body == scores.worst_body
    kinds = {name: kind for name, kind in score_files.TYPES.items() if not COLUMNS[name].about.newer}
    assert not {"fell", "worst_body"} & kinds.keys()
    rows, metadata = read_sealed(path, score_files.TYPES)
    write_sealed(path, rows, kinds, metadata | {"schema": 2, "keep": "all"})
    old = score_files.read_scores(path)
    assert old.fell == (None, None)
    assert np.isnan(old.height_error_m).all()
    assert weigh(old).verdict == scores.verdict
