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


def file_name(text: str) -> str:
    """Return the file name (without suffix) of a robot text: `hopper:gravity=15` → `hopper-gravity=15`."""
    return text.replace(":", "-")


@cache
def shipped() -> tuple[str, ...]:
    """Return the robot texts that have a shipped policy."""
    cards = sorted(folder().glob("*.json"))
    return tuple(str(json.loads(card.read_text())["robot"]) for card in cards)


def card(robot: Robot) -> dict[str, Any]:
    """Return the card of a shipped policy: returns, steps, command."""
    return json.loads((folder() / f"{_name_of(robot)}.json").read_text())


def policy_for(robot: Robot) -> Policy:
    """Return the shipped policy of a body; actuation noise does not change whose policy it is, so it is left out."""
    return load_policy(folder() / f"{_name_of(robot)}.safetensors")


def has_policy(robot: Robot) -> bool:
    """Return whether a policy is shipped for this body."""
    return _quiet(robot) in shipped()


def _name_of(robot: Robot) -> str:
    if not has_policy(robot):
        raise NoDemonstrator(str(robot), shipped(), can_train=robot.family.rules is not None)
    return file_name(_quiet(robot))


def _quiet(robot: Robot) -> str:
    return str(Robot(robot.family, tuple(item for item in robot.values if item[0] != "noise")))
