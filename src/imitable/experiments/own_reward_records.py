# SPDX-License-Identifier: MIT
"""What `own_reward.py` measures. Reading it loads no learner."""

from dataclasses import dataclass
from pathlib import Path

from imitable.experiments.records import read_if_there


@dataclass(frozen=True)
class OwnReward:
    """Mean returns of experts."""

    seeds: tuple[int, ...]
    returns: dict[str, tuple[float, ...]]
    """Of every seed, by body; 100 episodes with mean actions each."""


def own_reward_path(results: Path) -> Path:
    """Return where the record lies."""
    return results / "own_reward.json"


def read_own_reward(results: Path) -> OwnReward | None:
    """Return the record, if it is there."""
    return read_if_there(OwnReward, own_reward_path(results))
