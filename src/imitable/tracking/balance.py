# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""The balance of forces of a movement: what its transitions need, and what a body, its contacts and its limits can give.

Nothing is simulated: mass, springs, damping, fluid and gravity are asked at the states (`mj_inverse`), and of contacts only
where they are and which way they can push. What is left over somebody else would have to push.
An adapter file: MuJoCo ships no types.
"""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from scipy.optimize import nnls

from imitable.robots.robot import Robot
from imitable.sim.kinematics import joint_space
from imitable.sim.objects import own_bodies, own_entries
from imitable.types import Bools, Floats, Ints

NEAR_M, NEAR_RAD = 0.02, 0.05
"""Geoms so near to each other can push each other within a step, and a joint so near to its limit can lean on it."""

FINE_S = 0.0125
"""Seconds between looks at a transition, about: in a step of 50 ms a foot comes and goes."""

ROUNDS, LOOK_AGAIN = 200, 10
"""Iterations of `_least` at most, and after how many those that are solved leave."""

SOLVED, CONVERGED = 0.1, 0.02
"""A transition is solved whose missing forces are below this part of their units, or hardly changed since the last look."""


ROOT_PART, HARDER, BATCHES = 1 / 30, 3, 12
"""Of `least_effort`: the root's part of the usual unit, how often it asks again, and how many batches of supports it tries."""


@dataclass(frozen=True, eq=False)
class Balance:
    """What T transitions of a movement need."""

    needed: Floats
    """(T, nv) generalised forces of motors, contacts and limits together: M q̈ + bias − passive, the mean of both ends."""
    supports: Floats
    """(T, n, nv) generalised forces that contacts, joint limits and equalities of either end give; any non-negative
    combination of them is possible. Rows of zeros fill up."""
    depths: Floats
    """(T + 1) metres that geoms are inside each other at the deepest contact; 0 if there is none."""


def balance(robot: Robot, states: Floats, *, sliding_ms: float = np.inf, own_near_m: float = NEAR_M) -> Balance:
    """(T + 1, S) → what the transitions need, q̈ = (q̇_{t+1} − q̇_t) / period, the mean over a step of M q̈ + bias − passive.

    A control step longer than `FINE_S` is looked at in between, too: on the cubic through both ends and their velocities.
    A contact is a pyramid of friction, whose edges are rows of MuJoCo's own constraint Jacobian; how hard it pushes is left
    open, because that depends on a penetration of micrometres, which no recording has. One that slides faster than
    `sliding_ms` along the surface can only push against the slip, with all of its friction. The robot's own links push each
    other if they are nearer than `own_near_m`: links that pass each other closely in a design never carry a load.
    """
    model, pieces = _wide_model(robot, own_near_m), max(1, round(robot.layout.period_s / FINE_S))
    data, nq, nv = mujoco.MjData(model), int(model.nq), int(model.nv)
    fine = _between(robot, states, pieces)
    steps = np.repeat(np.diff(states[:, nq:], axis=0) / robot.layout.period_s, pieces, axis=0)
    later = np.concatenate([steps, steps[-1:]])
    change = np.concatenate([np.zeros((1, nv)), later[:-1] - later[1:]])
    after, before = np.empty((2, len(fine), nv))
    rows, depths = list[Floats](), np.zeros(len(fine))
    qpos, qvel, qacc, inverse, constraint = data.qpos, data.qvel, data.qacc, data.qfrc_inverse, data.qfrc_constraint
    for t, state in enumerate(fine):
        qpos[:], qvel[:], qacc[:] = state[:nq], state[nq:], later[t]
        mujoco.mj_inverse(model, data)
        np.add(inverse, constraint, out=after[t])
        mujoco.mj_mulM(model, data, before[t], change[t])
        rows.append(_supports(data, nv, sliding_ms))
        if data.ncon and t % pieces == 0:
            depths[t] = max(0.0, -float(data.contact.dist.min()))
    before += after
    needed = ((after[:-1] + before[1:]) / 2).reshape(-1, pieces, nv).mean(axis=1)
    return Balance(needed, _packed(rows, nv, pieces), depths[::pieces])


