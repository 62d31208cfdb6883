# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""Bounds on every motion in a tube around a demonstration: forces and travel that no such motion can do without.

A motion q with |q − q*| ≤ δ may have any acceleration at an instant, but not on average. With the triangle of half-width h,

    ∫ k(s) q̈(t + s) ds = (q(t + h) − 2 q(t) + q(t − h)) / h²,

which differs from that of the demonstration q* by 4 δ / h² at most. What the mean needs beyond this slack, no motion in the
tube does without. Noise ε of the recorder counts as 4 ε / h², not as its second derivative.
An adapter file: MuJoCo ships no types.
"""

import copy
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from imitable.robots.robot import Robot
from imitable.sim.kinematics import joint_space
from imitable.sim.objects import own_bodies
from imitable.tracking.balance import Frame
from imitable.types import Bools, Floats, Ints

HALF_WIDTHS_S = (0.05, 0.08, 0.12, 0.18, 0.25, 0.35, 0.5, 0.7, 1.0)
"""Half-widths h of the windows that are tried."""

MARGIN = 1.1
"""The mean need must exceed what there is by this factor: inertia changes a little within a window."""

REACH = 1.25
"""What is within so many tolerances of the robot could hold it: links turn as well as move."""


@dataclass(frozen=True, eq=False)
class Bound:
    """What every motion in the tube lacks around each of T transitions."""

    certain: Bools
    """(T) whether it lacks anything."""
    worst: Ints
    """(T) the degree of freedom that lacks most, or 0."""
    sizes: Floats
    """(T) its mean need, Nm or N; or the least distance to a possible path, metres."""
    ratios: Floats
    """(T) need ÷ what there is, or distance ÷ tolerance; 0 where nothing is certain."""


def torque_bound(robot: Robot, states: Floats, limits: Floats, tube: Floats, pushed: Bools) -> Bound:
    """(T + 1, S) → joints that lack torque in every motion within `tube` (nv), by at most `limits` (nv) of their own.

    τ_i = M_i q̈ + c_i + g_i + d_i q̇; its mean over a triangle may differ by 4/h² Σ_j |M_ij| δ_j + 2/h d_i δ_i + |c_i| + the
    change of gravity and springs in the tube. `pushed` (T, nv) marks where contacts, stops or equalities may push: nothing is
    certain there.
    """
    period, steps = robot.layout.period_s, len(states) - 1
    nothing = Bound(np.zeros(steps, bool), np.zeros(steps, np.int64), np.zeros(steps), np.zeros(steps))
    if steps < 3 or robot.model.opt.density or robot.model.opt.viscosity or not np.isfinite(limits).any():
        return nothing
    need = _needs(robot, states, tube)
    certain, ratios = nothing.certain.copy(), np.zeros((steps, len(limits)))
    sizes = np.zeros_like(ratios)
    blocked = pushed[1:] | pushed[:-1]  # at the inner states
    damping = np.array(robot.model.dof_damping).reshape(len(limits), -1)[:, 0]
    for k in _half_widths(period, steps - 1):
        h, centres = k * period, np.arange(k - 1, steps - k)
        mean, inertia, swirl = (_triangle(rows, k) for rows in (need.forces, need.inertia, need.swirl))
        slack = MARGIN * (4 / h**2 * inertia + 2 / h * damping * tube) + swirl
        free = ~_any_within(blocked, k)
        lacking = (np.abs(mean) > MARGIN * limits + slack) & free
        rows = np.flatnonzero(lacking.any(axis=1))
        if len(rows):
            slack[rows] += _gravity_slack(robot, states[1:-1][centres[rows]], tube)
            lacking &= np.abs(mean) > MARGIN * limits + slack
        part = np.where(lacking, np.abs(mean) / np.maximum(limits, 1e-9), 0.0)
        known = certain.copy()
        for row in np.flatnonzero(lacking.any(axis=1)).tolist():
            middle = int(centres[row]) + 1
            if known[middle - k : middle + k].any():  # a narrower window says better where it is
                continue
            here = slice(middle - (k + 1) // 2, middle + (k + 1) // 2)
            certain[here] = True
            better = part[row] > ratios[here]
            ratios[here] = np.where(better, part[row], ratios[here])
            sizes[here] = np.where(better, np.abs(mean[row]), sizes[here])
    worst, each = ratios.argmax(axis=1), np.arange(steps)
    return Bound(certain, worst, sizes[each, worst], ratios[each, worst])


@dataclass(frozen=True, eq=False)
class _Needs:
    """Of the n inner states."""

    forces: Floats
    """(n, nv) M q̈ + bias − passive, with q̈ from positions alone."""
    inertia: Floats
    """(n, nv) Σ_j |M_ij| δ_j."""
    swirl: Floats
    """(n, nv) size of the forces that are quadratic in the velocities."""


def _needs(robot: Robot, states: Floats, tube: Floats) -> _Needs:
    model, space, period = robot.model, joint_space(robot), robot.layout.period_s
    data, nq, nv = mujoco.MjData(model), int(model.nq), int(model.nv)
    moved = space.difference(states[1:], states[:-1])[:, :nv] / period
    speeds, accelerations = (moved[1:] + moved[:-1]) / 2, np.diff(moved, axis=0) / period
    forces, inertia, swirl = np.empty((3, len(speeds), nv))
    unit, column, at_rest = np.eye(nv), np.empty(nv), np.empty(nv)
    for t, state in enumerate(states[1:-1]):
        data.qpos[:], data.qvel[:], data.qacc[:] = state[:nq], speeds[t], accelerations[t]
        mujoco.mj_inverse(model, data)
        forces[t] = data.qfrc_inverse + data.qfrc_constraint
        inertia[t], swirl[t] = 0, data.qfrc_bias
        for dof in np.flatnonzero(tube).tolist():
            mujoco.mj_mulM(model, data, column, unit[dof])
            inertia[t] += np.abs(column) * tube[dof]
        data.qvel[:] = 0
        mujoco.mj_rne(model, data, 0, at_rest)
        swirl[t] = np.abs(swirl[t] - at_rest)
    return _Needs(forces, inertia, swirl)


def _gravity_slack(robot: Robot, states: Floats, tube: Floats) -> Floats:
    """(n, S) → (n, nv) how much gravity and springs may change in the tube: Σ_j |change along δ_j|."""
    model = robot.model
    data, nq, nv = mujoco.MjData(model), int(model.nq), int(model.nv)
    slack = np.zeros((len(states), nv))
    for row, state in enumerate(states):
        here = _still(model, data, state[:nq])
        for dof in range(nv):
            step, qpos = np.zeros(nv), state[:nq].copy()
            step[dof] = min(tube[dof], 1.0)
            mujoco.mj_integratePos(model, qpos, step, 1.0)
            slack[row] += np.abs(_still(model, data, qpos) - here)
    return slack


def _still(model: Any, data: Any, qpos: Floats) -> Floats:
    """(nq) → (nv) forces that hold a body still."""
    data.qpos[:], data.qvel[:] = qpos, 0
    mujoco.mj_fwdPosition(model, data)
    mujoco.mj_fwdVelocity(model, data)
    return np.array(data.qfrc_bias - data.qfrc_passive)


def path_bound(robot: Robot, states: Floats, hung: Frame, tolerance_m: float) -> tuple[Bound, Bools]:
    """(T + 1, S) → where the centre of mass leaves every path that gravity and contacts allow; (T) where nothing is in reach.

    Links within δ put the centre of mass within δ, too. a = its mean acceleration − gravity must be in the cone of the contacts
    that are within reach, |a_xy| ≤ κ a_z, or zero if none is; the distance of a from it is h²/4 times that of the path.
    """
    period, steps = robot.layout.period_s, len(states) - 1
    certain, free, best = np.zeros(steps, bool), np.zeros(steps, bool), np.zeros(steps)
    axes = _free_axes(robot.model, hung)
    if axes.any() and steps >= 2:
        centres, cones = _surroundings(robot, states, REACH * tolerance_m)
        gravity = np.array(robot.model.opt.gravity)
        free = np.maximum(cones[1:], cones[:-1]) < 0
        for k in _half_widths(period, steps):
            h = k * period
            mean = (centres[2 * k :] - 2 * centres[k:-k] + centres[: -2 * k]) / h**2 - gravity
            away = _from_cone(np.where(axes, mean, 0.0), _largest_within(cones, 2 * k + 1)) * h**2 / 4
            known = certain.copy()
            for row in np.flatnonzero(away > tolerance_m).tolist():
                if known[row : row + 2 * k].any():
                    continue
                here = slice(row + k - (k + 1) // 2, row + k + (k + 1) // 2)
                certain[here] = True
                best[here] = np.maximum(best[here], away[row])
    return Bound(certain, np.zeros(steps, np.int64), best, best / tolerance_m), free


def _free_axes(model: Any, hung: Frame) -> Bools:
    """(3) the directions of the world in which nothing but gravity and contacts acts on the root; none if anything else may."""
    dofs, axes = np.flatnonzero(hung.travel), np.zeros(3, bool)
    springy = np.array(model.dof_armature)[dofs].any() or np.array(model.dof_damping).reshape(model.nv, -1)[dofs].any()
    held = np.array(model.jnt_stiffness).reshape(model.njnt, -1)[np.array(model.dof_jntid)[dofs]].any()
    if not len(dofs) or springy or held or model.neq or model.ntendon or model.opt.density or model.opt.viscosity:
        return axes
    for dof in dofs.tolist():
        joint = int(model.dof_jntid[dof])
        if int(model.jnt_type[joint]) == int(mujoco.mjtJoint.mjJNT_FREE):
            axes[:] = True
        else:
            axes |= np.abs(np.array(model.jnt_axis[joint])) > 0.999
    return axes


def _surroundings(robot: Robot, states: Floats, reach_m: float) -> tuple[Floats, Floats]:
    """(N, S) → (N, 3) centres of mass, and (N) κ of what is in reach: −1 nothing, ∞ if it can push in any direction."""
    model = copy.copy(robot.model)
    moving: Bools = own_bodies(robot) & (np.array(model.body_weldid) != 0)
    others = ~moving[np.array(model.geom_bodyid)]
    model.geom_margin[others], model.geom_gap[others], model.body_margin[~moving] = reach_m, 0, reach_m
    fixed, masses = np.array(model.body_weldid) == 0, np.array(model.body_mass) * moving
    data, nq = mujoco.MjData(model), int(model.nq)
    centres, cones = np.empty((len(states), 3)), np.full(len(states), -1.0)
    for row, state in enumerate(states):
        data.qpos[:] = state[:nq]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_collision(model, data)
        centres[row] = masses @ data.xipos / masses.sum()
        if not data.ncon:
            continue
        bodies: Ints = np.array(model.geom_bodyid)[np.array(data.contact.geom)]
        mine = moving[bodies]
        outer = mine.any(axis=1) & ~mine.all(axis=1)
        if outer.any():
            other = np.where(mine[:, 0], bodies[:, 1], bodies[:, 0])[outer]
            up = (np.where(mine[:, 0], -1, 1) * np.array(data.contact.frame)[:, 2])[outer]
            friction = np.array(data.contact.friction)[outer, 0]
            cones[row] = np.where(fixed[other], _cone(up, friction), np.inf).max()
    return centres, cones


def _cone(up: Floats, friction: Floats) -> Floats:
    """(n) vertical parts of normals, (n) → (n) the largest ratio of a sideways to an upward push; ∞ if one may push down."""
    side = np.sqrt(np.maximum(0.0, 1 - up**2))
    least = up - friction * side
    return np.where(least > 1e-6, (side + friction * up) / np.maximum(least, 1e-6), np.inf)


def _from_cone(vectors: Floats, cones: Floats) -> Floats:
    """(n, 3), (n) κ → (n) distance of a vector from {|xy| ≤ κ z}, from 0 if κ < 0; 0 if κ is infinite."""
    side, up = np.linalg.norm(vectors[:, :2], axis=1), vectors[:, 2]
    slope = np.where(np.isfinite(cones) & (cones >= 0), cones, 0.0)
    beside = np.maximum(0.0, (side - slope * up) / np.sqrt(1 + slope**2))
    outside = np.where(slope * side <= -up, np.linalg.norm(vectors, axis=1), beside)
    return np.where(cones < 0, np.linalg.norm(vectors, axis=1), np.where(np.isinf(cones), 0.0, outside))


def quickest(robot: Robot, states: Floats, available: Floats) -> Floats:
    """(N, S), (nv) forces → (nv) largest accelerations that actuators can give, Σ_j |M⁻¹|_ij available_j, at some states."""
    model = robot.model
    data, nq, nv = mujoco.MjData(model), int(model.nq), int(model.nv)
    known, column, most = np.minimum(available, 1e12), np.empty((1, nv)), np.zeros(nv)
    for state in states[:: max(1, len(states) // 8)]:
        data.qpos[:] = state[:nq]
        mujoco.mj_fwdPosition(model, data)
        found = np.zeros(nv)
        for dof in np.flatnonzero(known).tolist():
            mujoco.mj_solveM(model, data, column, np.eye(nv)[dof : dof + 1])
            found += np.abs(column[0]) * known[dof]
        most = np.maximum(most, found)
    return np.where(most < 1e9, most, np.inf)


def overshoots(robot: Robot, moved: Floats) -> Floats:
    """(T, nv) changes of positions → (T, J) how far joints may go past their stops: speed times the stop's time constant.

    A stop is a spring. The largest speed of the transitions just before counts.
    """
    model = robot.model
    joints = np.flatnonzero(model.jnt_limited)
    constants = np.array(model.jnt_solref)[joints, 0]
    dofs = np.array(model.jnt_dofadr)[joints]
    speeds = np.abs(moved[:, dofs]) / robot.layout.period_s
    before = np.lib.stride_tricks.sliding_window_view(np.pad(speeds, ((3, 0), (0, 0))), 4, axis=0).max(axis=-1)
    return before * np.where(constants > 0, constants, 0.02)


def excess_travel(positions: Floats, most: float, slack: float) -> list[tuple[int, int, float]]:
    """(T + 1) positions → first and last + 1 transition, and travel, of stretches farther than `most` a step allows by > slack.

    A motion within δ of positions that go D in n steps goes at least D − 2 δ: with slack 2 δ none in the tube is that slow.
    """
    found: list[tuple[int, int, float]] = []
    for sign in (1.0, -1.0):
        total, peak, begin, end = 0.0, 0.0, 0, 0
        for step, gain in enumerate([*(sign * np.diff(positions) - most).tolist(), -np.inf]):
            if total == 0:
                begin = step
            total = max(0.0, total + gain)
            if total > peak:
                peak, end = total, step + 1
            if total == 0:
                if peak > slack:
                    found.append((begin, end, float(abs(positions[end] - positions[begin]))))
                peak = 0.0
    return sorted(found)


def _half_widths(period: float, most: int) -> list[int]:
    """Return half-widths in steps, each once, whose windows fit into so many intervals."""
    widths = sorted({max(1, round(seconds / period)) for seconds in HALF_WIDTHS_S})
    return [k for k in widths if 2 * k <= most]


def _triangle(rows: Floats, k: int) -> Floats:
    """(n, c) → (n − 2 k + 2, c) means with weights (k − |j|) / k²."""
    return _box(_box(rows, k), k)


def _box(rows: Floats, k: int) -> Floats:
    sums = np.concatenate([np.zeros((1, rows.shape[1])), np.cumsum(rows, axis=0)])
    return (sums[k:] - sums[:-k]) / k


def _any_within(marked: Bools, k: int) -> Bools:
    """(n, c) → (n − 2 k + 2, c) whether any entry of a triangle's window is true."""
    sums = np.concatenate([np.zeros((1, marked.shape[1])), np.cumsum(marked, axis=0)])
    return (sums[2 * k - 1 :] - sums[: -(2 * k - 1)]) > 0


def _largest_within(rows: Floats, width: int) -> Floats:
    """(n) → (n − width + 1) largest entries of windows."""
    return np.lib.stride_tricks.sliding_window_view(rows, width).max(axis=-1)
