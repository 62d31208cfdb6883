# SPDX-License-Identifier: MIT
"""Is a demonstration fit to be judged? One that is not is named, before anything is simulated with it."""

from imitable.errors import BadEpisode
from imitable.robots.robot import Robot
from imitable.tracking.inverse_dynamics import joints
from imitable.tracking.restorable import check_restorable
from imitable.types import Episode, Floats, Trajectory

OVER_LIMIT = 0.01
"""Radians or metres that a start may lie beyond a joint's range: limits are soft."""


def check_episode(episode: Episode, trajectory: Trajectory, imitator: Robot) -> None:
    """Refuse a demonstration whose states cannot be restored on the imitator, or that starts outside its joint ranges."""
    check_restorable(episode, trajectory.states, imitator)
    reason = _outside(trajectory.states[0], imitator)
    if reason:
        raise BadEpisode(episode.source, episode.index, reason)


def _outside(start: Floats, imitator: Robot) -> str:
    for joint in joints(imitator):
        (low, high), value = joint.limits, float(start[joint.position])
        if not low - OVER_LIMIT <= value <= high + OVER_LIMIT:
            limits = f"{low:.3g}..{high:.3g}"
            return f"it starts with {joint.name} = {value:.3g}, outside the imitator's {limits}; leave it out (--leave-out)"
    return ""
