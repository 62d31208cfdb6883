# SPDX-License-Identifier: MIT
"""GAIfO (Torabi et al., 2018) on weighted transitions: imitate what the states show, without any action.

A discriminator learns to tell transitions of the imitator from transitions drawn from p_w, the imitator is paid for looking
like them, and both improve. Presets: `default` (PPO), `trpo` (the same with TRPO) and `paper` (the paper's settings).
"""

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

from imitable.errors import BadOption, one_of
from imitable.imitation.features import FORMS
from imitable.imitation.learner import Job
from imitable.imitation.practice import PRACTICE_RANGES, Practice
from imitable.rl.settings import Method, Ppo, Trpo
from imitable.spec_text import check_ranges

if TYPE_CHECKING:
    from imitable.imitation.training import PolicyTraining

REWARDS = ("logit", "softplus")
WEIGHTINGS = ("sampling", "loss")
ALGORITHMS = ("ppo", "trpo")
_CHOICES = {"algorithm": ALGORITHMS, "features": FORMS, "reward": REWARDS, "weighting": WEIGHTINGS}

RANGES: dict[str, tuple[float, float]] = PRACTICE_RANGES | {
    "max_kl": (1e-9, 10),
    "quiet_share": (0, 0.5),
    "discriminator_hidden": (1, 65536),
    "discriminator_rate": (1e-12, 1),
    "discriminator_minibatch": (1, 10**7),
    "discriminator_steps": (1, 10**4),
    "penalty": (0, inf),
    "absorbing": (0, 1),
    "observe_root": (0, 1),
    "normalised": (0, 1),
}
"""Lowest and highest value of every number."""


@dataclass(frozen=True)
class Gaifo(Practice):
    """Settings of the policy's learning and of the discriminator's."""

    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "default": {},
        "trpo": {"algorithm": "trpo", "length": 64, "gae_lambda": 0.97, "epochs": 4, "learning_rate": 1e-3},
        "paper": {
            "algorithm": "trpo",
            "environments": 6,
            "length": 1000,
            "discount": 0.995,
            "gae_lambda": 0.97,
            "log_std": 0.0,
            "log_std_end": 3.0,
            "epochs": 1,
            "minibatch": 200,
            "learning_rate": 3e-4,
            "max_kl": 0.01,
            "features": "pair",
            "reward": "softplus",
            "discriminator_hidden": (64, 64),
            "discriminator_rate": 1e-3,
            "discriminator_minibatch": 6000,
            "discriminator_steps": 1,
            "penalty": 0.0,
            "absorbing": 0,
            "observe_root": 1,
            "normalised": 0,
        },
    }

    algorithm: str = "ppo"
    """How the policy learns: ppo or trpo."""
    max_kl: float = 0.02
    """Largest mean KL divergence of one update (TRPO)."""
    quiet_share: float = 0.0
    """Part of the simulations that take mean actions, in turns: what the policy does without noise is judged, too."""
    features: str = "delta"
    """What the discriminator sees: delta (state and change) or pair (state and next state)."""
    reward: str = "logit"
    """What it pays: logit, or softplus = ln(1 + e^logit)."""
    weighting: str = "sampling"
    """How weights act: sampling (transitions are drawn by weight) or loss (drawn uniformly, their loss is weighted)."""
    discriminator_hidden: tuple[int, ...] = (100, 100)
    """Layer widths of the discriminator."""
    discriminator_rate: float = 3e-4
    """Its rate of learning."""
    discriminator_minibatch: int = 256
    """Rows of each side in one of its gradient steps."""
    discriminator_steps: int = 8
    """Its gradient steps after every batch."""
    penalty: float = 1.0
    """Weight of its gradient penalty: at 10 it is too unsure to make Hopper leave its first stand (measured)."""
    absorbing: int = 1
    """1: a fall leads into an absorbing state that the discriminator judges; 0: it ends everything, worth 0."""
    observe_root: int = 0
    """1: policy and discriminator see the root position, as in the paper."""
    normalised: int = 1
    """1: states are standardised by the weighted demonstrations; 0: raw, as in the paper."""

    def __post_init__(self) -> None:
        """Check every value."""
        check_ranges(self, RANGES)
        for name, choices in _CHOICES.items():
            if (value := getattr(self, name)) not in choices:
                raise BadOption(name, value, one_of(value, choices))
        _ = self.rl

    @property
    def rl(self) -> Method:
        """The settings of the policy's own learning."""
        return Ppo(**self.practised) if self.algorithm == "ppo" else Trpo(**self.practised, max_kl=self.max_kl)

    @property
    def least_steps(self) -> int:
        """One batch."""
        return self.rl.batch

    def begin(self, job: Job) -> "PolicyTraining":
        """Read the lessons and start policy and discriminator."""
        from imitable.imitation.training import adversarial

        return adversarial(self, job)
