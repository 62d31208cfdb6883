# SPDX-License-Identifier: MIT
"""Checks of every command before it leaves, and of every reading when it comes."""

from dataclasses import replace

import numpy as np

from imitable.drivers.arm_model import ArmModel
from imitable.drivers.driver import Command, Reading
from imitable.drivers.limits import Limits
from imitable.errors import ArmContact, BeyondLimit, StaleReading
from imitable.types import Bools, Floats

PATH = (1 / 3, 2 / 3, 1.0)
"""Parts of the way from where the arm is to where it shall be that are looked at."""


class Guard:
    """Refuses what is beyond the limits of an arm."""

    def __init__(self, limits: Limits, model: ArmModel) -> None:
        """`model` says where the tool is, and what would be touched."""
        self.limits, self._model = limits, model

    def on_the_way_back(self) -> "Guard":
        """Return a guard for an arm that goes back where it came from: it may be near to something, but not touch it."""
        return Guard(replace(self.limits, clearance_m=0.0), self._model)

    def check_command(self, reading: Reading, command: Command) -> None:
        """Refuse a command that is beyond a limit, on its way or at its end: |q − q_desired| / period ≤ speed, and so on."""
        self._check_positions(command.positions, 0.0, "command")
        speeds = np.abs(command.positions - reading.desired) / command.period_s
        if (fast := self._first(speeds > self.limits.speeds)) is not None:
            what = f"speed of {self.limits.joints[fast]} in the command"
            raise BeyondLimit(what, f"{speeds[fast]:.3f} rad/s", f"at most {self.limits.speeds[fast]:.3f} rad/s")
        self._check_tool(reading.desired, command)
        for part in PATH:
            there = reading.positions + part * (command.positions - reading.positions)
            if pair := self._model.touching(there, self.limits.clearance_m):
                raise ArmContact(f"the command would bring {pair} together")

    def check_reading(self, before: Reading | None, reading: Reading) -> None:
        """Refuse a reading that is old, feels contact, or is out of bounds: the arm must be stopped then."""
        if before is not None and not reading.arm_s > before.arm_s:
            raise StaleReading(f"the arm's clock has stood still at {reading.arm_s:.3f} s since the last command")
        if reading.contact:
            raise ArmContact(reading.contact)
        if not (np.isfinite(reading.positions).all() and np.isfinite(reading.velocities).all()):
            raise BeyondLimit("reading", "not a number", "finite joint positions and velocities")
        self._check_positions(reading.positions, self.limits.overshoot, "reading")
        lags = np.abs(reading.desired - reading.positions)
        if (slow := self._first(lags > self.limits.lag)) is not None:
            what = f"lag of {self.limits.joints[slow]} behind where it should be"
            raise BeyondLimit(what, f"{lags[slow]:.3f} rad", f"at most {self.limits.lag:.3f} rad")

    def _check_positions(self, positions: Floats, slack: float, where: str) -> None:
        low, high = self.limits.positions
        if (bad := self._first((positions < low - slack) | (positions > high + slack))) is not None:
            what = f"position of {self.limits.joints[bad]} in the {where}"
            raise BeyondLimit(what, f"{positions[bad]:.4f} rad", f"from {low[bad]:.4f} to {high[bad]:.4f} rad")

    def _check_tool(self, here: Floats, command: Command) -> None:
        if not self._model.has_tool:
            return
        tool = self._model.tool(command.positions)
        speed = float(np.linalg.norm(tool - self._model.tool(here))) / command.period_s
        if speed > self.limits.tool_speed:
            raise BeyondLimit(
                "speed of the tool in the command", f"{speed:.3f} m/s", f"at most {self.limits.tool_speed:.3f} m/s"
            )
        low, high = self.limits.box
        if (axis := self._first((tool < low) | (tool > high))) is not None:
            what = f"{'xyz'[axis]} of the tool in the command"
            raise BeyondLimit(what, f"{tool[axis]:.4f} m", f"from {low[axis]:.4f} to {high[axis]:.4f} m")

    @staticmethod
    def _first(wrong: Bools) -> int | None:
        places = np.flatnonzero(wrong)
        return int(places[0]) if len(places) else None
