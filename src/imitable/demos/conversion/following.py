# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""Joints that put a robot's hand where it should be, frame after frame: inverse kinematics within the joints' ranges.

An adapter file: MuJoCo ships no types.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from imitable.demos.conversion.body import WIDTHS, Joint, Poses, joints_of
from imitable.robots.robot import Robot
from imitable.seeding import generator
from imitable.sim.inverse_kinematics import tool_chain
from imitable.types import Bools, Floats, Ints

STEPS = 60
"""Steps a frame, at most."""
DAMPING = 1e-4
"""Of the least squares, to begin with: singular poses cost accuracy rather than leaps."""
STUCK = 1e6
"""Damping at which no step helps any more."""
SLOW = 1e-4
"""If a step takes less than this part of what is missing, and so does the next, no more is to be had."""
CLOSE = 1e-9
"""Metres, and radians times `TURN_M`, at which a frame is reached."""
NEAR = 1e-4
"""A frame that is as near is not tried again from elsewhere."""
TURN_M = 0.1
"""Metres that a radian of the hand counts as."""
STARTS = 8
"""Places from which the first frame is tried, if it cannot be reached from the robot's start."""
NUDGES = 2
"""Times that a frame which cannot be reached from the one before is tried from beside it: a stretched arm must bend."""
NUDGE = 0.05
"""Radians or metres of that."""


@dataclass(frozen=True, eq=False)
class Targets:
    """Where the hand should be, in the robot's world."""

    places: Floats
    """(n, 3) metres."""
    turns: Floats | None = None
    """(n, 4) unit quaternions (w, x, y, z); None: the hand may be turned as it likes."""


@dataclass(frozen=True, eq=False)
class Reached:
    """Positions of the robot, and how far its hand stayed from where it should be."""

    qpos: Floats
    """(n, nq)."""
    gaps_m: Floats
    """(n) metres."""
    turns: Floats
    """(n) radians; 0 where any turn is right."""

    @property
    def gap_m(self) -> float:
        """The farthest."""
        return float(self.gaps_m.max())

    @property
    def turn(self) -> float:
        """The largest angle."""
        return float(self.turns.max())


def following_joints(robot: Robot, site: str) -> tuple[Joint, ...]:
    """Return the joints that move a hand: of an arm with a tool those with a servo, else all but free ones.

    A free joint is an object's, or the root of a body that stands: neither goes where a hand wants it.
    """
    model, chain = robot.model, set[int]()
    body = int(model.site_bodyid[model.site(site).id])
    while body:
        chain.add(body)
        body = int(model.body_parentid[body])
    driven = set(range(model.nv) if robot.tool is None else tool_chain(robot).columns.tolist())
    carried = [joint for joint, body in zip(joints_of(robot), model.jnt_bodyid.tolist(), strict=True) if body in chain]
    return tuple(joint for joint in carried if joint.kind != "free" and joint.velocity in driven)


def position_limits(robot: Robot) -> tuple[Floats, Floats]:
    """Return the lowest and the highest of every position entry, (nq) each; ±∞ where there is no range."""
    low, high = np.full(robot.layout.nq, -np.inf), np.full(robot.layout.nq, np.inf)
    for joint in joints_of(robot):
        if joint.single:
            low[joint.position], high[joint.position] = joint.low, joint.high
    return low, high


def follow(robot: Robot, site: str, targets: Targets, rows: Floats, joints: Sequence[Joint], *, apart: bool = False) -> Reached:
    """Put the hand at every target in turn, beginning from the frame before: argmin_q ‖e(q)‖, low ≤ q ≤ high.

    e is where the hand lacks: (3) metres, or (6) with radians times `TURN_M`. What cannot be reached is approached.

    Args:
        robot: whose hand it is.
        site: that stands for the hand.
        targets: n of them.
        rows: (n, nq) positions: those that the data say; joints that follow begin as in the first row.
        joints: that follow; the others are as `rows` say.
        apart: frames are no movement; each is tried like a first one.
    """
    follower = _Follower(robot, site, joints)
    qpos, gaps = np.empty_like(rows), np.zeros((len(rows), 2))
    now = rows[0].copy()
    for frame, row in enumerate(rows):
        target = targets.places[frame], None if targets.turns is None else targets.turns[frame]
        now = follower.nearest(follower.moved_onto(row, now), *target, first=apart or frame == 0)
        error = follower.error(now, *target)
        qpos[frame], gaps[frame] = now, (_length(error[:3]), _length(error[3:]) / TURN_M)
    return Reached(qpos, gaps[:, 0], gaps[:, 1])


def _length(vector: Floats) -> float:
    return math.sqrt(float(vector @ vector))


