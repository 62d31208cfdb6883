# SPDX-License-Identifier: MIT
"""Motion clips with velocities and bodies: the columns that BeyondMimic's family of `.npz` files makes, in one place."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

from imitable.demos.formats.npz import load_npz
from imitable.demos.formats.source import (
    BODIES,
    JOINT_POSITIONS,
    JOINT_VELOCITIES,
    ROOT_POSITION,
    ROOT_ROTATION,
    ROOT_TURN,
    ROOT_VELOCITY,
    Clip,
    finite,
    positive,
)
from imitable.errors import BadDataset
from imitable.types import Floats

RATE = "fps"
"""The key that says how many frames a second has."""


@dataclass(frozen=True, eq=False)
class Motion:
    """How a body of J joints and B bodies moves through n frames."""

    root_position: Floats
    """(n, 3)."""
    root_rotation: Floats
    """(n, 4)."""
    joint_positions: Floats
    """(n, J)."""
    root_velocity: Floats
    """(n, 3)."""
    root_turn: Floats
    """(n, 3) angular velocity."""
    joint_velocities: Floats
    """(n, J)."""
    bodies: Floats
    """(n, 3 B) positions in the world."""

    def clip(self, where: str, fps: object, names: tuple[str, ...] = ()) -> Clip:
        """Return the columns, with the names of the joints where they are known."""
        columns = {
            ROOT_POSITION: self.root_position,
            ROOT_ROTATION: self.root_rotation,
            JOINT_POSITIONS: self.joint_positions,
            ROOT_VELOCITY: self.root_velocity,
            ROOT_TURN: self.root_turn,
            JOINT_VELOCITIES: self.joint_velocities,
            BODIES: self.bodies,
        }
        named = {JOINT_POSITIONS: names, JOINT_VELOCITIES: names} if names else {}
        return Clip(finite(where, columns), named, 1 / positive(where, RATE, fps))


def load_motion(path: Path, who: str, keys: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
    """Read the arrays of a clip; one that lacks a key is none of `who`'s."""
    arrays = load_npz(path)
    if missing := [key for key in (RATE, *keys) if key not in arrays]:
        raise BadDataset(str(path), f"it is no {who} clip: it lacks {', '.join(missing)}")
    return arrays
