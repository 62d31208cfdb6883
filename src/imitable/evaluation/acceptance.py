# SPDX-License-Identifier: MIT
"""Is a demonstrator worth imitating? No falls, the same with sampled actions, and it survives a push.

And are those of a setting alike? If one returned much more than the others, imitating it alone would seem to be an insight.
"""

from dataclasses import dataclass

import numpy as np

from imitable.evaluation.returns import EVALUATION_SEED, EpisodeReturns, measure_returns
from imitable.sim.task import Locomotion
from imitable.types import Bools, Policy

EPISODES = 100
"""Episodes of each of the three evaluations, from starts that training never saw."""

TOLERANCE = 0.03
"""Sampled actions return within this fraction of what mean actions return."""

DEVIATION = 0.05
"""Sampled returns deviate by at most this fraction of their mean."""

SURVIVED = 0.95
"""Fraction of the pushed episodes that are survived."""

LEAST_RETURN = 0.9
"""A pushed episode that does not fall is survived if it returns this fraction of the same episode without the push."""

PUSH_NEWTONS = {"swimmer": 100.0, "walker2d": 50.0, "half_cheetah": 60.0, "hopper": 5.0}
"""Force on the root body for 0.1 s, at a random time and in a random horizontal direction, one for all bodies of a robot."""


SPREAD = 0.07
"""Mean returns of a setting's bodies deviate by at most this fraction from the middle between the lowest and the highest."""


@dataclass(frozen=True)
class Acceptance:
    """What a policy does in 100 episodes with mean actions, with sampled actions, and with mean actions and a push."""

    mean: EpisodeReturns
    sampled: EpisodeReturns
    pushed: EpisodeReturns
    newtons: float
    """Strength of the push."""

    @property
    def survived(self) -> Bools:
        """(E) whether an episode neither fell nor lost more than a tenth of its return by the push."""
        return ~self.pushed.terminated & (self.pushed.returns >= LEAST_RETURN * self.mean.returns)

    @property
    def refusals(self) -> tuple[str, ...]:
        """Why it is not accepted; none if it is."""
        mean, sampled = self.mean, self.sampled
        faults = {
            f"{mean.terminated.sum()} falls with mean actions": mean.terminated.any(),
            f"{sampled.terminated.sum()} falls with sampled actions": sampled.terminated.any(),
            f"sampled actions return {sampled.mean:,.1f}, mean ones {mean.mean:,.1f}": abs(sampled.mean - mean.mean)
            > TOLERANCE * abs(mean.mean),
            f"sampled returns deviate by {sampled.returns.std():,.1f}": sampled.returns.std() > DEVIATION * abs(sampled.mean),
            f"{self.survived.sum()} of {len(self.survived)} pushes survived": np.mean(self.survived) < SURVIVED,
        }
        return tuple(text for text, is_so in faults.items() if is_so)

    def summary(self) -> dict[str, object]:
        """Return the numbers of a card."""
        return {
            "mean_actions": self.mean.summary(),
            "sampled_actions": self.sampled.summary(),
            "pushed": {"newtons": self.newtons, **self.pushed.summary(), "survived": int(self.survived.sum())},
        }


def judge(task: Locomotion, policy: Policy, *, newtons: float | None = None, threads: int = 1) -> Acceptance:
    """Play the episodes that acceptance is judged by; `newtons` defaults to the robot's."""
    push = PUSH_NEWTONS[task.robot.family.name] if newtons is None else newtons
    mean, sampled, pushed = (
        measure_returns(task, policy, EPISODES, EVALUATION_SEED, sampled=is_sampled, push=force, threads=threads)
        for is_sampled, force in ((False, 0.0), (True, 0.0), (False, push))
    )
    return Acceptance(mean, sampled, pushed, push)


@dataclass(frozen=True)
class Agreement:
    """Mean returns of all bodies of a setting, the imitator's among them, beside that of the paper's demonstrations."""

    returns: dict[str, float]
    """By body."""
    paper: float

    @property
    def spread(self) -> float:
        """(max − min) / (max + min): how far the outermost are from the middle of both; infinite if that is not above 0."""
        low, high = min(self.returns.values()), max(self.returns.values())
        return (high - low) / (high + low) if high + low > 0 else float("inf")

    @property
    def from_paper(self) -> dict[str, float]:
        """By body, return ÷ the paper's − 1."""
        return {body: value / self.paper - 1 for body, value in self.returns.items()}

    @property
    def refusals(self) -> tuple[str, ...]:
        """Why the bodies do not agree; none if they do."""
        if self.spread <= SPREAD:
            return ()
        low, high = (choose(self.returns, key=self.returns.__getitem__) for choose in (min, max))
        return (f"{low} returns {self.returns[low]:,.1f}, {high} {self.returns[high]:,.1f}: ±{self.spread:.1%} of the middle",)
