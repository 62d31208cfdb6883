# SPDX-License-Identifier: MIT
"""What a driver of an arm is: it connects, and then an arm is read, commanded and stopped. J joints.

A driver is a frozen dataclass of settings, named by text like a method; what it connects to is an `Arm`. Nothing here checks a
command: that is done before one comes here (`guard.py`).
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from imitable.drivers.arm_model import ArmModel
from imitable.errors import BadCommand
from imitable.types import Floats, frozen


@dataclass(frozen=True, eq=False)
class Reading:
    """What an arm says of itself at one moment."""

    arm_s: float
    """The arm's own clock, in seconds."""
    positions: Floats
    """(J) joint positions, in rad."""
    velocities: Floats
    """(J) joint velocities, in rad/s."""
    desired: Floats
    """(J) where its own controller wants the joints to be by now, in rad: what comes next is counted from here, so that a
    servo which lags behind takes nothing off it."""
    contact: str = ""
    """What it feels that it touches; empty: nothing."""

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        for name in ("positions", "velocities", "desired"):
            object.__setattr__(self, name, frozen(getattr(self, name)))


@dataclass(frozen=True, eq=False)
class Command:
    """Where the joints shall be when the period is over."""

    positions: Floats
    """(J) joint positions, in rad."""
    period_s: float
    """Until the next command comes, by the arm's clock."""

    def __post_init__(self) -> None:
        """Freeze the positions, and refuse what is no position."""
        object.__setattr__(self, "positions", frozen(self.positions))
        if not np.isfinite(self.positions).all() or self.positions.ndim != 1:
            raise BadCommand(f"joint positions must be finite numbers, but are {self.positions.tolist()}")


@dataclass(frozen=True, eq=False)
class Abilities:
    """What a kind of arm can do, by its maker."""

    positions: Floats
    """(2, J) lowest and highest joint positions, in rad."""
    speeds: Floats
    """(J) highest joint speeds, in rad/s."""


@runtime_checkable
class Arm(Protocol):
    """An arm that is connected; its joints are those of its model, in their order."""

    def read(self) -> Reading:
        """Return the newest reading."""
        ...

    def command(self, command: Command) -> None:
        """Send a command, and return when its period is over by the arm's clock; the arm holds the last one for ever."""
        ...

    def stop(self) -> None:
        """Bring the arm to rest where it is. May be called again, and when nothing moves."""
        ...


@runtime_checkable
class Driver(Protocol):
    """Settings of a connection."""

    def abilities(self, model: ArmModel) -> Abilities:
        """Return what the arm can do, without connecting; refuse a model of another kind of arm."""
        ...

    def connect(self, model: ArmModel) -> Arm:
        """Return the arm, connected; `model` says how it is built and what stands around it."""
        ...
