# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""What states say of a body, by its geometry alone: how two differ, joints beyond their limits, geoms inside each other.

An adapter file: MuJoCo ships no types.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import mujoco
import numpy as np

from imitable.robots.family import TOOL_ENTRIES
from imitable.robots.robot import Robot
from imitable.sim.inverse_kinematics import moved_tools, posed
from imitable.sim.poses import positions
from imitable.types import Bools, Floats, Ints, frozen

SLACK = 0.01
"""A joint may stand beyond its range by this part of its span: MuJoCo's limits are springs and give way a little."""

DEPTH_M = 0.005
"""Geoms may sink into each other so deep: MuJoCo's contacts are springs, too."""


@dataclass(frozen=True, eq=False)
class StateSpace:
    """The states of a body, S = nq + nv entries each, and how two of them differ, in 2 nv entries.

    Free and ball joints write their rotation as a quaternion: four entries on a sphere, of which q and −q are the same
    rotation, and recorders change from one to the other. Differences therefore live in the tangent space, where a rotation has
    three entries. On bodies without such joints nq = nv, and a difference is s − t to the last bit.
    """

    nq: int
    """Position entries."""
    nv: int
    """Velocity entries, the degrees of freedom."""
    quaternions: tuple[int, ...]
    """First entry of every quaternion."""
    origin: Floats
    """(S) the state of coordinates zero: zeros, and the rotations of the body's start."""

    @property
    def size(self) -> int:
        """2 nv, the entries of a difference."""
        return 2 * self.nv

    def difference(self, states: Floats, targets: Floats) -> Floats:
        """(…, S), (…, S) → (…, 2 nv) states − targets: of positions as `mj_differentiatePos`, of velocities entry by entry.

        A rotation's three entries are log(q_t⁻¹ q_s), the angle times the axis that turns the target into the state, seen from
        the target's body, by the shorter way.
        """
        if not self.quaternions:
            return states - targets
        entries, tangents = self._plain
        gap = np.empty((*np.broadcast_shapes(states.shape, targets.shape)[:-1], self.size))
        gap[..., tangents] = states[..., entries] - targets[..., entries]
        for first, tangent in self._rotations:
            turn = slice(first, first + 4)
            gap[..., tangent : tangent + 3] = _rotation_between(targets[..., turn], states[..., turn])
        return gap

    def moved(self, states: Floats, differences: Floats) -> Floats:
        """(…, S), (…, 2 nv) → (…, S) the states that differ so much from `states`: the inverse of `difference`."""
        if not self.quaternions:
            return states + differences
        entries, tangents = self._plain
        there = states.copy()
        there[..., entries] += differences[..., tangents]
        for first, tangent in self._rotations:
            turn = slice(first, first + 4)
            there[..., turn] = _turned(states[..., turn], differences[..., tangent : tangent + 3])
        return there

    def coordinates(self, states: Floats) -> Floats:
        """(…, S) → (…, 2 nv) states as differences from the origin: what a network or a distance sees of them.

        They are the states themselves on bodies without quaternions, and do not depend on the signs of quaternions.
        """
        return self.difference(states, self.origin) if self.quaternions else states

    def one_sign(self, states: Floats) -> Floats:
        """(N, S) → (N, S) the same states with one of the two signs of every quaternion: its first entry is positive."""
        return one_sign(self.quaternions, states)

    def tangent(self, entries: Bools) -> Bools:
        """(S) which state entries are meant → (2 nv) which entries of a difference: of a rotation all, if one is meant."""
        plain, tangents = self._plain
        mask = np.zeros(self.size, bool)
        mask[tangents] = entries[plain]
        for first, tangent in self._rotations:
            mask[tangent : tangent + 3] = entries[first : first + 4].any()
        return mask

    def names(self, entries: Sequence[str]) -> tuple[str, ...]:
        """Return the names of a difference's 2 nv entries, by those of the S state entries."""
        plain, tangents = self._plain
        names = dict(zip(tangents.tolist(), (entries[int(entry)] for entry in plain), strict=True))
        for first, tangent in self._rotations:
            joint = entries[first].rpartition("_")[0]
            names |= {tangent + axis: f"{joint}_rotation_{letter}" for axis, letter in enumerate("xyz")}
        return tuple(names[tangent] for tangent in range(self.size))

    @cached_property
    def _rotations(self) -> tuple[tuple[int, int], ...]:
        """Every quaternion's first state entry, and the first of its three entries in a difference."""
        return tuple((first, first - before) for before, first in enumerate(self.quaternions))

    @cached_property
    def _plain(self) -> tuple[Ints, Ints]:
        """Entries of a state that are subtracted as they are, and where they stand in a difference."""
        turned = {first + entry for first, _ in self._rotations for entry in range(4)}
        tangents = {tangent + axis for _, tangent in self._rotations for axis in range(3)}
        return (
            np.array([entry for entry in range(self.nq + self.nv) if entry not in turned], np.int64),
            np.array([entry for entry in range(self.size) if entry not in tangents], np.int64),
        )


