# SPDX-License-Identifier: MIT
"""A policy's states against the demonstrations', by closed forms."""

import math
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest
from scipy.special import gamma
from scipy.stats import norm, wasserstein_distance

from imitable.errors import BadOption, BadTrajectory, BadWeights
from imitable.evaluation import occupancy
from imitable.evaluation.occupancy import Cloud, Occupancy, compare_occupancy, directions, sliced_distance
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.babble import babble, scales
from imitable.sim.kinematics import beyond_limits, one_sign, penetrating, quaternions
from imitable.sim.rollout import episodes
from imitable.sim.task import Free
from imitable.types import Floats, Ints, Policy, Trajectory
from tests.conftest import SLIDER

QUANTILES = norm.ppf((np.arange(20000) + 0.5) / 20000)
"""Points that stand for a standard normal."""


def even(states: Floats) -> Cloud:
    return Cloud(states, np.full(len(states), 1 / len(states)))


def rollout(states: Floats) -> Trajectory:
    """Return a rollout that visits just these states: of the last one, no transition starts."""
    return Trajectory(np.concatenate([states, states[-1:]]), "any")


def compared(robot: Robot, visited: Floats, demonstrated: Floats, density: Floats | None = None) -> Occupancy:
    return compare_occupancy(
        robot, [rollout(visited)], demonstrated, np.ones(len(demonstrated)) if density is None else density
    )


@pytest.fixture
def slider(slider_path: Path) -> Robot:
    return parse_robot(str(slider_path))


class TestSlicedDistance:
    @pytest.mark.parametrize("shift", [0.0, 0.3, -5.0])
    def test_normals_that_are_shifted(self, shift: float) -> None:
        assert sliced_distance(even(QUANTILES[:, None]), even(QUANTILES[:, None] + shift)) == pytest.approx(abs(shift))

    def test_normals_of_other_widths(self) -> None:
        expected = abs(3 - 1) * math.sqrt(2 / math.pi)
        assert sliced_distance(even(QUANTILES[:, None]), even(3 * QUANTILES[:, None])) == pytest.approx(expected, rel=1e-3)

    @pytest.mark.parametrize("entries", [1, 2, 11])
    def test_a_shifted_cloud(self, entries: int) -> None:
        rng = np.random.default_rng(entries)
        cloud, shift = rng.normal(size=(500, entries)), rng.normal(size=entries)
        exact = np.abs(directions(entries) @ shift).mean()
        assert sliced_distance(even(cloud), even(cloud + shift)) == pytest.approx(exact)
        # E |θ_1| on the sphere, by 64 directions of relative deviation below 0.76 / √64
        sphere = np.linalg.norm(shift) * gamma(entries / 2) / (math.sqrt(math.pi) * gamma((entries + 1) / 2))
        assert exact == pytest.approx(sphere, rel=0.25)

    def test_equals_scipy_on_weighted_points_with_ties(self) -> None:
        rng = np.random.default_rng(0)
        x, y = rng.integers(0, 5, (40, 3)).astype(float), rng.integers(0, 5, (30, 3)).astype(float)
        p, q = rng.dirichlet(np.ones(40)), rng.dirichlet(np.ones(30))
        expected = np.mean([wasserstein_distance(x @ axis, y @ axis, p, q) for axis in directions(3)])
        assert sliced_distance(Cloud(x, p), Cloud(y, q)) == pytest.approx(expected)

    def test_is_a_distance(self) -> None:
        rng = np.random.default_rng(0)
        one, two, three = (even(rng.normal(size=(n, 4)) * n) for n in (5, 6, 7))
        assert sliced_distance(one, two) == pytest.approx(sliced_distance(two, one))
        assert sliced_distance(one, one) == pytest.approx(0, abs=1e-12)
        assert sliced_distance(one, three) <= sliced_distance(one, two) + sliced_distance(two, three)

    def test_directions_are_unit_vectors_and_always_the_same(self) -> None:
        np.testing.assert_allclose(np.linalg.norm(directions(5), axis=1), 1)
        np.testing.assert_array_equal(directions(5), directions(5))


