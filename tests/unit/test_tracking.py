# SPDX-License-Identifier: MIT
"""The solver against closed forms, another solver, and actions that are known to be perfect."""

from pathlib import Path

import mujoco
import numpy as np
import pytest
from mujoco.minimize import Verbosity, least_squares
from scipy.optimize import lsq_linear

from imitable.feasibility.score import score
from imitable.policies.shipped import policy_for
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.babble import babble, scales
from imitable.sim.batch import Batch
from imitable.sim.rollout import episodes
from imitable.sim.task import Locomotion
from imitable.tracking.box_qp import minimise
from imitable.tracking.certificate import certificate, found_again
from imitable.tracking.follow import follow, passive_rollout
from imitable.tracking.inverse_dynamics import (
    actuator_limits,
    inverse_actions,
    inverse_forces,
    joints,
    passive_actions,
    strength_unknown,
)
from imitable.tracking.solver import ANYWHERE, DAMPINGS, NEAR, Lanes, Solved, Solver, solve
from imitable.types import Floats, InMemory, Trajectory
from tests.unit.reaching_arm import reaches


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
    return Lanes(parse_robot(str(path)), scale=np.ones(2))


def reached(lanes: Lanes, states: Floats, actions: Floats) -> Floats:
    units = (actions - lanes.centre) / lanes.half
    return lanes.reach(states, units[:, None])[:, 0]


def solved(lanes: Lanes, states: Floats, targets: Floats, restart_budget: int = 500) -> Solved:
    nothing, restart_budgets = np.zeros((len(states), len(lanes.centre))), np.full(len(states), restart_budget)
    return solve(lanes, Solver(), states, targets, nothing, restart_budgets, np.random.default_rng(0))


def recorded(body: str, count: int) -> tuple[Lanes, Floats, Floats]:
    """Return transitions that the body's own policy recorded: a perfect action exists for each."""
    task = Locomotion(parse_robot(body))
    trajectory, _ = next(episodes(task, policy_for(task.robot), [0], sampled=True))
    rows = np.linspace(50, len(trajectory) - 50, count).astype(int)
    return Lanes(task.robot, scales(task.robot).difference), trajectory.states[rows], trajectory.states[rows + 1]


def test_on_a_slider_a_reachable_state_is_reached(slider_path: Path) -> None:
    lanes, rng = slider_lanes(slider_path), np.random.default_rng(0)
    states = rng.uniform(-0.1, 0.1, (20, 2))
    actions = rng.uniform(*lanes.robot.control_range, (20, 1))
    found = solved(lanes, states, reached(lanes, states, actions))
    np.testing.assert_allclose(found.actions, actions, atol=0.02)
    assert (found.errors <= 0.01 * found.passive_errors).all()


def test_on_a_slider_an_unreachable_state_takes_the_bound(slider_path: Path) -> None:
    lanes = slider_lanes(slider_path)
    found = solved(lanes, np.zeros((2, 2)), np.array([[0.0, 1e3], [0.0, -1e3]]))
    low, high = lanes.robot.control_range
    np.testing.assert_allclose(found.actions[:, 0], [high[0], low[0]])


@pytest.mark.parametrize("body", ["hopper:gravity=15", "half_cheetah:front=0.01", "walker2d:friction=24.9", "swimmer:back=10"])
def test_own_transitions_are_found_again(body: str) -> None:
    """What is left there is the solver's failure, not the body's; results/feasibility.md has larger samples (all ≥ 95 %)."""
    lanes, states, targets = recorded(body, 60)
    found = solved(lanes, states, targets)
    assert (found.errors <= 0.01 * found.passive_errors).mean() >= 0.9
    assert (found.errors <= found.passive_errors).all()
    np.testing.assert_allclose(reached(lanes, states, found.actions), found.reached, atol=1e-9)


def test_a_solution_does_not_depend_on_who_else_is_solved() -> None:
    lanes, states, targets = recorded("half_cheetah:front=0.01", 12)
    together = solved(lanes, states, targets)
    alone = solved(lanes, states[3:4], targets[3:4])
    np.testing.assert_array_equal(together.actions[3], alone.actions[0])
    backwards = solved(lanes, states[::-1], targets[::-1])
    np.testing.assert_array_equal(together.actions, backwards.actions[::-1])


def test_the_restart_budget_is_not_overdrawn_by_more_than_one_walk() -> None:
    lanes, states, targets = recorded("half_cheetah:front=0.01", 12)
    impossible = targets + 100 * lanes.scale
    actions, one_walk = len(lanes.centre), NEAR + ANYWHERE + Solver().later_steps * (len(lanes.centre) + len(DAMPINGS))
    assert actions == 6
    assert (solved(lanes, states, impossible, restart_budget=0).extra == 0).all()
    extra = solved(lanes, states, impossible, restart_budget=100).extra
    assert (extra >= 100).all()
    assert (extra < 100 + one_walk).all()


