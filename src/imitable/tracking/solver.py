# SPDX-License-Identifier: MIT
"""The best action towards a wanted next state, asked of the simulator, for many states in one native batch.

minimise over a in the control range:  e(a)² = ‖(f(s, a) − g) / scale‖² / 2nv,   f one control step of the imitator.

A problem begins at the best of three guesses (doing nothing, the previous action, the action of `mj_inverse`) and walks
downhill by damped Gauss–Newton steps inside the bounds. Contact makes the error a landscape with several valleys, so a
problem that is not solved begins again elsewhere for as long as its budget of simulated steps lasts. One restart budget serves
a whole rollout: a demonstration that can be followed seldom needs it, and one that cannot soon has spent it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from imitable.robots.robot import Robot
from imitable.sim.batch import Batch
from imitable.sim.kinematics import state_space
from imitable.tracking.box_qp import minimise
from imitable.tracking.inverse_dynamics import bands, halfway_actions, inverse_actions, passive_actions
from imitable.types import Bools, Floats, Ints

DAMPINGS = (1e-3, 0.1)
"""Every Gauss–Newton step is tried with each of these fractions of diag(JᵀJ) on the diagonal."""

DIFFERENCES = (0.05, 0.05, 0.02, 0.01, 0.005, 0.002)
"""Steps of the finite differences, in half control ranges: wide at first, because contact is not smooth, then narrower."""

SERVO_DIFFERENCES = (0.02, 0.005, 0.005, 0.002, 0.002, 0.002)
"""Those of bodies with servos, in bands: dry friction bends the slope within a few hundredths of an actuator's force."""

GUESSES, SERVO_GUESSES = 3, 2
"""Doing nothing, the previous action, the action of `mj_inverse`; of servos the target itself, and `halfway_actions`, too."""

NEAR, SPREAD, ANYWHERE = 2, 0.3, 2
"""A new beginning looks at so many actions near the best one, at this deviation in half control ranges, and anywhere."""


@dataclass(frozen=True)
class Solver:
    """How hard to look."""

    solved: float = 0.001
    """A problem is solved when its error is below this fraction of the error of doing nothing."""
    gain: float = 0.8
    """A walk goes on while every step brings the error below this fraction of the one before."""
    first_steps: int = 6
    """Gauss–Newton steps of the first walk, at most."""
    later_steps: int = 6
    """And of the later ones."""
    restart_budget: int = 450
    """Simulated control steps for new beginnings, for one rollout as a whole."""

    def most_steps(self, lanes: "Lanes", length: int) -> int:
        """Return how many simulated steps a rollout of `length` control steps takes at most.

        Each looks at the first guesses and walks; new beginnings end with the one that spends the last of their budget.
        """
        slope = len(lanes.centre) + len(DAMPINGS)
        each = GUESSES + SERVO_GUESSES * lanes.servos + self.first_steps * slope
        anew = self.restart_budget - 1 + NEAR + ANYWHERE + self.later_steps * slope if self.restart_budget else 0
        return length * each + anew


@dataclass(frozen=True)
class Solved:
    """Best actions for N problems."""

    actions: Floats
    """(N, A)."""
    reached: Floats
    """(N, S) the states they lead to; the state itself where MuJoCo gave up on every candidate."""
    errors: Floats
    """(N) remaining error e(a)."""
    passive_errors: Floats
    """(N) error of doing nothing."""
    extra: Ints
    """(N) simulated steps that new beginnings took from each restart budget."""


