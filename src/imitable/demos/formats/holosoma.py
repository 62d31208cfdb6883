# SPDX-License-Identifier: MIT
"""Motion clips as holosoma has them: BeyondMimic's keys, but `joint_pos` and `joint_vel` are whole, and joints have names.

`joint_pos` is root xyz, quaternion wxyz and joints; the root's angular velocity in `joint_vel` is in the world frame.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from imitable.demos.formats.motion import RATE, Motion, load_motion
from imitable.demos.formats.source import Clip, FileSource, Habits, matrix
from imitable.types import Floats

KEYS = ("joint_pos", "joint_vel", "joint_names", "body_pos_w")


class Holosoma(FileSource):
    """A `.npz` file a clip."""

    format = "holosoma"
    suffixes = (".npz",)
    habits = Habits(quaternion="wxyz")

    def clip(self, path: Path) -> Clip:
        """Read one file; objects beside the robot are left out."""
        arrays, where = load_motion(path, "holosoma", KEYS), str(path)
        names = tuple(str(name) for name in arrays["joint_names"].tolist())
        positions = matrix(where, "joint_pos", arrays["joint_pos"], 7 + len(names))
        velocities = matrix(where, "joint_vel", arrays["joint_vel"], 6 + len(names))
        motion = Motion(
            root_position=positions[:, :3],
            root_rotation=positions[:, 3:7],
            joint_positions=positions[:, 7:],
            root_velocity=velocities[:, :3],
            root_turn=velocities[:, 3:6],
            joint_velocities=velocities[:, 6:],
            bodies=_own_bodies(arrays).reshape(len(positions), -1),
        )
        return motion.clip(where, arrays[RATE], names)


def _own_bodies(arrays: Mapping[str, Any]) -> Floats:
    """(n, bodies, 3) where the robot's bodies are: an object that it moves is listed among them, and is none of them."""
    bodies = np.asarray(arrays["body_pos_w"], np.float64)
    thing = np.asarray(arrays.get("object_pos_w", ()), np.float64)
    if bodies.ndim != 3 or thing.shape != (len(bodies), bodies.shape[2]):
        return bodies
    return bodies[:, (bodies != thing[:, None]).any(axis=(0, 2))]
