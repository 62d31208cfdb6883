# SPDX-License-Identifier: MIT
"""A researcher tries a new scorer against the built-in ones, without a fork.

The paper's question on Swimmer: of two demonstrators, one is related to the imitator (a stiff back joint) and one is not. Which
scorers put the related one first? `Reach` is the new idea: a demonstration is feasible if the imitator's joints may go where
the demonstrated joints go. `check_scorer` holds it to the laws that all scorers keep; then it is one more row of the table.

python examples/researcher.py
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

import imitable as im

IMITATOR, RELATED, UNRELATED = "swimmer:back=10", "swimmer:back=12", "swimmer"


@dataclass(frozen=True)
class Reach:
    """How far demonstrated joints go past the imitator's limits."""

    rule: ClassVar[str] = "share"
    horizon: int = 100

    def prepared(self, job: im.ScoringJob) -> "AtWork":
        """Look up the limits when called; there is nothing to learn."""
        return AtWork(job, self.horizon)


@dataclass
class AtWork:
    """The scorer at work on one job."""

    job: im.ScoringJob
    horizon: int
    spent: int = 0
    about: dict[str, object] = field(default_factory=dict[str, object])

    def __call__(self, trajectories: Sequence[im.Trajectory]) -> list[im.Measured]:
        """Measure some demonstrations."""
        return [self.measured(trajectory) for trajectory in trajectories]

    def measured(self, trajectory: im.Trajectory) -> im.Measured:
        """Distance: mean excess over the limits, in radians. Share: its part of all that the joints are bent."""
        states = trajectory.states[1 : self.horizon + 1]
        limited = [joint for joint in im.joints(self.job.imitator) if np.isfinite(joint.limits).all()]
        bent = np.stack([np.abs(states[:, joint.position]) for joint in limited])
        limits = np.array([[max(np.abs(joint.limits))] for joint in limited])
        excess = np.maximum(bent - limits, 0).sum(axis=0)
        trace = im.trace_without_rollout(trajectory, np.arange(1, len(states) + 1), excess, self.job.imitator)
        return im.Measured(float(excess.mean()), float(excess.sum() / max(bent.sum(), 1e-9)), trace)


def main() -> None:
    """Record, check the new scorer, compare."""
    bodies = [im.robot(text) for text in (RELATED, UNRELATED)]
    recorded = [one for body in bodies for one in im.collect(im.Locomotion(body), im.policy_for(body), episodes=2, seed=1)]
    demos = im.InMemory(bodies[0].layout, recorded)
    im.check_scorer(Reach(), demos, IMITATOR)
    print(f"{'scorer':12}{'share, related':>16}{'share, unrelated':>18}{'weight on related':>19}")
    for name, scorer in (("direct", "direct"), ("neighbours", "neighbours"), ("Reach (new)", Reach())):
        scores = im.score(demos, IMITATOR, scorer)
        related = np.array([episode.demonstrator == RELATED for episode in scores.episodes])
        means = scores.share[related].mean(), scores.share[~related].mean()
        print(f"{name:12}{means[0]:16.3f}{means[1]:18.3f}{scores.weight[related].sum():19.3f}")


if __name__ == "__main__":
    main()
