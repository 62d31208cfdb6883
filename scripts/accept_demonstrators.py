# SPDX-License-Identifier: MIT
"""Judge shipped demonstrators, or policy files: falls, sampled against mean returns, a push. One line each.

python scripts/accept_demonstrators.py [--newtons F] [ROBOT[@FILE]…]
"""

import argparse
import json

from imitable.evaluation.acceptance import judge
from imitable.policies.files import load_policy
from imitable.policies.shipped import policy_for, shipped
from imitable.robots.parse import parse_robot
from imitable.runtime import one_thread
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
        robot = parse_robot(body)
        policy = load_policy(file) if file else policy_for(robot)
        for newtons in asked.newtons or [None]:
            acceptance = judge(Locomotion(robot), policy, newtons=newtons)
            print(json.dumps({"policy": text, **acceptance.summary(), "refusals": acceptance.refusals}), flush=True)


if __name__ == "__main__":
    main()
