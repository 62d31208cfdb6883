# SPDX-License-Identifier: MIT
"""Can a simulator be put into the states of a demonstration? A recorder that clips velocities has lost them."""

import numpy as np

from imitable.errors import BadEpisode
from imitable.robots.robot import Robot
from imitable.tracking.inverse_dynamics import joints
from imitable.types import Episode, Floats

FASTER = 1.02
"""A joint that moves so many times as fast as its recorded speed says was recorded by a recorder that clips."""


def check_restorable(episode: Episode, states: Floats, imitator: Robot) -> None:
    """Refuse a demonstration whose velocities were clipped.

    Those that were reach the same largest speed again and again, while positions change faster than that. A movement of
    constant speed keeps its largest speed, too, but its positions agree with it.
    """
    nq, moved = imitator.layout.nq, np.abs(np.diff(states, axis=0)) / imitator.layout.period_s
    speeds = np.abs(states[:, nq:])
    largest = float(speeds.max())
    held = speeds == largest
    if largest == 0 or held.sum() < 2:
        return
    for joint in joints(imitator):
        rows, faster = held[:, joint.velocity], moved[:, joint.position] > FASTER * largest
        if (rows[:-1] & faster).any() or (rows[1:] & faster).any():
            reason = f"its velocities were clipped at ±{largest:g} by the recorder, so its states cannot be restored"
            raise BadEpisode(episode.source, episode.index, f"{reason}; record them whole")
