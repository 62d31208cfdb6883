# SPDX-License-Identifier: MIT
from pathlib import Path

import numpy as np
import pytest

from imitable.errors import BadModel, BadOption
from imitable.robots.parse import parse_robot
from imitable.sim.task import Free, Locomotion, Moment, gymnasium
from imitable.types import Floats

NAMES = ("swimmer", "walker2d", "half_cheetah", "hopper")


def moment(states: Floats) -> Moment:
    n = len(states)
    return Moment(states, np.zeros(n, np.int64), np.zeros((n, 0), np.int64))


def standing(name: str, n: int = 1) -> Floats:
    return np.tile(parse_robot(name).start, (n, 1))


class TestStart:
    @pytest.mark.parametrize("name", NAMES)
    def test_noise_stays_within_its_bounds(self, name: str) -> None:
        task = Locomotion(parse_robot(name))
        start = task.start(np.random.default_rng(0), 500)
        offset, nq = start.states - task.robot.start, task.robot.layout.nq
        noise = task.rules.start_noise
        assert np.abs(offset[:, :nq]).max() <= noise
        assert np.abs(offset[:, :nq]).max() > 0.9 * noise
        if task.rules.normal_velocity:
            assert np.abs(offset[:, nq:]).max() > 2 * noise
            assert offset[:, nq:].std() == pytest.approx(noise, rel=0.1)
        else:
            assert np.abs(offset[:, nq:]).max() <= noise
        assert not start.steps.any()
        assert start.context.shape == (500, 0)

    def test_the_same_generator_state_gives_the_same_start(self) -> None:
        task = Locomotion(parse_robot("hopper"))
        draws = [task.start(np.random.default_rng(5), 3).states for _ in range(2)]
        np.testing.assert_array_equal(*draws)


class TestReward:
    @pytest.mark.parametrize("name", NAMES)
    def test_speed_bonus_and_cost(self, name: str) -> None:
        """r = Δx / period + alive bonus − control cost · Σ a²."""
        task = Locomotion(parse_robot(name))
        before, after = standing(name), standing(name)
        after[0, 0] += 0.02
        action = np.full((1, task.robot.control_range.shape[1]), 0.5)
        expected = 0.02 / task.robot.layout.period_s + task.rules.alive_bonus - task.rules.control_cost * 0.25 * action.size
        assert task.reward(moment(before), action, moment(after))[0] == pytest.approx(expected, rel=1e-9)

    def test_the_cost_is_of_the_clipped_action_unless_told(self) -> None:
        states = moment(standing("hopper"))
        action = np.array([[2.0, -3.0, 0.5]])
        clipped = Locomotion(parse_robot("hopper")).reward(states, action, states)[0]
        raw = Locomotion(parse_robot("hopper"), clipped_cost=False).reward(states, action, states)[0]
        assert clipped == pytest.approx(1 - 1e-3 * 2.25)
        assert raw == pytest.approx(1 - 1e-3 * 13.25)

    def test_the_bonus_is_paid_on_a_fall_unless_told(self) -> None:
        before, after, action = moment(standing("hopper")), standing("hopper"), np.zeros((1, 3))
        after[0, 1] = 0.5
        assert Locomotion(parse_robot("hopper")).reward(before, action, moment(after))[0] == 1.0
        assert Locomotion(parse_robot("hopper"), bonus_on_fall=False).reward(before, action, moment(after))[0] == 0.0
        assert gymnasium(parse_robot("hopper")).reward(before, action, before)[0] == 1.0

    def test_gymnasium_turns_every_rule(self) -> None:
        task = gymnasium(parse_robot("hopper:gravity=15"))
        assert (task.clipped_cost, task.bonus_on_fall, task.observe_root) == (False, False, False)
        assert task.robot == parse_robot("hopper:gravity=15")


class TestObservation:
    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("root", [False, True])
    def test_hides_the_root_position_and_clips_velocities(self, name: str, root: bool) -> None:
        task = Locomotion(parse_robot(name), observe_root=root)
        states = np.linspace(-30, 30, 4 * len(task.robot.start)).reshape(4, -1)
        observed, kept = task.observe(moment(states)), states.copy()
        hidden = 0 if root else task.rules.root_entries
        assert observed.shape == (4, task.observation_size) == (4, states.shape[1] - hidden)
        nq, limit = task.robot.layout.nq, task.rules.velocity_limit or np.inf
        np.testing.assert_array_equal(observed[:, : nq - hidden], states[:, hidden:nq])
        np.testing.assert_array_equal(observed[:, nq - hidden :], np.clip(states[:, nq:], -limit, limit))
        np.testing.assert_array_equal(states, kept, err_msg="the state itself is never clipped")

    def test_swimmer_hides_both_root_coordinates(self) -> None:
        assert Locomotion(parse_robot("swimmer")).observation_size == 8


