# SPDX-License-Identifier: MIT
"""How far apart gaits are: closed forms, laws, and what a person is told."""

from pathlib import Path

import numpy as np
import pytest

import imitable as im
from imitable.evaluation.occupancy import Cloud, mean_distance
from imitable.files import Output
from imitable.imitation.gaits import ANOTHER_GAIT, GaitDistance, gait_distances, gait_remark
from imitable.imitation.imitate import imitate
from imitable.imitation.run import Run
from imitable.robots.robot import Robot
from imitable.sim.babble import babble, scales
from imitable.types import Floats, InMemory, Trajectory, Weights
from tests.unit.pushed_slider import Heard
from tests.unit.small_imitation import SMALL, weights_of
from tests.unit.test_cli import imitable


def shown(body: Robot, *movements: tuple[str, Floats]) -> InMemory:
    return InMemory(body.layout, [Trajectory(states, name) for name, states in movements])


def speeds(mean: float, deviation: float, body: Robot, count: int = 4000, seed: int = 0) -> Floats:
    """Return states of a slider whose positions do not matter and whose speeds are normal."""
    rng, own = np.random.default_rng(seed), scales(body).coordinates
    return np.stack([np.zeros(count), own[1] * rng.normal(mean, deviation, count)], axis=1)


def test_the_mean_distance_of_two_points_of_a_cloud() -> None:
    rng = np.random.default_rng(0)
    points, mass = rng.normal(size=(300, 3)), rng.dirichlet(np.ones(300))
    axes = np.random.default_rng(1).normal(size=(1000, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    along = points @ axes.T
    pairs = np.abs(along[:, None] - along[None]).mean(axis=2)
    assert mean_distance(Cloud(points, mass)) == pytest.approx(mass @ pairs @ mass, rel=0.1)


@pytest.mark.parametrize("shift", [0.0, 0.5, 3.0])
def test_of_two_shifted_normal_gaits_the_distance_is_known(shift: float, slider: Robot) -> None:
    # the root of a slider is no root: both entries count, and only one of them moves, so directions cancel
    demos = shown(slider, ("one", speeds(0, 1, slider)), ("other", speeds(shift, 1, slider, seed=1)))
    [pair] = gait_distances(demos, slider)
    # W = shift, V = 2 σ / √π
    assert pair.distance == pytest.approx(shift * np.sqrt(np.pi) / 2, abs=0.05)
    assert pair.masses == pytest.approx((0.5, 0.5))


def test_the_order_of_demonstrations_is_nothing(slider: Robot) -> None:
    made = [speeds(mean, 1, slider, 500, seed) for seed, mean in enumerate((0, 1, 0))]
    movements = list(zip(("one", "other", "one"), made, strict=True))
    [pair], [again] = (gait_distances(shown(slider, *rows), slider) for rows in (movements, movements[::-1]))
    assert again.distance == pytest.approx(pair.distance)
    assert pair.demonstrators == again.demonstrators == ("one", "other")


def test_only_demonstrators_that_carry_weight_count(slider: Robot) -> None:
    movements = [("a", speeds(0, 1, slider)), ("b", speeds(2, 1, slider, seed=1)), ("c", speeds(9, 1, slider, seed=2))]
    demos = shown(slider, *movements)
    names = {name for pair in gait_distances(demos, slider, weights_of(demos, 0.6, 0.31, 0.09)) for name in pair.demonstrators}
    assert names == {"a", "b"}
    assert gait_distances(demos, slider, weights_of(demos, 1, 0, 0)) == []
    distances = gait_distances(demos, slider)
    assert [set(pair.demonstrators) for pair in distances] == [{"a", "c"}, {"b", "c"}, {"a", "b"}]


def test_weights_within_a_demonstrator_decide_what_its_gait_is(slider: Robot) -> None:
    movements = [("a", speeds(0, 1, slider)), ("b", speeds(0, 1, slider, seed=1)), ("b", speeds(5, 1, slider, seed=2))]
    demos = shown(slider, *movements)
    [alike] = gait_distances(demos, slider, weights_of(demos, 1, 1, 0))
    [apart] = gait_distances(demos, slider, weights_of(demos, 1, 0, 1))
    assert alike.distance < 0.1 < 2 < apart.distance


def test_one_policy_in_two_halves_is_one_gait_and_another_policy_is_not() -> None:
    body = im.robot("half_cheetah:back=0.05")
    played = {
        name: [*im.collect(im.Locomotion(im.robot(name)), im.policy_for(im.robot(name)), episodes=2, seed=0)]
        for name in ("half_cheetah:back=0.05", "half_cheetah:front=0.5")
    }
    mine, other = played.values()
    halves = shown(body, ("half", mine[0].states), ("other half", mine[1].states))
    assert gait_distances(halves, body)[0].distance < ANOTHER_GAIT
    both = InMemory(body.layout, [*mine, *other])
    assert gait_distances(both, body)[0].distance > ANOTHER_GAIT


def test_resting_demonstrators_are_compared_too(slider: Robot) -> None:
    still, elsewhere = np.zeros((30, 2)), np.tile([0.5, 0.0], (30, 1))
    assert gait_distances(shown(slider, ("a", still), ("b", still.copy())), slider)[0].distance == 0
    assert gait_distances(shown(slider, ("a", still), ("b", elsewhere)), slider)[0].distance > ANOTHER_GAIT


def test_a_remark_names_the_remedy() -> None:
    pair = GaitDistance(("walker2d", "my robot"), (0.6, 0.4), 0.5)
    assert gait_remark([]) == gait_remark([GaitDistance(pair.demonstrators, pair.masses, ANOTHER_GAIT)]) == ""
    remark = gait_remark([pair, GaitDistance(("my robot", "third"), (0.4, 0.1), 0.3)])
    assert "walker2d (60% of the weight) and my robot (40% of the weight)" in remark
    assert "; score them, then imitable weigh scores.parquet --keep walker2d keeps one" in remark
    weights = Weights(("x",), np.ones(1), source="my scores.parquet")
    assert "; imitable weigh 'my scores.parquet' --keep walker2d keeps one" in gait_remark([pair], weights)
    assert "\n" not in remark


def test_imitate_warns_and_weigh_keeps_one(slider: Robot, tmp_path: Path) -> None:
    own = babble(slider, 2, 60, 0)
    faster = np.array([0.0, 3 * scales(slider).state[1]])
    apart = [Trajectory(one.states + faster, "another robot") for one in own]
    demos = InMemory(slider.layout, [*(Trajectory(one.states, "one") for one in own), *apart])
    heard = Heard()
    imitate(demos, slider, SMALL, run=Run(steps=128, episodes=1), out=Output(tmp_path / "run", observer=heard))
    assert heard.lines[0].startswith("! the gaits of")
    im.write(tmp_path / "demos", slider.layout, demos)
    im.score(im.read(tmp_path / "demos"), slider, "neighbours:horizon=20", out=tmp_path / "scores.parquet")
    kept = tmp_path / "kept.parquet"
    done = imitable("weigh", tmp_path / "scores.parquet", "--keep", "another robot", "--out", kept)
    assert done.returncode == 0, done.stderr
    scores = im.read_scores(kept)
    assert {scores.episodes[int(row)].demonstrator for row in np.flatnonzero(scores.weight)} == {"another robot"}
    again = Heard()
    out = Output(tmp_path / "again", observer=again)
    imitate(im.read(tmp_path / "demos"), slider, SMALL, scores.weights, run=Run(steps=128, episodes=1), out=out)
    assert again.lines == []
