# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""From displacements of a tool to angles of the joints that can move, for many arms at once: damped least squares.

Δq = argmin ‖J Δq − e‖² + λ² ‖Δq‖²,   J (6, F) the tool's Jacobian by the F joints with a servo, rotations in `TURN_M` metres a
radian, e the wanted displacement and, softly, the turn back to how the hand stood at the start. The columns of joints that
are welded are not there, so that a displacement which only they could make moves nothing else instead.

An adapter file: MuJoCo ships no types.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import mujoco
import numpy as np

from imitable.robots.robot import Robot
from imitable.sim.poses import positions
from imitable.types import Bools, Floats, Ints, frozen

DAMPING = 0.01
"""λ, metres a radian: a lever so short is not used."""

TURN_M = 0.1
"""A radian of tilt counts like this much of displacement: near the end of its reach an arm must tilt its hand."""

MOST_TURN = 0.1
"""Radians of tilt that one step takes back, at most."""

MOST_ANGLE = 0.1
"""Radians that one step turns a joint: of the arm's fastest in a control period."""


@dataclass(frozen=True, eq=False)
class ToolChain:
    """What inverse kinematics needs to know of an arm."""

    body: int
    """That carries the tool."""
    site: int
    """Of the tool."""
    columns: Ints
    """(F) degrees of freedom that servos drive, in the order of the controls."""
    ranges: Floats
    """(2, F) of their joints."""
    upright: Floats
    """(3, 3) how the hand stands at the start."""

    def angles(
        self, q: Floats, rotations: Floats, jacobians: tuple[Floats, Floats], wanted: Floats, turn_m: float = TURN_M
    ) -> Floats:
        """Return the F joint angles (n, F) that take tools a displacement on.

        Args:
            q: (n, nq) joint positions.
            rotations: (n, 3, 3) of the tools.
            jacobians: (n, 3, nv) of their positions and of their rotations.
            wanted: (n, 3) displacements, metres.
            turn_m: metres that a radian of tilt counts.
        """
        jacobian = np.concatenate([jacobians[0], turn_m * jacobians[1]], axis=1)[:, :, self.columns]
        turn = np.clip(_turn(rotations, self.upright), -MOST_TURN, MOST_TURN)
        error = np.concatenate([wanted, turn_m * turn], axis=1)
        here, (low, high) = q[:, self.columns], self.ranges
        change = _least_squares(jacobian, error)
        stopped: Bools = (here + change < low) | (here + change > high)
        if (rows := np.flatnonzero(stopped.any(axis=1))).size:
            # joints that would pass their stops go there and no farther; the others make up for it
            final = np.where(stopped, np.clip(here + change, low, high) - here, 0.0)[rows]
            left = error[rows] - (jacobian[rows] @ final[:, :, None])[:, :, 0]
            change[rows] = final + _least_squares(jacobian[rows] * ~stopped[rows, None], left)
        # a step that is too long is shortened as a whole, so that the tool keeps its direction
        change *= np.minimum(1.0, MOST_ANGLE / np.maximum(np.abs(change).max(axis=1, keepdims=True), 1e-12))
        return np.clip(here + change, low, high)


def _least_squares(jacobian: Floats, error: Floats) -> Floats:
    """(n, 6, F), (n, 6) → (n, F) argmin ‖J x − e‖² + λ² ‖x‖²; x is zero where a column is."""
    transposed = np.swapaxes(jacobian, 1, 2)
    normal = transposed @ jacobian + DAMPING**2 * np.eye(jacobian.shape[2])
    return np.asarray(np.linalg.solve(normal, transposed @ error[:, :, None])[:, :, 0], np.float64)


def _turn(rotations: Floats, upright: Floats) -> Floats:
    """(n, 3, 3) → (n, 3) axis times sine of the angle that turns each back upright: ½ Σ r_k × u_k over the columns."""
    return 0.5 * np.cross(rotations, upright, axisa=1, axisb=0, axisc=1).sum(axis=2)


@lru_cache(maxsize=64)
def tool_chain(robot: Robot) -> ToolChain:
    """Return the chain of an arm."""
    assert robot.tool is not None, robot
    model, site = robot.model, int(robot.model.site(robot.tool.site).id)
    data, joints = mujoco.MjData(model), model.actuator_trnid[:, 0]
    data.qpos[:] = robot.start[: model.nq]
    mujoco.mj_kinematics(model, data)
    return ToolChain(
        body=int(model.site_bodyid[site]),
        site=site,
        columns=frozen(model.jnt_dofadr[joints], np.int64),
        ranges=frozen(model.jnt_range[joints].T),
        upright=frozen(data.site_xmat[site].reshape(3, 3)),
    )


