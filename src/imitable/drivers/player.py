# SPDX-License-Identifier: MIT
"""Playing: whoever decides commands an arm, step by step, within limits and written down; whatever goes wrong, it stops."""

import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from imitable.drivers.driver import Arm, Command, Reading
from imitable.drivers.guard import Guard
from imitable.drivers.journal import Journal
from imitable.errors import ArmRefuses, ImitableError
from imitable.types import Floats

APPROACH, RETURN = 0.3, 1.0
"""Speeds of the fastest joint on the way to a start, and back the way that the arm came, in rad/s."""
NEARLY = 0.02
"""Near enough to a point of the way to go on to the next, in rad."""
ARRIVED, SETTLE_S = 0.01, 2.0
"""An arm is there when no joint is further away than this, in rad; it is given so many seconds to settle."""


@dataclass(frozen=True, eq=False)
class Decision:
    """What to do next."""

    action: Floats
    """(A) the policy's action, which demonstrations keep."""
    positions: Floats
    """(J) the joint positions that it means."""


class Pilot(Protocol):
    """Who decides."""

    def decide(self, reading: Reading) -> Decision:
        """Return what to do after this reading."""
        ...

    def over(self, reading: Reading) -> bool:
        """Whether the episode is over with this reading."""
        ...


class Player:
    """An arm in play."""

    def __init__(self, arm: Arm, guard: Guard, journal: Journal, period_s: float) -> None:
        """Read the arm for the first time."""
        self._arm, self._guard, self._journal, self._period_s = arm, guard, journal, period_s
        with self.stopping():
            self._read()
            guard.check_reading(None, self.reading)

    @contextmanager
    def stopping(self) -> Generator[None]:
        """Stop the arm if anything goes wrong in the block, and say so if it does not answer."""
        try:
            yield
        except BaseException as error:
            self.stop(str(error) or type(error).__name__)
            raise

    def stop(self, reason: str = "") -> None:
        """Stop the arm, and keep why."""
        self._journal.stopped(reason)
        try:
            self._arm.stop()
        except ImitableError as error:
            self._journal.unanswered(str(error))
            raise

    def play(self, pilot: Pilot, most_steps: int) -> list[Reading]:
        """Let a pilot decide until its episode is over; return all readings of it."""
        self._journal.policy_begins()
        self._journal.reading(self.reading)
        path = [self.reading]
        with self.stopping():
            while not pilot.over(self.reading) and len(path) <= most_steps:
                decision = pilot.decide(self.reading)
                self._step(Command(decision.positions, self._period_s), decision.action)
                path.append(self.reading)
        return path

    def go_to(self, positions: Floats) -> None:
        """Go straight, joint by joint, to a posture, and settle there."""
        with self.stopping():
            self._towards(positions, APPROACH)
            for _ in range(math.ceil(SETTLE_S / self._period_s)):
                if float(np.abs(self.reading.positions - positions).max()) < ARRIVED:
                    return
                self._step(Command(positions, self._period_s))
            off = float(np.abs(self.reading.positions - positions).max())
            raise ArmRefuses(f"it is {off:.3f} rad away from where it was told to be {SETTLE_S:g} s ago")

    def go_back(self, path: Sequence[Reading]) -> None:
        """Come to rest, and go back the way that the arm came, to the first reading of a path."""
        self.stop()
        with self.stopping():
            self._read()
            for reading in reversed(path):
                self._towards(reading.desired, RETURN, self._guard.on_the_way_back())
        self.go_to(path[0].desired)

    def _towards(self, positions: Floats, speed: float, guard: Guard | None = None) -> None:
        """Go on, in steps of at most `speed` for the fastest joint, until the arm is nearly there."""
        steps = math.ceil((3 * SETTLE_S + 3 * float(np.abs(positions - self.reading.desired).max()) / speed) / self._period_s)
        for _ in range(steps):
            way = positions - self.reading.desired
            far = float(np.abs(way).max())
            if far < NEARLY:
                return
            target = self.reading.desired + min(1.0, speed * self._period_s / far) * way
            self._step(Command(target, self._period_s), guard=guard)
        raise ArmRefuses("it does not get where it is told to go, nor report why")

    def _step(self, command: Command, action: Floats | None = None, guard: Guard | None = None) -> None:
        try:
            (guard or self._guard).check_command(self.reading, command)
        except ImitableError as error:
            self._journal.refused(command, action, str(error))
            raise
        self._journal.command(command, action)
        self._arm.command(command)
        before = self.reading
        self._read()
        self._guard.check_reading(before, self.reading)

    def _read(self) -> None:
        self.reading = self._arm.read()
        self._journal.reading(self.reading)
