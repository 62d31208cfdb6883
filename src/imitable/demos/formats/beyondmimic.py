# SPDX-License-Identifier: MIT
"""Motion clips as BeyondMimic and mjlab have them: `.npz` with joints without names and all bodies in the world.

The root is the first body. Joints stand in the order of the simulator that wrote the clip; which that is, is found out by
trying them on the robot against the bodies.
"""

from pathlib import Path

from imitable.demos.formats.motion import RATE, Motion, load_motion
from imitable.demos.formats.source import Clip, FileSource, Habits, matrix
from imitable.errors import BadDataset

JOINTS = ("joint_pos", "joint_vel")
BODIES = ("body_pos_w", "body_quat_w", "body_lin_vel_w", "body_ang_vel_w")


class BeyondMimic(FileSource):
    """A `.npz` file a clip."""

    format = "beyondmimic"
    suffixes = (".npz",)
    habits = Habits(quaternion="wxyz", angular="world")

    def clip(self, path: Path) -> Clip:
        """Read one file."""
        arrays, where = load_motion(path, "BeyondMimic", (*JOINTS, *BODIES)), str(path)
        for key in BODIES:
            if arrays[key].ndim != 3 or not arrays[key].shape[1]:
                raise BadDataset(where, f"{key} has shape {arrays[key].shape}, expected (frames, bodies, entries)")
        root = {key: matrix(where, key, arrays[key][:, 0], width) for key, width in zip(BODIES, (3, 4, 3, 3), strict=True)}
        joints = {key: matrix(where, key, arrays[key]) for key in JOINTS}
        motion = Motion(
            root_position=root["body_pos_w"],
            root_rotation=root["body_quat_w"],
            joint_positions=joints["joint_pos"],
            root_velocity=root["body_lin_vel_w"],
            root_turn=root["body_ang_vel_w"],
            joint_velocities=joints["joint_vel"],
            bodies=matrix(where, "body_pos_w", arrays["body_pos_w"].reshape(len(arrays["body_pos_w"]), -1)),
        )
        return motion.clip(where, arrays[RATE])
