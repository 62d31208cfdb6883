# SPDX-License-Identifier: MIT
"""Is a demonstration fit to be judged? One that is not is named, before anything is simulated with it."""

import numpy as np

from imitable.dynamics.variant import Variant
from imitable.errors import BadEpisode
from imitable.tracking.inverse import joints
from imitable.types import Episode, Floats, Trajectory

CLIPPED = 3
"""An entry that keeps exactly the largest speed of all for so many steps on end is no coincidence."""

OVER_LIMIT = 0.01
"""Radians or metres that a start may lie beyond a joint's range: limits are soft."""


def check_episode(episode: Episode, trajectory: Trajectory, imitator: Variant) -> None:
    """Refuse a demonstration whose states cannot be restored on the imitator."""
    reason = _clipped(trajectory.states[:, imitator.layout.nq :]) or _outside(trajectory.states[0], imitator)
    if reason:
        raise BadEpisode(episode.source, episode.index, reason)


def _clipped(velocities: Floats) -> str:
    largest = float(np.abs(velocities).max())
    held = np.lib.stride_tricks.sliding_window_view(np.abs(velocities) == largest, min(CLIPPED, len(velocities)), axis=0)
    if largest > 0 and len(velocities) >= CLIPPED and bool(held.all(axis=2).any()):
        return (
            f"its velocities were clipped at ±{largest:g} by the recorder, so its states cannot be restored; record them whole"
        )
    return ""


def _outside(start: Floats, imitator: Variant) -> str:
    for joint in joints(imitator):
        (low, high), value = joint.limits, float(start[joint.position])
        if not low - OVER_LIMIT <= value <= high + OVER_LIMIT:
            return f"it starts with {joint.name} = {value:.3g}, outside the imitator's {low:.3g}..{high:.3g}; leave it out"
    return ""
