# SPDX-License-Identifier: MIT
"""Reward scaling: rewards divided by the running deviation of the discounted return, so that one recipe fits all bodies."""

from dataclasses import dataclass

import numpy as np

from imitable.nn import normaliser
from imitable.nn.normaliser import Normaliser
from imitable.types import Bools, Floats


@dataclass(frozen=True)
class RewardScale:
    """The deviation seen so far, and where each simulation's discounted return stands."""

    returns: Floats
    """(N) R_t = r_t + γ R_{t−1}, zero after an end."""
    seen: Normaliser
    """Of all R_t."""


def fresh(n: int) -> RewardScale:
    """Return the scale before any reward."""
    return RewardScale(np.zeros(n), normaliser.fresh(1))


def scaled(scale: RewardScale, rewards: Floats, ended: Bools, discount: float) -> tuple[RewardScale, Floats]:
    """Return the updated scale and the rewards (T, N) divided by its deviation."""
    running, track = scale.returns, np.empty_like(rewards)
    for t, reward in enumerate(rewards):
        running = reward + discount * running
        track[t] = running
        running = running * ~ended[t]
    seen = normaliser.updated(scale.seen, track.reshape(-1, 1))
    return RewardScale(running, seen), rewards / seen.std
