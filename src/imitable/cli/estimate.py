# SPDX-License-Identifier: MIT
"""How long will it take? Asked of this simulator on this machine, before a long job."""

import time

import numpy as np

from imitable.cli.console import say
from imitable.cli.verbs import Common
from imitable.robots.robot import Robot
from imitable.sim.batch import Batch

SIMULATIONS, TRIES = 64, 10


def announce(common: Common, what: str, imitator: Robot, steps: float) -> None:
    """Say size and time of a job that simulates so many steps, if it takes over a minute."""
    batch = Batch(imitator, SIMULATIONS, common.threads)
    batch.set_state(np.tile(imitator.start, (SIMULATIONS, 1)))
    started = time.perf_counter()
    for _ in range(TRIES):
        batch.step(np.zeros((SIMULATIONS, imitator.control_range.shape[1])))
    seconds = steps * (time.perf_counter() - started) / (SIMULATIONS * TRIES)
    if seconds > 60:
        say(common, f"{what}: about {seconds / 60:.0f} minutes")
