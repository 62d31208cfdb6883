# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingImports=false, reportUnknownParameterType=false
"""The driver `franky`: a Franka Research 3 over its own network protocol, through franky-control and libfranka.

Commands become joint motions within the arm's limits of speed, acceleration and jerk, the newest taking over from the one
before. If none comes, the arm rests at the last target. Time is the arm's own: a simulated arm may be slower than the wall's.
An adapter file: franky is an extra, and no type checker finds it.
"""

import socket
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Annotated, Any

import numpy as np

from imitable.drivers.arm_model import ArmModel
from imitable.drivers.driver import Abilities, Command, Reading
from imitable.errors import ArmRefuses, BadModel, BadOption, LostConnection, MissingExtra, StaleReading
from imitable.robots.panda_model import JOINTS
from imitable.spec_text import Range, check_fields

RANGES = (
    (-2.7437, 2.7437),
    (-1.7837, 1.7837),
    (-2.9007, 2.9007),
    (-3.0421, -0.1518),
    (-2.8065, 2.8065),
    (0.5445, 4.5169),
    (-3.0159, 3.0159),
)
"""Joint positions of an FR3, in rad, of Franka's documentation: it bends less than a Panda at joints 1, 4, 5 and 6."""
SPEEDS = (2.62, 2.62, 2.62, 2.62, 5.26, 4.18, 5.26)
"""Its joint speeds, in rad/s."""
_NETWORKS = "127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 169.254.0.0/16 ::1 fc00::/7 fe80::/10"
NEAR = tuple(map(ip_network, _NETWORKS.split()))
"""Networks that an arm may be in: loopback, private and link-local."""
POLL_S = 0.002
"""Between two looks at the arm while a command's period passes."""
DIRECTIONS = ("x", "y", "z", "roll", "pitch", "yaw")
STOP_S = 3.0
"""An arm that does not rest after this long is stopped hard."""


@dataclass(frozen=True)
class Franky:
    """A Franka Research 3, or a server that speaks its protocol."""

    address: str = "172.16.0.2"
    """Host name or address of the arm."""
    dynamics: Annotated[float, Range(0.01, 1.0)] = 0.3
    """Part of the arm's own limits of speed, acceleration and jerk that motions use."""
    force: Annotated[float, Range(1.0, 100.0)] = 20.0
    """Newtons on the tool at which the arm stops by itself."""
    torque: Annotated[float, Range(1.0, 87.0)] = 20.0
    """Newton metres on a joint at which it does."""
    stale: Annotated[float, Range(0.005, 1.0)] = 0.2
    """Seconds without a new reading after which the arm is stopped."""
    realtime: bool = True
    """Insist on a real-time kernel, as a real arm needs; 0 for a simulated one."""
    remote: bool = False
    """Let the address be outside private networks, as --remote does."""

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        check_fields(self)

    def abilities(self, model: ArmModel) -> Abilities:
        """Return what an FR3 can do."""
        if model.joints != JOINTS:
            raise BadModel(str(model.robot), f"the driver franky moves {', '.join(JOINTS)}; it has {', '.join(model.joints)}")
        return Abilities(np.array(RANGES).T, np.array(SPEEDS))

    def connect(self, model: ArmModel) -> "FrankyArm":
        """Connect; refuse an arm that is in an error already."""
        self.abilities(model)
        address = self._resolved_address()
        try:
            import franky
        except ImportError:
            raise MissingExtra("franky-control", "franka") from None
        return FrankyArm(self, address, franky)

    def _resolved_address(self) -> str:
        """Return the address as a number, so that what is checked is what is connected to; refuse one that is not near."""
        try:
            found = [str(one[4][0]) for one in socket.getaddrinfo(self.address, None, type=socket.SOCK_STREAM)]
        except (OSError, UnicodeError) as error:
            raise LostConnection(self.address, f"its address is not known ({error})") from None
        far = [one for one in found if not any(ip_address(one) in network for network in NEAR)]
        if far and not self.remote:
            right = "give the arm's own address, or --remote if it is meant: a lost packet then is a lost command"
            raise BadOption("franky:address", self.address, f"{far[0]} is outside private networks; {right}")
        return found[0]


