# SPDX-License-Identifier: MIT
"""Shadowing: the best action of every demonstrated transition, and the feedback that keeps a rollout near them.

At every demonstrated state the solver looks for the action u_t that leads nearest to the next one, y_t = f(x_t, u_t), all
transitions side by side. About these, with finite differences of f,

    δ_{t+1} = A_t δ_t + B_t v_t + c_t,   c_t = y_t ⊖ x_{t+1},   minimise Σ ‖δ_t / scale‖² + ‖v_t / ease‖²

is solved by one Riccati sweep, backwards, and u_t + K_t δ_t + k_t is carried out. Greed makes every step as exact as it can and
drifts; this gives up some of the exactness of a step for the steps that follow.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from imitable import seeding
from imitable.sim.kinematics import joint_space
from imitable.tracking.solver import Lanes, Solver, solve
from imitable.types import Floats, Ints

EASES = (0.3, 1.0, 0.1)
"""Deviations of an action, in half control ranges, that cost as much as one scale of the state; one after the other."""

NUDGE = 0.02
"""Step of the finite differences: in scales of the state, and in half control ranges (`Lanes.bands` of servos)."""


LARGEST = 1e12
"""Bound on the costs of a sweep, so that it stays solvable."""

RESTART_BUDGET, SOLVED, HOPELESS = 300, 0.01, 0.95
"""Simulated steps of new beginnings per transition, and between which parts of the error of doing nothing they are made."""


@dataclass(frozen=True, eq=False)
class Linearised:
    """T transitions of a demonstration, linearised on the imitator."""

    units: Floats
    """(T, A) best actions, in half control ranges."""
    by_state: Floats
    """(T, 2 nv, 2 nv) A."""
    by_action: Floats
    """(T, 2 nv, A) B."""
    defects: Floats
    """(T, 2 nv) c: where the best actions lead, less where the demonstration goes."""

    @staticmethod
    def joined(parts: Sequence["Linearised"]) -> "Linearised":
        """Return several segments one after the other."""
        return Linearised(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Linearised)))


def linearised(lanes: Lanes, scale: Floats, states: Floats, guess: Floats | None = None) -> Linearised:
    """(T + 1, S) → its T transitions.

    Args:
        lanes: simulations of the imitator.
        scale: (2 nv) of the state's coordinates.
        states: the demonstration.
        guess: (T, A) controls that are taken for the best ones; None: they are searched for.
    """
    space, count = joint_space(lanes.robot), len(states) - 1
    here, there = states[:-1], states[1:]
    if guess is None:
        units, best = _best(lanes, here, there)
    else:
        units = lanes.units(guess)
        best = lanes.reach(here, units[:, None])[:, 0]
        best = np.where(np.isfinite(best), best, here)
    nudges = NUDGE * scale
    width, actions = len(scale), units.shape[1]
    moved = space.moved(np.repeat(here, width, axis=0), np.tile(np.diag(nudges), (count, 1)))
    reached = lanes.reach(moved, np.repeat(units, width, axis=0)[:, None])[:, 0].reshape(count, width, -1)
    by_state = np.swapaxes(space.difference(reached, best[:, None]), 1, 2) / nudges
    steps = np.where(units > 0, -NUDGE, NUDGE) * lanes.bands
    tried = lanes.reach(here, units[:, None] + steps[:, :, None] * np.eye(actions))
    by_action = np.swapaxes(space.difference(tried, best[:, None]) / steps[:, :, None], 1, 2)
    parts = (by_state, by_action, space.difference(best, there))
    return Linearised(units, *(np.nan_to_num(part, nan=0.0, posinf=0.0, neginf=0.0) for part in parts))


def _best(lanes: Lanes, here: Floats, there: Floats) -> tuple[Floats, Floats]:
    """(T, S), (T, S) → (T, A) best actions, in half control ranges, and (T, S) where they lead.

    What is far from solved after the first walk is hopeless, and what is solved needs no more; the rest begins again.
    """
    previous, found = np.tile(lanes.centre, (len(here), 1)), np.arange(len(here))
    units, best = np.empty_like(previous), np.empty_like(here)
    for budget in (0, RESTART_BUDGET):
        if not len(found):
            break
        budgets, rng = np.full(len(found), budget, np.int64), seeding.generator(0, "shadow")
        solved = solve(lanes, Solver(restart_budget=budget), here[found], there[found], previous[found], budgets, rng)
        units[found], best[found] = lanes.units(solved.actions), solved.reached
        rest = solved.errors / np.maximum(solved.passive_errors, 1e-12)
        found = found[(rest > SOLVED) & (rest < HOPELESS)]
    return units, best


def shadow(
    lanes: Lanes, scale: Floats, targets: Floats, linear: Linearised, begins: Ints, lengths: Ints, ease: float = EASES[0]
) -> Floats:
    """Follow windows (N, H + 1, S) that begin at transitions `begins` of one demonstration; return states (N, H, S)."""
    space, steps = joint_space(lanes.robot), int(targets.shape[1]) - 1
    rows = np.minimum(begins[:, None] + np.arange(steps), len(linear.units) - 1)
    gains, offsets = _feedback(linear, scale, rows, ease)
    states, now = np.full((len(targets), steps, targets.shape[2]), np.nan), targets[:, 0].copy()
    alive = np.ones(len(targets), bool)
    for t in range(steps):
        ids = np.flatnonzero(alive & (lengths > t))
        if not len(ids):
            break
        gaps = space.difference(now[ids], targets[ids, t])
        units = linear.units[rows[ids, t]] + np.einsum("nij,nj->ni", gains[ids, t], gaps) + offsets[ids, t]
        reached = lanes.reach(now[ids], np.clip(units, -1, 1)[:, None])[:, 0]
        states[ids, t], alive[ids] = reached, np.isfinite(reached).all(axis=1)
        now[ids] = np.where(alive[ids, None], reached, now[ids])
    return states


def _feedback(linear: Linearised, scale: Floats, rows: Ints, ease: float) -> tuple[Floats, Floats]:
    """(N, H) transitions → (N, H, A, 2 nv), (N, H, A) gains and offsets, by one sweep backwards."""
    count, steps = rows.shape
    width, actions = linear.by_action.shape[1:]
    weight = np.diag(1 / np.square(scale))
    gains, offsets = np.empty((count, steps, actions, width)), np.empty((count, steps, actions))
    value, slope = np.broadcast_to(weight, (count, width, width)).copy(), np.zeros((count, width))
    for t in reversed(range(steps)):
        a, b, c = linear.by_state[rows[:, t]], linear.by_action[rows[:, t]], linear.defects[rows[:, t]]
        after = slope + np.einsum("nij,nj->ni", value, c)
        bv = np.swapaxes(b, 1, 2) @ value
        curvature = bv @ b + np.eye(actions) / ease**2
        gains[:, t] = -np.linalg.solve(curvature, bv @ a)
        offsets[:, t] = -np.linalg.solve(curvature, np.einsum("nij,ni->nj", b, after)[..., None])[..., 0]
        value = weight + np.swapaxes(a, 1, 2) @ value @ (a + b @ gains[:, t])
        # a body that falls apart under its best actions has costs without bounds
        value = np.clip(np.nan_to_num((value + np.swapaxes(value, 1, 2)) / 2), -LARGEST, LARGEST)
        slope = np.clip(np.nan_to_num(np.einsum("nij,ni->nj", a + b @ gains[:, t], after)), -LARGEST, LARGEST)
    return gains, offsets
