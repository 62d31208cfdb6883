# SPDX-License-Identifier: MIT
"""Following with foresight: plans of a fifth of a second, made anew again and again, where greed may be the reason of failure.

minimise over a plan of K knots, each an action that is held for m control steps,
    J = Σ_{t ≤ K m} ‖(s_t − g_t) / scale‖² / 2nv,   s_t the imitator's state after t steps of the plan, g_t the demonstrated,

by one damped Gauss–Newton step inside the bounds a replan, from the plan before, moved on. Its derivatives are finite
differences of rollouts: a knot changes nothing before it, so its rollouts begin there. The first knot is carried out, then
the plan is made anew. A plan may lose against greed, so callers keep the better of the two.
"""

from dataclasses import dataclass

import numpy as np

from imitable.tracking.attempts import Distance
from imitable.tracking.box_qp import minimise
from imitable.tracking.follow import Followed
from imitable.tracking.solver import Lanes
from imitable.types import Bools, Floats, Ints

DAMPINGS = (1e-2, 0.3)
"""Every Gauss–Newton step is tried with each of these fractions of diag(JᵀJ) on the diagonal."""

DIFFERENCE = 0.02
"""Step of the finite differences, in half control ranges, or in the bands of servos (`Lanes.bands`)."""


@dataclass(frozen=True)
class Planner:
    """How far a plan looks, and in how many parts. Less than 0.15 s is worse than greed."""

    horizon_s: float = 0.2
    """Seconds of a plan."""
    knots: int = 4
    """Actions of a plan."""
    first_steps: int = 2
    """Gauss–Newton steps for the first plan; one for every later plan."""

    def held(self, period_s: float) -> int:
        """Return for how many control steps a knot is held, m."""
        return max(1, round(self.horizon_s / self.knots / period_s))

    def ahead(self, period_s: float) -> int:
        """Return the control steps of a plan, K m."""
        return self.knots * self.held(period_s)


@dataclass(frozen=True)
class Bound:
    """What an attempt must stay below: it is given up as soon as what it did and what it plans are no better together."""

    distance: Distance
    """What is to be small."""
    errors: Floats
    """(N, H) of the attempt to beat, step by step; NaN beyond its end."""

    def promising(self, rows: Ints, spent: Floats, t: int, planned: Floats) -> Bools:
        """(n) whether distances (n) until step t, and errors (n, K m) planned from there, are less than the rivals' by then."""
        rivals = self.errors[rows, : t + planned.shape[1]]
        planned = np.where(np.isfinite(rivals[:, t:]), planned[:, : rivals.shape[1] - t], np.nan)
        promised = spent + self.distance.discount**t * self.distance.discounted(planned)
        return promised < self.distance.discounted(rivals)


def follow_with_plans(
    lanes: Lanes,
    planner: Planner,
    targets: Floats,
    lengths: Ints,
    first: Floats,
    *,
    bound: Bound | None = None,
    disturbances: Floats | None = None,
) -> tuple[Followed, Bools]:
    """Follow N references from their own first states; return what came of it, and which (N) were not given up.

    Args:
        lanes: simulations of the imitator, with the scale of the errors that are to be small.
        planner: how far a plan looks.
        targets: (N, H + 1 + K m, S) demonstrated states; those beyond the end repeat the last.
        lengths: (N) steps that are meant, at most H.
        first: (N, H, A) controls of the greedy tracker, which the first plan begins with.
        bound: attempts that do not promise to win are given up; None: none are.
        disturbances: (N, H, A) are added to the controls when they are carried out.
    """
    held, ahead = planner.held(lanes.robot.layout.period_s), planner.ahead(lanes.robot.layout.period_s)
    n, steps, size = len(targets), int(targets.shape[1]) - 1 - ahead, int(targets.shape[2])
    states, actions = np.full((n, steps, size), np.nan), np.full((n, steps, len(lanes.centre)), np.nan)
    now, plans = targets[:, 0].copy(), _knots(lanes.units(_lengthened(first, ahead)[:, :ahead]), held)
    alive, spent = np.ones(n, bool), np.zeros(n)
    for t in range(0, steps, held):
        live = np.flatnonzero(alive & (lengths > t))
        if not len(live):
            break
        count = min(held, steps - t)
        window = targets[live, t + 1 : t + 1 + ahead]
        search = _Search(lanes, held, now[live], window, plans[live], live)
        for _ in range(planner.first_steps if t == 0 else 1):
            search.improve()
        sequence = search.sequence
        reached = search.reached[:, :count]
        if disturbances is not None:
            reached = _carried_out(lanes, now[live], sequence[:, :count], disturbances[live, t : t + count], live)
        reached = np.where(np.isfinite(reached), reached, now[live][:, None])
        states[live, t : t + count], actions[live, t : t + count] = reached, lanes.centre + lanes.half * sequence[:, :count]
        now[live], plans[live] = reached[:, -1], np.concatenate([search.plans[:, 1:], search.plans[:, -1:]], axis=1)
        if bound is not None:
            errors = bound.distance.errors(search.reached, window)
            alive[live] = bound.promising(live, spent[live], t, errors)
            spent[live] += bound.distance.discount**t * bound.distance.discounted(errors[:, :count])
    return Followed(states, actions), alive


