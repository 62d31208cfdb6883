# SPDX-License-Identifier: MIT
import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from imitable.demos.part import Part
from imitable.errors import BadPolicy, BadTrajectory, BadWeights
from imitable.types import (
    Demonstrations,
    InMemory,
    Layout,
    Policy,
    Trajectory,
    Weights,
    by_demonstrator,
    episode_of,
    frozen,
)

LAYOUT = Layout(qpos=("x", "y"), qvel=("x_velocity",), actuators=("push",), period_s=0.1)


def make_trajectory(length: int = 4, seed: int = 0, **changes: Any) -> Trajectory:
    rng = np.random.default_rng(seed)
    fields = {"states": rng.normal(size=(length + 1, 3)), "demonstrator": "cart", "actions": rng.normal(size=(length, 1))}
    return Trajectory(**{**fields, **changes})


class TestFrozen:
    def test_is_a_read_only_copy(self) -> None:
        mine = np.ones((3, 2))
        copy = frozen(mine.T)
        mine[:] = 5.0
        assert (copy == 1.0).all()
        assert copy.flags.c_contiguous
        with pytest.raises(ValueError, match="read-only"):
            copy[0, 0] = 2.0


class TestLayout:
    def test_state_is_positions_then_velocities(self) -> None:
        assert LAYOUT.state == ("x", "y", "x_velocity")
        assert LAYOUT.nq == 2


class TestTrajectory:
    def test_arrays_are_read_only_copies(self) -> None:
        states, actions = np.zeros((3, 2)), np.zeros((2, 1))
        trajectory = Trajectory(states, "cart", actions)
        states[:], actions[:] = 7.0, 7.0
        assert not trajectory.states.any()
        assert trajectory.actions is not None
        assert not trajectory.actions.any()
        for array in (trajectory.states, trajectory.actions):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1.0
        with pytest.raises(dataclasses.FrozenInstanceError):
            trajectory.demonstrator = "other"

    def test_length_counts_transitions(self) -> None:
        assert len(make_trajectory(length=6)) == 6

    def test_actions_may_be_unknown(self) -> None:
        assert make_trajectory(actions=None).actions is None

    def test_single_precision_becomes_double(self) -> None:
        assert make_trajectory(states=np.zeros((5, 3), np.float32)).states.dtype == np.float64

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"states": np.zeros(5)}, r"shape \(T \+ 1, S\)"),
            ({"states": np.zeros((1, 3)), "actions": None}, "T ≥ 1"),
            ({"states": np.zeros((5, 0))}, r"shape \(T \+ 1, S\)"),
            ({"states": np.array([[0, 0, 0], [0, np.nan, 0], [0, 0, np.inf]]), "actions": None}, "state 1 is not finite"),
            ({"actions": np.zeros((5, 1))}, r"5 states need actions of shape \(4, A\), got \(5, 1\)"),
            ({"actions": np.zeros(4)}, "need actions"),
            ({"actions": np.full((4, 1), np.nan)}, "an action is not finite"),
        ],
    )
    def test_refusals(self, changes: dict[str, Any], reason: str) -> None:
        with pytest.raises(BadTrajectory, match=reason):
            make_trajectory(**changes)

    def test_hash_depends_on_content_only(self) -> None:
        one = make_trajectory()
        relabelled = dataclasses.replace(one, demonstrator="another", terminated=True, total_return=3.0, seed=8)
        assert relabelled.hash == one.hash
        assert Trajectory(np.asfortranarray(one.states), "cart", one.actions).hash == one.hash
        assert len(one.hash) == 32

    def test_hash_sees_every_entry_shape_and_missing_actions(self) -> None:
        one = make_trajectory()
        nudged = one.states.copy()
        nudged[2, 1] = np.nextafter(nudged[2, 1], 9.0)
        trajectories = [
            one,
            dataclasses.replace(one, states=nudged),
            dataclasses.replace(one, actions=None),
            Trajectory(np.zeros((3, 4)), "cart"),
            Trajectory(np.zeros((4, 3)), "cart"),
            Trajectory(np.zeros((2, 6)), "cart"),
        ]
        assert len({trajectory.hash for trajectory in trajectories}) == len(trajectories)

    @settings(max_examples=30, deadline=None)
    @given(arrays(np.float64, st.tuples(st.integers(2, 5), st.integers(1, 4)), elements=st.floats(-1e9, 1e9)))
    def test_equal_contents_have_equal_hashes(self, states: np.ndarray) -> None:
        assert Trajectory(states, "a").hash == Trajectory(states.copy(order="F"), "b").hash


class TestInMemory:
    def test_reads_what_it_was_given(self) -> None:
        trajectories = [make_trajectory(length, seed=length) for length in (3, 5)]
        demos: Demonstrations = InMemory(LAYOUT, iter(trajectories))
        assert len(demos) == 2
        assert list(demos) == trajectories
        assert demos[1] is trajectories[1]
        assert demos.layout is LAYOUT

    def test_rows_describe_the_trajectories(self) -> None:
        trajectory = dataclasses.replace(make_trajectory(), terminated=True, total_return=2.5, seed=42)
        (row,) = InMemory(LAYOUT, [trajectory]).episodes
        assert row == episode_of(trajectory, 0)
        assert (row.index, row.source, row.length, row.seed) == (0, "", 4, 42)
        assert (row.hash, row.demonstrator, row.total_return, row.terminated) == (trajectory.hash, "cart", 2.5, True)

    def test_refuses_another_width(self) -> None:
        with pytest.raises(BadTrajectory, match="trajectory 1 has 2 state entries, the layout 3"):
            InMemory(LAYOUT, [make_trajectory(), Trajectory(np.zeros((3, 2)), "cart")])


