# SPDX-License-Identifier: MIT
"""The best action towards a wanted next state, asked of the simulator, for many states in one native batch.

minimise over a in the control range:  e(a)² = ‖(f(s, a) − g) / scale‖² / S,   f one control step of the imitator.

Contact makes the error a landscape with several valleys, so each problem starts from several candidates (zero, the previous
action, the action of `mj_inverse`, random ones), and the best few are polished by damped Gauss–Newton steps inside the bounds.
"""

from dataclasses import dataclass

import numpy as np

from imitable.dynamics.variant import Variant
from imitable.sim.batch import Batch
from imitable.tracking.box_qp import minimise
from imitable.tracking.inverse import inverse_actions
from imitable.types import Floats, Ints

DAMPINGS = (1e-3, 3e-2, 1.0)
"""Every Gauss–Newton step is tried with each of these shares of diag(JᵀJ) on the diagonal."""


@dataclass(frozen=True)
class Solver:
    """How hard to look."""

    random: int = 5
    """Random starts beside zero, the previous action and the inverse one."""
    polished: int = 2
    """How many of the best starts are polished."""
    iterations: int = 4
    """Gauss–Newton steps."""
    difference: float = 0.02
    """Step of the finite differences, in half control ranges: contact is not smooth, so a small step sees noise."""


@dataclass(frozen=True)
class Solved:
    """Best actions for N problems."""

    actions: Floats
    """(N, A)."""
    reached: Floats
    """(N, S) the states they lead to."""
    errors: Floats
    """(N) remaining error e(a)."""
    spent: int
    """Simulated control steps."""


class Lanes:
    """Simulations of the imitator that try candidates: row = problem, column = candidate."""

    def __init__(self, variant: Variant, scale: Floats, threads: int = 1) -> None:
        """Remember the body and the scale (S) of the residual; batches are made on demand and kept."""
        self.variant, self.scale, self._threads = variant, scale, threads
        low, high = variant.control_range
        self.centre, self.half = (low + high) / 2, (high - low) / 2
        self._batches: dict[int, Batch] = {}
        self.spent = 0

    def reach(self, states: Floats, units: Floats) -> Floats:
        """(N, S), (N, K, A) in half control ranges → (N, K, S) states one control step later; NaN where MuJoCo gave up."""
        n, k, actions = units.shape
        batch = self._batches.setdefault(n * k, Batch(self.variant, n * k, self._threads))
        batch.set_state(np.repeat(states, k, axis=0))
        failed = batch.step(self.centre + self.half * units.reshape(n * k, actions))
        reached = batch.states
        reached[failed] = np.nan
        self.spent += n * k
        return reached.reshape(n, k, -1)

    def residuals(self, reached: Floats, targets: Floats) -> Floats:
        """(N, K, S), (N, S) → (N, K, S) standardised residuals, so that e² = mean of squares; huge where MuJoCo gave up."""
        gap = (reached - targets[:, None]) / (self.scale * np.sqrt(len(self.scale)))
        return np.where(np.isfinite(gap), gap, 1e3)


def solve(lanes: Lanes, solver: Solver, states: Floats, targets: Floats, previous: Floats, rng: np.random.Generator) -> Solved:
    """Return the best action for every row of states (N, S), targets (N, S); previous (N, A) are the actions just taken."""
    before = lanes.spent
    units, reached = _starts(lanes, solver, states, targets, previous, rng)
    errors = np.linalg.norm(lanes.residuals(reached, targets), axis=2)
    chosen = np.argsort(errors, axis=1)[:, : solver.polished]
    units, reached = _pick(units, chosen), _pick(reached, chosen)
    for _ in range(solver.iterations):
        units, reached = _polished(lanes, solver, states, targets, units, reached)
    errors = np.linalg.norm(lanes.residuals(reached, targets), axis=2)
    best = np.argmin(errors, axis=1)[:, None]
    return Solved(
        actions=lanes.centre + lanes.half * _pick(units, best)[:, 0],
        reached=_pick(reached, best)[:, 0],
        errors=np.take_along_axis(errors, best, axis=1)[:, 0],
        spent=lanes.spent - before,
    )


def _starts(
    lanes: Lanes, solver: Solver, states: Floats, targets: Floats, previous: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return the start candidates (N, K, A), in half control ranges, and where they lead."""
    n, actions = previous.shape
    inverse = (inverse_actions(lanes.variant, states, targets) - lanes.centre) / lanes.half
    drawn = rng.uniform(-1, 1, (n, solver.random, actions))
    known = np.stack([np.zeros((n, actions)), (previous - lanes.centre) / lanes.half, np.clip(inverse, -1, 1)], axis=1)
    units = np.concatenate([known, drawn], axis=1)
    return units, lanes.reach(states, units)


def _polished(
    lanes: Lanes, solver: Solver, states: Floats, targets: Floats, units: Floats, reached: Floats
) -> tuple[Floats, Floats]:
    """Take one Gauss–Newton step from every candidate (N, P, A), with several dampings; keep what is best."""
    n, p, actions = units.shape
    residual = lanes.residuals(reached, targets)
    jacobian = _jacobian(lanes, solver, states, targets, units, residual)
    normal = np.einsum("npsa,npsb->npab", jacobian, jacobian).reshape(n * p, actions, actions)
    gradient = np.einsum("npsa,nps->npa", jacobian, residual).reshape(n * p, actions)
    flat = units.reshape(n * p, actions)
    diagonal = np.einsum("iaa->ia", normal)
    tries: list[Floats] = []
    for damping in DAMPINGS:
        ridge = damping * diagonal + 1e-9 + 1e-6 * diagonal.max(axis=1, keepdims=True)
        hessian = normal + ridge[:, :, None] * np.eye(actions)
        tries.append(flat + minimise(hessian, gradient, -1 - flat, 1 - flat))
    candidates = np.clip(np.stack(tries, axis=1), -1, 1).reshape(n, p * len(DAMPINGS), actions)
    found = lanes.reach(states, candidates).reshape(n * p, len(DAMPINGS), -1)
    options = np.concatenate([reached.reshape(n * p, 1, -1), found], axis=1)
    all_units = np.concatenate([flat[:, None], candidates.reshape(n * p, len(DAMPINGS), actions)], axis=1)
    errors = np.linalg.norm(lanes.residuals(options, np.repeat(targets, p, axis=0)), axis=2)
    best = np.argmin(errors, axis=1)[:, None]
    return _pick(all_units, best).reshape(n, p, actions), _pick(options, best).reshape(n, p, -1)


def _jacobian(lanes: Lanes, solver: Solver, states: Floats, targets: Floats, units: Floats, residual: Floats) -> Floats:
    """(N, P, A) → (N, P, S, A) one-sided differences of the residual, away from the nearer bound."""
    n, p, actions = units.shape
    step = np.where(units > 0, -solver.difference, solver.difference)
    moved = units[:, :, None, :] + step[:, :, :, None] * np.eye(actions)
    reached = lanes.reach(states, moved.reshape(n, p * actions, actions))
    changed = lanes.residuals(reached, targets).reshape(n, p, actions, -1)
    return np.moveaxis((changed - residual[:, :, None]) / step[..., None], 2, 3)


def _pick(array: Floats, columns: Ints) -> Floats:
    """(N, K, D), (N, J) → (N, J, D)."""
    return np.take_along_axis(array, columns[:, :, None], axis=1)
