# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""Motions of an arm that is controlled and compared by its tool: paths over and around a shelf, hurried, cut, out of plane.

ε is the smallest deviation of the tool from its path, in 5 cm. An adapter file: MuJoCo ships no types.
"""

from collections.abc import Callable, Iterator

import mujoco
import numpy as np

import imitable as im
from imitable.seeding import generator
from imitable.types import Floats
from studies.truth.arms import Made, slowest_deviation
from studies.truth.body import Body
from studies.truth.robots import Entry
from studies.truth.scenes import robot_text

TOOL_M = 0.05
"""Tolerance of a tool: as near as the goal must be reached."""

MODES = ("over", "left", "right")
PLANAR = "dof=3"
"""The imitator whose tool stays in the plane y = 0."""


class ToolArm:
    """An arm whose tool is led along paths."""

    def __init__(self, robot: Entry, seed: int = 0) -> None:
        """Compile the arm."""
        self.robot, self.seed = robot, seed
        self.body = Body(robot_text(robot))

    def own(self, index: int, knob: str = "") -> Made:
        """Return a path that the arm followed; only over the shelf with three joints."""
        robot, mode = im.robot(robot_text(self.robot, knob)), "over" if knob else MODES[index % 3]
        (trajectory,) = im.waypoint_demonstrations(robot, {mode: 1}, int(self._rng("own", knob, index).integers(2**31)))
        return Made(np.array(trajectory.states))

    def _rng(self, *names: str | int) -> np.random.Generator:
        return generator(self.seed, "truth", self.robot.name, *names)

    def impossible(self, made: str) -> Iterator[Made]:
        """Make motions of one kind, as many as are asked for."""
        make: dict[str, Callable[[int], Made]] = {"plane": self._plane, "hurry": self._hurry, "cut": self._cut}
        return (make[made](index) for index in range(10_000))

    def _plane(self, index: int) -> Made:
        """Return a path around the shelf, which leaves the plane of three joints."""
        states = self.own(20_000 + 3 * index + 1 + index % 2).states
        away = np.abs(self._tools(states)[:, 1])
        return self._made(states, away > TOOL_M, float(away.max()), "m")

    def _hurry(self, index: int) -> Made:
        """Play a stretch of a path 1.5 to 6 times as fast."""
        states, rng = self.own(30_000 + index).states, self._rng("hurry", index)
        times = float(np.exp(rng.uniform(np.log(1.5), np.log(6))))
        begin, end = np.sort(rng.uniform(0.05, 0.95, 2)) * (len(states) - 1)
        pace = np.where((np.arange(len(states)) >= begin) & (np.arange(len(states)) < end), 1 / times, 1.0)
        clock = np.concatenate([[0.0], np.cumsum(pace)])
        frames = np.interp(np.arange(0, clock[-1] - 1), clock, np.arange(len(clock)))
        qpos = np.stack([np.interp(frames, np.arange(len(states)), column) for column in states[:, : self.body.model.nq].T], 1)
        return self._fast(self._with_velocities(qpos), times, "× speed")

    def _cut(self, index: int) -> Made:
        """Leave out frames of a path, so that the tool jumps."""
        states, rng = self.own(40_000 + index).states, self._rng("cut", index)
        count = int(rng.integers(8, len(states) // 2))
        first = int(rng.integers(2, len(states) - count - 2))
        qpos = np.delete(states[:, : self.body.model.nq], slice(first, first + count), axis=0)
        distance = float(np.linalg.norm(np.diff(self._tools(states[[first - 1, first + count]]), axis=0)))
        return self._fast(self._with_velocities(qpos), distance, "m")

    def _fast(self, states: Floats, amount: float, unit: str) -> Made:
        """Return a path whose tool moves faster than an action can: 1 cm along each axis per control period."""
        tools, step = self._tools(states), float(self.body.robot.control_range[1, 0])
        deviation = max(slowest_deviation(column, step) for column in tools.T)
        over = np.concatenate([(np.abs(np.diff(tools, axis=0)) > step).any(axis=1), [False]])
        return self._made(states, over, deviation, unit, amount)

    def _made(self, states: Floats, over: np.ndarray, deviation: float, unit: str, amount: float | None = None) -> Made:
        places = np.flatnonzero(over)
        span = (float(places[0] * self.body.period), float((places[-1] + 1) * self.body.period)) if len(places) else None
        return Made(states, None, "tool", span, deviation / TOOL_M, deviation if amount is None else amount, unit)

    def _with_velocities(self, qpos: Floats) -> Floats:
        return np.concatenate([qpos, self.body.velocities(qpos, self.body.period)], axis=1)

    def _tools(self, states: Floats) -> Floats:
        """Return (T, 3) where the tool is."""
        model, data = self.body.model, self.body.data
        tool = self.body.robot.tool
        assert tool is not None
        out = np.empty((len(states), 3))
        for row, state in zip(out, states, strict=True):
            data.qpos[:] = state[: model.nq]
            mujoco.mj_kinematics(model, data)
            row[:] = data.site(tool.site).xpos
        return out
