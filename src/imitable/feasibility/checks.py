# SPDX-License-Identifier: MIT
"""Is a demonstration fit to be judged? One that is not is named, before anything is simulated with it."""

import numpy as np

from imitable.errors import BadEpisode
from imitable.feasibility.reasons import LIMIT_SLACK
from imitable.robots.robot import Robot
from imitable.tracking.inverse_dynamics import joints
from imitable.tracking.restorable import check_restorable
from imitable.types import Episode, Floats, Trajectory

OVER_LIMIT = 0.01
"""Radians or metres beyond a joint's range from which on a start is mentioned. From `LIMIT_SLACK` of the range on it is another
body's, and refused: in between it begins at the limit."""


def check_episode(episode: Episode, trajectory: Trajectory, imitator: Robot) -> None:
    """Refuse a demonstration whose states cannot be restored on the imitator, or that starts outside its joint ranges."""
    check_restorable(episode, trajectory.states, imitator)
    if imitator.tool is not None:  # only the tool's path counts, and a start is taken in a pose of the arm's own
        return
    reason = start_excess(trajectory.states[0], imitator, LIMIT_SLACK)
    if reason:
        how = "repair it (imitable check --repair) or leave it out (--leave-out, --skip-unfit)"
        raise BadEpisode(episode.source, episode.index, f"{reason}; {how}")


def start_excess(start: Floats, imitator: Robot, part: float = 0.0) -> str:
    """Say which joint starts beyond its range by more than `part` of it, and `OVER_LIMIT`; empty if none does."""
    for joint in joints(imitator):
        (low, high), value = joint.limits, float(start[joint.position])
        slack = max(OVER_LIMIT, part * (high - low)) if np.isfinite(high - low) else OVER_LIMIT
        if not low - slack <= value <= high + slack:
            return f"it starts with {joint.name} = {value:.3g}, outside the imitator's {low:.3g}..{high:.3g}"
    return ""
