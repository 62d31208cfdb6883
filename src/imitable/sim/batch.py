# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""N simulations on native threads, each of its own body if asked: the one seam to `mujoco.batch`.

Results are those of a plain `mj_step` loop, bit for bit, whatever the number of threads.
An adapter file: MuJoCo ships no types.
"""

import os
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from mujoco.batch import Batch as NativeBatch
from mujoco.batch import SimulationError

from imitable.errors import MixedRobots
from imitable.robots.robot import Robot
from imitable.sim.inverse_kinematics import BatchControl
from imitable.types import Bools, Floats, Ints


class Batch:
    """N simulations that are set, stepped and read together.

    The state of a simulation is (qpos, qvel), (S). A row is MuJoCo's whole integration state (time, warm start, controls too).
    """

    def __init__(self, robots: Robot | Sequence[Robot], size: int, threads: int = 1) -> None:
        """Build `size` simulations of one robot, or one simulation of each of `size` robots (0 threads: all cores)."""
        bodies = [robots] if isinstance(robots, Robot) else list(robots)
        if len(bodies) not in (1, size):
            raise MixedRobots(f"{len(bodies)} bodies for {size} simulations; give one, or one for each")
        _check_alike(bodies)
        self.robot = bodies[0]
        self._native: Any = NativeBatch(bodies[0].model, size, threads or os.cpu_count() or 1)
        if len(bodies) > 1:
            _set_models(self._native, bodies)
        self._native.reset(stage=mujoco.mjtStage.mjSTAGE_NONE.value)
        self._fresh_rows: Floats = self._native.state.copy()
        self._rows: Floats = self._native.state
        self._qpos: Floats = self._native.bind("qpos")
        self._qvel: Floats = self._native.bind("qvel")
        self._ctrl: Floats = self._native.bind("ctrl")
        self._outer: Floats = self._native.bind("xfrc_applied")
        self._warnings: Ints = self._native.warning[:, :, 1]
        self._nq = self._qpos.shape[1]
        self._tools = None if self.robot.tool is None else BatchControl(self.robot, self._native)

    def __len__(self) -> int:
        """Return the number of simulations."""
        return len(self._rows)

    @property
    def states(self) -> Floats:
        """(N, S) copy of all states."""
        return np.concatenate([self._qpos, self._qvel], axis=1)

    @property
    def rows(self) -> Floats:
        """(N, R) copy of all integration states; writing them back with `set_rows` resumes to the same bits."""
        return self._rows.copy()

    def set_rows(self, rows: Floats) -> None:
        """Restore integration states that `rows` gave."""
        self._rows[:] = rows

    def set_state(self, states: Floats, ids: Ints | None = None) -> None:
        """Put simulations into states (n, S); time, warm start and controls become zero."""
        where = slice(None) if ids is None else ids
        self._rows[where] = self._fresh_rows[where]
        self._qpos[where] = states[..., : self._nq]
        self._qvel[where] = states[..., self._nq :]

    def push(self, forces: Floats, ids: Ints | None = None) -> None:
        """Let horizontal forces (n, 2), in newtons, act on the root bodies until others do or a state is set."""
        self._outer[slice(None) if ids is None else ids, 1, :2] = forces

    def step(self, controls: Floats, ids: Ints | None = None) -> Bools:
        """Advance by one control step under controls (n, A); return which simulations are unstable, (n). `ids` must ascend.

        Controls are those of the actuators; of an arm with a tool, displacements, which become angles here.
        A simulation is unstable if MuJoCo warned or failed, or its state is not finite. Its state means nothing then, but no
        other simulation is touched.
        """
        where = slice(None) if ids is None else ids
        self._ctrl[where] = controls if self._tools is None else self._tools.controls(controls, ids)
        # a simulation that goes bad is reset by MuJoCo, counters too: only counting from zero shows a second time
        self._warnings[where] = 0
        failed = np.zeros(len(self), bool)
        try:
            self._native.step(ids, nstep=self.robot.frame_skip)
        except SimulationError as error:
            failed[error.ids] = True
        failed |= self._warnings.any(axis=1)
        failed |= ~(np.isfinite(self._qpos).all(axis=1) & np.isfinite(self._qvel).all(axis=1))
        return failed[where]


def _check_alike(bodies: Sequence[Robot]) -> None:
    first = bodies[0]
    for other in bodies[1:]:
        if other.layout != first.layout or other.frame_skip != first.frame_skip:
            raise MixedRobots(f"{first} and {other} differ in their joints, actuators, time step or control period")


def _set_models(native: Any, bodies: Sequence[Robot]) -> None:
    try:
        native.set_models([body.model for body in bodies])
    except mujoco.FatalError as error:
        raise MixedRobots(str(error)) from None
