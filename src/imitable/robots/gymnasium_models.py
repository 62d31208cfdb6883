# SPDX-License-Identifier: MIT
"""The model files that the installed Gymnasium package ships, found without importing Gymnasium."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from imitable.errors import BadModel


@cache
def model_file(name: str) -> str:
    """Return the path of one of Gymnasium's MuJoCo model files."""
    package = find_spec("gymnasium")
    path = Path(package.origin or "").parent / "envs" / "mujoco" / "assets" / name if package else Path(name)
    if not path.is_file():
        raise BadModel(name, "not found in the installed Gymnasium package; reinstall gymnasium[mujoco]")
    return str(path)
