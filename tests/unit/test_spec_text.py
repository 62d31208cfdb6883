# SPDX-License-Identifier: MIT
"""Methods as text: read, write, and say what would be right."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imitable.errors import BadOption, BadSpec
from imitable.rl.settings import METHODS, Ppo, Trpo, method, same_settings
from imitable.spec_text import Range, bound, method_text, parse_method, split


def test_settings_are_read_by_type() -> None:
    assert method("ppo:epochs=5,discount=0.9,hidden=32x16") == Ppo(epochs=5, discount=0.9, hidden=(32, 16))
    assert method("trpo") == Trpo()
    assert method("trpo:environments=1e2") == Trpo(environments=100)


@pytest.mark.parametrize("name", METHODS)
@given(epochs=st.integers(1, 99), rate=st.floats(1e-6, 1.0), width=st.lists(st.integers(1, 512), min_size=1, max_size=3))
def test_text_of_a_method_reads_back_to_it(name: str, epochs: int, rate: float, width: list[int]) -> None:
    made = METHODS[name](environments=epochs + 8, learning_rate=rate, hidden=tuple(width))
    assert parse_method(method_text(name, made), METHODS) == made


def test_only_what_differs_is_written() -> None:
    assert method_text("ppo", Ppo()) == "ppo"
    assert method_text("ppo", dataclasses.replace(Ppo(), epochs=3)) == "ppo:epochs=3"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("pro", "did you mean 'ppo'"),
        ("ppo:epoch=3", "did you mean 'epochs'"),
        ("ppo:epochs=x", "whole number"),
        ("ppo:epochs=2.5", "whole number"),
        ("ppo:discount=high", "a number"),
        ("ppo:hidden=64,64", "not KEY=VALUE"),
        ("ppo:hidden=64xx", "such as 64x64"),
        ("ppo:discount=2", "from 0 to 1"),
        ("ppo:minibatch=99999999", "at most"),
        ("ppo:learning_rate=-1", "from 1e-12 to 1"),
        ("ppo:epochs=1,epochs=2", "twice"),
        ("ppo:epochs", "not KEY=VALUE"),
    ],
)
def test_a_wrong_text_says_what_would_be_right(text: str, part: str) -> None:
    with pytest.raises((BadOption, BadSpec), match=part) as caught:
        method(text)
    assert "\n" not in str(caught.value)


def test_a_path_is_split_after_its_suffix() -> None:
    assert split("models/a:b,c.xml:gravity=3") == ("models/a:b,c.xml", {"gravity": "3"})


@pytest.mark.parametrize("kind", METHODS.values())
def test_every_number_of_a_method_has_a_range(kind: type[Ppo]) -> None:
    assert all(bound(kind, field.name, Range) is not None for field in dataclasses.fields(kind))


def test_an_algorithm_takes_the_settings_that_a_learner_has_under_the_same_names() -> None:
    @dataclasses.dataclass(frozen=True)
    class Learner:
        length: int = 32
        epochs: int = 3
        max_kl: float = 0.5
        features: str = "pair"

    assert same_settings(Ppo, Learner()) == Ppo(length=32, epochs=3)
    assert same_settings(Trpo, Learner()) == Trpo(length=32, epochs=3, max_kl=0.5)
