# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""Following by computed torque: what inverse dynamics asks for along the demonstration, and feedback about it.

    control(t) = feed forward(t) + P(t) · (q_ref ⊖ q) + D(t) · (q̇_ref − q̇)

P = G M ω² and D = 2 G M ω, with the inertia M of the demonstrated state and G the map from joint forces to controls, so that an
error decays like exp(−ω t) as long as no actuator is at its limit. A position servo feeds back by itself: only what its own
stiffness and damping lack is added. Controls change every few milliseconds, as those of a real arm do, however slowly the
demonstration was recorded. A rollout that stays near the demonstration proves that the robot can do it.
An adapter file: MuJoCo ships no types.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import lru_cache

import mujoco
import numpy as np

from imitable.robots.parse import with_knobs
from imitable.robots.robot import Robot
from imitable.sim.batch import Batch
from imitable.sim.kinematics import joint_space
from imitable.tracking.inverse_dynamics import actuator_limits
from imitable.types import Floats, Ints

UPDATE_S = 0.005
"""Seconds between two controls, at most, of robots whose control period is not part of them."""

BANDWIDTH, STEPWISE = 40.0, 0.4
"""ω, 1/s: that of a good joint controller; and at most so much per control step, beyond which it would overshoot."""


@dataclass(frozen=True, eq=False)
class ControlLaw:
    """Feed-forward and feedback along T transitions of a demonstration."""

    feed_forward: Floats
    """(T, A) controls."""
    stiffness: Floats
    """(T, A, nv) controls per radian or metre of error."""
    damping: Floats
    """(T, A, nv) controls per rad/s or m/s of error."""
    told: Floats
    """(T, A, nv) what a servo must be told more per radian or metre, to stay where it is told to be: 0 of motors."""

    @property
    def own_feedback(self) -> "ControlLaw":
        """The same without feedback but a servo's own."""
        return ControlLaw(self.feed_forward, np.zeros_like(self.stiffness), np.zeros_like(self.damping), self.told)

    @staticmethod
    def empty(robot: Robot, steps: int) -> "ControlLaw":
        """Return the law of so many transitions, before it is known."""
        shape = (steps, int(robot.model.nu), int(robot.model.nv))
        return ControlLaw(np.zeros(shape[:2]), np.zeros(shape), np.zeros(shape), np.zeros(shape))

    def fill(self, begin: int, law: "ControlLaw") -> None:
        """Write what is known of some transitions, from `begin` onwards."""
        for field in fields(ControlLaw):
            part: Floats = getattr(law, field.name)
            getattr(self, field.name)[begin : begin + len(part)] = part

    @staticmethod
    def joined(laws: Sequence["ControlLaw"]) -> "ControlLaw":
        """Return the laws of several windows as one."""
        return ControlLaw(*(np.concatenate([getattr(law, field.name) for law in laws]) for field in fields(ControlLaw)))

    def windows(self, begins: Ints, steps: int) -> "ControlLaw":
        """(N) → the law of N windows of so many steps; the last transition repeats beyond the end."""
        rows = np.minimum(begins[:, None] + np.arange(steps), len(self.feed_forward) - 1)
        return ControlLaw(self.feed_forward[rows], self.stiffness[rows], self.damping[rows], self.told[rows])


@lru_cache(maxsize=64)
def fine_robot(robot: Robot) -> tuple[Robot, int]:
    """Return the robot at the rate of its joint controllers, and how many of their steps a control step has.

    The control period of a robot with a task is part of it, and so it stays.
    """
    if robot.family.knob("period") is None:
        return robot, 1
    timestep = float(robot.model.opt.timestep)
    divisors = [k for k in range(1, robot.frame_skip + 1) if robot.frame_skip % k == 0 and k * timestep <= UPDATE_S + 1e-9]
    steps = max(divisors, default=1)
    return with_knobs(robot.family, {**dict(robot.values), "period": steps * timestep}), robot.frame_skip // steps


