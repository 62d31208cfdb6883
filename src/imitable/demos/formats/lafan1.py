# SPDX-License-Identifier: MIT
"""Motion clips as Unitree's retargeted LAFAN1 has them: CSV at 30 Hz without a header; root xyz, quaternion xyzw, joints."""

from pathlib import Path

import numpy as np

from imitable.demos.formats.csv_table import header, numbers
from imitable.demos.formats.source import (
    JOINT_POSITIONS,
    ROOT_POSITION,
    ROOT_ROTATION,
    Clip,
    FileSource,
    Habits,
    finite,
)
from imitable.errors import BadDataset
from imitable.types import Floats

FPS = 30.0


class Lafan1(FileSource):
    """A CSV file a clip."""

    format = "lafan1"
    suffixes = (".csv",)
    habits = Habits(quaternion="xyzw")

    def clip(self, path: Path) -> Clip:
        """Read one file."""
        if names := header(path):
            reason = f"line 1 is a header ({names[0]}, …), and LAFAN1 files have none: take it away, or give --format csv"
            raise BadDataset(str(path), reason)
        rows = finite(str(path), {"frame": numbers(path, skip=0)})["frame"]
        if not looks_right(rows):
            reason = "columns 3 to 6 are no quaternion, so it is no LAFAN1 clip (root xyz, quaternion xyzw, joints)"
            raise BadDataset(str(path), reason)
        columns = {ROOT_POSITION: rows[:, :3], ROOT_ROTATION: rows[:, 3:7], JOINT_POSITIONS: rows[:, 7:]}
        return Clip(columns, period_s=1 / FPS)


def looks_right(rows: Floats) -> bool:
    """Return whether columns 3 to 6 of all frames are a rotation."""
    return rows.shape[1] > 7 and bool((np.abs(np.linalg.norm(rows[:, 3:7], axis=1) - 1) < 1e-2).all())


def clip_bytes(root: Floats, rotations: Floats, joints: Floats) -> bytes:
    """(n, 3), (n, 4) wxyz, (n, k) → the file; numbers are written so that they read back to the same bits."""
    rows = np.concatenate([root, np.roll(rotations, -1, axis=1), joints], axis=1)
    return "".join(",".join(map(repr, row)) + "\n" for row in rows.tolist()).encode()
