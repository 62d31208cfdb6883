# SPDX-License-Identifier: MIT
"""Robots that others keep: MuJoCo environments of Gymnasium by their ids, and a local checkout of the MuJoCo Menagerie."""

import os
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from imitable.errors import BadModel, one_of
from imitable.robots.family import RobotFamily
from imitable.robots.mjcf import load

MENAGERIE, ROOT = "menagerie:", "MENAGERIE_ROOT"
"""How such a robot's name begins, and the environment variable that says where the checkout is."""

ENVIRONMENT_ID = re.compile(r"\w+-v\d+")
"""`Ant-v5`."""

OWN = "gymnasium.envs.mujoco"
"""Only environments of this package are made: a robot's text may come from a file, and files run nobody else's code."""


def environment_family(name: str) -> RobotFamily:
    """Return the body of a Gymnasium MuJoCo environment: its model file, at its control rate; its reward is not taken over."""
    gymnasium = import_module("gymnasium")
    try:
        if not str(gymnasium.spec(name).entry_point).startswith(OWN):
            raise BadModel(name, "it is no MuJoCo environment of Gymnasium's own; give the path of its model file instead")
        environment: Any = gymnasium.make(name)
    except gymnasium.error.Error as error:
        raise BadModel(name, f"Gymnasium cannot make it: {error}") from None
    path, frame_skip = environment.unwrapped.fullpath, environment.unwrapped.frame_skip
    environment.close()
    return load(str(path), name, int(frame_skip), foreign=False)


def split_menagerie(text: str) -> tuple[str, str]:
    """Split `menagerie:NAME:KEY=VALUE` into `menagerie:NAME` and the rest."""
    name, _, rest = text.removeprefix(MENAGERIE).partition(":")
    return MENAGERIE + name.strip(), rest


def menagerie_family(name: str) -> RobotFamily:
    """Return a robot of the checkout: NAME/scene.xml, with a floor, or else its only model; NAME/FILE names one of several."""
    root = os.environ.get(ROOT, "")
    if not root or not Path(root).is_dir():
        raise BadModel(name, f"{ROOT} does not name a folder; set it to your checkout of mujoco_menagerie")
    model = name.removeprefix(MENAGERIE)
    if (named := Path(root) / f"{model}.xml").is_file():
        return load(str(named), name)
    folder = Path(root) / model
    files = {path.stem: path for path in sorted(folder.glob("*.xml"))}
    if not model or not files:
        known = [path.name for path in Path(root).iterdir() if any(path.glob("*.xml"))]
        raise BadModel(name, f"there is no such folder of models in {root}: {one_of(model, known)}")
    chosen = files.get("scene") or (next(iter(files.values())) if len(files) == 1 else None)
    if chosen is None:
        raise BadModel(name, f"it has several models: write {MENAGERIE}{model}/FILE. {one_of('scene', files)}")
    return load(str(chosen), name)
