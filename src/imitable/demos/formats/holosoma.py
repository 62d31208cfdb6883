# SPDX-License-Identifier: MIT
"""Motion clips as holosoma has them: BeyondMimic's keys, but `joint_pos` and `joint_vel` are whole, and joints have names.

`joint_pos` is root xyz, quaternion wxyz and joints; the root's angular velocity in `joint_vel` is in the world frame.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

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
    FileSource,
    Habits,
    finite,
    matrix,
    positive,
)
from imitable.errors import BadDataset
from imitable.types import Floats

KEYS = ("fps", "joint_pos", "joint_vel", "joint_names", "body_pos_w")


class Holosoma(FileSource):
    """A `.npz` file a clip."""

    format = "holosoma"
    suffixes = (".npz",)
    habits = Habits(quaternion="wxyz")

    def clip(self, path: Path) -> Clip:
        """Read one file; objects beside the robot are left out."""
        arrays, where = load_npz(path), str(path)
        if missing := [key for key in KEYS if key not in arrays]:
            raise BadDataset(where, f"it is no holosoma clip: it lacks {', '.join(missing)}")
        names = tuple(str(name) for name in arrays["joint_names"].tolist())
        positions = matrix(where, "joint_pos", arrays["joint_pos"], 7 + len(names))
        velocities = matrix(where, "joint_vel", arrays["joint_vel"], 6 + len(names))
        columns = {
            ROOT_POSITION: positions[:, :3],
            ROOT_ROTATION: positions[:, 3:7],
            JOINT_POSITIONS: positions[:, 7:],
            ROOT_VELOCITY: velocities[:, :3],
            ROOT_TURN: velocities[:, 3:6],
            JOINT_VELOCITIES: velocities[:, 6:],
            BODIES: _own_bodies(arrays).reshape(len(positions), -1),
        }
        held = {JOINT_POSITIONS: names, JOINT_VELOCITIES: names}
        return Clip(finite(where, columns), held, 1 / positive(where, "fps", arrays["fps"]))


def _own_bodies(arrays: Mapping[str, Any]) -> Floats:
    """(n, bodies, 3) where the robot's bodies are: an object that it moves is listed among them, and is none of them."""
    bodies = np.asarray(arrays["body_pos_w"], np.float64)
    thing = np.asarray(arrays.get("object_pos_w", ()), np.float64)
    if bodies.ndim != 3 or thing.shape != (len(bodies), bodies.shape[2]):
        return bodies
    return bodies[:, (bodies != thing[:, None]).any(axis=(0, 2))]
