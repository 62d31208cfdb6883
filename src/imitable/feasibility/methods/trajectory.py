# SPDX-License-Identifier: MIT
"""The paper's trajectory f-MDP: how closely can a learned policy follow a demonstration from its first state?"""

from dataclasses import dataclass
from typing import ClassVar

from imitable.feasibility.tracker import Tracker


@dataclass(frozen=True)
class TrajectoryFmdp(Tracker):
    """Whole rollouts (Eqn. 2): distance = Σ_t discount^t d(s_{t+1}, s^d_{t+1}), s_0 = s^d_0, errors add up along the way."""

    one_step: ClassVar[bool] = False
