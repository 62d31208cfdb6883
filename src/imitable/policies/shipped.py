# SPDX-License-Identifier: MIT
"""Find the policy and the card that are shipped for a body.

There are two sets of demonstrators. Set `a` has a policy for every body; set `b` has others, trained with another seed, for
some. A body that takes part in two settings of the paper, whose demonstrations return more in one, may have a policy for it.
"""

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from imitable.errors import BadOption, NoDemonstrator
from imitable.policies.files import load_policy
from imitable.robots.robot import Robot
from imitable.types import Policy

HOME = Path(str(files("imitable.policies"))) / "demonstrators"
"""Folder of the first set; further ones lie in folders of their names in it."""

SETS = ("a", "b")
"""Names of the sets; the first one is meant if none is named, and has a policy for every body that has one at all."""


def folder(set_name: str = "a") -> Path:
    """Return the folder of the policies and cards of a set."""
    if set_name not in SETS:
        raise BadOption("set", set_name, f"choose from: {', '.join(SETS)}")
    return HOME if set_name == SETS[0] else HOME / set_name


def file_name(text: str, setting: str = "") -> str:
    """Return the file name (without suffix) of a robot text: `hopper:gravity=15` → `hopper-gravity=15`.

    A policy for one setting of the paper only, because its demonstrations return more or less there, is named by it, too:
    `walker2d@walker2d-2`.
    """
    return text.replace(":", "-") + (f"@{setting}" if setting else "")


def shipped(set_name: str = "a") -> tuple[str, ...]:
    """Return the robot texts that have a policy in a set."""
    return tuple(str(said["robot"]) for said in cards(set_name) if not said.get("setting"))


def cards(set_name: str = "a") -> tuple[dict[str, Any], ...]:
    """Return all cards of a set, those of policies for one setting only after that of the same body for all others."""
    return _cards(folder(set_name))


@cache
def _cards(home: Path) -> tuple[dict[str, Any], ...]:
    return tuple(json.loads(path.read_text(encoding="utf-8")) for path in sorted(home.glob("*.json")))


def card(robot: Robot, setting: str = "", set_name: str = "a") -> dict[str, Any]:
    """Return the card of a shipped policy: returns, steps, command."""
    return json.loads((folder(set_name) / f"{_name_of(robot, setting, set_name)}.json").read_text(encoding="utf-8"))


def policy_for(robot: Robot, setting: str = "", set_name: str = "a") -> Policy:
    """Return the shipped policy of a body: its own for a setting of the paper, if there is one, else the one for all.

    Actuation noise does not change whose policy it is, so it is left out.

    Args:
        robot: The body.
        setting: Name of the paper's setting that it is needed for, such as walker2d-2.
        set_name: a, the set that has a policy for every body of the paper, or b, with others for some.
    """
    return load_policy(folder(set_name) / f"{_name_of(robot, setting, set_name)}.safetensors")


def has_policy(robot: Robot, set_name: str = "a") -> bool:
    """Return whether a set has a policy for this body."""
    return quiet_text(robot) in shipped(set_name)


def quiet_text(robot: Robot) -> str:
    """Return the text of a body without its actuation noise."""
    return str(Robot(robot.family, tuple(item for item in robot.values if item[0] != "noise")))


def _name_of(robot: Robot, setting: str, set_name: str) -> str:
    if not has_policy(robot, set_name):
        lacking = set_name if has_policy(robot) else ""
        can_train = robot.family.has_task
        raise NoDemonstrator(str(robot), shipped(lacking or SETS[0]), can_train=can_train, set_name=lacking)
    own = file_name(quiet_text(robot), setting)
    return own if (folder(set_name) / f"{own}.json").exists() else file_name(quiet_text(robot))
