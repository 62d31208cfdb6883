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

    Those that were reach the same largest speed again and again, while positions change faster than that, from the state
    before to the state after. A motion of constant speed keeps its largest speed, too, but its positions agree with it; so do
    the positions of a sine whose samples lie on either side of its peaks, and those of encoder steps.
    """
    nq, moves = imitator.layout.nq, np.abs(states[2:] - states[:-2]) / (2 * imitator.layout.period_s)
    speeds = np.abs(states[:, nq:])
    largest = float(speeds.max())
    held = speeds == largest
    if largest == 0 or held.sum() < 2:
        return
    for joint in joints(imitator):
        if (held[1:-1, joint.velocity] & (moves[:, joint.position] > FASTER * largest)).any():
            reason = f"its velocities were clipped at ±{largest:g} by the recorder, so its states cannot be restored"
            raise BadEpisode(episode.source, episode.index, f"{reason}; record them whole")