def _between(robot: Robot, states: Floats, pieces: int) -> Floats:
    """(T + 1, S) → (T · pieces + 1, S) with states in between: positions on cubics, velocities on lines."""
    if pieces == 1:
        return states
    space, period = joint_space(robot), robot.layout.period_s
    here, there = states[:-1, space.nq :], states[1:, space.nq :]
    moved = space.difference(states[1:], states[:-1])[:, : space.nv]
    fine = np.repeat(states[:-1], pieces, axis=0)
    for piece in range(1, pieces):
        s = piece / pieces
        way = (3 * s**2 - 2 * s**3) * moved + period * ((s - 2 * s**2 + s**3) * here + (s**3 - s**2) * there)
        rows = fine[piece::pieces]
        for row, tangent in zip(rows, way, strict=True):
            mujoco.mj_integratePos(robot.model, row[: space.nq], tangent, 1.0)
        rows[:, space.nq :] = (1 - s) * here + s * there
    return np.concatenate([fine, states[-1:]])


def missing_forces(found: Balance, available: Floats, units: Floats) -> Floats:
    """(T, nv) the least forces that somebody else would have to exert.

    r = argmin ½ ‖r / units‖²  with  needed = supportsᵀ x + u + r,  x ≥ 0,  |u| ≤ available (nv)

    by accelerated projected gradients on x, with restarts, for all transitions at once; u is eliminated by clipping.
    """
    needed, limit = found.needed / units, available / units
    missing = _beyond(needed, limit)
    lacking = np.abs(missing).max(axis=1) > SOLVED
    for rows, count in _alike(found.supports, lacking):
        slim = _slim(found.supports[rows, :count]) / units
        missing[rows] = _least(needed[rows], slim, limit, missing[rows])
    return missing * units


def least_effort(found: Balance, available: Floats, arms: Floats, rows: Ints | None = None) -> Floats:
    """(T, nv) forces that actuators must exert where they drive, and that are missing where nothing does, at the least effort.

    f = needed − supportsᵀ x   with   x = argmin_{x ≥ 0} ‖f / unit‖²,

    unit = what actuators have (nv), and `ROOT_PART` of the usual one times `arms` (nv) where nothing drives, so that contacts
    carry the root first. Least squares may ask a joint for more than it has while others could help, so what is beyond its
    limit is weighed more, and solved again. `rows` are the transitions to look at; of the others f is needed as it is.
    """
    known = available[np.isfinite(available) & (available > 0)]
    usual = float(np.median(known)) if len(known) else max(1e-9, float(np.abs(found.needed).max(initial=0.0)))
    finite = np.where(np.isfinite(available), available, usual)
    units, forces = np.where(available > 0, finite, ROOT_PART * usual * arms), found.needed.copy()
    limits = np.where(available > 0, available, np.inf)
    chosen = range(len(forces)) if rows is None else rows.tolist()
    for row in chosen:
        used = found.supports[row][np.abs(found.supports[row]).sum(axis=1) > 0]
        if not len(used):
            continue
        weights, least = 1 / units, np.inf
        for _ in range(1 + HARDER):
            left = needed_after(used, found.needed[row], weights)
            beyond = np.abs(left) > limits
            excess = float((np.maximum(0.0, np.abs(left) - limits) / units)[available > 0].sum())
            if excess < least:
                forces[row], least = left, excess
            if not beyond.any():
                break
            weights = np.where(beyond, 3 * weights, weights)
    return forces


def needed_after(supports: Floats, needed: Floats, weights: Floats) -> Floats:
    """(n, nv), (nv), (nv) → (nv) needed − supportsᵀ x, x = argmin_{x ≥ 0} ‖weights (needed − supportsᵀ x)‖².

    Few of hundreds of supports push in the end: columns enter by how much they would help, a batch at a time.
    """
    columns = supports * weights
    columns /= np.maximum(np.linalg.norm(columns, axis=1, keepdims=True), 1e-30)
    goal = needed * weights
    rest, active = goal, np.zeros(0, np.int64)
    enough = 1e-6 * max(1e-12, float(np.linalg.norm(goal)))
    for _ in range(BATCHES):
        gains = columns @ rest
        gains[active] = 0
        best = np.argsort(-gains)[: len(needed)]
        best = best[gains[best] > enough]
        if not len(best):
            break
        active = np.concatenate([active, best])
        pushes, _ = nnls(columns[active].T, goal, maxiter=10 * len(active))
        rest, active = goal - pushes @ columns[active], active[pushes > 0]
    return rest / weights


