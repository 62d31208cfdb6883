# SPDX-License-Identifier: MIT
"""The settings of reinforcement learning that learners with a policy in training share. No JAX."""

from dataclasses import dataclass, fields
from typing import Any

from imitable.rl.settings import Ppo
from imitable.spec_text import Range, bound


@dataclass(frozen=True)
class Practice:
    """How a policy practises against a reward model; see `imitable.rl.settings` for what is not named here."""

    environments: int = 64
    """Simulations side by side."""
    length: int = 32
    """Steps of each simulation between two updates."""
    discount: float = 0.99
    """γ of the return."""
    gae_lambda: float = 0.95
    """λ of the generalised advantage estimate."""
    hidden: tuple[int, ...] = (64, 64)
    """Layer widths of actor and critic."""
    log_std: float = -1.0
    """Exploration at the start: logarithm of the deviation, in half control ranges."""
    log_std_end: float = -2.0
    """Upper bound on the exploration at the end; the bound falls in a line from the start."""
    epochs: int = 10
    """Passes over the batch (PPO), or of the value fit over it (TRPO)."""
    minibatch: int = 512
    """Rows of one gradient step."""
    learning_rate: float = 3e-4
    """Adam's rate; falls in a line to a tenth."""
    critic_steps: int = 40_000
    """Steps that teach everything but the policy, when the training begins from a given one."""

    @property
    def practised(self) -> dict[str, Any]:
        """These settings by name, for a method of `rl`."""
        return {field.name: getattr(self, field.name) for field in fields(Practice)}


PRACTICE_RANGES: dict[str, tuple[float, float]] = {
    field.name: (limits.low, limits.high) for field in fields(Practice) if (limits := bound(Ppo, field.name, Range))
} | {"discount": (0, 0.99999)}
"""Lowest and highest value of every number; an absorbing state for ever needs a discount below one."""
