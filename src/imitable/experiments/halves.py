# SPDX-License-Identifier: MIT
"""Imitators on which it is measured whether scores predict imitation: which may be looked at, and which only report.

The split and the choice for `continuum` were fixed before any pair was run. Bodies are listed by family, quickest first. Every
other one, from the second onwards, is for development: formulas may be chosen and fitted on it. All others are for reporting:
they are evaluated once. Each family is in both halves. Hopper with gravity 12.5 and Walker2d with friction 3, whose pairs an
early trial had shown, are in the development half, as the rule happens to put them there.
"""

from dataclasses import dataclass
from itertools import groupby

from imitable.experiments.settings import SETTINGS

RANDOM_RETURNS = {
    "half_cheetah:front=0.01": -178.87,
    "half_cheetah:front=0.1": -180.34,
    "half_cheetah:front=0.3": -204.47,
    "half_cheetah:back=0.1": -199.9,
    "half_cheetah": -287.94,
    "hopper:gravity=5": 19.74,
    "hopper": 18.36,
    "hopper:gravity=12.5": 20.09,
    "hopper:gravity=15": 18.66,
    "hopper:gravity=20": 16.85,
    "swimmer:back=10": 3.32,
    "swimmer:back=15": 6.38,
    "swimmer:back=30": 15.71,
    "swimmer:front=10": 2.23,
    "swimmer": 1.19,
    "walker2d:friction=0.7": 3.01,
    "walker2d": 2.09,
    "walker2d:friction=3": 2.39,
    "walker2d:friction=9.9": 4.13,
    "walker2d:friction=24.9": 5.94,
}
"""All imitators, and what a random policy returns on each, the zero of normalised returns: a test compares these numbers with
results/random_policy.json. `hopper` has gravity 9.81, `walker2d` friction 0.9."""

IMITATORS = tuple(RANDOM_RETURNS)


@dataclass(frozen=True)
class Halves:
    """The split of the imitators."""

    development: tuple[str, ...]
    """What the probability of imitation is fitted on."""
    reporting: tuple[str, ...]
    """What is only reported."""
    continuum: tuple[str, ...]
    """Of those, the imitators of `continuum`, one per family."""


def fixed_halves() -> Halves:
    """Return the split.

    `continuum` has the first reporting imitator of each family that is not an imitator of the paper's settings, because those
    have been looked at many times; where all are, it has the first one.
    """
    reporting = IMITATORS[::2]
    seen = {setting.imitator for setting in SETTINGS}
    families = [list(bodies) for _, bodies in groupby(reporting, key=family_of)]
    chosen = tuple(next((body for body in bodies if body not in seen), bodies[0]) for bodies in families)
    return Halves(IMITATORS[1::2], reporting, chosen)


def family_of(body: str) -> str:
    """Return the robot family of a body's text."""
    return body.split(":")[0]
