# SPDX-License-Identifier: MIT
"""Behaviour cloning of weighted transitions that carry the imitator's own actions, such as projected demonstrations.

minimise over μ:  E_{(s, a) ~ p_w} ‖μ(o(s)) − a‖² / A,  actions in half control ranges, by Adam; the rate falls along a cosine
to zero. The policy's deviation is the maximum-likelihood one, the root mean square of what the regression leaves over. The
regression takes no simulator step; with `fine_tune` GAIfO goes on from its policy for the steps of the job.
"""

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from imitable.imitation.learner import Job
from imitable.imitation.methods.gaifo import Gaifo
from imitable.spec_text import check_ranges

if TYPE_CHECKING:
    from imitable.imitation.clone_training import CloneTraining

RANGES: dict[str, tuple[float, float]] = {
    "gradient_steps": (1, 10**8),
    "minibatch": (1, 10**7),
    "learning_rate": (1e-12, 1),
    "hidden": (1, 65536),
    "fine_tune": (0, 1),
    "critic_steps": (0, inf),
}
"""Lowest and highest value of every number."""


@dataclass(frozen=True)
class Cloning:
    """Settings of the regression, and whether GAIfO goes on from it."""

    gradient_steps: int = 20_000
    """Gradient steps of the regression."""
    minibatch: int = 256
    """Transitions of one gradient step, drawn by weight."""
    learning_rate: float = 1e-3
    """Adam's rate; falls along a cosine to zero."""
    hidden: tuple[int, ...] = (64, 64)
    """Layer widths of the policy."""
    fine_tune: int = 0
    """1: GAIfO goes on from the cloned policy, for the job's steps."""
    critic_steps: int = 40_000
    """Of these, steps that teach only GAIfO's critic and discriminator."""

    def __post_init__(self) -> None:
        """Check every value."""
        check_ranges(self, RANGES)

    @property
    def least_steps(self) -> int:
        """None; with GAIfO after it, one batch after those that teach only its critic."""
        return self.critic_steps + Gaifo().least_steps if self.fine_tune else 0

    def begin(self, job: Job) -> "CloneTraining":
        """Read the lessons and start the policy."""
        from imitable.imitation.clone_training import CloneTraining

        return CloneTraining(self, job)
