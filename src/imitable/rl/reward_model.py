# SPDX-License-Identifier: MIT
"""What a trainer is paid by: the task itself, or something that learns beside it (a discriminator, say)."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from imitable.sim.rollout import Segment
from imitable.tensors import Arrays
from imitable.types import Floats, Singles


@dataclass(frozen=True)
class Rewards:
    """What the T · N transitions of a segment are worth."""

    rewards: Floats
    """(T, N) of the transitions."""
    absorbed: float = 0.0
    """Reward of every step after a fall, for ever: the future of an absorbing state is worth absorbed / (1 − γ)."""
    anchors: Singles | None = None
    """(T, N, A) actions that the policy's mean is held to, in half control ranges; None: by nothing."""
    metrics: dict[str, float] = field(default_factory=dict[str, float])
    """What is said of it in the metrics."""


class RewardModel(Protocol):
    """Pays a segment, and may learn from it."""

    def __call__(self, segment: Segment) -> Rewards:
        """Return what the segment is worth; called once a segment, in order."""
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


def absorbed_steps(segment: Segment, discount: float) -> int:
    """Return how many steps the fallen episodes spend in the absorbing state: 1 / (1 − γ) each, at most as many as all others.

    A judge is shown so many absorbing pairs: with fewer it takes too long to see that falls are not demonstrated.
    """
    return min(round(int(segment.absorbing.sum()) / (1 - discount)), segment.absorbing.size)


def terminal_values(segment: Segment, pay: Rewards, discount: float) -> Floats:
    """(T, N) what the future is worth where an episode fell: r_abs / (1 − γ), the sum of r_abs for ever.

    Under a constant reward this is what the critic says of every other state, too, so that falling has no advantage.
    """
    if pay.absorbed == 0.0:
        return np.zeros_like(pay.rewards)
    return np.where(segment.absorbing, pay.absorbed / (1 - discount), 0.0)
