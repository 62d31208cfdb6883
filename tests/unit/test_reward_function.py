# SPDX-License-Identifier: MIT
from pathlib import Path

import numpy as np
import pytest

from imitable.errors import BadOption, BadTrajectory
from imitable.evaluation.reward_function import RewardFunction, import_reward, with_returns
from imitable.types import Trajectory
from imitable.user_code import allow

RNG = np.random.default_rng(0)
ROLLOUTS = [Trajectory(RNG.normal(size=(t + 1, 3)), "any", RNG.normal(size=(t, 2))) for t in (1, 4)]

MODULE = """
import numpy as np

def forward(states, actions, next_states):
    return (next_states - states)[:, 0] - (actions**2).sum(axis=1)

def whole(states, actions, next_states):
    return [1] * len(states)

def scalar(states, actions, next_states):
    return 1.0

def column(states, actions, next_states):
    return states[:, :1]

def infinite(states, actions, next_states):
    return np.where(np.arange(len(states)) == 2, np.inf, 0.0)

def words(states, actions, next_states):
    return ["much"] * len(states)

def narrow(states):
    return states[:, 0]

def writing(states, actions, next_states):
    states[:] = 0
    return states[:, 0]

NUMBER = 3
"""


def typed_reward(name: str) -> RewardFunction:
    allow(name)
    return import_reward(name)


@pytest.fixture(autouse=True)
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a user's modules where Python finds them."""
    (tmp_path / "my_lab_rewards.py").write_text(MODULE)
    (tmp_path / "my_broken_rewards.py").write_text("def forward(:\n")
    monkeypatch.syspath_prepend(tmp_path)


def test_returns_are_sums_of_what_the_function_pays() -> None:
    rewarded = with_returns(typed_reward("my_lab_rewards.forward"), ROLLOUTS)
    for before, after in zip(ROLLOUTS, rewarded, strict=True):
        assert before.actions is not None
        expected = before.states[-1, 0] - before.states[0, 0] - np.square(before.actions).sum()
        np.testing.assert_allclose(after.total_return, expected)
        assert after.hash == before.hash
        assert (after.demonstrator, after.seed, after.terminated) == (before.demonstrator, before.seed, before.terminated)


def test_a_list_of_whole_numbers_will_do() -> None:
    assert [t.total_return for t in with_returns(typed_reward("my_lab_rewards.whole"), ROLLOUTS)] == [1.0, 4.0]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("forward", "dotted name of a function, such as"),
        ("", "dotted name of a function"),
        (".forward", "dotted name of a function"),
        ("my lab.forward", "dotted name of a function"),
        ("my_lab_rewards.backward", "no attribute 'backward'"),
        ("no_such_lab.forward", "No module named 'no_such_lab'"),
        ("my_broken_rewards.forward", "SyntaxError"),
        ("my_lab_rewards.NUMBER", "it is of type int, not a function"),
    ],
)
def test_a_name_that_is_no_function_is_refused(name: str, words: str) -> None:
    with pytest.raises(BadOption, match=r"^reward=") as caught:
        typed_reward(name)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("scalar", "it paid () for 4 transitions"),
        ("column", "it paid (4, 1) for 4 transitions"),
        ("infinite", "it paid inf for transition 2"),
        ("words", "it failed on a rollout (ValueError"),
        ("narrow", "it failed on a rollout (TypeError"),
        ("writing", "read-only"),
    ],
)
def test_a_function_that_pays_something_else_is_refused(name: str, words: str) -> None:
    with pytest.raises(BadOption, match=r"^reward=my_lab_rewards") as caught:
        typed_reward(f"my_lab_rewards.{name}").of(ROLLOUTS[1])
    assert words in str(caught.value)
    assert "give" in str(caught.value)


def test_states_alone_earn_nothing() -> None:
    with pytest.raises(BadTrajectory, match="no actions"):
        RewardFunction("any", lambda states, actions, after: states[:, 0]).of(Trajectory(np.zeros((3, 2)), "any"))
