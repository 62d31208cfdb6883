# SPDX-License-Identifier: MIT
"""The paper's one-step f-MDP: how closely can a learned policy make each single transition of a demonstration?"""

from dataclasses import dataclass
from typing import ClassVar

from imitable.feasibility.tracker import Tracker


@dataclass(frozen=True)
class OneStep(Tracker):
    """One step from every demonstrated state (Eqn. 1): distance = Σ_t discount^t d(f(s^d_t, π), s^d_{t+1}).

    With tracker_input=initial-state an episode's first state is its only one, so that the policy sees s^d_t twice.
    """

    one_step: ClassVar[bool] = True