def test_the_solver_is_no_worse_than_mujocos_own_least_squares() -> None:
    """`mujoco.minimize.least_squares` from the same first guess, with its own finite differences, as an oracle."""
    lanes, states, targets = recorded("hopper:gravity=15", 8)
    found = solved(lanes, states, targets)
    for row in range(len(states)):

        def residual(units: Floats, row: int = row) -> Floats:
            columns = np.repeat(states[row : row + 1], units.shape[1], axis=0)
            there = lanes.reach(columns, units.T[:, None])
            return lanes.residuals(there, np.repeat(targets[row : row + 1], units.shape[1], axis=0))[:, 0].T

        bounds = [np.full((3, 1), -1.0), np.full((3, 1), 1.0)]
        best, _ = least_squares(np.zeros((3, 1)), residual, bounds, verbose=Verbosity.SILENT, eps=1e-3)
        oracle = float(np.linalg.norm(residual(best)))
        assert found.errors[row] <= oracle + 0.01 * found.passive_errors[row]


def test_following_oneself_leaves_nothing(slider_path: Path) -> None:
    robot = parse_robot(str(slider_path))
    own = babble(robot, 3, 20, 0)
    lanes = Lanes(robot, scales(robot).difference)
    targets = np.stack([trajectory.states for trajectory in own])
    followed = follow(lanes, Solver(), targets, np.array([20, 20, 5]), 0)
    gap = np.abs(followed.states - targets[:, 1:])
    assert np.nanmax(gap) < 1e-2 * np.abs(targets[:, 1:] - passive_rollout(lanes, targets[:, 0], 20)).max()
    assert np.isnan(followed.states[2, 5:]).all()
    assert np.isfinite(followed.states[2, :5]).all()


def test_a_passive_rollout_is_the_simulator_without_control(slider_path: Path) -> None:
    robot = parse_robot(str(slider_path))
    lanes, batch = Lanes(robot, np.ones(2)), Batch(robot, 1)
    start = np.array([[0.1, 0.5]])
    batch.set_state(start)
    for state in passive_rollout(lanes, start, 5)[0]:
        batch.step(np.zeros((1, 1)))
        np.testing.assert_allclose(state, batch.states[0], atol=1e-9)


def test_bodies_side_by_side_are_followed_as_each_alone() -> None:
    """One batch of different bodies: an attempt does not notice the others."""
    imitator = parse_robot("half_cheetah:front=0.01")
    bodies = [imitator, parse_robot("half_cheetah:front=0.1"), parse_robot("half_cheetah")]
    scale = scales(imitator).difference
    states = babble(parse_robot("half_cheetah"), 1, 12, 3)[0].states
    targets, lengths = np.tile(states, (3, 1, 1)), np.array([12, 12, 12])
    together = follow(Lanes(imitator, scale, bodies=bodies), Solver(restart_budget=60), targets, lengths, 0)
    for row, body in enumerate(bodies):
        alone = follow(Lanes(body, scale), Solver(restart_budget=60), targets[:1], lengths[:1], 0)
        np.testing.assert_array_equal(together.states[row], alone.states[0])
    nothing = passive_rollout(Lanes(imitator, scale, bodies=bodies), targets[:, 0], 5)
    np.testing.assert_array_equal(nothing[2], passive_rollout(Lanes(bodies[2], scale), targets[:1, 0], 5)[0])


def test_the_certificate_of_an_easy_body_is_perfect(slider_path: Path) -> None:
    robot = parse_robot(str(slider_path))
    demos = InMemory(robot.layout, babble(robot, 3, 20, 0))
    lanes = Lanes(robot, scales(robot).difference)
    assert certificate(lanes, Solver(), demos, 0) == 1.0


def test_the_certificate_of_a_servo_arm_whose_actions_are_perfect(servo_arm_path: Path) -> None:
    """Measured under actions anywhere in the control range, most of them leaps at full force, it was 0.70."""
    robot = parse_robot(str(servo_arm_path))
    assert certificate(Lanes(robot, scales(robot).difference), Solver(), reaches(robot), 0) >= 0.95


def leaps(robot: Robot) -> InMemory:
    """Return what an arm does that is told another posture at every step."""
    rng, batch, (low, high) = np.random.default_rng(3), Batch(robot, 6), robot.control_range
    batch.set_state(np.tile(robot.start, (6, 1)))
    states = [batch.states]
    for _ in range(60):
        batch.step(rng.uniform(low, high, (6, len(low))))
        states.append(batch.states)
    return InMemory(robot.layout, [Trajectory(one, "leaps") for one in np.stack(states, axis=1)])


