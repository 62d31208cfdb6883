# SPDX-License-Identifier: MIT
"""Transitions as points: where a body is and how it changes, in units of the imitator's own movements."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from imitable.robots.robot import Robot
from imitable.sim.babble import Scales, scales
from imitable.sim.kinematics import StateSpace, state_space
from imitable.types import Floats, Trajectory


@dataclass(frozen=True, eq=False)
class Features:
    """φ(s, s′) = (s without root position / σ_s, (s′ − s) / σ_Δ), F = 4 nv − root entries.

    s stands for its coordinates and s′ − s for the difference of `StateSpace`: the signs of quaternions do not matter.
    """

    space: StateSpace

    root: int
    """Leading coordinates that say where in the world the body is, which changes nothing."""
    scales: Scales
    """σ_s and σ_Δ of the imitator's own movements."""

    def __call__(self, states: Floats, next_states: Floats) -> Floats:
        """(N, S), (N, S) → (N, F)."""
        return np.concatenate([self.places(states), self.changes(states, next_states)], axis=1)

    def places(self, states: Floats) -> Floats:
        """(N, S) → (N, 2 nv − root) the first part."""
        return (self.space.coordinates(states) / self.scales.coordinates)[:, self.root :]

    def changes(self, states: Floats, next_states: Floats) -> Floats:
        """(N, S), (N, S) → (N, 2 nv) the second part."""
        return self.space.difference(next_states, states) / self.scales.difference

    def of(self, trajectories: Sequence[Trajectory]) -> Floats:
        """(N, F) of all transitions of some trajectories, in order."""
        return np.concatenate([self(trajectory.states[:-1], trajectory.states[1:]) for trajectory in trajectories])


def features(imitator: Robot) -> Features:
    """Return the features of a body."""
    return Features(state_space(imitator), imitator.root_entries, scales(imitator))