class FrankyArm:
    """An arm that is connected through libfranka."""

    def __init__(self, settings: Franky, address: str, franky: Any) -> None:
        """Connect, and set when the arm's own reflexes stop it."""
        self._settings, self._franky = settings, franky
        mode = franky.RealtimeConfig.Enforce if settings.realtime else franky.RealtimeConfig.Ignore
        with self._translated():
            self._robot = franky.Robot(address, relative_dynamics_factor=settings.dynamics, realtime_config=mode)
            self._robot.set_collision_behavior(settings.torque, settings.force)
            if self._robot.has_errors:
                raise ArmRefuses(f"{self._robot.state.current_errors}; clear the error at the arm")
        self._due_s = self._seen_s = 0.0
        self._seen_at, self._felt = time.monotonic(), ""

    def read(self) -> Reading:
        """Return the newest state that the arm has sent."""
        with self._translated():
            state = self._robot.state
        return Reading(_seconds(state), state.q, state.dq, state.q_d, self._felt or _contact(state))

    def command(self, command: Command) -> None:
        """Let a motion to the target take over, and wait until the period is over on the arm's clock."""
        motion = self._franky.JointMotion(command.positions, return_when_finished=False)
        with self._translated():
            now = _seconds(self._robot.state)
            self._robot.move(motion, asynchronous=True)
        # periods follow each other without drift, unless the last one is long over
        self._due_s = max(self._due_s, now - command.period_s / 2) + command.period_s
        self._seen_s, self._seen_at, self._felt = now, time.monotonic(), ""
        self._wait()

    def stop(self) -> None:
        """Slow down within the arm's limits; if that does not work, at once."""
        with self._translated():
            try:
                if self._robot.is_in_control:
                    self._robot.move(self._franky.JointStopMotion(), asynchronous=True)
                if not self._robot.join_motion(STOP_S):
                    self._robot.stop()
            except self._franky.ControlException:  # the arm ended the motion itself: it rests
                self._robot.stop()

    def _wait(self) -> None:
        """Return when the period is over, or as soon as the arm feels contact."""
        while True:
            with self._translated():
                self._robot.poll_motion()
                state = self._robot.state
            now, self._felt = _seconds(state), _contact(state)
            if now >= self._due_s or self._felt:
                return
            if now > self._seen_s:
                self._seen_s, self._seen_at = now, time.monotonic()
            elif time.monotonic() - self._seen_at > self._settings.stale:
                raise StaleReading(f"nothing new for {self._settings.stale:g} s")
            time.sleep(POLL_S)

    @contextmanager
    def _translated(self) -> Generator[None]:
        """Turn what libfranka raises into one line that says what happened."""
        franky, address = self._franky, self._settings.address
        try:
            yield
        except franky.RealtimeException as error:
            raise BadOption("franky:realtime", True, f"this kernel is not real-time ({error}); give realtime=0") from None
        except franky.NetworkException as error:
            raise LostConnection(address, str(error)) from None
        except franky.ControlException as error:
            raise ArmRefuses(str(error)) from None
        except (franky.CommandException, franky.IncompatibleVersionException, franky.ProtocolException) as error:
            raise ArmRefuses(str(error)) from None
        except RuntimeError as error:  # what libfranka raises when the other end has gone while a state is awaited
            raise LostConnection(address, str(error)) from None


def _seconds(state: Any) -> float:
    return float(state.time.to_sec())


def _contact(state: Any) -> str:
    """Return which joints and directions of the tool feel contact."""
    joints = [name for name, felt in zip(JOINTS, state.joint_contact, strict=True) if felt]
    tool = [name for name, felt in zip(DIRECTIONS, state.cartesian_contact, strict=True) if felt]
    felt = [*joints, *(f"the tool in {name}" for name in tool)]
    return f"felt by {', '.join(felt)}" if felt else ""
