# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportAttributeAccessIssue=false
"""Where the frame that poses are in stands in the imitator's world.

An adapter file: MuJoCo ships no types.
"""

import math

import mujoco
import numpy as np

from imitable.demos.conversion.following import Targets
from imitable.errors import BadOption

Base = tuple[float, float, float, float]
"""x, y, z in metres and yaw in radians."""
HERE: Base = (0.0, 0.0, 0.0, 0.0)
"""The world itself."""


def base_of(text: str) -> Base:
    """Return `x,y,z,yaw` as numbers."""
    try:
        x, y, z, yaw = (float(part) for part in text.split(","))
    except ValueError:
        raise BadOption("--base", text, "give x,y,z,yaw in metres and radians") from None
    if not all(map(math.isfinite, (x, y, z, yaw))):
        raise BadOption("--base", text, "give x,y,z,yaw in metres and radians")
    return x, y, z, yaw


def in_our_world(targets: Targets, base: Base) -> Targets:
    """Return poses in the frame of a base as poses in the world: p ↦ R p + b, q ↦ q_R q, R a turn by yaw about z."""
    *origin, yaw = base
    turn = np.array([math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)])
    places, turns = np.empty_like(targets.places), None if targets.turns is None else np.empty_like(targets.turns)
    for frame, place in enumerate(targets.places):
        mujoco.mju_rotVecQuat(places[frame], place, turn)
        if turns is not None and targets.turns is not None:
            mujoco.mju_mulQuat(turns[frame], turn, targets.turns[frame])
    return Targets(places + np.array(origin), turns)
