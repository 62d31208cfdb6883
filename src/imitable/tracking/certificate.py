# SPDX-License-Identifier: MIT
"""Does the solver find an action where a perfect one exists? Without this, its failure would look like infeasibility."""

import numpy as np

from imitable import seeding
from imitable.tracking.economy import affordable
from imitable.tracking.solver import Lanes, Solver, solve
from imitable.types import Demonstrations, Floats, Trajectory

TRANSITIONS, DEMONSTRATIONS = 200, 20
"""How many transitions are tried, and from how many demonstrations their states are taken."""

LEAST = 50
"""Transitions that are tried on a body with many actuators, at least."""

NEAR, SPREAD, ANYWHERE = 8, 0.1, 8
"""From each state so many actions are tried near the one that inverse dynamics asks for, at this part of the way from no force
to all of it (`Lanes.bands`), and anywhere in the control range."""


def certificate(lanes: Lanes, solver: Solver, demos: Demonstrations, seed: int) -> float:
    """Return the fraction of the imitator's own transitions, near the demonstrated ones, that the solver finds again.

    From a demonstrated state s_t the imitator takes one step under each of NEAR + ANYWHERE actions. Where the one leads that
    comes nearest to s_{t+1} is the target: a perfect action exists, and the problem is like those that the demonstrations pose.
    Any action would not do: of a servo it mostly asks for a leap that no demonstration makes, and finding that again says
    nothing. Found means that the remaining error is at most 1 % of that of doing nothing. Demonstrations are picked by hash,
    so that their order does not matter.
    """
    chosen = sorted(range(len(demos)), key=lambda i: demos.episodes[i].hash)[:DEMONSTRATIONS]
    each = -(-affordable(lanes.robot, TRANSITIONS, LEAST) // len(chosen))
    states, wanted = map(np.concatenate, zip(*(_some(demos[i], each, seed) for i in chosen), strict=True))
    reached = lanes.reach(states, _actions(lanes, states, wanted, seed))
    nearest = lanes.errors(reached, wanted).argmin(axis=1)
    targets = reached[np.arange(len(states)), nearest]
    good = np.isfinite(targets).all(axis=1)
    return found_again(lanes, solver, states[good], targets[good], seed)


def _actions(lanes: Lanes, states: Floats, wanted: Floats, seed: int) -> Floats:
    """(N, S), (N, S) → (N, NEAR + ANYWHERE, A) actions to try, in half control ranges."""
    rng = seeding.generator(seed, "certificate")
    needed = lanes.units(lanes.inverse(states, wanted, None))
    count, actions = needed.shape
    near = needed[:, None] + SPREAD * lanes.bands * rng.standard_normal((count, NEAR, actions))
    return np.concatenate([np.clip(near, -1, 1), rng.uniform(-1, 1, (count, ANYWHERE, actions))], axis=1)


def found_again(lanes: Lanes, solver: Solver, states: Floats, targets: Floats, seed: int) -> float:
    """Return the fraction of own transitions states (N, S) → targets (N, S) whose action the solver finds; NaN without any."""
    previous = np.tile(lanes.centre, (len(states), 1))
    restart_budgets = np.full(len(states), solver.restart_budget, np.int64)
    solved = solve(lanes, solver, states, targets, previous, restart_budgets, seeding.generator(seed, "candidates"))
    return float(np.mean(solved.errors <= 0.01 * solved.passive_errors)) if len(states) else float("nan")


def _some(trajectory: Trajectory, count: int, seed: int) -> tuple[Floats, Floats]:
    """(n, S), (n, S) states of some of its transitions, and the next ones."""
    rng = seeding.generator(seed, "certificate", trajectory.hash)
    steps = rng.choice(len(trajectory), min(count, len(trajectory)), replace=False)
    return trajectory.states[steps], trajectory.states[steps + 1]
