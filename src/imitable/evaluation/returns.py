# SPDX-License-Identifier: MIT
"""Returns and lengths of a policy's episodes on a task. No JAX."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from imitable.seeding import episode_seeds
from imitable.sim.rollout import check_fit, episodes
from imitable.sim.task import Task
from imitable.types import Bools, Floats, Ints, Policy, Trajectory

EVALUATION_SEED = 20211108
"""Start states of every card and every run's evaluation: the same for all robots and learners, never seen in learning."""


@dataclass(frozen=True)
class EpisodeReturns:
    """What E episodes came to."""

    returns: Floats
    """(E) undiscounted returns."""
    lengths: Ints
    """(E) transitions."""
    terminated: Bools
    """(E) whether the episode ended by a fall."""

    @property
    def mean(self) -> float:
        """Mean return."""
        return float(self.returns.mean())

    def is_steady(self, fraction: float) -> bool:
        """Return whether no episode fell and the returns deviate by at most this fraction of their mean."""
        return not self.terminated.any() and float(self.returns.std()) <= fraction * abs(self.mean)

    def summary(self) -> dict[str, float | int]:
        """Return the numbers of a card."""
        return {
            "episodes": len(self.returns),
            "return_mean": round(self.mean, 1),
            "return_std": round(float(self.returns.std()), 1),
            "return_min": round(float(self.returns.min()), 1),
            "length_mean": round(float(self.lengths.mean()), 1),
            "falls": int(self.terminated.sum()),
        }


def measure_returns(
    task: Task, policy: Policy, episode_count: int, seed: int, *, sampled: bool = False, push: float = 0.0, threads: int = 1
) -> EpisodeReturns:
    """Play `episode_count` episodes with mean (or sampled) actions; return what they came to.

    If `push` is above 0, the body is pushed once in each episode, with so many newtons.
    """
    return returns_of(play(task, policy, episode_count, seed, sampled=sampled, push=push, threads=threads))


def play(
    task: Task, policy: Policy, episode_count: int, seed: int, *, sampled: bool = False, push: float = 0.0, threads: int = 1
) -> list[Trajectory]:
    """Play episodes whose start states and pushes depend on `seed` alone."""
    check_fit(task, policy)
    seeds = episode_seeds(seed, "evaluation", episode_count)
    return [trajectory for trajectory, _ in episodes(task, policy, seeds, sampled=sampled, push=push, threads=threads)]


def returns_of(rollouts: Sequence[Trajectory]) -> EpisodeReturns:
    """Return what episodes came to."""
    return EpisodeReturns(
        returns=np.array([trajectory.total_return for trajectory in rollouts]),
        lengths=np.array([len(trajectory) for trajectory in rollouts]),
        terminated=np.array([trajectory.terminated for trajectory in rollouts]),
    )
