# SPDX-License-Identifier: MIT
"""Whence shipped policies come: many were trained on from another body's policy, whose gait they keep."""

import re
from collections.abc import Iterable
from typing import Any

from imitable.policies.shipped import SETS, card
from imitable.robots.parse import parse_robot

Card = dict[str, Any]


def lineage(body: str, setting: str = "", set_name: str = SETS[0]) -> list[Card]:
    """Return the card of a body's policy, then that of the policy that it began from, and so on, to one from scratch."""
    chain = [card(parse_robot(body), setting, set_name)]
    while begun := _begun_from(chain[-1]):
        name, _, other = begun.partition("@")
        chain.append(card(parse_robot(name), set_name=other or SETS[0]))
    return chain


def _begun_from(said: Card) -> str:
    """Return the policy that the first run of a card's command begins from, BODY or BODY@SET; empty if from scratch."""
    found = re.search(r"--begin (\S+)", _runs(said)[0])
    return found.group(1) if found else ""


def training_steps(chains: Iterable[list[Card]]) -> int:
    """Return the simulator steps of all runs that some lineages took, each once."""
    cards = {(one["robot"], one["setting"], one["set"]): one for chain in chains for one in chain}
    return sum(map(_steps, cards.values()))


def _steps(said: Card) -> int:
    """Return the steps of a card's runs: the last one counted its own, the others took what they were given."""
    earlier = (re.search(r"--steps (\d+)", run) for run in _runs(said)[:-1])
    return int(said["steps"]) + sum(int(found.group(1)) for found in earlier if found)


def _runs(said: Card) -> list[str]:
    return str(said["command"]).split("&&")
