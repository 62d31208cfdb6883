# SPDX-License-Identifier: MIT
"""The task that a robot was made for."""

from imitable.robots.robot import Robot
from imitable.sim.reach import Reach
from imitable.sim.task import Free, Locomotion, Task


def own_task(robot: Robot, *, observe_root: bool = False) -> Task:
    """Return the task of a robot's family; a body without one is free."""
    if robot.family.reach is not None:
        return Reach(robot)
    if robot.family.rules is not None:
        return Locomotion(robot, observe_root=observe_root)
    return Free(robot)
