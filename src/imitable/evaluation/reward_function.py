# SPDX-License-Identifier: MIT
"""A user's own reward, by its dotted name: f(states (T, S), actions (T, A), next_states (T, S)) → (T) rewards.

Actions are controls as the policy gave them, before the simulator clips them; arrays are read-only.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from imitable.errors import BadOption, BadTrajectory
from imitable.types import Floats, Trajectory
from imitable.user_code import imported

SIGNATURE = "f(states, actions, next_states) → (T) rewards"


@dataclass(frozen=True)
class RewardFunction:
    """A function of transitions that is checked whenever it pays."""

    name: str
    """Its dotted name."""
    function: Callable[[Floats, Floats, Floats], Any]

    def of(self, trajectory: Trajectory) -> Floats:
        """(T) what the transitions of a trajectory pay."""
        if trajectory.actions is None:
            raise BadTrajectory("it has no actions, and a reward needs them; give rollouts of a policy")
        try:
            paid = np.asarray(self.function(trajectory.states[:-1], trajectory.actions, trajectory.states[1:]), np.float64)
        except Exception as error:
            raise self._bad(f"it failed on a rollout ({type(error).__name__}: {error}); give {SIGNATURE}") from None
        if paid.shape != (len(trajectory),):
            raise self._bad(f"it paid {paid.shape} for {len(trajectory)} transitions; give {SIGNATURE}")
        if not np.isfinite(paid).all():
            step = int(np.flatnonzero(~np.isfinite(paid))[0])
            raise self._bad(f"it paid {paid[step]} for transition {step}; give finite rewards")
        return paid

    def _bad(self, expected: str) -> BadOption:
        return BadOption("reward", self.name, expected)


def import_reward(text: str) -> RewardFunction:
    """Import the reward that `my_lab.rewards.forward` names, which runs code: only a name that the user typed."""
    if "." not in text or not all(part.isidentifier() for part in text.split(".")):
        raise BadOption("reward", text, "give the dotted name of a function, such as my_lab.rewards.forward")
    function = imported("reward", text)
    if not callable(function):
        raise BadOption("reward", text, f"it is of type {type(function).__name__}, not a function; give {SIGNATURE}")
    return RewardFunction(text, function)


def with_returns(reward: RewardFunction, rollouts: Sequence[Trajectory]) -> list[Trajectory]:
    """Return the rollouts with their undiscounted returns by this reward."""
    return [replace(trajectory, total_return=float(reward.of(trajectory).sum())) for trajectory in rollouts]
