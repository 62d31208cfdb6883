# SPDX-License-Identifier: MIT
"""What an arm is allowed to do: joint positions, speeds, a box for its tool, and clearance."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from imitable.drivers.arm_model import ArmModel
from imitable.drivers.driver import Abilities
from imitable.errors import BadModel, BadOption
from imitable.spec_text import Range, check_fields
from imitable.types import Floats, frozen

LOCK = 0.01
"""How far a joint that does not move may be from its place, in rad."""


@dataclass(frozen=True)
class Safety:
    """What a user allows, within what the arm can."""

    speed: Annotated[float, Range(0.01, 1.0)] = 1.0
    """Part of the arm's own joint speeds."""
    tool_speed: Annotated[float, Range(0.01, 2.0)] = 0.5
    """Highest speed of the tool, in m/s."""
    low: Annotated[tuple[float, float, float], Range(-2.0, 2.0)] = (0.1, -0.4, 0.0)
    """Lowest corner of the box that the tool stays in, in metres from the base."""
    high: Annotated[tuple[float, float, float], Range(-2.0, 2.0)] = (1.0, 0.4, 0.9)
    """Highest corner."""
    clearance: Annotated[float, Range(0.0, 0.1)] = 0.01
    """Metres to anything that the model knows; contacts are known from so far on as the model lists them, 1 cm for panda."""

    def __post_init__(self) -> None:
        """Refuse what is out of range, and an empty box."""
        check_fields(self)
        if not all(low < high for low, high in zip(self.low, self.high, strict=True)):
            raise BadOption("box", f"{self.low}, {self.high}", "give LOW and HIGH corners, each LOW below its HIGH")


@dataclass(frozen=True, eq=False)
class Limits:
    """What an arm of J joints may be commanded."""

    joints: tuple[str, ...]
    """(J) names."""
    positions: Floats
    """(2, J) lowest and highest joint positions, in rad."""
    speeds: Floats
    """(J) highest joint speeds, in rad/s."""
    box: Floats
    """(2, 3) corners of the box that the tool stays in, in metres."""
    tool_speed: float
    """Highest speed of the tool, in m/s."""
    clearance_m: float
    """A command that would bring the arm nearer than this to anything is refused."""
    overshoot: float = 0.02
    """How far beyond its limit a joint may be read, in rad, before the arm is stopped: servos overshoot, sensors are noisy."""

    lag: float = 0.2
    """How far a joint may be from where its controller wants it, in rad: an arm that is held back is stopped."""

    def __post_init__(self) -> None:
        """Freeze."""
        for name in ("positions", "speeds", "box"):
            object.__setattr__(self, name, frozen(getattr(self, name)))


def limits_of(model: ArmModel, arm: Abilities, safety: Safety) -> Limits:
    """Return what both the model and the arm allow; joints without a servo stay where they start."""
    low = np.maximum(model.position_range[0], arm.positions[0])
    high = np.minimum(model.position_range[1], arm.positions[1])
    start, fixed = model.start, np.setdiff1d(np.arange(len(model.joints)), model.servos)
    low[fixed], high[fixed] = start[fixed] - LOCK, start[fixed] + LOCK
    if not (low < high).all():
        raise BadModel(str(model.robot), "the model's joint limits and the arm's have nothing in common")
    box = np.array([safety.low, safety.high])
    return Limits(model.joints, np.array([low, high]), safety.speed * arm.speeds, box, safety.tool_speed, safety.clearance)