class TestOccupancy:
    def test_of_itself_is_zero(self, slider: Robot) -> None:
        states = np.random.default_rng(0).normal(size=(300, 2))
        assert compared(slider, states, states).distance == pytest.approx(0, abs=1e-12)

    def test_is_in_the_scales_of_the_body(self, slider: Robot) -> None:
        states, shift = np.random.default_rng(0).normal(size=(300, 2)), scales(slider).state * [2.0, 0.0]
        exact = 2 * np.abs(directions(2)[:, 0]).mean()
        assert compared(slider, states + shift, states).distance == pytest.approx(exact)

    def test_weight_zero_is_absence(self, slider: Robot) -> None:
        rng = np.random.default_rng(0)
        visited, states, density = rng.normal(size=(50, 2)), rng.normal(size=(80, 2)) * 9, rng.uniform(0.1, 1, 80)
        density[::3] = 0
        likely = density > 0
        owners = np.repeat(np.arange(8), 10)
        with_them = compare_occupancy(slider, [rollout(visited)], states, density, owners)
        assert with_them == compare_occupancy(slider, [rollout(visited)], states[likely], density[likely], owners[likely])

    def test_a_double_weight_is_a_second_copy(self, slider: Robot) -> None:
        rng = np.random.default_rng(0)
        visited, states = rng.normal(size=(50, 2)), rng.normal(size=(20, 2))
        doubled = compared(slider, visited, states, np.where(np.arange(20) < 5, 2.0, 1.0))
        copied = compared(slider, visited, np.concatenate([states[:5], states]))
        assert doubled.distance == pytest.approx(copied.distance)

    def test_where_in_the_world_a_body_is_does_not_count(self) -> None:
        hopper = parse_robot("hopper")
        states = np.concatenate([trajectory.states for trajectory in babble(hopper, 4, 30, 1)])
        moved, lifted = states.copy(), states.copy()
        moved[:, 0] += 100
        lifted[:, 1] += 100
        assert compared(hopper, moved, states).distance == pytest.approx(0, abs=1e-12)
        assert compared(hopper, lifted, states).distance > 1

    def test_the_floor_is_the_distance_between_every_other_demonstration_and_the_rest(self, slider: Robot) -> None:
        rng = np.random.default_rng(0)
        states, owners = rng.normal(size=(120, 2)), np.repeat([2, 3, 5, 9], 30)
        density = np.repeat([1.0, 2.0, 3.0, 0.0], 30)
        found = compare_occupancy(slider, [rollout(states)], states, density, owners)
        first, second = (owners == 2) | (owners == 5), owners == 3
        split = compare_occupancy(slider, [rollout(states[second])], states[first], density[first])
        assert found.floor == pytest.approx(split.distance)
        order = rng.permutation(120)
        shuffled = compare_occupancy(slider, [rollout(states)], states[order], density[order], owners[order])
        assert shuffled.floor == pytest.approx(found.floor)

    def test_a_policy_like_its_demonstrators_comes_near_the_floor(self) -> None:
        hopper = parse_robot("hopper")
        ours, theirs, others = (babble(hopper, 8, 100, seed) for seed in (1, 2, 3))
        owners, density = np.repeat(np.arange(16), 100), np.ones(1600)
        found = compare_occupancy(hopper, ours, np.concatenate([t.states[:-1] for t in theirs + others]), density, owners)
        assert found.floor / 2 < found.distance < 2 * found.floor

    @pytest.mark.parametrize("owners", [None, np.zeros(3, np.int64)])
    def test_without_two_demonstrations_there_is_no_floor(self, slider: Robot, owners: Ints | None) -> None:
        assert math.isnan(compare_occupancy(slider, [rollout(np.zeros((3, 2)))], np.zeros((3, 2)), np.ones(3), owners).floor)

    def test_a_part_of_many_states_says_the_same(self, slider: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
        rng = np.random.default_rng(0)
        visited, states = rng.normal(size=(4000, 2)), np.sort(rng.normal(size=(6000, 2)) * scales(slider).state * 3, axis=0)
        density, owners = rng.uniform(0, 1, 6000) * np.linspace(0, 1, 6000), np.repeat(np.arange(4), 1500)
        whole = compare_occupancy(slider, [rollout(visited)], states, density, owners)
        monkeypatch.setattr(occupancy, "MOST_STATES", 2000)
        part, again = (compare_occupancy(slider, [rollout(visited)], states, density, owners) for _ in range(2))
        assert part == again
        assert part.distance == pytest.approx(whole.distance, rel=0.03)
        assert part.floor == pytest.approx(whole.floor, rel=0.03)
        assert compared(slider, states, states).distance == pytest.approx(0, abs=1e-12)

    def test_lengths_are_averaged(self, slider: Robot) -> None:
        rollouts = [rollout(np.zeros((length, 2))) for length in (1, 2, 6)]
        assert compare_occupancy(slider, rollouts, np.zeros((2, 2)), np.ones(2)).length == 3


class TestLimits:
    def test_one_per_cent_of_the_span_is_allowed(self, slider: Robot) -> None:
        states = np.array([[0.0, 0], [1.0, 9], [1.019, 0], [1.021, 0], [-1.019, 0], [-1.021, 0]])
        assert beyond_limits(slider, states).tolist() == [False, False, False, True, False, True]
        found = compared(slider, states[:4], states, np.array([1.0, 0, 0, 3, 0, 4]))
        assert found.limit_violations == pytest.approx(1 / 4)
        assert found.demonstrated_limit_violations == pytest.approx(7 / 8)

    def test_a_cart_that_is_driven_out_of_its_rail(self, tmp_path: Path) -> None:
        path = tmp_path / "soft.xml"
        path.write_text(SLIDER.replace('range="-1 1" damping', 'range="-1 1" solreflimit="0.5 1" damping'))
        cart = parse_robot(str(path))
        one, zero = np.ones(1), np.zeros(1)
        push = Policy((np.zeros((2, 1)),), (one,), zero, np.zeros(2), np.ones(2), zero, one)
        played = [trajectory for trajectory, _ in episodes(Free(cart, 150), push, [0])]
        found = compare_occupancy(cart, played, np.zeros((2, 2)), np.ones(2))
        beyond = played[0].states[:-1, 0] > 1.02
        assert 0.1 < found.limit_violations < 0.9
        assert found.limit_violations == pytest.approx(beyond.mean())
        assert found.demonstrated_limit_violations == 0
        assert found.length == 150

    def test_a_joint_without_limits_has_none(self, tmp_path: Path) -> None:
        path = tmp_path / "free.xml"
        path.write_text(SLIDER.replace('range="-1 1" ', ""))
        assert not beyond_limits(parse_robot(str(path)), np.array([[1e6, 0.0]])).any()


BALL = """
<mujoco model="ball">
  <option timestep="0.01"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1"/>
    <body name="ball" pos="0 0 0">
      <freejoint name="root"/>
      <geom name="sphere" type="sphere" size="0.1" mass="1"/>
      <body name="head" pos="0 0 0.5">
        <joint name="neck" type="ball" range="0 60"/>
        <geom name="skull" type="sphere" size="0.05" mass="0.1"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="nod" joint="neck" gear="1 0 0" ctrllimited="true" ctrlrange="-0.01 0.01"/>
  </actuator>
</mujoco>
"""
"""A ball of 10 cm on a floor, with a head on a ball joint."""


class TestBall:
    @pytest.fixture
    def ball(self, tmp_path: Path) -> Robot:
        path = tmp_path / "ball.xml"
        path.write_text(BALL)
        return parse_robot(str(path))

    def states(self, ball: Robot, heights: list[float], nods: list[float]) -> Floats:
        states = np.tile(ball.start, (len(heights), 1))
        states[:, 2] = heights
        half = np.radians(nods) / 2
        states[:, 7], states[:, 9] = np.cos(half), np.sin(half)
        return states

    def test_five_millimetres_in_the_floor_are_allowed(self, ball: Robot) -> None:
        states = self.states(ball, [1.0, 0.1, 0.096, 0.094, 0.0], [0.0] * 5)
        assert penetrating(ball, states).tolist() == [False, False, False, True, True]
        found = compared(ball, states, states, np.array([1.0, 0, 0, 3, 0]))
        assert found.contact_violations == pytest.approx(2 / 5)
        assert found.demonstrated_contact_violations == pytest.approx(3 / 4)
        assert found.limit_violations == found.demonstrated_limit_violations == 0

    def test_of_many_states_a_part_is_looked_at(self, ball: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
        states = self.states(ball, [1.0, 0.0, 1.0, 1.0] * 250, [0.0] * 1000)
        monkeypatch.setattr(occupancy, "MOST_POSTURES", 250)
        # one of each stratum of four states, of which one sinks: binomial, deviation √(0.25 · 0.75 / 250) = 0.027
        assert compared(ball, states, states).contact_violations == pytest.approx(1 / 4, abs=0.11)

    def test_a_ball_joint_limits_the_angle(self, ball: Robot) -> None:
        states = self.states(ball, [1.0] * 4, [0.0, 60.0, 60.5, 61.0])
        assert beyond_limits(ball, states).tolist() == [False, False, False, True]
        flipped = states.copy()
        flipped[:, 7:11] *= -1
        assert beyond_limits(ball, flipped).tolist() == [False, False, False, True]

    def test_both_quaternions_of_a_rotation_are_the_same_posture(self, ball: Robot) -> None:
        states = np.concatenate([trajectory.states for trajectory in babble(ball, 4, 30, 1)])
        flipped = states.copy()
        flipped[::2, 3:7] *= -1
        flipped[1::3, 7:11] *= -1
        np.testing.assert_array_equal(one_sign(quaternions(ball), flipped), one_sign(quaternions(ball), states))
        assert compared(ball, flipped, states).distance == pytest.approx(0, abs=1e-12)


class TestRefusals:
    def test_no_rollout(self, slider: Robot) -> None:
        with pytest.raises(BadOption, match="at least 1"):
            compare_occupancy(slider, [], np.zeros((2, 2)), np.ones(2))

    def test_states_of_another_body(self, slider: Robot) -> None:
        with pytest.raises(BadTrajectory, match=r"\(M, 2\)"):
            compared(slider, np.zeros((2, 2)), np.zeros((2, 3)))
        with pytest.raises(BadTrajectory, match=r"\(M, 2\)"):
            compared(slider, np.zeros((2, 3)), np.zeros((2, 2)))

    def test_a_state_that_is_not_finite(self, slider: Robot) -> None:
        with pytest.raises(BadTrajectory, match="not finite"):
            compared(slider, np.zeros((2, 2)), np.full((2, 2), np.nan))

    @pytest.mark.parametrize("density", [[1.0], [1.0, -1.0], [0.0, 0.0], [1.0, math.nan], [1.0, math.inf]])
    def test_densities_that_are_none(self, slider: Robot, density: list[float]) -> None:
        with pytest.raises(BadWeights):
            compared(slider, np.zeros((2, 2)), np.zeros((2, 2)), np.array(density))

    def test_owners_of_other_states(self, slider: Robot) -> None:
        with pytest.raises(BadWeights, match="owners"):
            compare_occupancy(slider, [rollout(np.zeros((2, 2)))], np.zeros((2, 2)), np.ones(2), np.zeros(3, np.int64))


def test_the_same_twice(slider: Robot) -> None:
    rng = np.random.default_rng(0)
    visited, states, owners = rng.normal(size=(500, 2)), rng.normal(size=(400, 2)), np.repeat(np.arange(4), 100)
    first, second = (compare_occupancy(slider, [rollout(visited)], states, np.ones(400), owners) for _ in range(2))
    assert astuple(first) == astuple(second)