def test_the_certificate_falls_where_the_tracker_fails(servo_arm_path: Path) -> None:
    """Random leaps of a stiff arm are followed badly: the certificate must not be flattered by the solver's own first guess."""
    robot = parse_robot(str(servo_arm_path))
    wild, lanes = leaps(robot), Lanes(robot, scales(robot).difference)
    assert certificate(lanes, Solver(), wild, 0) < certificate(lanes, Solver(first_steps=6), reaches(robot), 0) - 0.05
    assert certificate(lanes, Solver(first_steps=1, restart_budget=0), wild, 0) < 0.9


def test_a_servo_made_stronger_follows_as_before(servo_arm_path: Path) -> None:
    """With twice the gear the same controls meant half the angles, and feasible movements became infeasible.

    One control a step sets where a servo goes, its gain how fast: a stiffer one reaches the same postures at other speeds.
    """
    demos = reaches(parse_robot(str(servo_arm_path)), count=3)
    strong = f"{servo_arm_path}:" + ",".join(f"strength.{name}=2" for name in ("rotation", "pitch", "elbow"))
    scores = score(demos, strong)
    assert scores.verdict == ("feasible",) * 3
    assert scores.success == (True,) * 3
    assert scores.error_max_m.max() < 0.02


STICKY = """
<mujoco><compiler angle="radian"/><option timestep="0.002"/>
  <worldbody><body><joint name="turn" axis="0 1 0" range="-3 3" limited="true" frictionloss="50"/>
    <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="2"/>
    <body pos="0.3 0 0"><joint name="bend" axis="0 1 0" range="-3 3" limited="true" frictionloss="30"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="1" contype="0" conaffinity="0"/></body></body></worldbody>
  <actuator>
    <position joint="turn" kp="800" ctrllimited="true" ctrlrange="-3 3" forcelimited="true" forcerange="-150 150"/>
    <position joint="bend" kp="20" ctrllimited="true" ctrlrange="-3 3" forcelimited="true" forcerange="-100 100"/>
  </actuator></mujoco>
"""
"""Servos without damping against dry friction, as hobby arms are modelled."""


def sticky_steps(robot: Robot) -> tuple[Floats, Floats, Floats]:
    """Return states, the states one step later and the controls before, of a smooth movement of its own."""
    batch, times = Batch(robot, 1), robot.layout.period_s * np.arange(150)
    told = np.stack([0.8 * np.sin(1.5 * times), 1.2 * np.sin(2.5 * times)], axis=1)
    batch.set_state(np.zeros((1, 4)))
    states = [batch.states[0]]
    for control in told:
        batch.step(control[None])
        states.append(batch.states[0])
    return np.array(states[1:-1]), np.array(states[2:]), told[:-1]


def test_a_servo_that_sticks_finds_its_own_steps_without_new_beginnings(tmp_path: Path) -> None:
    """Inside the band of dry friction there is no slope, and forces at either end of a step do not show the friction within."""
    (tmp_path / "sticky.xml").write_text(STICKY)
    robot = parse_robot(str(tmp_path / "sticky.xml"))
    states, targets, previous = sticky_steps(robot)
    lanes, none = Lanes(robot, scales(robot).difference), np.zeros(len(states), np.int64)
    found = solve(lanes, Solver(), states, targets, previous, none, np.random.default_rng(0))
    solved = found.errors < 0.01 * found.passive_errors + 1e-9
    assert solved.mean() > 0.95


def test_a_solver_that_does_not_search_fails_the_certificate() -> None:
    """Without new beginnings and almost without steps it must show: the certificate can fail."""
    lanes, states, targets = recorded("walker2d:friction=24.9", 60)
    assert found_again(lanes, Solver(first_steps=1, restart_budget=0), states, targets, 0) < 0.9


def test_the_inverse_action_of_a_slider_is_exact_for_small_steps(slider_path: Path) -> None:
    lanes = slider_lanes(slider_path)
    states, actions = np.zeros((3, 2)), np.array([[-0.5], [0.0], [0.7]])
    targets = reached(lanes, states, actions)
    np.testing.assert_allclose(inverse_actions(lanes.robot, states, targets), actions, atol=0.05)


def test_joints_know_their_limits_and_units(slider_path: Path) -> None:
    (joint,) = joints(parse_robot(str(slider_path)))
    assert (joint.name, joint.limits, joint.force_unit) == ("slide", (-1.0, 1.0), "N")
    np.testing.assert_allclose(actuator_limits(parse_robot(str(slider_path))), [2.0])


