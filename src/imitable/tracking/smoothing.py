# SPDX-License-Identifier: MIT
"""Smoother references: recorders round, drop frames and differentiate, and no motor can follow what only they did."""

import numpy as np

from imitable.robots.robot import Robot
from imitable.sim.kinematics import joint_space
from imitable.types import Floats, Ints


def smoothed(robot: Robot, states: Floats, seconds: float) -> Floats:
    """(T + 1, S) → (T + 1, S) with positions and velocities of the parabola through what lies within `seconds` of each state.

    q_t ⊕ a and q̇ = b of the least squares fit  q_{t+k} ⊖ q_t ≈ a + b k h + c (k h)²,  h the period. Where fewer than five
    states are that near, the states stay as they are.
    """
    space, period = joint_space(robot), robot.layout.period_s
    reach = min(int(seconds / period + 1e-9), (len(states) - 1) // 2)
    if reach < 2:
        return states
    nv = space.nv
    rows: Ints = np.arange(len(states))
    # at the ends the window is shifted, so that every fit has as many states
    middles = np.clip(rows, reach, len(states) - 1 - reach)
    around = middles[:, None] + np.arange(-reach, reach + 1)
    gaps = space.difference(states[around], states[:, None])[..., :nv]
    times = (around - rows[:, None]) * period
    powers = np.stack([np.ones_like(times), times, times**2], axis=2)  # (T + 1, 2 reach + 1, 3)
    fits = np.matmul(np.linalg.pinv(powers), gaps)
    shift = np.concatenate([fits[:, 0], np.zeros_like(fits[:, 0])], axis=1)
    smooth = space.moved(states, shift)
    smooth[:, space.nq :] = fits[:, 1]
    return smooth
