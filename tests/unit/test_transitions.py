# SPDX-License-Identifier: MIT
"""Weighted transitions, and the features of them that a discriminator sees."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from imitable.errors import BadWeights
from imitable.imitation.features import LIMIT, features
from imitable.imitation.transitions import Sampler, densities, weighted_transitions
from imitable.robots.parse import parse_robot
from imitable.sim.babble import babble
from imitable.types import InMemory, Trajectory
from tests.unit.small_imitation import CHEETAH, walks, weights_of


def test_rows_are_drawn_as_often_as_they_weigh() -> None:
    density = np.array([1.0, 0.0, 3.0, 0.5])
    rows = Sampler(density).draw(np.random.default_rng(0), (200_000,))
    fractions = np.bincount(rows, minlength=4) / len(rows)
    np.testing.assert_allclose(fractions, density / density.sum(), atol=0.005)
    assert fractions[1] == 0


def test_a_sampler_never_draws_behind_the_last_row() -> None:
    class Ones:
        def random(self, shape: tuple[int, ...]) -> np.ndarray:
            return np.full(shape, np.nextafter(1.0, 0.0))

    assert Sampler(np.full(10, 0.1)).draw(Ones(), (3,)).max() == 9  # type: ignore[arg-type]


def test_a_transition_has_its_demonstrations_mass_divided_by_its_length() -> None:
    robot = parse_robot("hopper")
    long, short = babble(robot, 1, 40, 0)[0], babble(robot, 1, 10, 1)[0]
    demos = InMemory(robot.layout, [long, short])
    np.testing.assert_allclose(densities(demos, weights_of(demos, 0.5, 0.5)), [0.25, 1.0])
    np.testing.assert_array_equal(densities(demos, None), [1.0, 1.0])
    np.testing.assert_array_equal(densities(demos, weights_of(demos, 40.0, 10.0)), [1.0, 1.0])


def test_a_fall_adds_one_absorbing_pair_and_a_weight_of_zero_takes_a_demonstration_out() -> None:
    demos = walks(3)
    fallen = InMemory(demos.layout, [dataclasses.replace(one, terminated=i == 0) for i, one in enumerate(demos)])
    transitions = weighted_transitions(fallen, weights_of(fallen, 1.0, 1.0, 0.0), 0)
    assert len(transitions) == 30 + 1 + 30
    np.testing.assert_array_equal(np.flatnonzero(transitions.absorbing), [30])
    np.testing.assert_array_equal(transitions.begins, np.delete(transitions.before, 30, axis=0))  # nobody begins fallen
    np.testing.assert_array_equal(transitions.after[:30], demos[0].states[1:])
    np.testing.assert_array_equal(transitions.starts, [demos[0].states[0], demos[1].states[0]])


def test_a_large_set_is_drawn_beforehand_by_the_same_weights() -> None:
    demos = walks(2, length=200)
    transitions = weighted_transitions(demos, weights_of(demos, 1.0, 3.0), 0, most=300)
    assert len(transitions) == 300
    assert (transitions.density == 1).all()
    first = (transitions.before[:, None] == demos[0].states[:-1]).all(axis=2).any(axis=1)
    assert 0.15 < first.mean() < 0.35


def test_segments_of_a_demonstration_weigh_what_they_say() -> None:
    demos = walks(2)
    weights = dataclasses.replace(weights_of(demos, 1.0, 3.0), segments=(((0, 0.5), (15, 1.5)), ((0, 1.0),)))
    density = weighted_transitions(demos, weights, 0).density
    np.testing.assert_allclose(density, np.repeat([0.5 / 3, 1.5 / 3, 1.0], [15, 15, 30]))
    drawn = weighted_transitions(demos, weights, 0, most=40)
    assert len(drawn) == 40
    assert set(drawn.density.tolist()) <= {0.5, 1.0, 1.5}
    with pytest.raises(BadWeights, match="segments of 1"):
        dataclasses.replace(weights, segments=weights.segments[:1])


def test_moments_are_those_of_the_weighted_transitions() -> None:
    demos = walks(2)
    transitions = weighted_transitions(demos, weights_of(demos, 1.0, 3.0), 0)
    mean, std = transitions.moments(transitions.before)
    rows = np.concatenate([demos[0].states[:-1], *[demos[1].states[:-1]] * 3])
    np.testing.assert_allclose(mean, rows.mean(axis=0))
    np.testing.assert_allclose(std, rows.std(axis=0))


@pytest.mark.parametrize("form", ["delta", "pair"])
def test_features_do_not_say_where_in_the_world_the_body_is(form: str) -> None:
    transitions = weighted_transitions(walks(), None, 0)
    seen = features(transitions, CHEETAH, form, normalised=True, root=False)
    moved = np.zeros(18)
    moved[0] = 123.0
    np.testing.assert_allclose(
        seen(transitions.before, transitions.after),
        seen(transitions.before + moved, transitions.after + moved),
        rtol=1e-4,
        atol=1e-4,
    )
    assert seen.of(transitions).shape == (len(transitions), seen.size)
    assert abs(float(seen.of(transitions)[:, : 18 - 1].mean())) < 1e-3


def test_the_absorbing_pair_is_unlike_any_transition() -> None:
    transitions = weighted_transitions(walks(), None, 0)
    seen = features(transitions, CHEETAH, "delta", normalised=True, root=False)
    assert (seen.of(transitions)[:, -1] == 0).all()
    assert seen.absorbing[-1] == LIMIT
    assert (seen.absorbing[:-1] == 0).all()


def test_features_do_not_depend_on_the_sign_of_a_quaternion(tmp_path: Path) -> None:
    (tmp_path / "free.xml").write_text(
        '<mujoco><worldbody><body><freejoint name="f"/><geom type="sphere" size="0.1" mass="1"/></body>'
        '<body><joint name="j"/><geom type="sphere" size="0.1" pos="1 0 0" mass="1"/></body></worldbody>'
        '<actuator><motor name="m" joint="j" ctrllimited="true" ctrlrange="-1 1"/></actuator></mujoco>'
    )
    body = parse_robot(str(tmp_path / "free.xml"))
    rng = np.random.default_rng(0)
    states = rng.normal(size=(50, len(body.start)))
    flipped = states * np.where(rng.random((50, 1)) < 0.5, 1.0, np.r_[1, 1, 1, -1, -1, -1, -1, np.ones(states.shape[1] - 7)])
    seen = []
    for one in (states, flipped):
        transitions = weighted_transitions(InMemory(body.layout, [Trajectory(one, "x")]), None, 0)
        seen.append(features(transitions, body, "delta", normalised=True, root=False).of(transitions))
    np.testing.assert_allclose(*seen, atol=1e-5)
