# SPDX-License-Identifier: MIT
"""SAIL (Liu et al., 2020) without any demonstrator's action: align states, locally by a prior on actions, globally by a reward.

A β-VAE learns where the demonstrators go next, an inverse model learns from the imitator's own movements which action leads
there, and the policy's mean is held to what both say together: a*(s) = inverse(s, VAE(s)). A Wasserstein critic pays the
imitator for being in states like the demonstrated ones. Only states that were drawn from p_w are seen.
"""

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from imitable.imitation.learner import Job
from imitable.imitation.practice import PRACTICE_RANGES, Practice
from imitable.rl.settings import Ppo
from imitable.spec_text import check_ranges

if TYPE_CHECKING:
    from imitable.imitation.training import PolicyTraining

RANGES: dict[str, tuple[float, float]] = PRACTICE_RANGES | {
    "anchor": (0, inf),
    "goal_hidden": (1, 65536),
    "goal_latent": (1, 65536),
    "goal_steps": (1, 10**7),
    "beta": (0, inf),
    "babbled": (1, 10**8),
    "inverse_hidden": (1, 65536),
    "inverse_blocks": (0, 100),
    "inverse_steps": (1, 10**7),
    "inverse_updates": (0, 10**4),
    "pretrained": (0, 10**7),
    "discriminator_hidden": (1, 65536),
    "discriminator_rate": (1e-12, 1),
    "discriminator_minibatch": (1, 10**7),
    "discriminator_steps": (1, 10**4),
    "penalty": (0, inf),
}
"""Lowest and highest value of every number."""


@dataclass(frozen=True)
class Sail(Practice):
    """Settings of the policy's learning, of the models behind its prior and of the critic that pays it."""

    epochs: int = 5
    """Passes over the batch."""
    anchor: float = 1.0
    """Weight of the prior ‖μ(s) − a*(s)‖², the clipped surrogate having the weight 1."""
    goal_hidden: tuple[int, ...] = (128, 128)
    """Layer widths of the VAE's encoder; its decoder has them in reverse."""
    goal_latent: int = 16
    """Latent entries."""
    goal_steps: int = 4000
    """Gradient steps of the VAE."""
    beta: float = 0.005
    """β, the weight of the VAE's divergence from its prior."""
    babbled: int = 50_000
    """Own random transitions that the inverse model begins with; part of the steps, a quarter of them at most."""
    inverse_hidden: int = 64
    """Width of the inverse model's layers."""
    inverse_blocks: int = 3
    """Its residual blocks."""
    inverse_steps: int = 3000
    """Its gradient steps on random movements."""
    inverse_updates: int = 12
    """Its gradient steps after every batch, on the policy's own transitions."""
    pretrained: int = 2000
    """Gradient steps that bring the policy to a*(s) in demonstrated states, before it moves."""
    discriminator_hidden: tuple[int, ...] = (100, 100)
    """Layer widths of the Wasserstein critic."""
    discriminator_rate: float = 3e-4
    """Its rate of learning."""
    discriminator_minibatch: int = 256
    """Rows of each side in one of its gradient steps."""
    discriminator_steps: int = 8
    """Its gradient steps after every batch."""
    penalty: float = 1.0
    """Weight of its gradient penalty."""

    def __post_init__(self) -> None:
        """Check every value."""
        check_ranges(self, RANGES)
        _ = self.rl

    @property
    def rl(self) -> Ppo:
        """The settings of the policy's own learning."""
        return Ppo(**self.practised, anchor=self.anchor)

    @property
    def least_steps(self) -> int:
        """Own random movements, all or a quarter; then one batch after those that teach everything but the policy."""
        transitions = self.critic_steps + self.rl.batch
        return min(transitions + self.babbled, -(-4 * transitions // 3))

    def begin(self, job: Job) -> "PolicyTraining":
        """Fit the VAE, babble, fit the inverse model, pre-train the policy."""
        from imitable.imitation.alignment_reward import aligning

        return aligning(self, job)
