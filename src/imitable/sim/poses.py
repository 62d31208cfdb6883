# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""Where the parts of a body are in given states, how large it is, and how far joints stand beyond their limits.

An adapter file: MuJoCo ships no types.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import mujoco
import numpy as np

from imitable.errors import BadOption, one_of
from imitable.robots.robot import Robot
from imitable.sim.objects import own_bodies
from imitable.types import Floats, Ints, frozen


def point_names(robot: Robot) -> tuple[str, ...]:
    """Return the robot's bodies that can move, by name, or by number where they have none; objects are not of the robot."""
    own = own_bodies(robot)
    return tuple(name for name, place in _places(robot).items() if place < len(own) and own[place])


def positions(robot: Robot, states: Floats, points: Sequence[str] | None = None) -> Floats:
    """(…, S) → (…, B, 3) where the centres of B bodies, or B sites, are in the world, metres; None: of all of `point_names`.

    Centres of mass, not frames: the frame of a pendulum's body is where it hangs, and never moves. NaN states give NaN.
    About 2 µs a state: a plain loop of `mj_kinematics` is faster than MuJoCo's batch, whose position stage collides, too.
    """
    chosen, model = _chosen(robot, points), robot.model
    data, flat = mujoco.MjData(model), states.reshape(-1, states.shape[-1])[:, : robot.model.nq]
    found = np.empty((len(flat), model.nbody + model.nsite, 3))
    bodies, sites = found[:, : model.nbody], found[:, model.nbody :]
    qpos, centres, site_positions = data.qpos, data.xipos, data.site_xpos
    for row, state in enumerate(flat):
        qpos[:] = state
        mujoco.mj_kinematics(model, data)
        bodies[row], sites[row] = centres, site_positions
    # MuJoCo would read a quaternion of NaN as no rotation
    found[~np.isfinite(flat).all(axis=1)] = np.nan
    return found[:, chosen].reshape(*states.shape[:-1], len(chosen), 3)


def tool_poses(robot: Robot, states: Floats) -> Floats:
    """(N, S) → (N, 7) where an arm's tool is, metres, and how it is turned, a quaternion (w, x, y, z)."""
    assert robot.tool is not None, robot
    model, site = robot.model, int(robot.model.site(robot.tool.site).id)
    data, poses = mujoco.MjData(model), np.empty((len(states), 7))
    for row, state in enumerate(states):
        data.qpos[:] = state[: model.nq]
        mujoco.mj_kinematics(model, data)
        poses[row, :3] = data.site_xpos[site]
        mujoco.mju_mat2Quat(poses[row, 3:], data.site_xmat[site])
    return poses


def _chosen(robot: Robot, points: Sequence[str] | None) -> Ints:
    places = _places(robot)
    names = point_names(robot) if points is None else points
    for name in names:
        if name not in places:
            raise BadOption("points", name, one_of(name, places))
    return np.array([places[name] for name in names], np.int64)


@lru_cache(maxsize=64)
def _places(robot: Robot) -> dict[str, int]:
    """Return the place of every moving body and every site among all; a body goes before a site of the same name."""
    model = robot.model
    moving = [index for index in range(1, model.nbody) if int(model.body_weldid[index])]
    bodies = {str(model.body(index).name) or f"body{index}": index for index in moving}
    sites = {str(model.site(index).name): int(model.nbody) + index for index in range(model.nsite)}
    return bodies | {name: place for name, place in sites.items() if name and name not in bodies}


@lru_cache(maxsize=64)
def size(robot: Robot) -> float:
    """Return the longest side of the box around the body's geoms at its start, metres, without objects."""
    model = robot.model
    data = mujoco.MjData(model)
    data.qpos[:] = robot.start[: model.nq]
    mujoco.mj_kinematics(model, data)
    bodies, own = model.geom_bodyid.tolist(), own_bodies(robot)
    moving = [geom for geom, body in enumerate(bodies) if own[body] and int(model.body_weldid[body])]
    corners = np.concatenate([_corners(model, data, geom) for geom in moving])
    return float((corners.max(axis=0) - corners.min(axis=0)).max())


def _corners(model: Any, data: Any, geom: int) -> Floats:
    """(8, 3) the corners of a geom's own box in the world."""
    centre, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
    signs = np.array(list(product((-1.0, 1.0), repeat=3)))
    return data.geom_xpos[geom] + (centre + signs * half) @ data.geom_xmat[geom].reshape(3, 3).T


