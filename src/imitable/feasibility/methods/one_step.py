# SPDX-License-Identifier: MIT
"""The paper's one-step f-MDP: how closely can a learned policy make each single transition of a demonstration?"""

from dataclasses import dataclass
from typing import ClassVar

from imitable.feasibility.scorer import ScoringJob
from imitable.feasibility.tracker import Count, LearningSteps, Part, Patience, TrackerInput, TrackerMeasurer, prepared
from imitable.spec_text import check_fields


@dataclass(frozen=True)
class OneStepFmdp:
    """One step from n demonstrated states (Eqn. 1), spread over the whole demonstration.

    e = (1/n) Σ_t d(f(s^d_t, π), s^d_{t+1}),   share = e ÷ that of doing nothing. No error leads to the next one, so that no
    step counts more than another. distance = e · Σ_{t<H} γ^t, as of a rollout that misses so much at each of the H steps that
    its discount holds.

    With tracker_input=initial-state an episode's first state is its only one, so that the policy sees s^d_t twice.
    """

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
    """n, transitions of a demonstration that are judged, at most."""
    patience: Patience = 4
    """Learning has converged when the mean distance of so many looks is that of as many before, and below the first."""
    tolerance: Part = 0.01
    """Part of the distance by which those two may differ."""

    def __post_init__(self) -> None:
        """Check every value."""
        check_fields(self)

    def prepared(self, job: ScoringJob) -> TrackerMeasurer:
        """Learn one policy a demonstrator, or take those that an earlier job left in `job.models`."""
        return prepared(job, self, one_step=True)