class TestRowHash:
    def test_covers_all_that_the_content_hash_leaves_out(self) -> None:
        one = episode_of(dataclasses.replace(make_trajectory(), total_return=2.5, seed=42), 0)
        others = [
            dataclasses.replace(one, demonstrator="another"),
            dataclasses.replace(one, terminated=True),
            dataclasses.replace(one, total_return=float(np.nextafter(2.5, 3))),
            dataclasses.replace(one, total_return=float("nan")),
            dataclasses.replace(one, seed=None),
            dataclasses.replace(one, hash="0" * 32),
        ]
        assert len({episode.row_hash for episode in (one, *others)}) == 7

    def test_does_not_depend_on_where_an_episode_stands(self) -> None:
        trajectory = make_trajectory()
        assert episode_of(trajectory, 3, "folder").row_hash == episode_of(trajectory, 0).row_hash


class TestWeights:
    DEMOS = InMemory(LAYOUT, [make_trajectory(seed=seed, terminated=seed == 1) for seed in range(3)])

    def weights(self, values: list[float], *places: int) -> Weights:
        rows = [self.DEMOS.episodes[place] for place in places or range(3)]
        return Weights(tuple(r.hash for r in rows), np.array(values), terminated=tuple(r.terminated for r in rows))

    def test_of_the_set_and_of_a_part(self) -> None:
        weights = self.weights([0.5, 0.3, 0.2])
        assert weights.of(self.DEMOS) is weights.values
        np.testing.assert_allclose(weights.of(Part(self.DEMOS, [1, 2])), [0.6, 0.4])

    def test_a_stranger_is_refused(self) -> None:
        with pytest.raises(BadWeights, match="episode 2 of the set has none"):
            self.weights([0.5, 0.5], 0, 1).of(self.DEMOS)

    @pytest.mark.parametrize("changed", [0, 1])
    def test_an_end_that_changed_since_scoring_is_refused(self, changed: int) -> None:
        demos = [dataclasses.replace(one, terminated=one.terminated ^ (k == changed)) for k, one in enumerate(self.DEMOS)]
        whole, weights = InMemory(LAYOUT, demos), self.weights([0.5, 0.3, 0.2])
        assert [episode.hash for episode in whole.episodes] == list(weights.hashes)
        for some in (whole, Part(whole, [changed, 2])):
            with pytest.raises(BadWeights, match=rf"episode {changed} of the set .*end.* by itself.* otherwise"):
                weights.of(some)
        np.testing.assert_allclose(weights.of(Part(whole, {0, 1, 2} - {changed})).sum(), 1)

    def test_ends_of_other_demonstrations_are_no_ends(self) -> None:
        with pytest.raises(BadWeights, match="2 demonstrations, but the ends of 1"):
            Weights(("a", "b"), np.array([0.5, 0.5]), terminated=(True,))


def test_places_of_every_demonstrator_in_the_order_they_appear() -> None:
    names = ["b", "a", "b", "c", "a"]
    episodes = [episode_of(make_trajectory(demonstrator=name), index) for index, name in enumerate(names)]
    places = by_demonstrator(episodes)
    assert list(places.items()) == [("b", [0, 2]), ("a", [1, 4]), ("c", [3])]
    assert by_demonstrator([]) == {}


def make_policy(**changes: Any) -> Policy:
    fields = {
        "weights": (np.ones((3, 4)), np.ones((4, 2))),
        "biases": (np.zeros(4), np.zeros(2)),
        "log_std": np.zeros(2),
        "observation_mean": np.zeros(3),
        "observation_std": np.ones(3),
        "action_centre": np.zeros(2),
        "action_half_range": np.ones(2),
    }
    return Policy(**{**fields, **changes})


class TestPolicy:
    def test_knows_its_sizes_and_is_read_only(self) -> None:
        policy = make_policy()
        assert (policy.observation_size, policy.action_size) == (3, 2)
        for array in (*policy.weights, *policy.biases, policy.log_std, policy.action_centre):
            assert array.dtype == np.float32
            assert not array.flags.writeable

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"weights": (np.ones((3, 4)), np.ones((5, 2)))}, "layers do not fit"),
            ({"weights": (np.ones((4, 4)), np.ones((4, 2)))}, "layers do not fit"),
            ({"weights": (np.ones(3), np.ones((3, 2)))}, "layers do not fit"),
            ({"weights": (), "biases": ()}, "layers do not fit"),
            ({"biases": (np.zeros(4),)}, "biases"),
            ({"biases": (np.zeros(4), np.zeros(3))}, "biases"),
            ({"log_std": np.zeros(3)}, "log_std"),
            ({"log_std": np.array(0.0)}, "log_std"),
            ({"observation_std": np.ones(1)}, "observation_std"),
            ({"action_centre": np.zeros((2, 1))}, "action_centre"),
            ({"weights": (np.full((3, 4), np.nan), np.ones((4, 2)))}, "not finite"),
            ({"action_half_range": np.array([1.0, np.inf])}, "not finite"),
            ({"observation_std": np.array([1.0, 0.0, 1.0])}, "not positive"),
        ],
    )
    def test_refusals(self, changes: dict[str, Any], reason: str) -> None:
        with pytest.raises(BadPolicy, match=reason):
            make_policy(**changes)