@dataclass(frozen=True, eq=False)
class ToolSpace(StateSpace):
    """The states of an arm as its work sees them: two differ by where their tools are, in 3 entries, metres."""

    robot: Robot
    """The arm."""

    @property
    def size(self) -> int:
        """3."""
        return 3

    def difference(self, states: Floats, targets: Floats) -> Floats:
        """(…, S), (…, S) → (…, 3) from the targets' tools to the states'."""
        return self.coordinates(states) - self.coordinates(targets)

    def moved(self, states: Floats, differences: Floats) -> Floats:
        """(…, S), (…, 3) → (…, S) states whose tools are displaced so much, as far as the arm can."""
        flat = states.reshape(-1, states.shape[-1])
        there = moved_tools(self.robot, flat, differences.reshape(-1, 3), steps=3)
        return there.reshape(states.shape)

    def coordinates(self, states: Floats) -> Floats:
        """(…, S) → (…, 3) where the tools are."""
        assert self.robot.tool is not None
        return positions(self.robot, states, (self.robot.tool.site,))[..., 0, :]

    def tangent(self, entries: Bools) -> Bools:
        """(3) → (3): entries of the tool are those of a difference."""
        return entries

    def names(self, entries: Sequence[str]) -> tuple[str, ...]:
        """Return the names of the three entries."""
        del entries
        return TOOL_ENTRIES


def entry_names(robot: Robot) -> tuple[str, ...]:
    """Return the names of what states are compared by: their entries, or those of the tool."""
    return robot.layout.state if robot.tool is None else TOOL_ENTRIES


@lru_cache(maxsize=64)
def state_space(robot: Robot) -> StateSpace:
    """Return the space in which a robot's states are compared: that of its joints, or of its tool."""
    joints = joint_space(robot)
    if robot.tool is None:
        return joints
    return ToolSpace(joints.nq, joints.nv, joints.quaternions, joints.origin, robot)


@lru_cache(maxsize=64)
def joint_space(robot: Robot) -> StateSpace:
    """Return the space of a robot's positions and velocities."""
    places, origin = quaternions(robot), np.zeros(len(robot.start))
    for first in places:
        origin[first : first + 4] = robot.start[first : first + 4]
    return StateSpace(int(robot.model.nq), int(robot.model.nv), places, frozen(origin))


