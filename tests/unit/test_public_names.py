# SPDX-License-Identifier: MIT
"""What `import imitable` gives: names that load, few parameters, values of Python as well as of the command line."""

import inspect
import pickle
import shlex
from pathlib import Path

import pytest

import imitable as im
from imitable.cli.main import parse
from imitable.cli.verbs import Train
from imitable.errors import BadOption
from imitable.imitation.methods.gaifo import Gaifo
from imitable.policies.shipped import SETS, cards
from imitable.rl.settings import method

MOST_PARAMETERS = 8


@pytest.mark.parametrize("name", im.__all__)
def test_every_name_loads_and_says_what_it_is(name: str) -> None:
    assert inspect.getdoc(getattr(im, name))


@pytest.mark.parametrize("name", [name for name in im.__all__ if inspect.isfunction(getattr(im, name))])
def test_no_public_function_takes_more_than_eight_parameters(name: str) -> None:
    assert len(inspect.signature(getattr(im, name)).parameters) <= MOST_PARAMETERS


def test_the_names_are_sorted_and_nothing_else_is_promised() -> None:
    assert im.__all__ == sorted(im.__all__)
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = im.nothing_of_the_kind


def test_an_expert_is_trained_by_text_or_by_settings() -> None:
    task, text = im.Locomotion(im.robot("hopper")), "ppo:environments=8,length=16,minibatch=64,hidden=8x8"
    alike = [im.train(task, kind, 256, stopping=im.Stopping(episodes=1)).policy.hash for kind in (text, method(text))]
    assert alike[0] == alike[1]


def test_settings_say_what_they_want_instead_of_a_list() -> None:
    with pytest.raises(BadOption, match="give a tuple"):
        Gaifo(hidden=[64, 64])  # pyright: ignore[reportArgumentType]


def test_a_set_goes_to_other_processes_whatever_was_read_of_it(tmp_path: Path) -> None:
    body = im.robot("swimmer")
    im.write(tmp_path / "demos", body.layout, im.babble(body, 3, 20, 0))
    demos = im.read(tmp_path / "demos")
    first = demos[0]
    sent: im.Demonstrations = pickle.loads(pickle.dumps(demos))
    assert sent[0].hash == first.hash
    assert [one.hash for one in sent] == [one.hash for one in demos]


@pytest.mark.parametrize("chain", [said["command"] for set_name in SETS for said in cards(set_name)])
def test_the_command_on_every_card_can_be_typed(chain: str) -> None:
    for command in chain.split(" && "):
        verb = parse(shlex.split(command)[1:])
        assert isinstance(verb, Train)
        method(verb.method)