class Lanes:
    """Simulations of the imitator that try candidates: row = problem, column = candidate."""

    def __init__(self, robot: Robot, scale: Floats, threads: int = 1, *, bodies: Sequence[Robot] = ()) -> None:
        """Remember the body and the scale (2 nv) of the residual.

        With `bodies` (alike but for their dynamics) problem i is one of body i, and every call says which problems it is about.
        """
        self.robot, self.scale, self._threads = robot, scale, threads
        self.bodies = tuple(bodies)
        self.centre, self.half = robot.control_centre, robot.control_half_range
        self.servos, self._space = robot.has_servos, state_space(robot)
        self.differences = SERVO_DIFFERENCES if self.servos else DIFFERENCES
        self.bands = bands(robot)
        """(A) how far from no force to the whole force of an actuator, in half control ranges."""
        self._width = max(len(self.centre), NEAR + ANYWHERE, GUESSES + SERVO_GUESSES * self.servos)
        self._batch = self._new_batch(64)
        self.spent = 0

    def _new_batch(self, size: int) -> Batch:
        if not self.bodies:
            return Batch(self.robot, size, self._threads)
        return Batch([body for body in self.bodies for _ in range(self._width)], len(self.bodies) * self._width, self._threads)

    def _places(self, problems: Ints | None, n: int, k: int) -> Ints:
        """(n · k) simulations that try k candidates for n problems."""
        if self.bodies:
            rows: Ints = np.arange(n) if problems is None else problems
            return (rows[:, None] * self._width + np.arange(k)).reshape(-1)
        if n * k > len(self._batch):
            self._batch = self._new_batch(2 * n * k)
        return np.arange(n * k)

    def inverse(self, states: Floats, targets: Floats, problems: Ints | None) -> Floats:
        """(N, S), (N, S) → (N, A) actions of inverse dynamics, each of its problem's body."""
        if not self.bodies:
            return inverse_actions(self.robot, states, targets)
        owners = enumerate(self._owners(len(states), problems))
        return np.concatenate([inverse_actions(body, states[i : i + 1], targets[i : i + 1]) for i, body in owners])

    def halfway(self, states: Floats, targets: Floats, problems: Ints | None) -> Floats:
        """(N, S), (N, S) → (N, A) actions that exert the mean force of the step, each of its problem's body."""
        if not self.bodies:
            return halfway_actions(self.robot, states, targets)
        owners = enumerate(self._owners(len(states), problems))
        return np.concatenate([halfway_actions(body, states[i : i + 1], targets[i : i + 1]) for i, body in owners])

    def passive(self, states: Floats, problems: Ints | None = None) -> Floats:
        """(N, S) → (N, A) doing nothing, in half control ranges: control zero of a motor, no force of a servo."""
        if not (self.bodies and self.servos):
            return self.units(passive_actions(self.robot, states))
        owners = enumerate(self._owners(len(states), problems))
        return self.units(np.concatenate([passive_actions(body, states[i : i + 1]) for i, body in owners]))

    def units(self, actions: Floats) -> Floats:
        """(…, A) controls → (…, A) in half control ranges, inside them."""
        return np.clip((actions - self.centre) / self.half, -1, 1)

    def _owners(self, count: int, problems: Ints | None) -> list[Robot]:
        rows = range(count) if problems is None else problems.tolist()
        return [self.bodies[row] for row in rows]

    def reach(self, states: Floats, units: Floats, *, problems: Ints | None = None) -> Floats:
        """(N, S), (N, K, A) in half control ranges → (N, K, S) states one control step later; see `roll`."""
        return self.roll(states, units[:, :, None], problems=problems)[:, :, 0]

    def roll(self, states: Floats, units: Floats, *, problems: Ints | None = None) -> Floats:
        """(N, S), (N, K, T, A) in half control ranges → (N, K, T, S) states after each of T control steps.

        NaN from where MuJoCo gave up. `problems` (N), ascending, says whose bodies they are; without it, those of all.
        """
        n, k, steps, actions = (int(length) for length in units.shape)
        size, ids = n * k, self._places(problems, n, k)
        self._batch.set_state(np.repeat(states, k, axis=0), ids)
        controls, failed = self.centre + self.half * units.reshape(size, steps, actions), np.zeros(size, bool)
        reached = np.empty((size, steps, states.shape[1]))
        for t in range(steps):
            failed |= self._batch.step(controls[:, t], ids)
            reached[:, t] = np.where(failed[:, None], np.nan, self._batch.states[ids])
        self.spent += size * steps
        return reached.reshape(n, k, steps, states.shape[1])

    def residuals(self, reached: Floats, targets: Floats) -> Floats:
        """(…, S), (…, S) → (…, 2 nv) standardised residuals, so that e² = Σ r²; huge where MuJoCo gave up."""
        gap = self._space.difference(reached, targets) / (self.scale * np.sqrt(len(self.scale)))
        return np.where(np.isfinite(gap), gap, 1e3)

    def errors(self, reached: Floats, targets: Floats) -> Floats:
        """(N, K, S), (N, S) → (N, K) errors e."""
        return np.sqrt(np.square(self.residuals(reached, targets[:, None])).sum(axis=2))


