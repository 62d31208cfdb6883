# SPDX-License-Identifier: MIT
"""Methods as text: read, write, and say what would be right."""

import dataclasses
import math
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imitable.errors import BadOption, BadSpec
from imitable.feasibility.methods import METHODS as SCORERS
from imitable.feasibility.methods import parse_scorer
from imitable.imitation.methods import METHODS as LEARNERS
from imitable.imitation.methods import parse_learner
from imitable.rl.settings import METHODS, Ppo, Trpo, method, same_settings
from imitable.spec_text import Key, OneOf, Range, bound, check_fields, keys_of, method_text, parse_method, settings_hash, split


@dataclasses.dataclass(frozen=True)
class Mine:
    """A user's method with a field of every type that can be read from text, and one that cannot."""

    flag: bool = True
    count: Annotated[int, Range(1, 100)] = 3
    rate: Annotated[float, Range(0, 1)] = 0.5
    widths: Annotated[tuple[int, ...], Range(1, 512)] = (8, 8)
    form: Annotated[str, OneOf("restart", "rollout")] = "restart"
    anything: int = 0
    table: list[int] = dataclasses.field(default_factory=list[int])

    def __post_init__(self) -> None:
        check_fields(self)


def mine(text: str) -> Mine:
    return parse_method(text, {"m": Mine})


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


@dataclasses.dataclass(frozen=True)
class Outer:
    """A method that has another one in it."""

    rounds: int = 3
    inner: Mine = Mine(count=7)
    """Not as it is by default."""


def outer(text: str) -> Outer:
    return parse_method(text, {"o": Outer})


class TestMethodsInMethods:
    def test_inner_settings_are_named_by_both(self) -> None:
        assert outer("o:inner.rate=0.25,rounds=2,inner.flag=0") == Outer(2, Mine(count=7, rate=0.25, flag=False))
        assert outer("o") == Outer()

    @pytest.mark.parametrize("method", [Outer(), Outer(1), Outer(inner=Mine()), Outer(9, Mine(count=8, widths=(1, 2)))])
    def test_text_reads_back(self, method: Outer) -> None:
        assert outer(method_text("o", method)) == method
        assert method_text("o", Outer(inner=Mine(count=7, rate=0.25))) == "o:inner.rate=0.25"
        assert method_text("o", Outer()) == "o"

    def test_keys_have_the_defaults_of_the_outer_method(self) -> None:
        keys = keys_of(Outer)
        assert list(keys) == ["rounds", *(f"inner.{field.name}" for field in dataclasses.fields(Mine))]
        assert keys["inner.count"] == Key(Mine, "count", 7)

    @pytest.mark.parametrize("text", ["inner=3", "inner.rounds=3", "inner.inner.count=3", "rate=0.25", "outer.rate=1"])
    def test_other_keys_are_refused(self, text: str) -> None:
        with pytest.raises(BadOption, match=r"Choose from: .*inner\.rate.*rounds"):
            outer(f"o:{text}")


def test_a_path_is_split_after_its_suffix() -> None:
    assert split("models/a:b,c.xml:gravity=3") == ("models/a:b,c.xml", {"gravity": "3"})


class TestBool:
    @pytest.mark.parametrize(
        ("text", "flag"),
        [
            ("0", False),
            ("1", True),
            ("false", False),
            ("True", True),
            ("no", False),
            ("yes", True),
            ("OFF", False),
            ("on", True),
        ],
    )
    def test_is_read_as_what_it_says(self, text: str, flag: bool) -> None:
        assert mine(f"m:flag={text}").flag is flag

    @pytest.mark.parametrize("text", ["2", "0x1", "-1", "maybe", "0.0"])
    def test_anything_else_is_refused(self, text: str) -> None:
        with pytest.raises(BadOption, match=r"m:flag=.* is not allowed: give 1 or 0"):
            mine(f"m:flag={text}")

    @pytest.mark.parametrize("flag", [True, False])
    def test_reads_back(self, flag: bool) -> None:
        assert mine(method_text("m", Mine(flag=flag))) == Mine(flag=flag)
        assert method_text("m", Mine(flag=False)) == "m:flag=0"


def test_a_type_that_no_text_can_give_is_refused_and_says_which_can() -> None:
    with pytest.raises(BadOption, match=r"type list\[int\] cannot be read.*bool, int, float, str, tuple\[int, \.\.\.\]"):
        mine("m:table=3x4")


@given(st.integers())
def test_whole_numbers_of_any_size_read_back(number: int) -> None:
    assert mine(method_text("m", Mine(anything=number))).anything == number


class TestFields:
    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("count", 0),
            ("count", 101),
            ("rate", math.nan),
            ("rate", -1e-9),
            ("rate", math.inf),
            ("rate", "0.5"),
            ("widths", ()),
            ("widths", (8, 0)),
            ("widths", (513, 8)),
        ],
    )
    def test_a_number_outside_its_range_is_refused(self, field: str, value: Any) -> None:
        with pytest.raises(BadOption, match=rf"{field}=.*give a number from"):
            Mine(**{field: value})

    @pytest.mark.parametrize("changes", [{"count": 1}, {"count": 100}, {"rate": 0}, {"rate": 1.0}, {"widths": (1, 512)}])
    def test_both_ends_are_inside(self, changes: dict[str, Any]) -> None:
        Mine(**changes)

    def test_a_word_that_is_no_choice_is_refused(self) -> None:
        with pytest.raises(
            BadOption, match=r"form=restrat is not allowed: did you mean 'restart'\? Choose from: restart, rollout"
        ):
            mine("m:form=restrat")
        assert mine("m:form=rollout").form == "rollout"

    def test_what_stands_at_a_field_can_be_shown(self) -> None:
        assert bound(Mine, "count", Range) == Range(1, 100)
        assert bound(Mine, "form", OneOf) == OneOf("restart", "rollout")
        assert bound(Mine, "count", OneOf) is None
        assert bound(Mine, "flag", Range) is None


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


@pytest.mark.parametrize("name", [*LEARNERS, *SCORERS])
def test_the_hash_of_settings_is_another_if_any_of_them_is(name: str) -> None:
    """Nested ones, too: what a learner uses inside decides what it learns."""
    method: Any = parse_learner(name) if name in LEARNERS else parse_scorer(name)
    hashes = {settings_hash(method)}
    for key, known in keys_of(type(method)).items():
        table, _, field = key.rpartition(".")
        changed = dataclasses.replace(getattr(method, table) if table else method, **{field: other(known)})
        hashes.add(settings_hash(dataclasses.replace(method, **{table: changed}) if table else changed))
    assert len(hashes) == 1 + len(keys_of(type(method)))


def other(known: Key) -> object:
    """Return another value of a field."""
    value: Any = known.default
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        choices = bound(known.owner, known.field, OneOf)
        assert choices is not None
        return next(one for one in choices.choices if one != value)
    if isinstance(value, tuple):
        return (*value, 8)
    if isinstance(value, int):
        return value + 1
    limits = bound(known.owner, known.field, Range)
    assert limits is not None
    return (value + (limits.high if value < limits.high else limits.low)) / 2


def test_settings_that_cannot_be_written_down_are_refused() -> None:
    @dataclasses.dataclass(frozen=True)
    class Odd:
        table: object = None

    with pytest.raises(BadOption, match="numbers, words or tuples"):
        settings_hash(Odd(object()))
    assert settings_hash(Odd()) == settings_hash(Odd())
