# SPDX-License-Identifier: MIT
"""docs/demonstrators.md from the cards of the shipped demonstrators."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from setting_tables import table

from imitable.experiments.settings import SETTINGS, Setting
from imitable.policies.shipped import SETS, card, cards, file_name, has_policy
from imitable.robots.parse import ROBOTS, parse_robot

DOCS = Path(__file__).resolve().parents[1] / "docs"

INTRODUCTION = (
    "# The shipped demonstrators",
    "",
    "One policy for every demonstrator and every imitator of the paper's six settings, and a second one where a body shall",
    "return something else in another setting (`imitable collect walker2d --setting walker2d-2`). Where there is a set b, its",
    "policies were trained with another seed (`imitable collect hopper --set b`).",
    "",
    "Our returns are over 100 episodes from start states that training never saw. *From the paper* is how far the mean return",
    "is from that of the paper's demonstrations. *Falls* are episodes that ended early, of those with mean and of those with",
    "sampled actions. *Pushes* are episodes of another 100, with mean actions, that survive a push of 0.1 s at a random time:",
    "no fall, and nine tenths of the return without it. Policies that were made before this was asked are *not judged*.",
    "The pictures show two seconds of an episode, a Swimmer's eight, at their own speed; half a metre lies between two ticks.",
    "",
    "Written by `python scripts/draw_demonstrators.py --page` from the cards beside the policies. `make demonstrators` trains",
    "what is missing; `python scripts/train_demonstrators.py --check` remakes policies and compares them bit by bit.",
)


def animation(said: dict[str, Any], set_name: str) -> str:
    """Return where the animation of a card's policy lies, seen from docs/."""
    home = "images/gaits" if set_name == SETS[0] else f"images/gaits/{set_name}"
    return f"{home}/{file_name(said['robot'], said.get('setting', ''))}.svg"


def title(said: dict[str, Any], set_name: str = SETS[0]) -> str:
    """Return what a policy is called: its robot, and its setting and set if they are not those of most."""
    setting = f" for {said['setting']}" if said.get("setting") else ""
    return said["robot"] + setting + ("" if set_name == SETS[0] else f" of set {set_name}")


def page() -> str:
    """Return the page."""
    lines = list(INTRODUCTION)
    retrained = {said["robot"] for said in cards() if "pushed" in said}
    for name in (name for name, family in ROBOTS.items() if family().rules is not None):
        own = [(said, set_name) for set_name in SETS for said in cards(set_name) if _family(said["robot"]) == name]
        lines += ["", f"## {name}"]
        for setting in (one for one in SETTINGS if _family(one.imitator) == name):
            lines += ["", f"### Setting {setting.name}"]
            for set_name in SETS:
                if all(has_policy(parse_robot(body), set_name) for body in setting.bodies):
                    lines += _setting(setting, set_name)
        lines += _notes(own, retrained) + _commands(name, own)
        lines += ["", f"![Gaits of the {name} demonstrators](images/gaits-{name}.png)"]
    return "\n".join(lines) + "\n"


def _family(text: str) -> str:
    return text.partition(":")[0]


def _setting(setting: Setting, set_name: str) -> list[str]:
    """Return the table of a setting in one set, and its bodies in motion side by side."""
    said = {body: card(parse_robot(body), setting.name, set_name) for body in setting.bodies}
    heads = [f"`{title(one)}`" for one in said.values()]
    pictures = [f"![Gait of {title(one, set_name)}]({animation(one, set_name)})" for one in said.values()]
    lines = [] if set_name == SETS[0] else ["", f"Set {set_name}:"]
    lines += ["", *table(setting, said), "", "| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    return [*lines, "| " + " | ".join(pictures) + " |"]


def _notes(own: Sequence[tuple[dict[str, Any], str]], retrained: set[str]) -> list[str]:
    """Return what the cards remark, the same remark once for all of whom it is made."""
    whose: dict[str, list[str]] = {}
    for said, set_name in own:
        if remarks := _remarks(said, retrained):
            whose.setdefault(" ".join(remarks), []).append(f"*{title(said, set_name)}*")
    return [line for remark, names in whose.items() for line in ("", f"{', '.join(names)}: {remark}")]


def _remarks(said: dict[str, Any], retrained: set[str]) -> list[str]:
    """Return a card's note, and whether its command begins from another policy by now."""
    remarks = [said["note"]] if said["note"] else []
    begun = retrained & set(re.findall(r"--begin (\S+)", said["command"]))
    if begun and said["robot"] not in retrained:
        names = ", ".join(sorted(begun))
        remarks.append(f"Begun from the policy of {names} before that was trained anew: its command gives another one now.")
    return remarks


def _commands(name: str, own: Sequence[tuple[dict[str, Any], str]]) -> list[str]:
    """Return the commands, folded, because they are long."""
    lines = ["", '<details markdown="1">', f"<summary>How the {name} demonstrators were trained</summary>", "", "```"]
    for said, set_name in own:
        lines += [f"# {title(said, set_name)}: {said['steps']:,} steps in the last run", said["command"]]
    return [*lines, "```", "", "</details>"]


def write_page() -> None:
    """Write the page."""
    (DOCS / "demonstrators.md").write_text(page())
