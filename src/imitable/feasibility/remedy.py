# SPDX-License-Identifier: MIT
"""The knob values with which the whole motion passes the static checks: enough torque, range and speed."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite, pi

import numpy as np

from imitable.errors import ImitableError
from imitable.feasibility.ladders import turned
from imitable.feasibility.spans import Check
from imitable.feasibility.static_checks import static_checks
from imitable.robots.family import Value
from imitable.robots.knob_text import value_text
from imitable.robots.robot import Robot
from imitable.tracking.inverse_dynamics import actuators_on, joints
from imitable.types import Floats

ROUNDS = 6
"""Of every joint the worst transition is known, and another joint may be worse there: knobs are turned again."""

KINDS = ("torque", "range", "speed")
"""Kinds of checks that a knob can clear."""


@dataclass(frozen=True)
class Remedy:
    """Knobs of the imitator, and how far to turn them."""

    knobs: tuple[tuple[str, str], ...]
    """Name and least value; a range as LO..HI. Empty: no knob is needed, or none helps."""

    @property
    def sentence(self) -> str:
        """The remedy in words; empty without one."""
        parts = [f"{name}={text}" if ".." in text else f"{name} ≥ {text}" for name, text in self.knobs]
        return f"the whole motion is within torque, range and speed with {', '.join(parts)}" if parts else ""


def remedy(imitator: Robot, states: Floats) -> Remedy:
    """(T + 1, S) → the least strengths, ranges and speed limits of joints that fail, turned until none of them does."""
    body, values = imitator, dict[str, Value]()
    for _ in range(ROUNDS):
        wanted = dict(_wanted(body, states))
        if not wanted:
            return Remedy(tuple((name, value_text(value)) for name, value in values.items()))
        try:
            for name, value in wanted.items():
                body = turned(body, [name], value)
        except ImitableError:  # beyond what the knob allows
            break
        values |= wanted
    return Remedy(())


def _wanted(body: Robot, states: Floats) -> Iterator[tuple[str, Value]]:
    """Yield knobs that must be turned, and their values."""
    for check in static_checks(body, states).checks:
        failing = check.ratios > 1
        places: list[int] = np.unique(check.worst[failing]).tolist() if check.kind in KINDS else []
        for place in places:
            rows = failing & (check.worst == place)
            yield from _turns(body, states, check, check.names[place], float((check.sizes[rows] / check.limits[rows]).max()))


def _turns(body: Robot, states: Floats, check: Check, joint: str, factor: float) -> Iterator[tuple[str, Value]]:
    names = {"torque": [f"strength.{one}" for one in actuators_on(body, joint)]} if check.kind == "torque" else {}
    for name in names.get(check.kind, [f"{check.kind}.{joint}"]):
        knob = body.family.knob(name)
        if knob is None:
            continue
        own = body.value(name)
        if isinstance(own, tuple):
            [found] = [one for one in joints(body) if one.name == joint]
            seen = states[:, found.position] * (180 / pi if knob.unit == "degrees" else 1.0)
            yield name, (_rounded(min(own[0], float(seen.min())), down=True), _rounded(max(own[1], float(seen.max()))))
        elif isinstance(own, float) and isfinite(own) and isfinite(factor):
            yield name, _rounded(own * factor)


def _rounded(number: float, *, down: bool = False) -> float:
    """Return the number to three digits, away from the side that would not do."""
    if not number:
        return 0.0
    unit = 10.0 ** (np.floor(np.log10(abs(number))) - 2)
    return float(f"{(np.floor if down else np.ceil)(number / unit) * unit:.6g}")