def solve(
    lanes: Lanes,
    solver: Solver,
    states: Floats,
    targets: Floats,
    previous: Floats,
    restart_budgets: Ints,
    rng: np.random.Generator,
    problems: Ints | None = None,
) -> Solved:
    """Return the best action for every row of states (N, S), targets (N, S); previous (N, A) are the actions just taken.

    `restart_budgets` (N) are the simulated steps that each problem may spend on new beginnings. What `rng` draws is the same
    for all problems, so that a solution does not depend on who else is solved. `problems` (N) says whose bodies they are.
    """
    numbers: Ints = np.arange(len(states)) if problems is None else problems
    search = _Search(lanes, solver, states, targets, previous, numbers)
    walkers = search.unsolved(np.arange(len(states)))
    search.walk(walkers, search.units[walkers], search.reached[walkers], solver.first_steps)
    extra = np.zeros(len(states), np.int64)
    while True:
        walkers = search.unsolved(walkers)
        walkers = walkers[extra[walkers] < restart_budgets[walkers]]
        if not len(walkers):
            break
        units, reached = search.begin_anew(walkers, rng)
        cost = search.walk(walkers, units, reached, solver.later_steps)
        extra[walkers] += NEAR + ANYWHERE + cost
    reached = np.where(np.isfinite(search.reached), search.reached, states)
    return Solved(lanes.centre + lanes.half * search.units, reached, search.errors, search.passive_errors, extra)


