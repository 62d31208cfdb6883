# SPDX-License-Identifier: MIT
"""Runs in an environment with franky: python franky_reads.py ADDRESS prints where joints are, and how fast, as JSON."""

import json
import sys

from imitable.drivers.arm_model import ArmModel
from imitable.drivers.franka import Franky
from imitable.robots.parse import parse_robot

arm = Franky(address=sys.argv[1], realtime=False).connect(ArmModel(parse_robot("panda:dof=3")))
reading = arm.read()
print(json.dumps({"positions": reading.positions.tolist(), "velocities": reading.velocities.tolist()}))
