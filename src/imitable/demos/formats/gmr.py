# SPDX-License-Identifier: MIT
"""Motion clips as GMR (General Motion Retargeting) writes them: a pickle of fps, root_pos, root_rot (xyzw), dof_pos."""

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from imitable.demos.formats.source import (
    JOINT_POSITIONS,
    ROOT_POSITION,
    ROOT_ROTATION,
    Clip,
    FileSource,
    Habits,
    finite,
    matrix,
    positive,
)
from imitable.demos.formats.unpickle import read_pickle
from imitable.errors import BadDataset
from imitable.types import Floats

KEYS = {ROOT_POSITION: ("root_pos", 3), ROOT_ROTATION: ("root_rot", 4), JOINT_POSITIONS: ("dof_pos", None)}


class Gmr(FileSource):
    """A pickle a clip, read by an unpickler that runs no code."""

    format = "gmr"
    suffixes = (".pkl", ".pickle")
    habits = Habits(quaternion="xyzw")

    def clip(self, path: Path) -> Clip:
        """Read one file."""
        content, where = read_pickle(path), str(path)
        keys = [key for key, _ in KEYS.values()]
        if not isinstance(content, Mapping) or not {"fps", *keys} <= cast(Mapping[str, Any], content).keys():
            raise BadDataset(where, f"it is no GMR clip: it lacks one of fps, {', '.join(keys)}")
        held = cast(Mapping[str, Any], content)
        columns = {name: matrix(where, key, held[key], width) for name, (key, width) in KEYS.items()}
        return Clip(finite(where, columns), period_s=1 / positive(where, "fps", held["fps"]))


def clip_bytes(root: Floats, rotations: Floats, joints: Floats, period_s: float) -> bytes:
    """(n, 3), (n, 4) wxyz, (n, k) → the file: a plain dictionary of arrays, which is all that such trainers open."""
    fps = 1 / period_s
    content = {
        "fps": round(fps) if abs(fps - round(fps)) < 1e-9 * fps else fps,
        "root_pos": root,
        "root_rot": np.roll(rotations, -1, axis=1),
        "dof_pos": joints,
        "local_body_pos": None,
        "link_body_list": None,
    }
    return pickle.dumps(content, protocol=4)
