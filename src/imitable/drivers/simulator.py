# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""The driver `sim`: the model of the arm in MuJoCo, stepped while a command's period passes.

An adapter file: MuJoCo ships no types.
"""

import math
from dataclasses import dataclass
from typing import Annotated

import mujoco
import numpy as np

from imitable import seeding
from imitable.drivers.arm_model import ArmModel, touching_pair
from imitable.drivers.driver import Abilities, Command, Reading
from imitable.errors import BadCommand
from imitable.robots.panda_model import SPEEDS
from imitable.spec_text import Range, check_fields
from imitable.types import Floats

FASTEST = np.pi
"""Joint speed of an arm that nothing is known of, in rad/s."""


@dataclass(frozen=True)
class Simulator:
    """An arm in MuJoCo, which starts where its model says and stands still between commands."""

    noise: Annotated[float, Range(0.0, 0.1)] = 0.0
    """Standard deviation of what is read of joint positions, in rad."""
    seed: Annotated[int, Range(0, 2**53)] = 0
    """Of the noise."""

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        check_fields(self)

    def abilities(self, model: ArmModel) -> Abilities:
        """Return the model's own joint limits."""
        speeds = SPEEDS if model.robot.family.name == "panda" else (FASTEST,) * len(model.joints)
        return Abilities(model.position_range, np.array(speeds))

    def connect(self, model: ArmModel) -> "SimulatedArm":
        """Start a simulation."""
        return SimulatedArm(self, model)


class SimulatedArm:
    """The simulation: servos hold a command's positions from its beginning on, as those of `sim.Batch` do."""

    def __init__(self, settings: Simulator, arm: ArmModel) -> None:
        """Put the arm where its model says that it starts."""
        self._settings, self._model = settings, arm.robot.model
        self._rng = seeding.generator(settings.seed, "sensor noise")
        self._data = mujoco.MjData(self._model)
        self._servos = arm.servos
        self._data.qpos[:] = arm.start
        mujoco.mj_forward(self._model, self._data)
        self._felt = ""

    def read(self) -> Reading:
        """Return where the joints are, with the sensor's noise, and what touched since the last command."""
        noise = self._settings.noise * self._rng.standard_normal(self._model.nq) if self._settings.noise else 0.0
        here = self._data.qpos + noise
        # as in a rollout, an action is counted from where the arm is
        return Reading(float(self._data.time), here, np.array(self._data.qvel), here, self._felt)

    def command(self, command: Command) -> None:
        """Step the simulation through the period."""
        if command.positions.shape != (self._model.nq,):
            raise BadCommand(f"{self._model.nq} joints need as many positions, but {len(command.positions)} were given")
        self._felt = ""
        for _ in range(max(1, round(command.period_s / self._model.opt.timestep))):
            self._follow(command.positions)

    def stop(self) -> None:
        """Let the servos hold where the arm is, until it rests; that takes at most a second."""
        here = np.array(self._data.qpos)
        for _ in range(math.ceil(1 / self._model.opt.timestep)):
            if np.abs(self._data.qvel).max() < 1e-3:
                break
            self._follow(here)

    def _follow(self, target: Floats) -> None:
        self._data.ctrl[:] = target[self._servos]
        mujoco.mj_step(self._model, self._data)
        # contacts that are listed before they push count when they do: the arm's own sensors feel force, not nearness
        self._felt = self._felt or touching_pair(self._model, self._data)
