# SPDX-License-Identifier: MIT
"""Judge shipped demonstrators, or policy files: falls, sampled against mean returns, a push. One line each.

python scripts/accept_demonstrators.py [--newtons F] [ROBOT[=FILE]…]
"""

import argparse
import json

from imitable.demonstrators.acceptance import accepted
from imitable.demonstrators.shipped import policy_for, shipped
from imitable.dynamics.parse import robot
from imitable.runtime import one_thread
from imitable.sim.policy import load_policy
from imitable.sim.task import Locomotion


def main() -> None:
    """Print a JSON line for each policy: its numbers, and why it is refused."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("policies", nargs="*", help="ROBOT, or ROBOT@FILE for a policy file; default: all that are shipped")
    parser.add_argument("--newtons", type=float, nargs="*", help="strengths of the push; default: the robot's own")
    asked = parser.parse_args()
    one_thread()
    for text in asked.policies or shipped():
        body, _, file = text.partition("@")
        variant = robot(body)
        policy = load_policy(file) if file else policy_for(variant)
        for newtons in asked.newtons or [None]:
            found = accepted(Locomotion(variant), policy, newtons=newtons)
            print(json.dumps({"policy": text, **found.summary(), "refusals": found.refusals}), flush=True)


if __name__ == "__main__":
    main()
