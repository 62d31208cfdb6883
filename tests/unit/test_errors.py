# SPDX-License-Identifier: MIT
import inspect
import pickle
from collections.abc import Iterable
from typing import Any, get_type_hints

import pytest

from imitable import errors
from imitable.errors import ImitableError, one_of

CLASSES = [
    value
    for value in vars(errors).values()
    if isinstance(value, type) and issubclass(value, ImitableError) and value is not ImitableError
]
NEXT_STEPS = ("choose", "give", "write", "use", "train", "did you mean")


def arguments(kind: type[ImitableError]) -> dict[str, Any]:
    """Return one value for each argument, as hostile as a user's input may be."""
    hints = get_type_hints(kind.__init__)
    names = [name for name in inspect.signature(kind.__init__).parameters if name != "self"]
    samples = {str: "wrong\nvery\twrong", bool: True, object: 3, Iterable[str]: ("beta", "alpha"), int: 3}
    return {name: samples[hints[name]] for name in names}


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_a_message_is_one_line_that_repeats_what_was_given(kind: type[ImitableError]) -> None:
    given = arguments(kind)
    message = str(kind(**given))
    assert message
    assert "\n" not in message
    assert "\t" not in message
    if any(value == "wrong\nvery\twrong" for value in given.values()):
        assert "wrong very wrong" in message or r"wrong\nvery\twrong" in message


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_an_error_crosses_processes_whole(kind: type[ImitableError]) -> None:
    error = kind(**arguments(kind))
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error)


@pytest.mark.parametrize("kind", [kind for kind in CLASSES if "choices" in arguments(kind)], ids=lambda kind: kind.__name__)
def test_choices_are_listed_in_order(kind: type[ImitableError]) -> None:
    assert "alpha, beta" in str(kind(**arguments(kind)))


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_a_message_names_the_next_step_or_the_reason(kind: type[ImitableError]) -> None:
    given, message = arguments(kind), str(kind(**arguments(kind))).lower()
    assert {"reason", "expected"} & given.keys() or any(step in message for step in NEXT_STEPS)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_error_can_be_caught_as_ours(kind: type[ImitableError]) -> None:
    assert inspect.getdoc(kind)
    with pytest.raises(ImitableError):
        raise kind(**arguments(kind))


def test_one_of_guesses_what_was_meant() -> None:
    assert one_of("hoper", ["swimmer", "hopper"]) == "did you mean 'hopper'? Choose from: hopper, swimmer"
    assert one_of("zebra", ["swimmer", "hopper"]) == "Choose from: hopper, swimmer"
    assert one_of("zebra", []) == "Choose from: (none)"


def test_output_exists_offers_resuming_only_where_it_is_possible() -> None:
    assert "--resume" in str(errors.OutputExists("runs/a", resume=True))
    assert "--resume" not in str(errors.OutputExists("runs/a", resume=False))
