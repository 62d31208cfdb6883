# SPDX-License-Identifier: MIT
"""Judge shipped demonstrators, or policy files: falls, sampled against mean returns, a push; and whether a setting's agree.

python scripts/accept_demonstrators.py [--settings NAME…] [--set b] [--folder FOLDER]     a table a setting
python scripts/accept_demonstrators.py [--newtons F…] ROBOT[@FILE]…                       a JSON line a policy
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from setting_tables import table

from imitable.errors import ImitableError
from imitable.evaluation.acceptance import judge
from imitable.experiments.settings import SETTINGS, Setting
from imitable.policies.files import load_policy
from imitable.policies.shipped import SETS, file_name, has_policy, policy_for
from imitable.robots.parse import parse_robot
from imitable.runtime import one_thread
from imitable.sim.task import Locomotion
from imitable.types import Policy

Said = dict[str, Any]
"""What a card says of a policy's episodes."""


def policy_of(body: str, setting: str, set_name: str, candidates: Path | None) -> Policy:
    """Return who plays a body in a setting: a candidate if there is one, else the shipped demonstrator."""
    names = (file_name(body, setting), file_name(body))
    found = [path for name in names if candidates and (path := candidates / f"{name}.safetensors").exists()]
    return load_policy(found[0]) if found else policy_for(parse_robot(body), setting, set_name)


def judged(setting: Setting, set_name: str, candidates: Path | None, seen: dict[tuple[str, str], Said]) -> dict[str, Said]:
    """Return what the cards of a setting's bodies would say today; `seen` is what was judged before, by body and hash."""
    said: dict[str, Said] = {}
    for body in setting.bodies:
        policy = policy_of(body, setting.name, set_name, candidates)
        if (body, policy.hash) not in seen:
            acceptance = judge(Locomotion(parse_robot(body)), policy)
            seen[body, policy.hash] = {**acceptance.summary(), "refusals": acceptance.refusals}
        said[body] = seen[body, policy.hash]
    return said


def print_lines(policies: list[str], newtons: list[float | None]) -> None:
    """Print a JSON line for each policy and push: its numbers, and why it is refused."""
    for text in policies:
        body, _, file = text.partition("@")
        robot = parse_robot(body)
        policy = load_policy(file) if file else policy_for(robot)
        for force in newtons:
            acceptance = judge(Locomotion(robot), policy, newtons=force)
            print(json.dumps({"policy": text, **acceptance.summary(), "refusals": acceptance.refusals}), flush=True)


def print_tables(settings: Sequence[Setting], set_name: str, candidates: Path | None) -> None:
    """Print a table for each setting."""
    seen: dict[tuple[str, str], Said] = {}
    for setting in settings:
        lines = table(setting, judged(setting, set_name, candidates, seen))
        print("\n".join(["", f"## {setting.name}", "", *lines]), flush=True)


def main() -> None:
    """Judge settings, or policies."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("policies", nargs="*", help="ROBOT, or ROBOT@FILE for a policy file; default: whole settings")
    parser.add_argument("--newtons", type=float, nargs="*", help="strengths of the push; default: the robot's own")
    names = [setting.name for setting in SETTINGS]
    parser.add_argument("--settings", nargs="+", choices=names, help="default: those of which the set has every body")
    parser.add_argument("--set", choices=SETS, default=SETS[0], help="of demonstrators")
    parser.add_argument("--folder", type=Path, help="policies here, named as those that are shipped, stand in for them")
    asked = parser.parse_args()
    one_thread()
    named = [setting for setting in SETTINGS if setting.name in (asked.settings or names)]
    whole = [setting for setting in named if all(has_policy(parse_robot(body), asked.set) for body in setting.bodies)]
    try:
        if asked.policies:
            print_lines(asked.policies, asked.newtons or [None])
        else:
            print_tables(named if asked.settings else whole, asked.set, asked.folder)
    except ImitableError as error:
        print(error, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
