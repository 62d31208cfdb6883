# SPDX-License-Identifier: MIT
"""Does the solver find an action where a perfect one exists? Without this, its failure would look like infeasibility."""

import numpy as np

from imitable import seeding
from imitable.tracking.solver import Lanes, Solver, solve
from imitable.types import Demonstrations, Floats

TRANSITIONS, DEMONSTRATIONS = 200, 20
"""How many transitions are tried, and from how many demonstrations their states are taken."""


def certificate(lanes: Lanes, solver: Solver, demos: Demonstrations, seed: int) -> float:
    """Return the fraction of the imitator's own transitions, from demonstrated states, that the solver finds again.

    From each state the imitator takes one step under a random action; found means that the remaining error is at most 1 % of
    that of doing nothing. Demonstrations are picked by hash, so that their order does not matter.
    """
    chosen = sorted(range(len(demos)), key=lambda i: demos.episodes[i].hash)[:DEMONSTRATIONS]
    each = -(-TRANSITIONS // len(chosen))
    states = np.concatenate([_some(demos[i].states, each, seed, demos.episodes[i].hash) for i in chosen])
    rng = seeding.generator(seed, "certificate")
    units = rng.uniform(-1, 1, (len(states), len(lanes.centre)))
    if lanes.servos:
        # anywhere in its range a stiff servo is at its force limit, which is easily found again: look inside the limit, too
        units[::2] = np.clip(lanes.passive(states[::2]) + lanes.bands * units[::2], -1, 1)
    targets = lanes.reach(states, units[:, None])[:, 0]
    good = np.isfinite(targets).all(axis=1)
    return found_again(lanes, solver, states[good], targets[good], seed)


def found_again(lanes: Lanes, solver: Solver, states: Floats, targets: Floats, seed: int) -> float:
    """Return the fraction of own transitions states (N, S) → targets (N, S) whose action the solver finds; NaN without any."""
    previous = np.tile(lanes.centre, (len(states), 1))
    restart_budgets = np.full(len(states), solver.restart_budget, np.int64)
    solved = solve(lanes, solver, states, targets, previous, restart_budgets, seeding.generator(seed, "candidates"))
    return float(np.mean(solved.errors <= 0.01 * solved.passive_errors)) if len(states) else float("nan")


def _some(states: Floats, count: int, seed: int, name: str) -> Floats:
    rng = seeding.generator(seed, "certificate", name)
    return states[rng.choice(len(states), min(count, len(states)), replace=False)]
