# SPDX-License-Identifier: MIT
"""Find the policy and the card that are shipped for a body."""

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from imitable.errors import NoDemonstrator
from imitable.policies.files import load_policy
from imitable.robots.robot import Robot
from imitable.types import Policy


def folder() -> Path:
    """Return the folder of the shipped policies and cards."""
    return Path(str(files("imitable.policies"))) / "demonstrators"


def file_name(text: str, setting: str = "") -> str:
    """Return the file name (without suffix) of a robot text: `hopper:gravity=15` → `hopper-gravity=15`.

    A policy for one setting of the paper only, because its demonstrations return more or less there, is named by it, too.
    """
    return text.replace(":", "-") + (f"@{setting}" if setting else "")


@cache
def shipped() -> tuple[str, ...]:
    """Return the robot texts that have a shipped policy."""
    cards = sorted(path for path in folder().glob("*.json") if "@" not in path.name)
    return tuple(str(json.loads(card.read_text())["robot"]) for card in cards)


def card(robot: Robot, setting: str = "") -> dict[str, Any]:
    """Return the card of a shipped policy: returns, steps, command."""
    return json.loads((folder() / f"{_name_of(robot, setting)}.json").read_text())


def policy_for(robot: Robot, setting: str = "") -> Policy:
    """Return the shipped policy of a body: its own for a setting of the paper, if there is one, else the one for all.

    Actuation noise does not change whose policy it is, so it is left out.
    """
    return load_policy(folder() / f"{_name_of(robot, setting)}.safetensors")


def has_policy(robot: Robot) -> bool:
    """Return whether a policy is shipped for this body."""
    return _quiet(robot) in shipped()


def _name_of(robot: Robot, setting: str) -> str:
    if not has_policy(robot):
        raise NoDemonstrator(str(robot), shipped(), can_train=robot.family.rules is not None)
    own = file_name(_quiet(robot), setting)
    return own if (folder() / f"{own}.json").exists() else file_name(_quiet(robot))


def _quiet(robot: Robot) -> str:
    return str(Robot(robot.family, tuple(item for item in robot.values if item[0] != "noise")))