class _Search:
    """The best candidate so far of N problems."""

    def __init__(self, lanes: Lanes, solver: Solver, states: Floats, targets: Floats, previous: Floats, problems: Ints) -> None:
        """Look at the first guesses: doing nothing, the previous action, the action of `mj_inverse`."""
        self.lanes, self.solver, self.states, self.targets, self.problems = lanes, solver, states, targets, problems
        inverse = lanes.inverse(states, targets, problems)
        guesses = [lanes.passive(states, problems), lanes.units(previous), lanes.units(inverse)]
        if lanes.servos:
            guesses.append(lanes.passive(targets, problems))  # a servo can be told to be there
            guesses.append(lanes.units(lanes.halfway(states, targets, problems)))  # or to get there against dry friction
        units = np.stack(guesses, axis=1)
        reached = lanes.reach(states, units, problems=problems)
        errors = lanes.errors(reached, targets)
        self.passive_errors = errors[:, 0]
        best = errors.argmin(axis=1)
        rows = np.arange(len(states))
        self.units, self.reached, self.errors = units[rows, best], reached[rows, best], errors[rows, best]

    def unsolved(self, ids: Ints) -> Ints:
        """Return those of the problems whose error is still too large."""
        return ids[self.errors[ids] > self.solver.solved * self.passive_errors[ids]]

    def begin_anew(self, ids: Ints, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return the best of some actions near the best known one and some anywhere, and where they lead: (n, A), (n, S)."""
        actions = self.units.shape[1]
        offsets = SPREAD * self.lanes.bands * rng.standard_normal((NEAR, actions))
        anywhere = rng.uniform(-1, 1, (ANYWHERE, actions))
        near = np.clip(self.units[ids][:, None] + offsets, -1, 1)
        units = np.concatenate([near, np.broadcast_to(anywhere, (len(ids), *anywhere.shape))], axis=1)
        reached = self.lanes.reach(self.states[ids], units, problems=self.problems[ids])
        best, rows = self.lanes.errors(reached, self.targets[ids]).argmin(axis=1), np.arange(len(ids))
        return units[rows, best], reached[rows, best]

    def walk(self, ids: Ints, units: Floats, reached: Floats, most: int) -> Ints:
        """Walk downhill from units (n, A), which lead to reached (n, S); keep what is better; return the cost (n) in steps."""
        errors = self.lanes.errors(reached[:, None], self.targets[ids])[:, 0]
        cost, live, differences = np.zeros(len(ids), np.int64), np.arange(len(ids)), self.lanes.differences
        for step in range(most):
            if not len(live):
                break
            before = errors[live]
            units[live], reached[live], errors[live] = self._downhill(
                ids[live], units[live], reached[live], differences[min(step, len(differences) - 1)]
            )
            cost[live] += units.shape[1] + len(DAMPINGS)
            live = live[self._goes_on(ids[live], before, errors[live])]
        better = errors < self.errors[ids]
        won = ids[better]
        self.units[won], self.reached[won], self.errors[won] = units[better], reached[better], errors[better]
        return cost

    def _goes_on(self, ids: Ints, before: Floats, after: Floats) -> Bools:
        return (after > self.solver.solved * self.passive_errors[ids]) & (after < self.solver.gain * before)

    def _downhill(self, ids: Ints, units: Floats, reached: Floats, difference: float) -> tuple[Floats, Floats, Floats]:
        """Take one Gauss–Newton step from units (n, A), with several dampings; return the best of all that was looked at."""
        states, targets, problems = self.states[ids], self.targets[ids], self.problems[ids]
        residuals = self.lanes.residuals(reached, targets)[:, None]
        step = np.where(units > 0, -difference, difference) * self.lanes.bands  # away from the nearer bound
        moved = units[:, None, :] + step[:, :, None] * np.eye(units.shape[1])
        moved_to = self.lanes.reach(states, moved, problems=problems)
        jacobian = (self.lanes.residuals(moved_to, targets[:, None]) - residuals) / step[:, :, None]  # (n, A, 2 nv)
        tries = _gauss_newton(jacobian, residuals[:, 0], units)
        tried_to = self.lanes.reach(states, tries, problems=problems)
        all_units = np.concatenate([units[:, None], tries, moved], axis=1)
        all_reached = np.concatenate([reached[:, None], tried_to, moved_to], axis=1)
        errors = self.lanes.errors(all_reached, targets)
        best, rows = errors.argmin(axis=1), np.arange(len(ids))
        return all_units[rows, best], all_reached[rows, best], errors[rows, best]


def _gauss_newton(jacobian: Floats, residuals: Floats, units: Floats) -> Floats:
    """(n, A, 2 nv), (n, 2 nv), (n, A) → (n, D, A): one bounded step a damping."""
    n, actions = units.shape
    normal = jacobian @ np.swapaxes(jacobian, 1, 2)
    gradient = (jacobian @ residuals[:, :, None])[:, :, 0]
    diagonal = normal[:, np.arange(actions), np.arange(actions)]
    floor = 1e-9 + 1e-6 * diagonal.max(axis=1, keepdims=True)
    hessians = [normal + (damping * diagonal + floor)[:, :, None] * np.eye(actions) for damping in DAMPINGS]
    repeats = len(DAMPINGS)
    steps = minimise(
        np.stack(hessians, axis=1).reshape(n * repeats, actions, actions),
        np.repeat(gradient, repeats, axis=0),
        np.repeat(-1 - units, repeats, axis=0),
        np.repeat(1 - units, repeats, axis=0),
    )
    return np.clip(units[:, None] + steps.reshape(n, repeats, actions), -1, 1)
