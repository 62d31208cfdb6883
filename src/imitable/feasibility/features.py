# SPDX-License-Identifier: MIT
"""Transitions as points: where a body is and how it changes, in units of the imitator's own movements."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from imitable.robots.robot import Robot
from imitable.sim.babble import Scales, scales
from imitable.types import Floats, Trajectory


@dataclass(frozen=True, eq=False)
class Features:
    """φ(s, s′) = (s without root position / σ_s, (s′ − s) / σ_Δ), F = 2 S − root entries."""

    root: int
    """Leading state entries that say where in the world the body is, which changes nothing."""
    scales: Scales
    """σ_s and σ_Δ of the imitator's own movements."""

    def __call__(self, states: Floats, next_states: Floats) -> Floats:
        """(N, S), (N, S) → (N, F)."""
        return np.concatenate([self.places(states), self.changes(states, next_states)], axis=1)

    def places(self, states: Floats) -> Floats:
        """(N, S) → (N, S − root) the first part."""
        return (states / self.scales.state)[:, self.root :]

    def changes(self, states: Floats, next_states: Floats) -> Floats:
        """(N, S), (N, S) → (N, S) the second part."""
        return (next_states - states) / self.scales.change

    def of(self, trajectories: Sequence[Trajectory]) -> Floats:
        """(N, F) of all transitions of some trajectories, in order."""
        return np.concatenate([self(trajectory.states[:-1], trajectory.states[1:]) for trajectory in trajectories])


def features(imitator: Robot) -> Features:
    """Return the features of a body."""
    return Features(imitator.root_entries, scales(imitator))
