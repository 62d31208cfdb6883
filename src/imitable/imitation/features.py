# SPDX-License-Identifier: MIT
"""What a discriminator sees of a transition."""

from dataclasses import dataclass

import numpy as np

from imitable.imitation.transitions import WeightedTransitions
from imitable.robots.robot import Robot
from imitable.sim.babble import scales
from imitable.sim.kinematics import StateSpace, state_space
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

    z standardises coordinates by mean and deviation of the demonstrations, and leaves out where in the world the body is;
    s′ − s is a difference of states. Both have 2 nv entries (`kinematics.StateSpace`): no sign of a quaternion matters.
    """

    space: StateSpace
    """The body's states."""
    root: int
    """Leading coordinates that are left out of z."""
    mean: Floats
    """(2 nv) of the demonstrated coordinates."""
    std: Floats
    """(2 nv) their deviation."""
    rms: Floats
    """(2 nv) of the demonstrated differences."""
    delta: bool
    limit: float = LIMIT
    """Entries are clipped to ± this."""

    @property
    def size(self) -> int:
        """F, the number of features."""
        width = len(self.mean)
        return 2 * width - self.root + 1 if self.delta else 2 * (width - self.root) + 1

    def __call__(self, before: Floats, after: Floats) -> Singles:
        """(N, S), (N, S) → (N, F) of transitions."""
        change = self.space.difference(after, before) / self.rms if self.delta else self._z(after)
        parts = [self._z(before), change, np.zeros((len(before), 1))]
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
        return ((self.space.coordinates(states) - self.mean) / self.std)[:, self.root :]


def features(transitions: WeightedTransitions, imitator: Robot, form: str, *, normalised: bool, root: bool) -> Features:
    """Return the features of transitions: standardised by them or raw, with the root position or without."""
    space, hidden = state_space(imitator), 0 if root else imitator.root_entries
    if not normalised:
        width = space.size
        return Features(space, hidden, np.zeros(width), np.ones(width), np.ones(width), form == "delta", np.inf)
    mean, std = transitions.moments(space.coordinates(transitions.before))
    centre, spread = transitions.moments(space.difference(transitions.after, transitions.before))
    own = scales(imitator)
    return Features(
        space=space,
        root=hidden,
        mean=mean,
        std=np.maximum(std, FLOOR * own.coordinates),
        rms=np.maximum(np.hypot(centre, spread), FLOOR * own.difference),
        delta=form == "delta",
    )