def _alike(supports: Floats, chosen: Bools) -> Iterator[tuple[Ints, int]]:
    """(T, n, nv), (T) → those chosen that have supports, in groups of about as many, and the most that one of a group has.

    Few transitions have many supports: with all of them side by side, nine tenths of the work would be on rows of zeros.
    """
    used = np.abs(supports).sum(axis=2) > 0
    counts = np.where(chosen, (used * np.arange(1, used.shape[1] + 1)).max(axis=1), 0)
    doublings = np.ceil(np.log2(np.maximum(counts, 1)))
    for doubling in np.unique(doublings[counts > 0]):
        rows = np.flatnonzero((doublings == doubling) & (counts > 0))
        yield rows, int(counts[rows].max())


def _least(needed: Floats, slim: Floats, limit: Floats, missing: Floats) -> Floats:
    """(K, nv), (K, n, nv), (nv), (K, nv) what is missing without supports → (K, nv) with the best of them, all in units."""
    missing, live = missing.copy(), np.arange(len(needed))
    weights = momentum = np.zeros(slim.shape[:2])
    step, pace = _step(slim), 1.0
    for round_ in range(1, ROUNDS + 1):
        if not len(live):
            break
        gap = _beyond(needed[live] - _combined(slim, momentum), limit)
        stepped = np.maximum(0.0, momentum + step * np.matmul(slim, gap[:, :, None])[:, :, 0])
        turned = ((momentum - stepped) * (stepped - weights)).sum(axis=1, keepdims=True) > 0
        quicker = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        momentum = np.where(turned, stepped, stepped + (pace - 1) / quicker * (stepped - weights))
        weights, pace = stepped, quicker
        if round_ % LOOK_AGAIN == 0:
            rest = _beyond(needed[live] - _combined(slim, weights), limit)
            moved = np.abs(rest - missing[live]).max(axis=1)
            missing[live] = rest
            stay = (np.abs(rest).max(axis=1) > SOLVED) & (moved > CONVERGED)
            live, slim, step = live[stay], slim[stay], step[stay]
            weights, momentum = weights[stay], momentum[stay]
    return missing


def _step(slim: Floats) -> Floats:
    """(K, n, nv) → (K, 1) step size 1 / ‖AᵀA‖_∞, at most 1 / the largest curvature."""
    curvature = np.abs(np.matmul(slim.transpose(0, 2, 1), slim)).sum(axis=2).max(axis=1)
    return 1.0 / np.maximum(curvature, 1e-30)[:, None]


def _combined(slim: Floats, weights: Floats) -> Floats:
    """(K, n, nv), (K, n) → (K, nv) supportsᵀ x."""
    return np.matmul(weights[:, None], slim)[:, 0]


def _beyond(forces: Floats, limit: Floats) -> Floats:
    return forces - np.clip(forces, -limit, limit)


def _slim(supports: Floats) -> Floats:
    """Scale every row to length one, which changes nothing for a cone."""
    return supports / np.maximum(np.linalg.norm(supports, axis=2, keepdims=True), 1e-30)


