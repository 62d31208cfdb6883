# SPDX-License-Identifier: MIT
"""Where a trainer's rewards come from: the task itself, or a model that learns beside the policy (a discriminator, say)."""

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from imitable.sim.rollout import Segment
from imitable.tensors import Arrays
from imitable.types import Floats, Singles


@dataclass(frozen=True)
class Rewards:
    """The rewards of the T · N transitions of a segment."""

    rewards: Floats
    """(T, N) of the transitions."""
    absorbing_reward: float = 0.0
    """r_abs, the reward of every step after a fall, for ever: the value of the absorbing state is r_abs / (1 − γ)."""
    anchors: Singles | None = None
    """(T, N, A) actions that the policy's mean is held to, in half control ranges; None: to nothing."""
    metrics: dict[str, float] = field(default_factory=dict[str, float])
    """What the model reports of itself."""


@runtime_checkable
class RewardModel(Protocol):
    """Gives the rewards of a segment, and may learn from it."""

    def __call__(self, segment: Segment) -> Rewards:
        """Return the rewards of a segment; called once a segment, in order."""
        ...

    def snapshot(self) -> tuple[Arrays, dict[str, str]]:
        """Return arrays and generator states from which `restore` goes on to the same bits."""
        ...

    def restore(self, arrays: Arrays, generators: dict[str, str]) -> None:
        """Go back to a snapshot."""
        ...


class TaskReward:
    """The task's own reward; an episode that has fallen earns nothing more."""

    def __call__(self, segment: Segment) -> Rewards:
        """Return the task's rewards."""
        return Rewards(segment.rewards)

    def snapshot(self) -> tuple[Arrays, dict[str, str]]:
        """Nothing is remembered."""
        return {}, {}

    def restore(self, arrays: Arrays, generators: dict[str, str]) -> None:
        """Nothing is remembered."""


def absorbing_steps(segment: Segment, discount: float) -> int:
    """Return how many steps the fallen episodes spend in the absorbing state: 1 / (1 − γ) each, at most as many as all others.

    A discriminator is shown so many absorbing pairs: with fewer it takes too long to see that falls are not demonstrated.
    """
    return min(round(int(segment.absorbing.sum()) / (1 - discount)), segment.absorbing.size)


def terminal_values(segment: Segment, rewards: Rewards, discount: float) -> Floats:
    """(T, N) what the future is worth where an episode fell: r_abs / (1 − γ), the sum of r_abs for ever.

    Under a constant reward this is what the critic says of every other state, too, so that falling has no advantage.
    """
    if rewards.absorbing_reward == 0.0:
        return np.zeros_like(rewards.rewards)
    return np.where(segment.absorbing, rewards.absorbing_reward / (1 - discount), 0.0)