class TestEnd:
    @pytest.mark.parametrize(
        ("name", "entry", "value", "fallen"),
        [
            ("hopper", 1, 0.7, True),
            ("hopper", 1, 0.71, False),
            ("hopper", 1, 50.0, False),
            ("hopper", 2, 0.2, True),
            ("hopper", 2, -0.19, False),
            ("hopper", 5, 100.0, True),
            ("hopper", 11, -99.0, False),
            ("hopper", 0, 1e6, False),
            ("walker2d", 1, 0.8, True),
            ("walker2d", 1, 2.0, True),
            ("walker2d", 1, 1.99, False),
            ("walker2d", 2, -1.0, True),
            ("walker2d", 8, 1e6, False),
            ("swimmer", 2, 1e6, False),
            ("half_cheetah", 1, -1e6, False),
        ],
    )
    def test_falls(self, name: str, entry: int, value: float, fallen: bool) -> None:
        states = standing(name, 2)
        states[1, entry] = value
        end = Locomotion(parse_robot(name)).end(moment(states))
        assert end.terminated.tolist() == [False, fallen]
        assert end.absorbing.tolist() == [False, fallen]

    def test_a_state_that_is_no_number_is_a_fall(self) -> None:
        states = standing("hopper")
        states[0, 1] = np.nan
        assert Locomotion(parse_robot("hopper")).end(moment(states)).terminated[0]

    def test_the_clock_is_none_of_its_business(self) -> None:
        late = Moment(standing("hopper"), np.array([5000]), np.zeros((1, 0), np.int64))
        assert not Locomotion(parse_robot("hopper")).end(late).terminated[0]

    @pytest.mark.parametrize("name", NAMES)
    def test_only_walkers_can_fall(self, name: str) -> None:
        task = Locomotion(parse_robot(name))
        assert task.rules.can_fall == (name in ("walker2d", "hopper"))
        assert task.horizon == 1000


def test_a_file_has_no_task(slider_path: Path) -> None:
    with pytest.raises(BadModel, match="only built-in robots"):
        Locomotion(parse_robot(str(slider_path)))


def test_practice_from_other_headings_turns_the_swimmer_and_nothing_else() -> None:
    straight, turned = Locomotion(parse_robot("swimmer")), Locomotion(parse_robot("swimmer"), headings=(-180, 180))
    rng = lambda: np.random.default_rng(0)  # noqa: E731
    plain, any_way = straight.start(rng(), 500).states, turned.start(rng(), 500).states
    others = [column for column in range(10) if column != 2]
    np.testing.assert_array_equal(plain[:, others], any_way[:, others])
    assert np.ptp(any_way[:, 2]) > 6
    assert np.abs(plain[:, 2]).max() <= 0.1
    with pytest.raises(BadOption, match="cannot turn"):
        Locomotion(parse_robot("hopper"), headings=(-180, 180))


def test_a_free_body_is_paid_nothing_and_never_ends(slider_path: Path) -> None:
    task = Free(parse_robot(str(slider_path)), horizon=7)
    moment = task.start(np.random.default_rng(0), 3)
    assert np.isnan(task.reward(moment, np.zeros((3, 1)), moment)).all()
    assert not task.end(moment).terminated.any()
    np.testing.assert_array_equal(task.observe(moment), moment.states)


def test_a_pace_pays_a_speed_as_it_is_up_to_it_and_takes_off_what_is_faster() -> None:
    plain, paced = Locomotion(parse_robot("walker2d")), Locomotion(parse_robot("walker2d"), pace=2.0)
    speeds = np.array([-1.0, 0.5, 2.0, 2.5, 6.0])
    before, after = (np.tile(plain.robot.start, (5, 1)) for _ in range(2))
    after[:, 0] += speeds * plain.robot.layout.period_s
    steps, none, still = np.zeros(5, np.int64), np.zeros((5, 0), np.int64), np.zeros((5, 6))
    moments = Moment(before, steps, none), still, Moment(after, steps, none)
    np.testing.assert_allclose(paced.reward(*moments) - plain.reward(*moments), [0, 0, 0, -1, -8], atol=1e-9)


def test_effort_charges_squared_actions_beside_the_control_cost() -> None:
    plain, spared = Locomotion(parse_robot("walker2d")), Locomotion(parse_robot("walker2d"), effort=0.5)
    moment = plain.start(np.random.default_rng(0), 2)
    actions = np.array([[0.0] * 6, [1.0, -0.5, 0.0, 0.0, 0.0, 2.0]])  # the last is clipped to the control range
    difference = spared.reward(moment, actions, moment) - plain.reward(moment, actions, moment)
    np.testing.assert_allclose(difference, [0, -0.5 * 2.25], atol=1e-12)


def test_practice_episodes_may_be_shorter() -> None:
    task = Locomotion(parse_robot("walker2d"), length=300)
    assert task.horizon == 300
    assert task.settings != Locomotion(parse_robot("walker2d")).settings
    for wrong in ({"length": 0}, {"pace": 0.0}, {"effort": -1.0}, {"effort": np.inf}):
        with pytest.raises(BadOption):
            Locomotion(parse_robot("walker2d"), **wrong)
