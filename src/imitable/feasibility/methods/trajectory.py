# SPDX-License-Identifier: MIT
"""The paper's trajectory f-MDP: how closely can a learned policy follow a demonstration from its first state?"""

from dataclasses import dataclass
from typing import ClassVar

from imitable.feasibility.scorer import ScoringJob
from imitable.feasibility.tracker import Count, LearningSteps, Part, Patience, TrackerInput, TrackerMeasurer, prepared
from imitable.spec_text import check_fields


@dataclass(frozen=True)
class TrajectoryFmdp:
    """Whole rollouts (Eqn. 2): distance = Σ_t discount^t d(s_{t+1}, s^d_{t+1}), s_0 = s^d_0, errors add up along the way."""

    rule: ClassVar[str] = "share"

    tracker_input: TrackerInput = "target"
    """What the policy sees: target (the next demonstrated state) or initial-state (as in the paper)."""
    steps: LearningSteps = 500_000
    """Control steps that it learns from, a demonstrator, at most."""
    begin_anywhere: Part = 0.5
    """Part of the training episodes that begin in any demonstrated state; with initial-state input, as in the paper, none."""
    trained: Count = 25
    """Demonstrations of each demonstrator that it learns from."""
    horizon: Count = 100
    """Steps of a demonstration that count, at most; fewer if the discount forgets sooner."""
    patience: Patience = 4
    """Learning has converged when the mean distance of so many looks is that of as many before, and below the first."""
    tolerance: Part = 0.01
    """Part of the distance by which those two may differ."""

    def __post_init__(self) -> None:
        """Check every value."""
        check_fields(self)

    def prepared(self, job: ScoringJob) -> TrackerMeasurer:
        """Learn one policy a demonstrator, or take those that an earlier job left in `job.models`."""
        return prepared(job, self, one_step=False)
