# SPDX-License-Identifier: MIT
"""What was measured once for all cells of a reproduction, and lies beside its protocol."""

from dataclasses import dataclass
from pathlib import Path

from imitable.experiments.arm_real_records import ArmRealRecord, read_arm_real
from imitable.experiments.own_reward_records import OwnReward, read_own_reward
from imitable.experiments.random_policy import RandomReturns, read_random


@dataclass(frozen=True)
class Measured:
    """Each None if it is not there."""

    random: RandomReturns | None
    own_reward: OwnReward | None
    real_arm: ArmRealRecord | None


def read_measured(folder: Path) -> Measured:
    """Return what lies in a folder."""
    return Measured(read_random(folder), read_own_reward(folder), read_arm_real(folder))
