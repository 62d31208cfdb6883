# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""Joint data of another arm: where its hand was, by forward kinematics, and the joints of ours that put its hand there.

An adapter file: MuJoCo ships no types.
"""

import math
from dataclasses import dataclass

import mujoco
import numpy as np

from imitable.demos.conversion.body import Poses, sites_of
from imitable.errors import BadOption, one_of
from imitable.robots.robot import Robot
from imitable.types import Floats

STEPS = 60
"""Steps a frame, at most."""
DAMPING = 1e-4
"""Of the least squares, to begin with: singular poses cost accuracy rather than leaps."""
CLOSE = 1e-6
"""Metres and radians at which a frame is reached."""
TURN_M = 0.1
"""Metres that a radian of the hand counts as."""


@dataclass(frozen=True)
class OtherArm:
    """The arm that the data are of, and where its hand and base are."""

    robot: Robot
    """Its model; the data's joints are mapped onto it."""
    site: str
    """Site that stands for the hand, in both models."""
    base: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    """Where its base stands in the imitator's world: x, y, z in metres and yaw in radians."""


@dataclass(frozen=True, eq=False)
class Reached:
    """Positions of our arm, and how far its hand stayed from the other's."""

    qpos: Floats
    """(n, nq)."""
    gap_m: float
    """The farthest."""
    turn: float
    """The largest angle between the two hands."""


def check_other(other: OtherArm, ours: Robot) -> None:
    """Refuse a site that one of the two lacks."""
    for robot in (other.robot, ours):
        names = sites_of(robot)
        if other.site not in names:
            raise BadOption("--site", other.site, f"{robot} has no such site; {one_of(other.site, filter(None, names))}")


def base_of(text: str) -> tuple[float, float, float, float]:
    """Return `x,y,z,yaw` as numbers."""
    try:
        x, y, z, yaw = (float(part) for part in text.split(","))
    except ValueError:
        raise BadOption("--base", text, "give x,y,z,yaw in metres and radians") from None
    if not all(map(math.isfinite, (x, y, z, yaw))):
        raise BadOption("--base", text, "give x,y,z,yaw in metres and radians")
    return x, y, z, yaw


def follow_hand(other: OtherArm, ours: Robot, qpos: Floats) -> Reached:
    """(n, nq of the other) → joints of ours that put its hand where the other's was, frame after frame.

    Damped least squares, Δq = Jᵀ (J Jᵀ + λ I)⁻¹ e, from the frame before, joints kept within their ranges. What cannot be
    reached is approached: how near is said.
    """
    theirs, poses = Poses(other.robot), Poses(ours)
    now, rows = ours.start[: ours.layout.nq].copy(), np.empty((len(qpos), ours.layout.nq))
    gaps = np.empty((len(qpos), 2))
    for frame, pose in enumerate(qpos):
        place, turn = _in_our_world(other, *theirs.site(other.site, pose))
        now = _reach(poses, other.site, now, place, turn)
        error = _error(poses, other.site, now, place, turn)
        rows[frame], gaps[frame] = now, (np.linalg.norm(error[:3]), np.linalg.norm(error[3:]) / TURN_M)
    return Reached(rows, float(gaps[:, 0].max()), float(gaps[:, 1].max()))


def _in_our_world(other: OtherArm, place: Floats, turn: Floats) -> tuple[Floats, Floats]:
    x, y, z, yaw = other.base
    base, turned, moved = np.array([math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)]), np.empty(4), np.empty(3)
    mujoco.mju_mulQuat(turned, base, turn)
    mujoco.mju_rotVecQuat(moved, place, base)
    return moved + np.array([x, y, z]), turned


def _error(poses: Poses, site: str, qpos: Floats, place: Floats, turn: Floats) -> Floats:
    """(6) what the hand lacks: metres, and radians times `TURN_M`, in the world's frame."""
    here, rotation = poses.site(site, qpos)
    inverse, between, vector = np.empty(4), np.empty(4), np.empty(3)
    mujoco.mju_negQuat(inverse, rotation)
    mujoco.mju_mulQuat(between, turn, inverse)
    mujoco.mju_quat2Vel(vector, between, 1.0)
    return np.concatenate([place - here, TURN_M * vector])


def _reach(poses: Poses, site: str, begin: Floats, place: Floats, turn: Floats) -> Floats:
    """(nq) → (nq) by Levenberg and Marquardt: a step that does not help is tried again with ten times the damping."""
    now, error, damping = begin.copy(), _error(poses, site, begin, place, turn), DAMPING
    for _ in range(STEPS):
        if np.linalg.norm(error) < CLOSE or damping > 1e3:
            break
        _error(poses, site, now, place, turn)  # the Jacobian is that of the pose here
        moved = _stepped(poses, site, now, error, damping)
        after = _error(poses, site, moved, place, turn)
        if np.linalg.norm(after) < np.linalg.norm(error):
            now, error, damping = moved, after, max(damping / 10, 1e-12)
        else:
            damping *= 10
    return now


def _stepped(poses: Poses, site: str, now: Floats, error: Floats, damping: float) -> Floats:
    model, data = poses.model, poses.data
    jacobian = np.empty((6, model.nv))
    mujoco.mj_comPos(model, data)
    mujoco.mj_jacSite(model, data, jacobian[:3], jacobian[3:], model.site(site).id)
    jacobian[3:] *= TURN_M
    step = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + damping * np.eye(6), error)
    moved = now.copy()
    mujoco.mj_integratePos(model, moved, step, 1.0)
    limited = np.flatnonzero(model.jnt_limited)
    spots = model.jnt_qposadr[limited]
    moved[spots] = np.clip(moved[spots], model.jnt_range[limited, 0], model.jnt_range[limited, 1])
    return moved
