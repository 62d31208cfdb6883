# SPDX-License-Identifier: MIT
"""Wildcards in knobs: one setting for many, and one text for one body."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imitable.errors import BadKnobValue, BadSpec, UnknownKnob
from imitable.robots.knob_text import read_settings, settings_text
from imitable.robots.mjcf import load
from imitable.robots.parse import parse_robot, with_knobs

ROOT = Path(__file__).parents[2]
FLOATING = str(ROOT / "examples/robots/floating.xml")
SERVOS = str(ROOT / "examples/robots/servo_arm.xml")
NUMBERS = st.sampled_from([0.25, 0.3, 1.0, 2.0, 1 / 3])


def test_a_wildcard_means_all_that_fit() -> None:
    named = parse_robot(f"{FLOATING}:strength.roll=0.3,strength.flap=0.3,strength.bend=0.3")
    assert parse_robot(f"{FLOATING}:strength.*=0.3") == named
    assert parse_robot(f"{FLOATING}:strength.*l*=0.3") == parse_robot(f"{FLOATING}:strength.roll=0.3,strength.flap=0.3")


def test_texts_of_one_body_become_one_text_and_one_hash() -> None:
    texts = (
        "strength.roll=0.3,strength.flap=0.3,strength.bend=2",
        "strength.*=0.3,strength.bend=2",
        "strength.*=30%,strength.b*=2",
    )
    bodies = [parse_robot(f"{FLOATING}:{text}") for text in texts]
    assert {str(body) for body in bodies} == {f"{FLOATING}:strength.*=0.3,strength.bend=2"}
    assert len({body.hash for body in bodies}) == 1


def test_what_follows_wins_over_a_wildcard() -> None:
    assert parse_robot(f"{FLOATING}:strength.*=0.3,strength.bend=1") == parse_robot(
        f"{FLOATING}:strength.roll=0.3,strength.flap=0.3"
    )


def test_a_part_of_the_default() -> None:
    base, light = parse_robot(SERVOS), parse_robot(f"{SERVOS}:mass.*=90%")
    np.testing.assert_allclose(light.model.body_mass, 0.9 * base.model.body_mass, rtol=1e-12)
    assert str(light) == f"{SERVOS}:mass.*=90%"
    assert str(parse_robot(f"{SERVOS}:mass.base=50%")) == f"{SERVOS}:mass.base=0.06"


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_every_text_reads_back(data: st.DataObject) -> None:
    family = load(SERVOS)
    chosen = {knob.name: data.draw(NUMBERS) for knob in family.knobs if isinstance(knob.default, float) and "." in knob.name}
    part = {name: value for name, value in chosen.items() if data.draw(st.booleans())}
    body = with_knobs(family, dict(part))
    text = settings_text(family, dict(body.values))
    pairs = dict(pair.split("=") for pair in text.split(",") if pair)
    assert with_knobs(family, read_settings(family, pairs)) == body
    assert len(pairs) <= len(body.values)


def test_a_range_that_cannot_be_written_is_left_alone() -> None:
    family = load(FLOATING)
    body = with_knobs(family, {"mass.hull": 2.0, "mass.wing": 2.0})
    assert settings_text(family, dict(body.values)) == "mass.hull=2,mass.wing=2"


@pytest.mark.parametrize("key", ["*=1", "*.roll=1", "strength=1", "power.*=1", "strength.x*=1", "gravity*=1"])
def test_a_wildcard_that_means_nothing_is_refused(key: str) -> None:
    with pytest.raises(UnknownKnob, match="has no knob"):
        parse_robot(f"{FLOATING}:{key}")


def test_a_setting_without_effect_is_refused() -> None:
    with pytest.raises(BadSpec, match="put wildcards first"):
        parse_robot(f"{FLOATING}:strength.bend=2,strength.*=0.3")


@pytest.mark.parametrize("value", ["200000%", "x%", "%", "-5%", "nan%"])
def test_a_part_that_is_not_allowed(value: str) -> None:
    with pytest.raises(BadKnobValue, match="strength"):
        parse_robot(f"{FLOATING}:strength.*={value}")