def _rotation_between(begin: Floats, end: Floats) -> Floats:
    """(…, 4), (…, 4) → (…, 3) log(begin⁻¹ end) = angle · axis, angle ≤ π."""
    begin, end = np.broadcast_arrays(begin, end)
    scalar = (begin * end).sum(axis=-1, keepdims=True)
    vector = begin[..., :1] * end[..., 1:] - end[..., :1] * begin[..., 1:] - np.cross(begin[..., 1:], end[..., 1:])
    sign = _sign(np.concatenate([scalar, vector], axis=-1))
    sine = np.linalg.norm(vector, axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        # angle ÷ sine of its half is 2 where there is no angle
        ratio = np.where(sine > 0, 2 * np.arctan2(sine, sign * scalar) / sine, 2.0)
    return sign * ratio * vector


def _sign(quaternions: Floats) -> Floats:
    """(…, 4) → (…, 1) the sign of the first entry that is not zero: of q and −q it makes one."""
    first = np.take_along_axis(quaternions, (quaternions != 0).argmax(axis=-1)[..., None], axis=-1)
    return np.where(first < 0, -1.0, 1.0)


def _turned(quaternions: Floats, vectors: Floats) -> Floats:
    """(…, 4), (…, 3) → (…, 4): q ∘ exp(v), turned by |v| about v as the body sees it."""
    angles = np.linalg.norm(vectors, axis=-1, keepdims=True)
    axis = 0.5 * np.sinc(angles / (2 * np.pi)) * vectors  # sin(|v|/2) v / |v|
    w, x, y, z = np.moveaxis(quaternions, -1, 0)
    a, (b, c, d) = np.cos(angles[..., 0] / 2), np.moveaxis(axis, -1, 0)
    product = (w * a - x * b - y * c - z * d, w * b + x * a + y * d - z * c)
    return np.stack([*product, w * c - x * d + y * a + z * b, w * d + x * c - y * b + z * a], axis=-1)


def beyond_limits(robot: Robot, states: Floats) -> Bools:
    """(N, S) → (N) whether any limited joint stands beyond its range by more than `SLACK` of its span."""
    model, beyond = robot.model, np.zeros(len(states), bool)
    for joint in np.flatnonzero(model.jnt_limited).tolist():
        place = int(model.jnt_qposadr[joint])
        low, high = model.jnt_range[joint].tolist()
        if int(model.jnt_type[joint]) == int(mujoco.mjtJoint.mjJNT_BALL):
            # a ball joint limits the angle of its rotation, whatever the axis
            vector = np.linalg.norm(states[:, place + 1 : place + 4], axis=1)
            positions = 2 * np.arctan2(vector, np.abs(states[:, place]))
        else:
            positions = states[:, place]
        slack = SLACK * (high - low)
        beyond |= (positions < low - slack) | (positions > high + slack)
    return beyond


def within_limits(robot: Robot, states: Floats) -> Floats:
    """(N, S) → (N, S): joints that stand beyond their range by more than `SLACK` of its span are put at its end.

    Limits are soft, so that less is part of many movements; ball joints are left as they are. An arm takes the pose of its own
    whose tool is nearest.
    """
    if robot.tool is not None:
        return posed(robot, states)
    model, moved = robot.model, states.copy()
    for joint in np.flatnonzero(model.jnt_limited).tolist():
        if int(model.jnt_type[joint]) == int(mujoco.mjtJoint.mjJNT_BALL):
            continue
        place = int(model.jnt_qposadr[joint])
        low, high = model.jnt_range[joint].tolist()
        slack = SLACK * (high - low)
        beyond = (states[:, place] < low - slack) | (states[:, place] > high + slack)
        moved[beyond, place] = np.clip(states[beyond, place], low, high)
    return moved


def own_starts(robot: Robot, states: Floats) -> Floats:
    """(N, S) → (N, S) demonstrated states as an imitator begins in them: as they are, or, of an arm, in a pose of its own."""
    return states if robot.tool is None else posed(robot, states)


def penetrating(robot: Robot, states: Floats) -> Bools:
    """(N, S) → (N) whether two geoms that can touch each other are inside each other by more than `DEPTH_M`."""
    model = robot.model
    data = mujoco.MjData(model)
    deep = np.empty(len(states), bool)
    for row, state in enumerate(states):
        data.qpos[:] = state[: model.nq]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        deep[row] = bool((data.contact.dist < -DEPTH_M).any())
    return deep


def one_sign(places: Sequence[int], states: Floats) -> Floats:
    """(N, S) → (N, S) with every quaternion q written as that of q and −q, the same rotation, whose first entry is positive.

    `places` are the first entries of the quaternions.
    """
    signed = states.copy()
    for first in places:
        signed[:, first : first + 4] *= _sign(states[:, first : first + 4])
    return signed


def quaternions(robot: Robot) -> tuple[int, ...]:
    """Return the first state entry of every quaternion: of free and of ball joints."""
    model = robot.model
    offsets = {int(mujoco.mjtJoint.mjJNT_FREE): 3, int(mujoco.mjtJoint.mjJNT_BALL): 0}
    joints = zip(model.jnt_type.tolist(), model.jnt_qposadr.tolist(), strict=True)
    return tuple(place + offsets[kind] for kind, place in joints if kind in offsets)


def signed_like(places: Sequence[int], states: Floats, targets: Floats) -> Floats:
    """(…, S), (…, S) → (…, S) targets with every quaternion written as that of q and −q which is nearer to the state's.

    Recorders may change the sign from one frame to the next; the rotation is the same.
    """
    if not places:
        return targets
    signed = np.array(np.broadcast_to(targets, np.broadcast_shapes(states.shape, targets.shape)))
    for first in places:
        part = slice(first, first + 4)
        dot = (states[..., part] * signed[..., part]).sum(axis=-1, keepdims=True)
        signed[..., part] *= np.where(dot < 0, -1.0, 1.0)
    return signed