class _Search:
    """The best plans so far of n problems."""

    def __init__(self, lanes: Lanes, held: int, states: Floats, targets: Floats, plans: Floats, problems: Ints) -> None:
        """Look where plans (n, K, A) lead from states (n, S); targets (n, K m, S)."""
        self._lanes, self._held, self._states, self._targets, self._problems = lanes, held, states, targets, problems
        self.plans = plans
        self.reached: Floats = lanes.roll(states, self.sequence[:, None], problems=problems)[:, 0]
        self._residuals = lanes.residuals(self.reached, targets)

    @property
    def sequence(self) -> Floats:
        """(n, K m, A) the actions of the plans, step by step."""
        return np.repeat(self.plans, self._held, axis=1)

    def improve(self) -> None:
        """Take one Gauss–Newton step, with several dampings, and keep it where it is better."""
        n, knots, actions = self.plans.shape
        normal, gradient = self._normal_equations()
        diagonal = normal[:, np.arange(knots * actions), np.arange(knots * actions)]
        floor = 1e-9 + 1e-6 * diagonal.max(axis=1, keepdims=True)
        units = self.plans.reshape(n, -1)
        hessians = [normal + (damping * diagonal + floor)[:, :, None] * np.eye(knots * actions) for damping in DAMPINGS]
        steps = [minimise(hessian, gradient, -1 - units, 1 - units) for hessian in hessians]
        plans = np.clip(units[:, None] + np.stack(steps, axis=1), -1, 1).reshape(n, len(DAMPINGS), knots, actions)
        reached = self._lanes.roll(self._states, np.repeat(plans, self._held, axis=2), problems=self._problems)
        residuals = self._lanes.residuals(reached, self._targets[:, None])
        costs = np.square(residuals).sum(axis=(2, 3))
        best, rows = costs.argmin(axis=1), np.arange(len(costs))
        won = costs[rows, best] < np.square(self._residuals).sum(axis=(1, 2))
        self.plans = np.where(won[:, None, None], plans[rows, best], self.plans)
        self.reached = np.where(won[:, None, None], reached[rows, best], self.reached)
        self._residuals = np.where(won[:, None, None], residuals[rows, best], self._residuals)

    def _normal_equations(self) -> tuple[Floats, Floats]:
        """(n, P, P), (n, P) JᵀJ and Jᵀr for the P = K A numbers of a plan."""
        n, knots, actions = self.plans.shape
        jacobian = np.zeros((n, knots, actions, *self._residuals.shape[1:]))
        for knot in range(knots):
            begin = knot * self._held
            jacobian[:, knot, :, begin:] = self._derivatives(knot, begin)
        flat = jacobian.reshape(n, knots * actions, -1)
        return flat @ np.swapaxes(flat, 1, 2), (flat @ self._residuals.reshape(n, -1, 1))[:, :, 0]

    def _derivatives(self, knot: int, begin: int) -> Floats:
        """(n, A, K m − begin, 2 nv) ∂ residuals / ∂ the actions of one knot, from where it begins."""
        actions = self.plans.shape[2]
        start = self._states if knot == 0 else self.reached[:, begin - 1]
        start = np.where(np.isfinite(start), start, self._states)
        steps = np.where(self.plans[:, knot] > 0, -DIFFERENCE, DIFFERENCE) * self._lanes.bands  # away from the nearer bound
        moved = np.repeat(self.sequence[:, None, begin:], actions, axis=1)
        moved[:, :, : self._held] += (steps[:, :, None] * np.eye(actions))[:, :, None]
        reached = self._lanes.roll(start, moved, problems=self._problems)
        residuals = self._lanes.residuals(reached, self._targets[:, None, begin:])
        return (residuals - self._residuals[:, None, begin:]) / steps[:, :, None, None]


def _carried_out(lanes: Lanes, states: Floats, units: Floats, disturbances: Floats, problems: Ints) -> Floats:
    """(n, S), (n, T, A), (n, T, A) → (n, T, S): a plan under noise that it does not know of."""
    return lanes.roll(states, (units + disturbances / lanes.half)[:, None], problems=problems)[:, 0]


def _knots(units: Floats, held: int) -> Floats:
    """(N, K m, A) → (N, K, A): the mean action of every knot."""
    return units.reshape(len(units), -1, held, units.shape[2]).mean(axis=2)


def _lengthened(controls: Floats, steps: int) -> Floats:
    """(N, H, A) → (N, ≥ steps, A): the last action that is there repeats; NaN (beyond an end) counts as not there."""
    missing = max(0, steps - controls.shape[1])
    rows = np.concatenate([controls, np.repeat(controls[:, -1:], missing, axis=1)], axis=1)
    for t in range(1, rows.shape[1]):
        rows[:, t] = np.where(np.isfinite(rows[:, t]), rows[:, t], rows[:, t - 1])
    return rows
