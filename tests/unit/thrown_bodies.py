# SPDX-License-Identifier: MIT
"""Bodies at speed: what they do there they can do, and it is harder to follow than babble, because contacts come fast."""

import numpy as np

from imitable import seeding
from imitable.robots.robot import Robot
from imitable.sim.babble import babble, scales
from imitable.types import Trajectory

WARM_UP, SPEED = 60, 3.0
"""Steps of babble before a body is thrown, and at how many scales of its velocities."""


def thrown(robot: Robot, count: int, steps: int, seed: int) -> list[Trajectory]:
    """Babble that begins with velocities beside those that the body has from babbling."""
    before = babble(robot, count, WARM_UP, seed)
    rng, nv = seeding.generator(seed, "thrown"), int(robot.model.nv)
    starts = np.stack([trajectory.states[-1] for trajectory in before])
    starts[:, robot.layout.nq :] += SPEED * scales(robot).coordinates[nv:] * rng.standard_normal((len(before), nv))
    return babble(robot, len(before), steps, seed, starts=starts)
