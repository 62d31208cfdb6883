# SPDX-License-Identifier: MIT
"""Many small convex quadratic programs with bounds at once.

By hand: solvers of the field (OSQP, daqp) take one program a call, which costs more than simulating it; all rows at once in
NumPy cost a few microseconds a program.
"""

import numpy as np

from imitable.types import Floats

SWEEPS = 20
"""Passes over the variables; programs of a handful of variables converge in fewer."""


def minimise(hessian: Floats, gradient: Floats, low: Floats, high: Floats) -> Floats:
    """Return argmin ½ xᵀ H x + gᵀ x with low ≤ x ≤ high, row by row, by coordinate descent.

    Coordinate i is set to its minimiser given the others, x_i = clip(x_i − (H x + g)_i / H_ii), which converges for positive
    definite H.

    Shapes: hessian (N, A, A) positive definite, gradient, low, high (N, A); returns (N, A).
    """
    x = np.clip(np.zeros_like(gradient), low, high)
    slope = gradient + np.einsum("nij,nj->ni", hessian, x)
    for _ in range(SWEEPS):
        for i in range(gradient.shape[1]):
            wanted = x[:, i] - slope[:, i] / hessian[:, i, i]
            new = np.minimum(np.maximum(wanted, low[:, i]), high[:, i])  # np.clip costs twice as much on short rows
            slope += hessian[:, :, i] * (new - x[:, i])[:, None]
            x[:, i] = new
    return x
