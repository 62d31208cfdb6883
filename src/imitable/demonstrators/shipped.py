# SPDX-License-Identifier: MIT
"""Find the policy and the card that are shipped for a body."""

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from imitable.dynamics.variant import Variant
from imitable.errors import NoDemonstrator
from imitable.sim.policy import load_policy
from imitable.types import Policy


def folder() -> Path:
    """Return the folder of the shipped policies and cards."""
    return Path(str(files("imitable.demonstrators"))) / "policies"


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


def card(variant: Variant, setting: str = "") -> dict[str, Any]:
    """Return the card of a shipped policy: returns, steps, command."""
    return json.loads((folder() / f"{_name_of(variant, setting)}.json").read_text())


def policy_for(variant: Variant, setting: str = "") -> Policy:
    """Return the shipped policy of a body: its own for a setting of the paper, if there is one, else the one for all.

    Actuation noise does not change whose policy it is, so it is left out.
    """
    return load_policy(folder() / f"{_name_of(variant, setting)}.safetensors")


def has_policy(variant: Variant) -> bool:
    """Return whether a policy is shipped for this body."""
    return _quiet(variant) in shipped()


def _name_of(variant: Variant, setting: str) -> str:
    if not has_policy(variant):
        raise NoDemonstrator(str(variant), shipped(), can_train=variant.robot.rules is not None)
    own = file_name(_quiet(variant), setting)
    return own if (folder() / f"{own}.json").exists() else file_name(_quiet(variant))


def _quiet(variant: Variant) -> str:
    return str(Variant(variant.robot, tuple(item for item in variant.values if item[0] != "noise")))
