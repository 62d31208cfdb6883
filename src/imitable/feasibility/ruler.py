# SPDX-License-Identifier: MIT
"""How far two states are apart, and how much each step of a demonstration counts."""

import re
from dataclasses import dataclass
from math import ceil, exp, log

import numpy as np

from imitable.errors import BadOption, one_of
from imitable.robots.robot import Robot
from imitable.sim.babble import scales
from imitable.sim.kinematics import StateSpace, entry_names, state_space
from imitable.sim.objects import has_objects, own_entries
from imitable.types import Bools, Floats, Ints

DISTANCES = ("standardised", "l2", "l1", "cosine")
"""Ways to compare two states by their E compared entries: ‖(s − s′)/scale‖₂/√E, ‖s − s′‖₂, ‖s − s′‖₁, 1 − cos(s, s′)."""

MEMORY_S = 0.6
"""Default discount, as a time: a step counts for exp(−t / 0.6 s), so that the rate of recording does not matter."""

FLOOR = 0.1
"""A passive imitator counts as at least so many scales away in every entry, a step."""

MASS = 0.99
"""Part of the discount's mass that the effective horizon holds."""


@dataclass(frozen=True, eq=False)
class Ruler:
    """What all methods measure with.

    distance(ξ) = Σ_{t=1..H} discount^{t−1} · d(s_t, s^d_t),  over the entries that are compared; differences and coordinates
    are those of `StateSpace`, so that a rotation has three entries and the signs of quaternions do not matter.
    """

    kind: str
    """One of `DISTANCES`."""
    compared: Bools
    """(2 nv) which entries of a difference count."""
    scale: Floats
    """(2 nv) deviation of every coordinate in the imitator's own movements."""
    change: Floats
    """(2 nv) deviation of what one control step changes there."""
    discount: float
    """γ of the sum."""
    space: StateSpace
    """Of the imitator's states."""

    @property
    def floor(self) -> float:
        """Error of a state that is off by `FLOOR` scales in every compared entry: the least that errors are compared with."""
        scale = FLOOR * self.scale[self.compared]
        norms = {"standardised": FLOOR, "l2": float(np.linalg.norm(scale)), "l1": float(scale.sum()), "cosine": FLOOR**2 / 2}
        return norms[self.kind]

    @property
    def step_floor(self) -> float:
        """The same for single steps: off by `FLOOR` of what the imitator's own movements change in one."""
        return self.floor * float(np.median((self.change / self.scale)[self.compared]))

    def errors(self, states: Floats, targets: Floats) -> Floats:
        """(…, S), (…, S) → (…) distances."""
        if self.kind == "cosine":
            ours: Floats = self.space.coordinates(states)[..., self.compared]
            theirs: Floats = self.space.coordinates(targets)[..., self.compared]
            lengths = np.sqrt(np.square(ours).sum(axis=-1) * np.square(theirs).sum(axis=-1))
            return 1.0 - (ours * theirs).sum(axis=-1) / np.maximum(lengths, 1e-12)
        gap: Floats = self.space.difference(states, targets)[..., self.compared]
        if self.kind == "l1":
            return np.abs(gap).sum(axis=-1)
        if self.kind == "standardised":
            gap = gap / (self.scale[self.compared] * np.sqrt(int(self.compared.sum())))
        return np.sqrt(np.square(gap).sum(axis=-1))

    def discounted(self, errors: Floats) -> Floats:
        """(…, n) errors of consecutive steps → (…) Σ γ^t e_t; NaN marks steps beyond the end."""
        steps: Ints = np.arange(int(errors.shape[-1]))
        return np.nansum(errors * self.discount**steps, axis=-1)

    def horizon(self, most: int) -> int:
        """Return the steps that hold 99 % of the discount's mass, at most `most`."""
        return min(most, effective_horizon(self.discount))


def effective_horizon(discount: float) -> int:
    """Return the smallest H with Σ_{t<H} γ^t ≥ 99 % of the infinite sum: H = ln 0.01 / ln γ; without a discount, no end."""
    return ceil(log(1 - MASS) / log(discount)) if 0 < discount < 1 else 1 if discount == 0 else 10**9


def ruler(imitator: Robot, kind: str = "standardised", entries: str = "all", discount: float | None = None) -> Ruler:
    """Return the checked ruler of an imitator; without a discount it forgets with `MEMORY_S`."""
    if kind not in DISTANCES:
        raise BadOption("distance", kind, one_of(kind, DISTANCES))
    if discount is None:
        discount = exp(-imitator.layout.period_s / MEMORY_S)
    if not 0 <= discount <= 1:
        raise BadOption("discount", discount, "give a number from 0 to 1")
    space = state_space(imitator)
    own = scales(imitator)
    return Ruler(kind, space.tangent(compared(imitator, entries)), own.coordinates, own.difference, discount, space)


def resolved_entries(imitator: Robot, entries: str) -> str:
    """Return what `all` means: `robot` where there are objects in its scene, which are not part of it."""
    return "robot" if entries == "all" and imitator.tool is None and has_objects(imitator) else entries


def compared(imitator: Robot, entries: str) -> Bools:
    """Return which state entries (S, or 3 of a tool) a text means: a word, or names joined by commas, with wildcards.

    `all` and `robot` are those of the robot, `rootless` these without its root position, `everything` has objects, too.
    """
    names = entry_names(imitator)
    if entries == "everything" or (imitator.tool is not None and entries in ("all", "robot")):
        return np.ones(len(names), bool)
    if entries in ("all", "robot", "rootless"):
        mask = own_entries(imitator).copy()
        mask[: imitator.root_entries if entries == "rootless" else 0] = False
        return mask
    mask = np.zeros(len(names), bool)
    for wanted in map(str.strip, entries.split(",")):
        pattern = re.compile(".*".join(map(re.escape, wanted.split("*"))))
        found = np.array([pattern.fullmatch(name) is not None for name in names])
        if not found.any():
            words = "give all, rootless, everything, or names joined by commas, * for any characters"
            raise BadOption("entries", wanted, f"{words}. {one_of(wanted, names)}")
        mask |= found
    return mask
