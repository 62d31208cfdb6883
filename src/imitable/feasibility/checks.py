# SPDX-License-Identifier: MIT
"""Is a demonstration fit to be judged? One that is not is named, before anything is simulated with it."""

import numpy as np

from imitable.errors import BadEpisode
from imitable.robots.robot import Robot
from imitable.tracking.inverse_dynamics import joints
from imitable.types import Episode, Floats, Trajectory

FASTER = 1.02
"""A joint that moves so many times as fast as its recorded speed says was recorded by a recorder that clips."""

OVER_LIMIT = 0.01
"""Radians or metres that a start may lie beyond a joint's range: limits are soft."""


def check_episode(episode: Episode, trajectory: Trajectory, imitator: Robot) -> None:
    """Refuse a demonstration whose states cannot be restored on the imitator."""
    reason = _clipped(trajectory.states, imitator) or _outside(trajectory.states[0], imitator)
    if reason:
        raise BadEpisode(episode.source, episode.index, reason)


def _clipped(states: Floats, imitator: Robot) -> str:
    """Velocities that were clipped reach the same largest speed again and again, while positions change faster than that.

    A movement of constant speed keeps its largest speed, too, but its positions agree with it.
    """
    nq, moved = imitator.layout.nq, np.abs(np.diff(states, axis=0)) / imitator.layout.period_s
    speeds = np.abs(states[:, nq:])
    largest = float(speeds.max())
    held = speeds == largest
    if largest == 0 or held.sum() < 2:
        return ""
    for joint in joints(imitator):
        rows, faster = held[:, joint.velocity], moved[:, joint.position] > FASTER * largest
        if (rows[:-1] & faster).any() or (rows[1:] & faster).any():
            return (
                f"its velocities were clipped at ±{largest:g} by the recorder, so its states cannot be restored; "
                f"record them whole"
            )
    return ""


def _outside(start: Floats, imitator: Robot) -> str:
    for joint in joints(imitator):
        (low, high), value = joint.limits, float(start[joint.position])
        if not low - OVER_LIMIT <= value <= high + OVER_LIMIT:
            limits = f"{low:.3g}..{high:.3g}"
            return f"it starts with {joint.name} = {value:.3g}, outside the imitator's {limits}; leave it out (--leave-out)"
    return ""
