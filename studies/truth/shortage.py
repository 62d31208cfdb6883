# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""How far any possible motion must stay from one that needs more torque than there is: a linear program.

    min ε   with  |δq_j(k)| ≤ ε · tolerance,  δv(k+1) = δv(k) + h δa(k),  δq(k+1) = δq(k) + h δv(k+1)
    and     τ_min ≤ τ(k) + ∂τ/∂q δq(k) + ∂τ/∂v δv(k) + M δa(k) ≤ τ_max

at the frames of a window around the worst shortage, which may begin anywhere inside the tube: a lower bound of the deviation,
to first order in it. An adapter file: MuJoCo and SciPy ship no types.
"""

import mujoco
import numpy as np
from scipy.optimize import linprog
from scipy.sparse import block_diag, bmat, csr_array, eye_array, hstack, kron, vstack

from imitable.types import Floats
from studies.truth.body import Body

TOLERANCE_RAD, TOLERANCE_M = 0.1, 0.02
"""Tolerance of a joint that turns, and of one that slides."""

CELLS = 300
"""Frames × joints of the program, about: more would take seconds each."""


def smallest_deviation(body: Body, states: Floats, accelerations: Floats) -> tuple[float, float, int]:
    """Return ε, the largest torque ratio, and the joint (its place in `body.joints`) that lacks the most."""
    torques = body.required(states, accelerations)
    ratios = body.torque_ratio(torques)
    worst, joint = np.unravel_index(int(np.argmax(ratios)), ratios.shape)
    ratio = float(ratios[worst, joint])
    if ratio <= 1:
        return 0.0, ratio, int(joint)
    window = min(len(states), max(30, CELLS // len(body.joints)))
    over = np.flatnonzero(ratios.max(axis=1) > 1)
    near = over[np.abs(over - worst) < window // 2]
    middle = round(float(near[0] + near[-1]) / 2)
    begin = max(0, min(middle - window // 2, len(states) - window))
    rows = slice(begin, begin + window)
    return _program(body, states[rows], accelerations[rows], torques[rows]), ratio, int(joint)


def _program(body: Body, states: Floats, accelerations: Floats, torques: Floats) -> float:
    """Solve the program; variables are δq (K·J), δv (K·J), δa (K·J) and ε. NaN if the solver gives up."""
    frames, joints = len(states), len(body.joints)
    size, h = frames * joints, body.period
    before, after = (kron(csr_array(np.eye(frames)[rows]), eye_array(joints)) for rows in (slice(-1), slice(1, None)))
    none = csr_array((size - joints, size))
    motion = bmat(
        [[none, after - before, -h * before, None], [after - before, -h * after, none, csr_array((size - joints, 1))]]
    )
    needed = hstack([block_diag(list(part)) for part in _derivatives(body, states, accelerations)] + [csr_array((size, 1))])
    low, high = np.tile(body.torques.T, (1, frames))
    width = np.tile(np.where(body.turning, TOLERANCE_RAD, TOLERANCE_M), frames)
    away = hstack([eye_array(size), csr_array((size, 2 * size))])
    tube = csr_array(-width[:, None])
    rows = vstack([needed, -needed, hstack([away, tube]), hstack([-away, tube])]).tocsr()
    room = np.concatenate([high - torques.ravel(), torques.ravel() - low, np.zeros(2 * size)])
    limited = np.isfinite(room)
    cost, bounds = np.zeros(3 * size + 1), [(None, None)] * (3 * size) + [(0, None)]
    cost[-1] = 1
    solved = linprog(cost, rows[limited], room[limited], motion, np.zeros(2 * (size - joints)), bounds, method="highs-ipm")
    return float(solved.fun) if solved.status == 0 else float("nan")


def _derivatives(body: Body, states: Floats, accelerations: Floats) -> tuple[Floats, Floats, Floats]:
    """Return (K, J, J) derivatives of the required torque by position, velocity and acceleration."""
    nq, dofs, step = body.model.nq, body.dofs, 1e-5
    data = mujoco.MjData(body.free)
    stiffness, damping, inertia = (np.empty((len(states), len(dofs), len(dofs))) for _ in range(3))
    for k, (state, qacc) in enumerate(zip(states, accelerations, strict=True)):
        base = body.inverse(data, state, qacc)[dofs]
        inertia[k] = body.inertia(state[:nq])[np.ix_(dofs, dofs)]
        for i, (position, dof) in enumerate(zip(body.positions, dofs, strict=True)):
            for out, place in ((stiffness, position), (damping, nq + dof)):
                moved = state.copy()
                moved[place] += step
                out[k, :, i] = (body.inverse(data, moved, qacc)[dofs] - base) / step
    return stiffness, damping, inertia