def _supports(data: Any, nv: int, sliding_ms: float) -> Floats:
    """(n, nv) the rows of the constraint Jacobian that push one way, and those of equalities both ways."""
    count, equalities, friction = int(data.nefc), int(data.ne), int(data.nf)
    if not count:
        return np.zeros((0, nv))
    jacobian = data.efc_J[: count * nv].reshape(count, nv)
    if np.isfinite(sliding_ms):
        jacobian = jacobian.copy()
        speeds, firsts, dims = contact_slips(data, jacobian)
        for first, dim, slip in zip(firsts.tolist(), dims.tolist(), speeds, strict=True):
            if (speed := float(np.linalg.norm(slip))) > sliding_ms:
                edges = jacobian[first : first + 4]
                against = (edges[0] - edges[1]) * slip[0] / speed + (edges[2] - edges[3]) * slip[1] / speed
                jacobian[first] = (edges[0] + edges[1] - against) / 2
                jacobian[first + 1 : first + 2 * (dim - 1)] = 0
    one_way = jacobian[equalities + friction :].copy()
    if not equalities:
        return one_way
    both = jacobian[:equalities]
    return np.concatenate([one_way, both, -both])


def contact_slips(data: Any, jacobian: Floats) -> tuple[Floats, Ints, Ints]:
    """(nefc, nv) pyramid rows n ± μ t → of the K contacts with friction: (K, 2) slip in m/s, (K) first rows, (K) dimensions."""
    contact = data.contact
    firsts, dims = np.array(contact.efc_address), np.array(contact.dim)
    chosen = (firsts >= 0) & (dims >= 3)
    firsts, dims, friction = firsts[chosen], dims[chosen], np.array(contact.friction)[chosen, :2]
    speeds = jacobian @ data.qvel
    pairs = [speeds[firsts + 2 * axis] - speeds[firsts + 2 * axis + 1] for axis in range(2)]
    return np.stack(pairs, axis=1) / 2 / np.maximum(friction, 1e-9), firsts, dims


@dataclass(frozen=True, eq=False)
class Slips:
    """The fastest sliding contact of each of N states."""

    speeds: Floats
    """(N) m/s; 0 if nothing touches."""
    bodies: Ints
    """(N) the robot's body that slides; 0 if nothing touches."""


def slips(robot: Robot, states: Floats, touching_m: float) -> Slips:
    """(N, S) → how fast what is nearer than `touching_m` to its surroundings slides along them."""
    model, own = _wide_model(robot), own_bodies(robot)
    data, nq, nv = mujoco.MjData(model), int(model.nq), int(model.nv)
    speeds, bodies = np.zeros(len(states)), np.zeros(len(states), np.int64)
    for row, state in enumerate(states):
        data.qpos[:], data.qvel[:] = state[:nq], state[nq:]
        mujoco.mj_fwdPosition(model, data)
        if not data.ncon:
            continue
        found, _, _ = contact_slips(data, data.efc_J[: data.nefc * nv].reshape(data.nefc, nv))
        chosen = (np.array(data.contact.efc_address) >= 0) & (np.array(data.contact.dim) >= 3)
        pairs = np.array(model.geom_bodyid)[np.array(data.contact.geom)[chosen]]
        moving = own[pairs] & (np.array(model.body_weldid)[pairs] != 0)
        outer = (moving.sum(axis=1) == 1) & (np.array(data.contact.dist)[chosen] < touching_m)
        found = np.linalg.norm(found, axis=1) * outer
        if outer.any():
            place = int(found.argmax())
            speeds[row], bodies[row] = found[place], pairs[place][moving[place]][0]
    return Slips(speeds, bodies)


def _packed(rows: list[Floats], nv: int, pieces: int) -> Floats:
    """Rows of T · pieces + 1 states → (T, n, nv) those of all states of every transition."""
    ends = range(0, len(rows) - 1, pieces)
    joined = [np.concatenate(rows[first : first + pieces + 1]) for first in ends]
    packed = np.zeros((len(joined), max(1, *map(len, joined)), nv))
    for t, one in enumerate(joined):
        packed[t, : len(one)] = one
    return packed


