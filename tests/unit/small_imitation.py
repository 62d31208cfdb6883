# SPDX-License-Identifier: MIT
"""Small demonstrations, weights and a small learner."""

import numpy as np

from imitable.imitation.methods.gaifo import Gaifo
from imitable.robots.parse import parse_robot
from imitable.sim.babble import babble
from imitable.types import Demonstrations, InMemory, Trajectory, Weights

CHEETAH = parse_robot("half_cheetah:front=0.01")
HOPPER = parse_robot("hopper")
SMALL = Gaifo(
    environments=8,
    length=16,
    minibatch=64,
    hidden=(8, 8),
    discriminator_hidden=(16, 16),
    discriminator_minibatch=32,
    discriminator_steps=2,
)


def walks(count: int = 3, length: int = 30, body: str = "half_cheetah:front=0.01") -> InMemory:
    robot = parse_robot(body)
    return InMemory(robot.layout, [Trajectory(t.states, t.demonstrator) for t in babble(robot, count, length, 0)])


def weights_of(demos: Demonstrations, *values: float) -> Weights:
    return Weights(tuple(episode.hash for episode in demos.episodes), np.array(values) / sum(values))
