# SPDX-License-Identifier: MIT
"""A dry run: no arm is connected. Commands are told to whoever listens, and are taken to be carried out exactly."""

from collections.abc import Callable

import numpy as np

from imitable.drivers.arm_model import ArmModel
from imitable.drivers.driver import Command, Reading

Listener = Callable[[str], None]


class ImaginedArm:
    """An arm that is always where it was told to be."""

    def __init__(self, model: ArmModel, tell: Listener) -> None:
        """Begin where the model starts; `tell` gets a line for everything that would be sent."""
        self._tell = tell
        self._reading = Reading(0.0, model.start, np.zeros(len(model.joints)), model.start)

    def read(self) -> Reading:
        """Return where the arm would be."""
        return self._reading

    def command(self, command: Command) -> None:
        """Tell the command."""
        before, after = self._reading, command.positions
        self._reading = Reading(before.arm_s + command.period_s, after, (after - before.positions) / command.period_s, after)
        self._tell(f"{before.arm_s:7.3f} s  {'  '.join(f'{q:+.4f}' for q in after)} rad within {command.period_s:g} s")

    def stop(self) -> None:
        """Tell the stop."""
        self._tell(f"{self._reading.arm_s:7.3f} s  stop")
