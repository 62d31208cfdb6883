# SPDX-License-Identifier: MIT
"""The solver against closed forms, another solver, and actions that are known to be perfect."""

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from imitable.demonstrators.shipped import policy_for
from imitable.dynamics.parse import robot
from imitable.sim.rollout import episodes
from imitable.sim.task import Locomotion
from imitable.tracking.box_qp import minimise
from imitable.tracking.inverse import inverse_actions
from imitable.tracking.solver import Lanes, Solver, solve
from imitable.types import Floats


def test_box_programs_equal_scipys() -> None:
    rng = np.random.default_rng(0)
    design, goal = rng.normal(size=(50, 9, 5)), rng.normal(size=(50, 9))
    low, high = np.full((50, 5), -0.3), np.full((50, 5), 0.4)
    hessian = np.einsum("nsa,nsb->nab", design, design)
    found = minimise(hessian, -np.einsum("nsa,ns->na", design, goal), low, high)
    for row in range(50):
        expected = lsq_linear(design[row], goal[row], bounds=(-0.3, 0.4), tol=1e-12).x
        np.testing.assert_allclose(found[row], expected, atol=1e-3)


def test_an_unbounded_program_is_a_linear_solve() -> None:
    rng = np.random.default_rng(1)
    root, gradient = rng.normal(size=(4, 3, 3)), rng.normal(size=(4, 3))
    hessian = np.einsum("nij,nkj->nik", root, root) + np.eye(3)
    found = minimise(hessian, gradient, np.full((4, 3), -1e6), np.full((4, 3), 1e6))
    np.testing.assert_allclose(found, -np.linalg.solve(hessian, gradient[..., None])[..., 0], rtol=1e-4)


def slider_lanes(path: Path) -> Lanes:
    return Lanes(robot(str(path)), scale=np.ones(2))


def reached(lanes: Lanes, states: Floats, actions: Floats) -> Floats:
    units = (actions - lanes.centre) / lanes.half
    return lanes.reach(states, units[:, None])[:, 0]


def test_on_a_slider_a_reachable_state_is_reached_exactly(slider_path: Path) -> None:
    lanes, rng = slider_lanes(slider_path), np.random.default_rng(0)
    states = rng.uniform(-0.1, 0.1, (20, 2))
    low, high = lanes.variant.control_range
    actions = rng.uniform(low, high, (20, 1))
    solved = solve(lanes, Solver(), states, reached(lanes, states, actions), np.zeros((20, 1)), rng)
    np.testing.assert_allclose(solved.actions, actions, atol=1e-6)
    assert solved.errors.max() < 1e-8


def test_on_a_slider_an_unreachable_state_takes_the_bound(slider_path: Path) -> None:
    lanes, rng = slider_lanes(slider_path), np.random.default_rng(0)
    states = np.zeros((2, 2))
    targets = np.array([[0.0, 1e3], [0.0, -1e3]])
    solved = solve(lanes, Solver(), states, targets, np.zeros((2, 1)), rng)
    low, high = lanes.variant.control_range
    np.testing.assert_allclose(solved.actions[:, 0], [high[0], low[0]])


@pytest.mark.parametrize("body", ["hopper:gravity=15", "half_cheetah:front=0.01"])
def test_own_transitions_are_mostly_reached(body: str) -> None:
    """A perfect action exists for every one of them: what is left is the solver's failure, not the body's."""
    task = Locomotion(robot(body))
    trajectory, _ = next(episodes(task, policy_for(task.variant), [0], sampled=True))
    rows = np.arange(50, 950, 30)
    states, targets = trajectory.states[rows], trajectory.states[rows + 1]
    lanes = Lanes(task.variant, np.diff(trajectory.states, axis=0).std(axis=0))
    actions = len(task.variant.layout.actuators)
    solved = solve(lanes, Solver(), states, targets, np.zeros((len(rows), actions)), np.random.default_rng(0))
    passive = np.linalg.norm(lanes.residuals(lanes.reach(states, np.zeros((len(rows), 1, actions))), targets), axis=2)[:, 0]
    assert (solved.errors <= 0.01 * passive).mean() >= 0.8
    assert (solved.errors <= passive + 1e-12).all()
    np.testing.assert_allclose(reached(lanes, states, solved.actions), solved.reached, atol=1e-9)


def test_the_inverse_action_of_a_slider_is_exact_for_small_steps(slider_path: Path) -> None:
    lanes = slider_lanes(slider_path)
    states, actions = np.zeros((3, 2)), np.array([[-0.5], [0.0], [0.7]])
    targets = reached(lanes, states, actions)
    np.testing.assert_allclose(inverse_actions(lanes.variant, states, targets), actions, atol=0.05)