def control_law(robot: Robot, states: Floats, feed_forward: Floats) -> ControlLaw:
    """(T + 1, S), (T, A) → the law along T transitions."""
    model = robot.model
    data, nq, nv, nu = mujoco.MjData(model), int(model.nq), int(model.nv), int(model.nu)
    rate = min(BANDWIDTH, STEPWISE / fine_robot(robot)[0].layout.period_s)
    steps = len(states) - 1
    stiffness, damping, told = np.zeros((3, steps, nu, nv))
    affine = model.actuator_biastype == int(mujoco.mjtBias.mjBIAS_AFFINE)
    gain = np.where(model.actuator_gainprm[:, 0] == 0, np.inf, model.actuator_gainprm[:, 0])
    own_p, own_d = (np.where(affine, -model.actuator_biasprm[:, k], 0.0) / gain for k in (1, 2))
    inertia, moment, driven = np.zeros((nv, nv)), np.zeros((nu, nv)), actuator_limits(robot) > 0
    for t in range(steps):
        data.qpos[:], data.qvel[:] = states[t, :nq], states[t, nq:]
        mujoco.mj_fwdPosition(model, data)
        for column, unit in zip(inertia, np.eye(nv), strict=True):  # mj_fullM has other arguments in MuJoCo 4
            mujoco.mj_mulM(model, data, column, unit)
        moment[:] = 0.0
        mujoco.mju_sparse2dense(moment, data.actuator_moment, data.moment_rownnz, data.moment_rowadr, data.moment_colind)
        # nothing accelerates what no actuator drives: a root's error is not an error of the joints
        wanted = (np.linalg.pinv(moment.T) / gain[:, None]) @ np.where(np.outer(driven, driven), inertia, 0.0)
        told[t] = own_p[:, None] * moment
        # what a servo does by itself need not be asked of it
        stiffness[t] = _lacking(rate**2 * wanted, told[t])
        damping[t] = _lacking(2 * rate * wanted, own_d[:, None] * moment)
    return ControlLaw(feed_forward, stiffness, damping, told)


def _lacking(wanted: Floats, own: Floats) -> Floats:
    """(A, nv), (A, nv) → wanted − own where the servo is the softer one, zero where it is stiff enough by itself."""
    enough = np.abs(own).max(axis=1) >= np.abs(wanted).max(axis=1)
    return np.where(enough[:, None], 0.0, wanted - own)


def follow_with_feedback(
    robot: Robot, targets: Floats, laws: ControlLaw, lengths: Ints, offsets: Floats | None = None, *, threads: int = 1
) -> Floats:
    """Follow N references from their own first states; return the states (N, H, S) after every step, NaN beyond the ends.

    Args:
        robot: the imitator, which no tool controls.
        targets: (N, H + 1, S) demonstrated states.
        laws: of every reference, (N, H, …) arrays.
        lengths: (N) steps that are meant.
        offsets: (N, H + 1, A) added to the controls, on lines between the steps; None: nothing.
        threads: of the simulator; results do not depend on them.
    """
    fine, pieces = fine_robot(robot)
    space, period = joint_space(robot), robot.layout.period_s
    nq, nv = space.nq, space.nv
    low, high = fine.control_range
    batch = Batch(fine, len(targets), threads)
    batch.set_state(targets[:, 0])
    states = np.full((len(targets), targets.shape[1] - 1, targets.shape[2]), np.nan)
    alive = np.ones(len(targets), bool)
    for t in range(int(lengths.max())):
        ids = np.flatnonzero(alive & (lengths > t))
        if not len(ids):
            break
        here, there = targets[ids, t], targets[ids, t + 1]
        moved, v0, v1 = space.difference(there, here)[:, :nv], here[:, nq:], there[:, nq:]
        failed = np.zeros(len(ids), bool)
        for piece in range(pieces):
            s = piece / pieces
            way = (3 * s**2 - 2 * s**3) * moved + period * ((s - 2 * s**2 + s**3) * v0 + (s**3 - s**2) * v1)
            speed = 6 * (s - s**2) * moved / period + (1 - 4 * s + 3 * s**2) * v0 + (3 * s**2 - 2 * s) * v1
            now = batch.states[ids]
            gone = space.difference(now, here)[:, :nv]
            control = laws.feed_forward[ids, t] + np.einsum("nav,nv->na", laws.stiffness[ids, t], way - gone)
            control += np.einsum("nav,nv->na", laws.damping[ids, t], speed - now[:, nq:])
            control += np.einsum("nav,nv->na", laws.told[ids, t], way - moved / 2)  # its feed-forward is that of the middle
            if offsets is not None:
                control += (1 - s) * offsets[ids, t] + s * offsets[ids, t + 1]
            failed |= batch.step(np.clip(control, low, high), ids)
        states[ids, t] = np.where(failed[:, None], np.nan, batch.states[ids])
        alive[ids] = ~failed
    return states
