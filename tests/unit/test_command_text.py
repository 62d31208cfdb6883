# SPDX-License-Identifier: MIT
"""Commands as text: whole, quoted, short."""

import shlex
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from imitable.cli.main import parse
from imitable.cli.verbs import Score
from imitable.command_text import command


def test_positionals_then_options_in_their_order() -> None:
    text = command("score", [Path("a"), "b"], {"imitator": "hopper:gravity=15", "discount": 0.9, "seed": 3})
    assert text == "imitable score a b --imitator hopper:gravity=15 --discount 0.9 --seed 3"


def test_several_values_follow_their_option() -> None:
    assert (
        command("v", ["a"], {"methods": ("x", "y z"), "learners": (), "out": "o"}) == "imitable v a --methods x 'y z' --out o"
    )


def test_what_is_default_empty_or_off_is_left_out() -> None:
    options = {"leave_out": "", "scores": None, "resume": False, "overwrite": True, "seed": 0, "steps": 7}
    assert command("imitate", ["d"], options, {"seed": 0, "steps": 8}) == "imitable imitate d --overwrite --steps 7"
    assert command("score", ["d"], {"seed": 0}) == "imitable score d --seed 0", "zero is a value unless it is the default"


@given(
    st.lists(st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1)), st.text(min_size=1).filter(str.isprintable)
)
def test_a_shell_reads_the_same_words(positionals: list[str], value: str) -> None:
    assert shlex.split(command("verb", positionals, {"key": value})) == ["imitable", "verb", *positionals, "--key", value]


def test_the_command_line_reads_it_back() -> None:
    verb = Score((Path("my demos"),), "swimmer:back=10", leave_out="3,5-7", method="trajectory")
    options = {name: getattr(verb, name) for name in ("imitator", "method", "leave_out", "rollouts")}
    text = command("score", verb.demos, options, vars(Score(verb.demos, verb.imitator)) | {"imitator": None})
    assert "--rollouts" not in text
    assert parse(shlex.split(text)[1:]) == verb
