# SPDX-License-Identifier: MIT
"""Movements of a servo arm for which perfect actions exist by construction."""

import numpy as np

from imitable.robots.robot import Robot
from imitable.sim.batch import Batch
from imitable.types import Floats, InMemory, Trajectory


def reaches(robot: Robot, count: int = 6, steps: int = 60, goals: Floats | None = None) -> InMemory:
    """Return smooth movements from the arm's start to random postures, or to `goals` (count, joints)."""
    rng, (low, high), home = np.random.default_rng(0), robot.model.jnt_range.T, robot.start[: robot.layout.nq]
    postures = 0.6 * rng.uniform(low, high, (count, len(home))) + 0.4 * home if goals is None else goals
    batch, states = Batch(robot, count), [np.tile(robot.start, (count, 1))]
    batch.set_state(states[0])
    for step in range(steps):
        part = min(1.0, (step + 1) / (0.7 * steps))
        batch.step(home + part**2 * (3 - 2 * part) * (postures - home))
        states.append(batch.states)
    return InMemory(robot.layout, [Trajectory(one, str(robot)) for one in np.stack(states, axis=1)])