SERVO = """
<mujoco>
  <compiler angle="radian"/>
  <option timestep="0.002" integrator="implicitfast"/>
  <worldbody>
    <body><joint name="hinge" axis="0 1 0" range="-2.9 2.9" damping="1" armature="0.1"/>
      <geom type="capsule" size="0.04" fromto="0 0 0 0.3 0 0" mass="1"/></body>
    <body pos="1 0 0"><joint name="pulled" axis="0 1 0" damping="1"/><geom type="sphere" size="0.1" mass="1"/></body>
  </worldbody>
  <tendon><fixed name="cord"><joint joint="pulled" coef="2"/></fixed></tendon>
  <actuator>
    <position name="stiff" joint="hinge" kp="{kp}" kv="{kv}" ctrlrange="-2.9 2.9" forcerange="-{force} {force}"/>
    <motor name="cord" tendon="cord" ctrlrange="-1 1"/>
  </actuator>
</mujoco>
"""


@pytest.fixture(params=[(4500, 450, 87), (50, 5, 0.6)])
def servo(request: pytest.FixtureRequest, tmp_path: Path) -> Robot:
    kp, kv, force = request.param
    (tmp_path / "servo.xml").write_text(SERVO.format(kp=kp, kv=kv, force=force))
    return parse_robot(str(tmp_path / "servo.xml"))


@pytest.mark.parametrize("pose", [0.0, 2.0])
def test_a_servo_follows_its_own_movements_wherever_it_stands(servo: Robot, pose: float) -> None:
    """Told to go to 0, a servo does not do nothing; and in most of its range it is at its force limit, without a slope."""
    lanes = Lanes(servo, scales(servo).difference)
    commands = pose + 0.3 * np.sin(0.05 * np.arange(60))
    states = [np.array([pose, 0.0, 0.0, 0.0])]
    for command in commands:
        states.append(reached(lanes, states[-1][None], np.array([[command, 0.0]]))[0])
    demos = InMemory(servo.layout, [Trajectory(np.array(states), str(servo))])
    found = score(demos, servo)
    assert found.verdict == ("feasible",)
    assert (found.measurement.certificate or 0) >= 0.9


def test_doing_nothing_asks_a_servo_for_no_force(servo: Robot) -> None:
    states = np.array([[0.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.3, 0.0], [-1.0, 0.5, -0.2, 1.0]])
    data = mujoco.MjData(servo.model)
    for state, action in zip(states, passive_actions(servo, states), strict=True):
        data.qpos[:], data.qvel[:], data.ctrl[:] = state[:2], state[2:], action
        mujoco.mj_forward(servo.model, data)
        np.testing.assert_allclose(data.qfrc_actuator, 0, atol=1e-9)


def test_the_inverse_action_of_a_servo_asks_for_the_inverse_force(servo: Robot) -> None:
    states = np.array([[1.0, 0.0, 0.2, 0.0]])
    targets = states + np.array([[0.004, 0.0, 0.001, 0.0]])
    wanted, data = inverse_forces(servo, states, targets)[0, 0], mujoco.MjData(servo.model)
    data.qpos[:], data.qvel[:] = states[0, :2], states[0, 2:]
    data.ctrl[:] = inverse_actions(servo, states, targets)[0]
    mujoco.mj_forward(servo.model, data)
    limit = actuator_limits(servo)[0]
    np.testing.assert_allclose(data.qfrc_actuator[0], np.clip(wanted, -limit, limit), rtol=1e-6)


def test_a_force_limit_is_what_a_servo_has_and_a_cord_what_it_pulls(servo: Robot) -> None:
    [force] = {float(servo.model.actuator_forcerange[0, 1])}
    np.testing.assert_allclose(actuator_limits(servo), [force, 2.0], err_msg="the cord pulls 1 N with a lever arm of 2")


@pytest.mark.parametrize(("kp", "known"), [(8, True), (4500, False)])
def test_a_servo_without_a_force_limit_has_what_its_range_gives_if_that_is_little(
    tmp_path: Path, kp: float, known: bool
) -> None:
    """8 Nm/rad over 5.8 rad are 46 Nm; 26 kNm are no limit, and a spatial tendon's lever arm is not known."""
    text = SERVO.format(kp=kp, kv=1, force=1).replace('forcerange="-1 1"', "")
    (tmp_path / "endless.xml").write_text(text)
    robot = parse_robot(str(tmp_path / "endless.xml"))
    np.testing.assert_allclose(actuator_limits(robot)[0], kp * 5.8 if known else np.inf)
    assert strength_unknown(robot).partition(":")[0] == ("" if known else "no torque limit")
    assert known or "joint hinge" in strength_unknown(robot)
