# SPDX-License-Identifier: MIT
"""A policy in closed form that carries the book over the shelf: up, across, down."""

import numpy as np

from imitable.robots.robot import Robot
from imitable.types import Policy

STEPS = ((0, 60.0, 0.76), (2, 12.0, 0.06), (2, 40.0, 0.0), (0, 60.0, 0.40), (0, 40.0, 0.81))
"""Hidden units: tanh(sharpness · (coordinate − place)) of the tool's x (0), or of its z (2) over the height."""


def over_policy(robot: Robot, towards: tuple[float, ...] | None = None, height: float = 0.36) -> Policy:
    """Return the policy of an arm with three joints; `towards`: one that always goes this way instead, in largest steps."""
    first, offsets = np.zeros((3, len(STEPS))), np.zeros(len(STEPS))
    for unit, (axis, sharpness, above) in enumerate(STEPS):
        place = above + (height if axis == 2 else 0.0)
        first[axis, unit], offsets[unit] = sharpness, -sharpness * place
    second, last = np.array(((0, 0, -1), (0, 0, -1), (0.5, 0, 0), (0.5, 0, 0), (-1.5, 0, 0))), (-0.5, 0.0, -1.0)
    if towards is not None:
        second, last = np.zeros_like(second), towards
    return Policy(
        weights=(first, second),
        biases=(offsets, np.array(last)),
        log_std=np.full(3, -3.0),
        observation_mean=np.zeros(3),
        observation_std=np.ones(3),
        action_centre=robot.control_centre,
        action_half_range=robot.control_half_range,
        about={"robot": str(robot)},
    )
