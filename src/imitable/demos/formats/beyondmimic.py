# SPDX-License-Identifier: MIT
"""Motion clips as BeyondMimic and mjlab have them: `.npz` with joints without names and all bodies in the world.

The root is the first body. Joints stand in the order of the simulator that wrote the clip; which that is, is found out by
trying them on the robot against the bodies.
"""

from pathlib import Path

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

KEYS = ("fps", "joint_pos", "joint_vel", "body_pos_w", "body_quat_w", "body_lin_vel_w", "body_ang_vel_w")


class BeyondMimic(FileSource):
    """A `.npz` file a clip."""

    format = "beyondmimic"
    suffixes = (".npz",)
    habits = Habits(quaternion="wxyz", angular="world")

    def clip(self, path: Path) -> Clip:
        """Read one file."""
        arrays, where = load_npz(path), str(path)
        if missing := [key for key in KEYS if key not in arrays]:
            raise BadDataset(where, f"it is no BeyondMimic clip: it lacks {', '.join(missing)}")
        for key in KEYS[3:]:
            if arrays[key].ndim != 3 or not arrays[key].shape[1]:
                raise BadDataset(where, f"{key} has shape {arrays[key].shape}, expected (frames, bodies, entries)")
        columns = {
            ROOT_POSITION: matrix(where, "body_pos_w", arrays["body_pos_w"][:, 0], 3),
            ROOT_ROTATION: matrix(where, "body_quat_w", arrays["body_quat_w"][:, 0], 4),
            JOINT_POSITIONS: matrix(where, "joint_pos", arrays["joint_pos"]),
            ROOT_VELOCITY: matrix(where, "body_lin_vel_w", arrays["body_lin_vel_w"][:, 0], 3),
            ROOT_TURN: matrix(where, "body_ang_vel_w", arrays["body_ang_vel_w"][:, 0], 3),
            JOINT_VELOCITIES: matrix(where, "joint_vel", arrays["joint_vel"]),
            BODIES: matrix(where, "body_pos_w", arrays["body_pos_w"].reshape(len(arrays["body_pos_w"]), -1)),
        }
        return Clip(finite(where, columns), period_s=1 / positive(where, "fps", arrays["fps"]))
