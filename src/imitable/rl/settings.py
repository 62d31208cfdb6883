# SPDX-License-Identifier: MIT
"""Learning methods as frozen tables of hyper-parameters, checked when built. No JAX here, so that help stays light."""

from dataclasses import dataclass, fields
from math import inf

from imitable.errors import BadOption
from imitable.spec_text import check_ranges, parse_method

RANGES: dict[str, tuple[float, float]] = {
    "environments": (1, 65536),
    "length": (1, 65536),
    "discount": (0, 1),
    "gae_lambda": (0, 1),
    "hidden": (1, 65536),
    "log_std": (-10, 3),
    "log_std_end": (-10, 3),
    "critic_steps": (0, inf),
    "epochs": (1, 1000),
    "minibatch": (1, inf),
    "learning_rate": (1e-12, 1),
    "max_kl": (1e-9, 10),
    "damping": (1e-9, inf),
    "cg_steps": (1, 1000),
    "fisher_share": (1e-6, 1),
    "search_steps": (0, 100),
    "clip": (1e-6, 10),
    "max_gradient": (1e-9, inf),
    "anchor": (0, inf),
}
"""Lowest and highest value of every hyper-parameter."""


@dataclass(frozen=True)
class Trpo:
    """Trust region policy optimisation (Schulman et al., 2015)."""

    environments: int = 64
    """Simulations side by side."""
    length: int = 64
    """Steps of each simulation between two updates."""
    discount: float = 0.99
    """γ of the return."""
    gae_lambda: float = 0.97
    """λ of the generalised advantage estimate."""
    hidden: tuple[int, ...] = (64, 64)
    """Layer widths of actor and critic."""
    log_std: float = -0.5
    """Exploration at the start: logarithm of the deviation, in half control ranges."""
    log_std_end: float = -1.5
    """Upper bound on the exploration at the end of the budget; the bound falls in a line from the start."""
    critic_steps: int = 80_000
    """Steps that teach only the critic, when a run begins from a given policy."""
    epochs: int = 4
    """Passes of the value fit over the batch."""
    minibatch: int = 512
    """Rows of one gradient step of the value fit."""
    learning_rate: float = 1e-3
    """Adam's rate in the value fit; falls in a line to a tenth."""
    max_kl: float = 0.02
    """Largest mean KL divergence of one update."""
    damping: float = 0.1
    """Added to the Fisher matrix's diagonal."""
    cg_steps: int = 10
    """Steps of conjugate gradient."""
    fisher_share: float = 0.25
    """Part of the batch that the Fisher product averages over."""
    search_steps: int = 10
    """Halvings of the step before an update is given up."""

    def __post_init__(self) -> None:
        """Check every value."""
        _check(self)

    @property
    def batch(self) -> int:
        """Transitions between two updates."""
        return self.environments * self.length


@dataclass(frozen=True)
class Ppo:
    """Proximal policy optimisation (Schulman et al., 2017), clipped."""

    environments: int = 64
    """Simulations side by side."""
    length: int = 64
    """Steps of each simulation between two updates."""
    discount: float = 0.99
    """γ of the return."""
    gae_lambda: float = 0.95
    """λ of the generalised advantage estimate."""
    hidden: tuple[int, ...] = (64, 64)
    """Layer widths of actor and critic."""
    log_std: float = -0.5
    """Exploration at the start: logarithm of the deviation, in half control ranges."""
    log_std_end: float = -1.5
    """Upper bound on the exploration at the end of the budget; the bound falls in a line from the start."""
    critic_steps: int = 80_000
    """Steps that teach only the critic, when a run begins from a given policy."""
    epochs: int = 10
    """Passes over the batch."""
    minibatch: int = 512
    """Rows of one gradient step."""
    learning_rate: float = 3e-4
    """Adam's rate; falls in a line to a tenth."""
    clip: float = 0.2
    """Bound on the change of the probability ratio that is still rewarded."""
    max_gradient: float = 0.5
    """Gradients are scaled down to this norm."""
    anchor: float = 0.0
    """Weight of the squared distance of mean actions to those that a reward model names; the task's own names none."""

    def __post_init__(self) -> None:
        """Check every value."""
        _check(self)

    @property
    def batch(self) -> int:
        """Transitions between two updates."""
        return self.environments * self.length


Method = Trpo | Ppo

METHODS: dict[str, type[Trpo] | type[Ppo]] = {"trpo": Trpo, "ppo": Ppo}
"""Names on the command line."""


def method(text: str) -> Method:
    """Return the method that `text` names, e.g. `method("ppo:epochs=5")`."""
    return parse_method(text, METHODS)


def _check(made: Method) -> None:
    check_ranges(made, {field.name: RANGES[field.name] for field in fields(made)})
    if made.minibatch > made.batch:
        raise BadOption("minibatch", made.minibatch, f"give at most environments × length = {made.batch}")