def _wide_model(robot: Robot, own_near_m: float = NEAR_M) -> Any:
    """Return a copy of the model that sees contacts and limits before they are reached, as dense rows of pyramids."""
    model = copy.copy(robot.model)
    model.geom_margin[:] = model.body_margin[:] = NEAR_M
    links: Bools = own_bodies(robot) & (np.array(model.body_weldid) != 0)
    for body in reversed(range(1, model.nbody)):  # and the base that they stand on
        links[int(model.body_parentid[body])] |= links[body]
    links[0] = False
    model.geom_margin[links[np.array(model.geom_bodyid)]] = model.body_margin[links] = own_near_m
    model.geom_gap[:] = 0
    model.pair_margin[:], model.pair_gap[:] = NEAR_M, 0
    hinge = model.jnt_type == int(mujoco.mjtJoint.mjJNT_HINGE)
    ball = model.jnt_type == int(mujoco.mjtJoint.mjJNT_BALL)
    model.jnt_margin[:] = np.where(hinge | ball, NEAR_RAD, NEAR_M)
    model.opt.cone, model.opt.jacobian = mujoco.mjtCone.mjCONE_PYRAMIDAL, mujoco.mjtJacobian.mjJAC_DENSE
    model.opt.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_INVDISCRETE)
    return model


def friction_losses(robot: Robot) -> Floats:
    """(nv) dry friction of the joints, which resists either way like a motor of that strength."""
    return np.array(robot.model.dof_frictionloss, np.float64)


@dataclass(frozen=True, eq=False)
class Frame:
    """What carries a body: the degrees of freedom that nothing drives, and how heavy and wide it is."""

    translations: Bools
    """(nv) whether a degree of freedom moves in metres, not radians."""
    travel: Bools
    """(nv) translations of bodies that stand in the world, which nothing drives: the root's travel."""
    down: Floats
    """(nv) what gravity exerts on the root's travel; 0 elsewhere."""
    weight: float
    """Newtons of it; 0 for a body that is bolted down or lies in a plane."""
    radius: float
    """Radius of gyration about the centre of mass at the start, metres."""
    roots: Bools
    """(nv) all degrees of freedom of bodies that travel, turns included."""

    @property
    def arms(self) -> Floats:
        """(nv) 1, and the radius where a degree of freedom turns: a push there turns the body as a torque does."""
        return np.where(self.translations, 1.0, max(self.radius, 1e-3))


def frame(robot: Robot, driven: Bools) -> Frame:
    """Return how a body hangs in the world; `driven` (nv) says what its actuators move.

    Objects do not count. Of several bodies that nothing joins, the heaviest that can travel is meant.
    """
    model = robot.model
    data = mujoco.MjData(model)
    data.qpos[:] = robot.start[: model.nq]
    mujoco.mj_forward(model, data)
    slides, roots = _translations(model)
    own_dofs = own_entries(robot)[model.nq :]
    travel, owners = roots & ~driven & own_dofs, np.array(model.body_rootid)[np.array(model.dof_bodyid)]
    trees = sorted(set(owners[travel].tolist() or owners.tolist()), key=lambda root: float(model.body_subtreemass[root]))
    down = np.where(travel & (owners == trees[-1]), -np.array(data.qfrc_bias), 0.0)
    own = np.array(model.body_rootid) == trees[-1]
    masses, places = np.array(model.body_mass)[own], np.array(data.xipos)[own]
    centre = masses @ places / masses.sum()
    spread = float(masses @ np.square(places - centre).sum(axis=1) + np.array(model.body_inertia)[own].sum() / 2)
    bodies = np.array(model.dof_bodyid)
    turns = np.isin(bodies, bodies[travel]) & ~driven
    return Frame(slides, travel, down, float(np.linalg.norm(down)), float(np.sqrt(spread / masses.sum())), turns)


def _translations(model: Any) -> tuple[Bools, Bools]:
    """(nv), (nv) which degrees of freedom are translations, and which of these belong to bodies that stand in the world."""
    slides, roots = np.zeros((2, model.nv), bool)
    widths = {int(mujoco.mjtJoint.mjJNT_FREE): 3, int(mujoco.mjtJoint.mjJNT_SLIDE): 1}
    for joint, kind in enumerate(model.jnt_type.tolist()):
        first, body = int(model.jnt_dofadr[joint]), int(model.jnt_bodyid[joint])
        dofs: Ints = np.arange(first, first + widths.get(kind, 0))
        slides[dofs] = True
        roots[dofs] = int(model.body_parentid[body]) == 0
    return slides, roots
