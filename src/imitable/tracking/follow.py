# SPDX-License-Identifier: MIT
"""Following demonstrations: the imitator starts in a demonstrated state and heads for the next one, step by step."""

from dataclasses import dataclass

import numpy as np

from imitable import seeding
from imitable.tracking.solver import Lanes, Solver, solve
from imitable.types import Floats, Ints


@dataclass(frozen=True)
class Followed:
    """N attempts of at most H control steps; rows beyond an attempt's length are NaN."""

    states: Floats
    """(N, H, S) the imitator's states after each step."""
    actions: Floats
    """(N, H, A) the actions that led there."""


def follow(
    lanes: Lanes, solver: Solver, targets: Floats, lengths: Ints, seed: int, *, disturbances: Floats | None = None
) -> Followed:
    """Follow N references from their own first states; targets (N, H + 1, S), of which `lengths` (N) steps are meant.

    `disturbances` (N, H, A) are added to the actions when they are carried out; the solver plans without them.
    """
    n, frames, size = targets.shape
    steps = frames - 1
    states = np.full((n, steps, size), np.nan)
    actions = np.full((n, steps, len(lanes.centre)), np.nan)
    now, previous = targets[:, 0].copy(), lanes.centre + lanes.half * lanes.passive(targets[:, 0])
    restart_budgets = np.full(n, solver.restart_budget, np.int64)
    for t in range(steps):
        live = np.flatnonzero(lengths > t)
        rng = seeding.generator(seed, "candidates", t)
        solved = solve(lanes, solver, now[live], targets[live, t + 1], previous[live], restart_budgets[live], rng, live)
        restart_budgets[live] -= solved.extra
        reached = solved.reached
        if disturbances is not None:
            reached = carry_out(lanes, now[live], solved.actions + disturbances[live, t], live)
        states[live, t], actions[live, t] = reached, solved.actions
        now[live], previous[live] = reached, solved.actions
    return Followed(states, actions)


def passive_rollout(lanes: Lanes, starts: Floats, steps: int, disturbances: Floats | None = None) -> Floats:
    """(N, S) → (N, steps, S): where the imitator goes when it does nothing."""
    states = np.empty((len(starts), steps, starts.shape[1]))
    now = starts
    for t in range(steps):
        nothing = lanes.centre + lanes.half * lanes.passive(now)
        now = carry_out(lanes, now, nothing if disturbances is None else nothing + disturbances[:, t])
        states[:, t] = now
    return states


def carry_out(lanes: Lanes, states: Floats, controls: Floats, problems: Ints | None = None) -> Floats:
    """(N, S), (N, A) → (N, S): one step under controls that may lie outside the range; MuJoCo clips them itself."""
    units = ((controls - lanes.centre) / lanes.half)[:, None]
    reached = lanes.reach(states, units, problems=problems)[:, 0]
    return np.where(np.isfinite(reached), reached, states)
