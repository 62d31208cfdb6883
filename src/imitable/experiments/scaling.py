# SPDX-License-Identifier: MIT
"""Smaller experiments for trials and tests: fewer demonstrations, steps, episodes, and less work inside the methods."""

from dataclasses import fields, replace
from typing import Any, cast

from imitable.errors import BadOption
from imitable.spec_text import Range, bound

WORK = (
    "steps",
    "transitions",
    "passes",
    "critic_steps",
    "goal_steps",
    "babbled",
    "inverse_steps",
    "pretrained",
    "forward_steps",
    "map_steps",
    "calibration",
    "gradient_steps",
)
"""Settings of scorers and learners that say how much is done, where they have them."""


def check_scale(scale: float) -> None:
    """Refuse what is no part of the whole."""
    if not 0 < scale <= 1:
        raise BadOption("--scale", scale, "give a part of the whole, above 0 and up to 1")


def scaled_count(count: int, scale: float) -> int:
    """Return a part of a number, at least one of any that there are."""
    return count and max(1, round(scale * count))


def scaled_method(method: Any, scale: float) -> Any:
    """Return a scorer or learner that does a part of the work, within the ranges of its settings."""
    if scale == 1:
        return method
    kind, changed = cast(type[Any], type(method)), dict[str, int]()
    for field in fields(method):
        value = getattr(method, field.name)
        if field.name in WORK and isinstance(value, int):
            limits = bound(kind, field.name, Range)
            changed[field.name] = max(scaled_count(value, scale), int(limits.low) if limits else 0)
    return replace(method, **changed)
