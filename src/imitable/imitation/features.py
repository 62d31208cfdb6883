# SPDX-License-Identifier: MIT
"""What a discriminator sees of a transition."""

from dataclasses import dataclass

import numpy as np

from imitable.imitation.transitions import WeightedTransitions
from imitable.robots.robot import Robot
from imitable.sim.babble import scales
from imitable.sim.kinematics import one_sign, quaternions, signed_like
from imitable.types import Floats, Singles

LIMIT = 10.0
"""Standardised entries are clipped to ± this; raw ones are not."""

FORMS = ("delta", "pair")
"""(state, change to the next state), or (state, next state)."""

FLOOR = 0.01
"""An entry that hardly varies in the demonstrations is scaled as if it varied by this part of what the body can do."""


@dataclass(frozen=True, eq=False)
class Features:
    """φ(s, s′) = (z(s), (s′ − s) / rms, 0), or (z(s), z(s′), 0); of an absorbing pair (0, …, 0, LIMIT).

    z standardises by mean and deviation of the demonstrations, and leaves out where in the world the body is.
    """

    root: int
    """Leading state entries that are left out of z."""
    mean: Floats
    """(S) of the demonstrated states."""
    std: Floats
    """(S) their deviation."""
    rms: Floats
    """(S) of the demonstrated changes."""
    delta: bool
    limit: float = LIMIT
    """Entries are clipped to ± this."""
    quaternions: tuple[int, ...] = ()
    """First entries of quaternions, whose sign means nothing."""

    @property
    def size(self) -> int:
        """F, the number of features."""
        width = len(self.mean)
        return 2 * width - self.root + 1 if self.delta else 2 * (width - self.root) + 1

    def __call__(self, before: Floats, after: Floats) -> Singles:
        """(N, S), (N, S) → (N, F) of transitions."""
        before, after = _signed(self.quaternions, before, after)
        parts = [self._z(before), (after - before) / self.rms if self.delta else self._z(after), np.zeros((len(before), 1))]
        return np.clip(np.concatenate(parts, axis=1), -self.limit, self.limit).astype(np.float32)

    @property
    def absorbing(self) -> Singles:
        """(F) of an absorbing pair."""
        row = np.zeros(self.size, np.float32)
        row[-1] = LIMIT
        return row

    def of(self, transitions: WeightedTransitions) -> Singles:
        """(M, F) of all transitions."""
        rows = self(transitions.before, transitions.after)
        rows[transitions.absorbing] = self.absorbing
        return rows

    def _z(self, states: Floats) -> Floats:
        return ((states - self.mean) / self.std)[:, self.root :]


def features(transitions: WeightedTransitions, imitator: Robot, form: str, *, normalised: bool, root: bool) -> Features:
    """Return the features of transitions: standardised by them or raw, with the root position or without."""
    width, hidden, places = int(transitions.before.shape[1]), 0 if root else imitator.root_entries, quaternions(imitator)
    if not normalised:
        return Features(hidden, np.zeros(width), np.ones(width), np.ones(width), form == "delta", np.inf, places)
    before, after = _signed(places, transitions.before, transitions.after)
    mean, std = transitions.moments(before)
    centre, spread = transitions.moments(after - before)
    own = scales(imitator)
    return Features(
        root=hidden,
        mean=mean,
        std=np.maximum(std, FLOOR * own.state),
        rms=np.maximum(np.hypot(centre, spread), FLOOR * own.change),
        delta=form == "delta",
        quaternions=places,
    )


def _signed(places: tuple[int, ...], before: Floats, after: Floats) -> tuple[Floats, Floats]:
    """Write quaternions of states with one sign, and those of the next states with the sign that is nearer to it."""
    if not places:
        return before, after
    before = one_sign(places, before)
    return before, signed_like(places, before, after)
