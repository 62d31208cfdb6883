# SPDX-License-Identifier: MIT
"""Velocities of recorded positions: differentiated in the tangent space, and compared with those that the data have."""

from dataclasses import dataclass

import numpy as np

from imitable.sim.kinematics import StateSpace
from imitable.types import Floats

AGREE = 0.25
"""Velocities agree with positions if the difference, root mean square, is at most so much of the speed."""
REST = 1e-3
"""Below this speed, rad/s or m/s, differences say nothing."""


def steps_of(space: StateSpace, qpos: Floats) -> Floats:
    """(n, nq) → (n − 1, nv) how far each step goes, as `mj_differentiatePos` without the division by time."""
    states = np.concatenate([qpos, np.zeros((len(qpos), space.nv))], axis=1)
    return space.difference(states[1:], states[:-1])[:, : space.nv]


def differentiated(space: StateSpace, qpos: Floats, times: Floats) -> Floats:
    """(n, nq), (n) → (n, nv) central differences; at the ends the nearest step's speed."""
    speeds = steps_of(space, qpos) / np.diff(times)[:, None]
    inner = (speeds[1:] + speeds[:-1]) / 2
    return np.concatenate([speeds[:1], inner, speeds[-1:]])


@dataclass(frozen=True)
class Disagreement:
    """How far velocities are from those of the positions."""

    entry: int
    """The worst entry of qvel."""
    part: float
    """Root mean square of the difference ÷ that of the speed."""


def disagreement(space: StateSpace, qpos: Floats, qvel: Floats, times: Floats) -> Disagreement:
    """Compare the speed of each step with the velocities at its two ends: a speed between the two agrees.

    Entries that rest are left out.
    """
    speeds = steps_of(space, qpos) / np.diff(times)[:, None]
    low, high = np.minimum(qvel[:-1], qvel[1:]), np.maximum(qvel[:-1], qvel[1:])
    outside = np.maximum(np.maximum(low - speeds, speeds - high), 0.0)
    size = np.maximum(np.sqrt(np.square(speeds).mean(axis=0)), np.sqrt(np.square(qvel).mean(axis=0)))
    parts = np.where(size > REST, np.sqrt(np.square(outside).mean(axis=0)) / np.maximum(size, REST), 0.0)
    worst = int(parts.argmax()) if len(parts) else 0
    return Disagreement(worst, float(parts[worst]) if len(parts) else 0.0)