class BatchControl:
    """Turns displacements into the servos' angles, in the native batch that holds the arms."""

    def __init__(self, robot: Robot, native: Any) -> None:
        """Bind what is read of the simulations."""
        self._chain, self._native, self._bounds = tool_chain(robot), native, robot.control_range
        self._qpos: Floats = native.bind("qpos")
        self._positions: Floats = native.bind("site_xpos")
        self._rotations: Floats = native.bind("site_xmat")

    def controls(self, actions: Floats, ids: Ints | None) -> Floats:
        """(n, 3) displacements → (n, F) angles, from where the arms are now."""
        chain, where = self._chain, slice(None) if ids is None else ids
        self._native.forward(ids, stage=mujoco.mjtStage.mjSTAGE_POS.value)
        points = np.ascontiguousarray(self._positions[where, chain.site])
        jacobians = self._native.jac(chain.body, points, ids)
        rotations = self._rotations[where, chain.site].reshape(-1, 3, 3)
        return chain.angles(self._qpos[where], rotations, jacobians, np.clip(actions, *self._bounds))


def moved_tools(robot: Robot, states: Floats, displacements: Floats, steps: int = 1, turn_m: float = TURN_M) -> Floats:
    """(N, S), (N, 3) → (N, S) states at rest whose tools are displaced, by geometry alone: `steps` rounds of least squares.

    Joints that do not move stay where they are.
    """
    chain, model = tool_chain(robot), robot.model
    data, moved = mujoco.MjData(model), states.copy()
    jacobians = np.empty((len(states), 2, 3, model.nv))
    points, rotations, goals = np.empty((len(states), 3)), np.empty((len(states), 3, 3)), None
    for _ in range(steps):
        for row, state in enumerate(moved):
            data.qpos[:] = state[: model.nq]
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_jacSite(model, data, jacobians[row, 0], jacobians[row, 1], chain.site)
            points[row], rotations[row] = data.site_xpos[chain.site], data.site_xmat[chain.site].reshape(3, 3)
        goals = points + displacements if goals is None else goals
        both = (jacobians[:, 0], jacobians[:, 1])
        moved[:, chain.columns] = chain.angles(moved[:, : model.nq], rotations, both, goals - points, turn_m)
    return moved


POSING = 12
"""Rounds of least squares that put an arm into a pose of its own; its hand may tilt to get there."""


def posed(robot: Robot, states: Floats) -> Floats:
    """(N, S) → (N, S) states of another arm with the same joints, as this one can hold them.

    Joints that do not move here go to where they are welded, and stand still; the others bring the tool as near to where it was
    as they can. A state that the arm can hold stays as it is, to the last bit.
    """
    chain, moved = tool_chain(robot), states.copy()
    nq, low, high = robot.layout.nq, *chain.ranges
    welded = np.setdiff1d(np.arange(nq), chain.columns)
    joints = states[:, chain.columns]
    foreign = (np.abs(states[:, welded] - robot.start[welded]) > 0).any(axis=1) | ((joints < low) | (joints > high)).any(axis=1)
    rows = np.flatnonzero(foreign)
    if not len(rows):
        return moved
    own = states[rows]
    own[:, welded], own[:, nq + welded] = robot.start[welded], 0.0
    own[:, chain.columns] = np.clip(own[:, chain.columns], low, high)
    gap = _tools(robot, states[rows]) - _tools(robot, own)
    moved[rows] = moved_tools(robot, own, gap, POSING, TURN_M / 10)
    return moved


def lever_joint(robot: Robot, state: Floats, displacement: Floats) -> str:
    """(S), (3) → the first welded joint with a lever in that direction, half the longest at least; empty if none is welded."""
    chain, model = tool_chain(robot), robot.model
    welded = np.setdiff1d(np.arange(model.nv), chain.columns)
    if not len(welded):
        return ""
    data, jacobian = mujoco.MjData(model), np.zeros((3, model.nv))
    data.qpos[:] = state[: model.nq]
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_jacSite(model, data, jacobian, None, chain.site)
    levers = np.abs(displacement @ jacobian[:, welded])
    return str(robot.layout.qpos[int(welded[(levers >= levers.max() / 2).argmax()])])


def _tools(robot: Robot, states: Floats) -> Floats:
    assert robot.tool is not None
    return positions(robot, states, (robot.tool.site,))[:, 0]
