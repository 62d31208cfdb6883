# SPDX-License-Identifier: MIT
"""Knobs as text: one setting may mean many knobs (`strength.*=0.3`), and many knobs are written as one again."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from imitable.errors import BadKnobValue, BadSpec, UnknownKnob
from imitable.robots.family import Knob, RobotFamily, Value

CANDIDATES = 3
"""Values of a group of knobs that are tried as its wildcard's: the most frequent ones."""


def read_settings(family: RobotFamily, settings: Mapping[str, str]) -> dict[str, Value]:
    """Return the values of the knobs that settings mean, in the order of the text: a later one wins over a wildcard.

    A setting of which later ones leave nothing is refused: `strength.hip=0.5,strength.*=0.3` says two things of the hip.
    """
    values: dict[str, Value] = {}
    owners: dict[str, str] = {}
    for key, text in settings.items():
        for knob in named_knobs(family, key):
            values[knob.name] = knob.parse(family.name, text)
            owners[knob.name] = key
    for key in settings:
        if key not in owners.values():
            reason = "what follows leaves nothing of it: put wildcards first, single knobs after them, or leave it out"
            raise BadSpec(f"{key}={settings[key]}", reason)
    return values


def named_knobs(family: RobotFamily, key: str) -> list[Knob]:
    """Return the knobs that a key means: the one of that name, or all that fit its wildcards, `*` for any characters."""
    exact, (group, dot, _) = family.knob(key), key.partition(".")
    if exact is not None:
        return [exact]
    pattern = re.compile(".*".join(map(re.escape, key.split("*"))))
    found = [knob for knob in family.knobs if "*" in key and pattern.fullmatch(knob.name)]
    if not found or not dot or "*" in group:
        raise UnknownKnob(family.name, key, (knob.name for knob in family.knobs))
    return found


def settings_text(family: RobotFamily, values: Mapping[str, Value]) -> str:
    """Return the shortest list of settings that reads back to these values: groups as wildcards and what differs from them.

    It depends on the values alone, so that texts of one body become one text.
    """
    parts: list[str] = []
    groups: dict[str, list[Knob]] = {}
    for knob in family.knobs:
        groups.setdefault(knob.name.partition(".")[0], []).append(knob)
    for group, knobs in groups.items():
        plain = [f"{knob.name}={value_text(values[knob.name])}" for knob in knobs if knob.name in values]
        texts = Counter(text for knob in knobs if knob.name in values for text in _texts(knob, values[knob.name]))
        tried = (_with_wildcard(family, group, text, knobs, values) for text, _ in texts.most_common(CANDIDATES))
        parts += min([plain, *filter(None, tried)], key=len)
    return ",".join(parts)


def _with_wildcard(
    family: RobotFamily, group: str, text: str, knobs: list[Knob], values: Mapping[str, Value]
) -> list[str] | None:
    """Return `GROUP.*=text` and the settings of all knobs that have another value; None if one of these cannot be written."""
    settings = [f"{group}.*={text}"]
    for knob in knobs:
        value = values.get(knob.name, knob.default)
        own = value_text(value)
        if _read(family, knob, text) != value:
            settings.append(f"{knob.name}={own}")
            if _read(family, knob, own) != value:  # a default outside what can be set, such as no range at all
                return None
    return settings


def _read(family: RobotFamily, knob: Knob, text: str) -> Value | None:
    try:
        return knob.parse(family.name, text)
    except BadKnobValue:
        return None


def _texts(knob: Knob, value: Value) -> Iterable[str]:
    """Return a value as text, and as a part of the default."""
    yield value_text(value)
    if isinstance(value, float) and isinstance(knob.default, float) and knob.default not in (0.0, 1.0):
        yield f"{_number_text(round(100 * value / knob.default, 9))}%"


def value_text(value: Value) -> str:
    """Return a knob's value as text that reads back to the same value."""
    if isinstance(value, str):
        return value
    return "..".join(_number_text(x) for x in value) if isinstance(value, tuple) else _number_text(value)


def short_text(value: Value) -> str:
    """Return a knob's value as a person reads it, in six digits."""
    if isinstance(value, str):
        return value
    return "..".join(f"{x:.6g}" for x in value) if isinstance(value, tuple) else f"{value:.6g}"


def _number_text(number: float) -> str:
    short = f"{number:g}"
    return short if float(short) == number else repr(number)
