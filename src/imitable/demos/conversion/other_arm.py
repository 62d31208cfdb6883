# SPDX-License-Identifier: MIT
"""Joint data of another arm: where its hand was, by forward kinematics, and the joints of ours that put its hand there."""

from dataclasses import dataclass

import numpy as np

from imitable.demos.conversion.base import in_our_world
from imitable.demos.conversion.body import Poses, sites_of
from imitable.demos.conversion.following import Reached, Targets, follow, following_joints
from imitable.errors import BadOption, one_of
from imitable.robots.robot import Robot
from imitable.types import Floats


@dataclass(frozen=True)
class OtherArm:
    """The arm that the data are of, and where its hand and base are."""

    robot: Robot
    """Its model; the data's joints are mapped onto it."""
    site: str
    """Site that stands for the hand, in both models."""
    base: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    """Where its base stands in the imitator's world: x, y, z in metres and yaw in radians."""


def check_other(other: OtherArm, ours: Robot) -> None:
    """Refuse a site that one of the two lacks."""
    for robot in (other.robot, ours):
        check_site(other.site, robot)


def check_site(site: str, robot: Robot) -> None:
    """Refuse a site that the robot lacks."""
    if site not in (names := sites_of(robot)):
        raise BadOption("--site", site, f"{robot} has no such site; {one_of(site, filter(None, names))}")


def follow_hand(other: OtherArm, ours: Robot, qpos: Floats) -> Reached:
    """(n, nq of the other) → joints of ours that put its hand where the other's was, frame after frame.

    What cannot be reached is approached: how near is said.
    """
    theirs = Poses(other.robot)
    sites = [theirs.site(other.site, pose) for pose in qpos]
    targets = Targets(np.stack([place for place, _ in sites]), np.stack([turn for _, turn in sites]))
    rows = np.repeat(ours.start[None, : ours.layout.nq], len(qpos), axis=0)
    return follow(ours, other.site, in_our_world(targets, other.base), rows, following_joints(ours, other.site))