class _Follower:
    """Damped least squares on one robot."""

    def __init__(self, robot: Robot, site: str, joints: Sequence[Joint]) -> None:
        self._poses, self._site = Poses(robot), site
        self._model, self._id = robot.model, int(robot.model.site(site).id)
        self._spots = [joint.position + k for joint in joints for k in range(WIDTHS[joint.kind][0])]
        self._columns = [joint.velocity + k for joint in joints for k in range(WIDTHS[joint.kind][1])]
        singles = [joint for joint in joints if joint.single]
        self._single: Ints = np.array([joint.position for joint in singles], np.int64)
        self._single_column: Ints = np.array([self._columns.index(joint.velocity) for joint in singles], np.int64)
        self._low, self._high = (limit[self._single] for limit in position_limits(robot))

    def moved_onto(self, row: Floats, now: Floats) -> Floats:
        """(nq), (nq) → the row, with joints that follow as they are now."""
        begin = row.copy()
        begin[self._spots] = now[self._spots]
        begin[self._single] = np.clip(begin[self._single], self._low, self._high)
        return begin

    def nearest(self, begin: Floats, place: Floats, turn: Floats | None, *, first: bool) -> Floats:
        """(nq) → (nq) from where it begins; if that does not reach, from elsewhere (the first frame) or beside it."""
        best = self._reach(begin, place, turn)
        gap = _length(self.error(best, place, turn))
        for start in self._others(begin, first=first):
            if gap < NEAR:
                break
            found = self._reach(start, place, turn)
            after = _length(self.error(found, place, turn))
            if after < gap - NEAR:
                best, gap = found, after
        return best

    def _others(self, begin: Floats, *, first: bool) -> Iterator[Floats]:
        rng = generator(0, "following", "first" if first else "next")
        low, high = self._low, self._high
        for _ in range(STARTS if first else NUDGES):
            start, here = begin.copy(), begin[self._single]
            if first:
                bounded = np.isfinite(low + high)
                start[self._single] = rng.uniform(np.where(bounded, low, here - 3), np.where(bounded, high, here + 3))
            else:
                start[self._single] = np.clip(here + rng.uniform(-NUDGE, NUDGE, len(here)), low, high)
            yield start

    def error(self, qpos: Floats, place: Floats, turn: Floats | None) -> Floats:
        """(3), or (6) with a turn: what the hand lacks, metres, and radians times `TURN_M`, in the world's frame."""
        here, rotation = self._poses.site(self._site, qpos)
        if turn is None:
            return place - here
        inverse, between, vector = np.empty(4), np.empty(4), np.empty(3)
        mujoco.mju_negQuat(inverse, rotation)
        mujoco.mju_mulQuat(between, turn, inverse)
        mujoco.mju_quat2Vel(vector, between, 1.0)
        return np.concatenate([place - here, TURN_M * vector])

    def _reach(self, begin: Floats, place: Floats, turn: Floats | None) -> Floats:
        """(nq) → (nq) by Levenberg and Marquardt: a step that does not help is tried again with ten times the damping."""
        now, error, damping = begin.copy(), self.error(begin, place, turn), DAMPING
        jacobian, size, slow = self._jacobian(len(error)), _length(error), 0
        for _ in range(STEPS):
            if size < CLOSE or damping > STUCK or slow > 1:
                break
            moved = self._stepped(now, jacobian, error, damping)
            after = self.error(moved, place, turn)
            if (left := _length(after)) < size:
                slow = slow + 1 if left > (1 - SLOW) * size else 0
                now, error, size, damping = moved, after, left, max(damping / 10, 1e-12)
                jacobian = self._jacobian(len(error))
            else:
                damping *= 10
        return now

    def _jacobian(self, rows: int) -> Floats:
        """(rows, F) of the error by the joints that follow, at the pose that was asked for last."""
        model, data, jacobian = self._model, self._poses.data, np.empty((6, self._model.nv))
        mujoco.mj_comPos(model, data)
        mujoco.mj_jacSite(model, data, jacobian[:3], jacobian[3:], self._id)
        jacobian[3:] *= TURN_M
        return jacobian[:rows, self._columns]

    def _stepped(self, now: Floats, jacobian: Floats, error: Floats, damping: float) -> Floats:
        """Δq = Jᵀ (J Jᵀ + λ I)⁻¹ e; joints that would pass their stops go there and no farther, the others make up for it."""
        here, low, high = now[self._single], self._low, self._high
        step, held = np.zeros(len(self._columns)), np.zeros(len(self._columns), np.bool_)
        for _ in range(len(self._columns) + 1):
            free = jacobian * ~held
            left = error - jacobian @ np.where(held, step, 0.0)
            step = np.where(held, step, free.T @ np.linalg.solve(free @ free.T + damping * np.eye(len(error)), left))
            wanted = here + step[self._single_column]
            stopped: Bools = ((wanted < low) | (wanted > high)) & ~held[self._single_column]
            if not stopped.any():
                break
            step[self._single_column] = np.where(stopped, np.clip(wanted, low, high) - here, step[self._single_column])
            held[self._single_column] |= stopped
        whole, moved = np.zeros(self._model.nv), now.copy()
        whole[self._columns] = step
        mujoco.mj_integratePos(self._model, moved, whole, 1.0)
        moved[self._single] = np.clip(moved[self._single], low, high)
        return moved
