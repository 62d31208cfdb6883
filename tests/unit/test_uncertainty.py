# SPDX-License-Identifier: MIT
"""Demonstrations on plausible bodies."""

import json
from pathlib import Path

import numpy as np
import pytest

import imitable as im
from imitable.errors import BadOption, BadSpec, UnknownKnob
from imitable.feasibility.score import score
from imitable.feasibility.sealed import read_sealed
from imitable.feasibility.uncertainty import drawn_factors, parse_doubts, plausible_body, uncertain
from imitable.feasibility.uncertainty_file import COLUMNS, uncertain_path
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.types import InMemory
from tests.unit.pushed_slider import FORCE, pushed
from tests.unit.test_cli import imitable, refused

QUICK = "direct:effort=quick,window_s=0.4,restart_budget=50"


def test_factors_cover_their_range_evenly(slider: Robot) -> None:
    doubts = parse_doubts(slider, "mass.*=10%,strength.push=50%")
    factors = drawn_factors(doubts, 16, 0)
    for column, part in zip(factors.T, (0.1, 0.5), strict=True):
        strata = np.floor(16 * ((column - 1) / part + 1) / 2).astype(int)
        assert sorted(strata.tolist()) == list(range(16))
    np.testing.assert_array_equal(factors, drawn_factors(doubts, 16, 0))
    assert (factors != drawn_factors(doubts, 16, 1)).any()


def test_bodies_differ_from_the_imitator_itself(slider: Robot, slider_path: Path) -> None:
    weak = parse_robot(f"{slider_path}:strength.push=0.5")
    body = plausible_body(weak, parse_doubts(weak, "strength.*=20%"), np.array([1.2]))
    assert body.value("strength.push") == pytest.approx(0.6)


def test_what_needs_all_the_strength_is_feasible_on_half_of_the_bodies(slider: Robot) -> None:
    """The slider's motor gives `FORCE` newtons at most: a movement that needs them all fails on every weaker body."""
    strongest = float(slider.model.actuator_gear[0, 0])
    demos = InMemory(slider.layout, [pushed(0.3 * strongest, 30), pushed(strongest, 30), pushed(3 * FORCE * strongest, 30)])
    scores = score(demos, slider, QUICK)
    found = uncertain(scores, demos, "strength.*=80%,friction.*=50%", bodies=8)
    easy, edge, beyond = found.feasible.tolist()
    assert easy > edge > beyond == 0
    assert found.worst_knob[1] == "strength.* lower"
    assert found.sentence(1) == f"feasible on {edge} of 8; worst: strength.* lower"
    weakest = int(found.factors[:, 0].argmin())
    assert found.shares[1].argmax() == weakest
    again = uncertain(scores, demos, "strength.*=80%,friction.*=50%", bodies=8)
    np.testing.assert_array_equal(again.shares, found.shares)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("strength.*=0.2", BadOption),
        ("strength.*=150%", BadOption),
        ("strength.*=x%", BadOption),
        ("range.slide=10%", BadOption),
        ("power.*=10%", UnknownKnob),
        ("strength.*", BadSpec),
        ("", BadOption),
    ],
)
def test_doubts_that_are_none(slider: Robot, text: str, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        parse_doubts(slider, text)


def test_scores_of_other_demonstrations_are_refused(slider: Robot) -> None:
    scores = score(InMemory(slider.layout, [pushed(0.5, 20)]), slider, QUICK)
    with pytest.raises(BadOption, match="not those of the scores"):
        uncertain(scores, InMemory(slider.layout, [pushed(0.6, 20)]), "strength.*=10%")


def test_score_says_on_how_many_bodies(slider_path: Path, slider: Robot, tmp_path: Path) -> None:
    im.write(tmp_path / "demos", slider.layout, [pushed(0.3 * FORCE, 30)])
    out = tmp_path / "s.parquet"
    options = (tmp_path / "demos", "--imitator", slider_path, "--method", QUICK, "--out", out)
    done = imitable("score", *options, "--uncertain", "strength.*=10%", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)["uncertain"]
    assert said["bodies"] == 16
    assert said["episodes"][0]["feasible_on"] == "16 of 16"
    rows, metadata = read_sealed(uncertain_path(out), COLUMNS)
    assert rows["feasible_bodies"] == [16]
    assert metadata["doubts"] == {"strength.*": 0.1}
    assert "in percent" in refused("score", *options, "--uncertain", "strength.*=2", "--overwrite")
    assert "leave out --shard" in refused("score", *options, "--uncertain", "strength.*=2%", "--shard", "1/1", "--overwrite")