@dataclass(frozen=True, eq=False)
class LimitedJoints:
    """The J joints of a body that have limits."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    """Radians or metres."""
    entries: Ints
    """(J) their first state entries."""
    balls: tuple[bool, ...]
    """Whether a joint limits the angle of a rotation, whatever the axis."""
    ranges: Floats
    """(J, 2) lowest and highest position."""

    def excess(self, states: Floats) -> Floats:
        """(N, S) → (N, J) how far joints stand beyond their ranges, 0 inside."""
        values = states[:, self.entries]
        for joint in np.flatnonzero(self.balls).tolist():
            first = int(self.entries[joint])
            vector = np.linalg.norm(states[:, first + 1 : first + 4], axis=1)
            values[:, joint] = 2 * np.arctan2(vector, np.abs(states[:, first]))
        low, high = self.ranges.T
        return np.maximum(0.0, np.maximum(low - values, values - high))


@lru_cache(maxsize=64)
def limited_joints(robot: Robot) -> LimitedJoints:
    """Return the joints of a body that have limits."""
    model = robot.model
    joints = np.flatnonzero(model.jnt_limited).tolist()
    kinds = [int(model.jnt_type[joint]) for joint in joints]
    return LimitedJoints(
        names=tuple(str(model.joint(joint).name) or f"joint{joint}" for joint in joints),
        units=tuple("m" if kind == int(mujoco.mjtJoint.mjJNT_SLIDE) else "rad" for kind in kinds),
        entries=frozen(model.jnt_qposadr[joints], np.int64),
        balls=tuple(kind == int(mujoco.mjtJoint.mjJNT_BALL) for kind in kinds),
        ranges=frozen(np.array(model.jnt_range[joints]).reshape(-1, 2)),
    )


def plausible_amplitudes(robot: Robot) -> Floats:
    """(nv) half of what joints move over: half their range, one radian, or half the body's size in metres without a range."""
    model, amplitudes = robot.model, np.ones(robot.model.nv)
    for joint, kind in enumerate(model.jnt_type.tolist()):
        first = int(model.jnt_dofadr[joint])
        slides = {int(mujoco.mjtJoint.mjJNT_FREE): 3, int(mujoco.mjtJoint.mjJNT_SLIDE): 1}.get(kind, 0)
        amplitudes[first : first + slides] = size(robot) / 2
        if model.jnt_limited[joint] and kind != int(mujoco.mjtJoint.mjJNT_BALL):
            amplitudes[first] = float(np.diff(model.jnt_range[joint])[0]) / 2
    return amplitudes


def uprights(robot: Robot, states: Floats) -> Floats:
    """(…, S) → (…, 3) where the direction of the first moving body that was up at the start points now, a unit vector."""
    model, root = robot.model, _places(robot)[point_names(robot)[0]]
    data, flat = mujoco.MjData(model), states.reshape(-1, states.shape[-1])[:, : robot.model.nq]
    data.qpos[:] = robot.start[: model.nq]
    mujoco.mj_kinematics(model, data)
    up = np.array(data.xmat[root]).reshape(3, 3)[2].copy()
    rotations = np.empty((len(flat), 9))
    qpos, matrices = data.qpos, data.xmat
    for row, state in enumerate(flat):
        qpos[:] = state
        mujoco.mj_kinematics(model, data)
        rotations[row] = matrices[root]
    rotations[~np.isfinite(flat).all(axis=1)] = np.nan
    return (rotations.reshape(-1, 3, 3) @ up).reshape(*states.shape[:-1], 3)


@dataclass(frozen=True)
class JointColumns:
    """Which of the nv degrees of freedom belong together."""

    turning: tuple[tuple[int, ...], ...]
    """Of every hinge one, of every ball or free joint three: an angle is the length of their difference."""
    names: tuple[str, ...]
    """Of the turning joints."""
    sliding: tuple[int, ...]
    """Slide joints, and three of every free joint."""


@lru_cache(maxsize=64)
def joint_columns(robot: Robot) -> JointColumns:
    """Return which degrees of freedom of a body turn and which slide; those of objects are left out."""
    own = own_bodies(robot)
    model, turning, names, sliding = robot.model, list[tuple[int, ...]](), list[str](), list[int]()
    slides = {int(mujoco.mjtJoint.mjJNT_FREE): 3, int(mujoco.mjtJoint.mjJNT_SLIDE): 1}
    turns = {int(mujoco.mjtJoint.mjJNT_FREE): 3, int(mujoco.mjtJoint.mjJNT_BALL): 3, int(mujoco.mjtJoint.mjJNT_HINGE): 1}
    for joint, kind in enumerate(model.jnt_type.tolist()):
        if not own[model.jnt_bodyid[joint]]:
            continue
        first = int(model.jnt_dofadr[joint])
        middle = first + slides.get(kind, 0)
        sliding += range(first, middle)
        if kind in turns:
            turning.append(tuple(range(middle, middle + turns[kind])))
            names.append(str(model.joint(joint).name) or f"joint{joint}")
    return JointColumns(tuple(turning), tuple(names), tuple(sliding))
