# SPDX-License-Identifier: MIT
"""Whom to ask for further demonstrations."""

import pytest

from imitable.acquisition import acquire, wilson
from imitable.errors import ImitableError
from imitable.feasibility.score import score
from imitable.feasibility.scores import Scores
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


def test_the_best_source_is_never_stopped(slider: Robot) -> None:
    """Who fails least is the best there is, even if nothing of it is feasible; and who succeeds most, whatever comes next."""
    hard = [Trajectory(pushed(force * FORCE, 40).states, name) for name, force in (("near", 1.6), ("near", 1.7), ("far", 12))]
    sentence = acquire(score(InMemory(slider.layout, hard), slider), 5).sentence
    assert "ask near for 5; those of near fail least, so go on asking it even if none is feasible" in sentence
    assert "stop" not in sentence
    easy = [Trajectory(t.states, "able") for t in own(slider, 6)]
    mixed = score(InMemory(slider.layout, [*easy, *hard]), slider)
    assert "score again and go on" in acquire(mixed, 5).sentence
    assert "stop" not in acquire(mixed, 5).sentence


def test_a_cheaper_source_may_be_stopped(slider: Robot) -> None:
    """Half of it is feasible at a quarter of the price: it is asked first, but it is not the best of all."""
    easy = own(slider, 6)
    able, cheap = ([Trajectory(t.states, name) for t in part] for name, part in (("able", easy[:4]), ("cheap", easy[4:])))
    hard = [Trajectory(pushed((8 + k) * FORCE, 40).states, "cheap") for k in range(2)]
    scores = score(InMemory(slider.layout, [*able, *cheap, *hard]), slider)
    sentence = acquire(scores, 10, costs={"able": 4.0}).sentence
    assert "cheap gives most for its cost" in sentence
    assert sentence.endswith("of its demonstrations in a row are not feasible, stop asking it")


def test_wilson_by_hand() -> None:
    low, high = wilson(5, 10)
    assert (low, high) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson(0, 10)[0] == pytest.approx(0, abs=1e-12)


def test_queries_may_be_drawn_one_by_one(slider: Robot) -> None:
    """As in Eqn. 4: independent draws by p, the first of many are those of few, and the order of the set is nothing."""
    easy = [Trajectory(t.states, "able") for t in own(slider, 3)]
    hard = [Trajectory(pushed(force * FORCE, 40).states, "near") for force in (1.5, 1.6)]
    scores, backwards = (
        score(InMemory(slider.layout, rows), slider, temperature="share:1") for rows in ([*easy, *hard], [*hard, *easy])
    )

    def drawn(budget: int, seed: int, scored: Scores = scores) -> dict[str, int]:
        return {source.name: source.queries for source in acquire(scored, budget, draw=seed).sources}

    assert drawn(7, 3) == drawn(7, 3, backwards)
    assert all(drawn(budget + 1, 3)[name] >= drawn(budget, 3)[name] for budget in range(1, 20) for name in ("able", "near"))
    p = {source.name: source.probability for source in acquire(scores, 1).sources}
    assert 0.1 < p["near"] < 0.9
    means = sum(drawn(10, seed)["able"] for seed in range(400)) / 4000
    assert means == pytest.approx(p["able"], abs=5 * (p["able"] * p["near"] / 4000) ** 0.5)
    assert len({drawn(10, seed)["able"] for seed in range(20)}) > 1
