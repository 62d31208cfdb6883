# SPDX-License-Identifier: MIT
"""Whom to ask for further demonstrations."""

import pytest

from imitable.acquisition import acquire, wilson
from imitable.errors import ImitableError
from imitable.feasibility.score import score
from imitable.robots.robot import Robot
from imitable.types import InMemory, Trajectory
from tests.unit.pushed_slider import FORCE, own, pushed


def test_whom_to_ask(slider: Robot) -> None:
    easy = [Trajectory(t.states, "able") for t in own(slider, 6)]
    hard = [Trajectory(pushed((8 + k) * FORCE, 40).states, "unable") for k in range(4)]
    scores = score(InMemory(slider.layout, [*easy, *hard]), slider)
    advice = acquire(scores, 10)
    assert [source.name for source in advice.sources] == ["able", "unable"]
    able, unable = advice.sources
    assert (able.feasible, unable.feasible) == (1.0, 0.0)
    assert able.probability + unable.probability == pytest.approx(1)
    assert able.queries + unable.queries == 10
    means = [scores.score[:6].mean(), scores.score[6:].mean()]
    assert able.probability == pytest.approx(means[0] / sum(means))
    assert "ask able for 10" in advice.sentence
    assert acquire(scores, 10, costs={"able": 4.0}).sources[0].feasible_per_cost == pytest.approx(0.25)
    assert {source.name for source in acquire(scores, 3, by="length").sources} == {"40"}
    for wrong in ({"costs": {"nobody": 1.0}}, {"by": "colour"}):
        with pytest.raises(ImitableError):
            acquire(scores, 3, **wrong)  # pyright: ignore[reportArgumentType]


def test_nobody_feasible_is_said(slider: Robot) -> None:
    hard = [Trajectory(pushed((8 + k) * FORCE, 40).states, "unable") for k in range(4)]
    scores = score(InMemory(slider.layout, hard), slider)
    assert "no demonstration is feasible" in scores.weighing.remarks[0]
    assert "no demonstrator has given a feasible" in acquire(scores, 5).sentence


def test_wilson_by_hand() -> None:
    low, high = wilson(5, 10)
    assert (low, high) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson(0, 10)[0] == pytest.approx(0, abs=1e-12)
