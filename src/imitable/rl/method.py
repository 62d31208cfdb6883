# SPDX-License-Identifier: MIT
"""Learning methods as frozen tables of hyper-parameters. No JAX here, so that help stays light."""

from dataclasses import dataclass

from imitable.errors import BadOption
from imitable.spec_text import parse_method


@dataclass(frozen=True)
class Trpo:
    """Trust region policy optimisation (Schulman et al., 2015)."""

    environments: int = 64
    """Simulations side by side."""
    length: int = 64
    """Steps of each simulation between two updates."""
    discount: float = 0.99
    """γ of the return."""
    trace: float = 0.97
    """λ of the generalised advantage estimate."""
    hidden: tuple[int, ...] = (64, 64)
    """Layer widths of actor and critic."""
    log_std: float = -0.5
    """Exploration at the start: logarithm of the deviation, in half control ranges."""
    log_std_end: float = -1.5
    """Upper bound on the exploration at the end of the budget; the bound falls in a line from the start."""
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
    value_epochs: int = 4
    """Passes of the value fit over the batch."""
    minibatch: int = 512
    """Rows of one gradient step of the value fit."""
    learning_rate: float = 1e-3
    """Adam's rate in the value fit; falls in a line to a tenth."""


@dataclass(frozen=True)
class Ppo:
    """Proximal policy optimisation (Schulman et al., 2017), clipped."""

    environments: int = 64
    """Simulations side by side."""
    length: int = 64
    """Steps of each simulation between two updates."""
    discount: float = 0.99
    """γ of the return."""
    trace: float = 0.95
    """λ of the generalised advantage estimate."""
    hidden: tuple[int, ...] = (64, 64)
    """Layer widths of actor and critic."""
    log_std: float = -0.5
    """Exploration at the start: logarithm of the deviation, in half control ranges."""
    log_std_end: float = -1.5
    """Upper bound on the exploration at the end of the budget; the bound falls in a line from the start."""
    clip: float = 0.2
    """Bound on the change of the probability ratio that is still rewarded."""
    epochs: int = 10
    """Passes over the batch."""
    minibatch: int = 512
    """Rows of one gradient step."""
    learning_rate: float = 3e-4
    """Adam's rate; falls in a line to a tenth."""
    max_gradient: float = 0.5
    """Gradients are scaled down to this norm."""


Method = Trpo | Ppo

METHODS: dict[str, type[Trpo] | type[Ppo]] = {"trpo": Trpo, "ppo": Ppo}
"""Names on the command line."""


def method(text: str) -> Method:
    """Return the method that `text` names, e.g. `method("ppo:epochs=5")`."""
    parsed: Method = parse_method(text, METHODS)
    positive = ("environments", "length", "minibatch", "learning_rate")
    for name in positive:
        if getattr(parsed, name) <= 0:
            raise BadOption(name, getattr(parsed, name), "give a number above 0")
    for name in ("discount", "trace"):
        if not 0 <= getattr(parsed, name) <= 1:
            raise BadOption(name, getattr(parsed, name), "give a number from 0 to 1")
    if parsed.minibatch > parsed.environments * parsed.length:
        raise BadOption(
            "minibatch", parsed.minibatch, f"give at most environments × length = {parsed.environments * parsed.length}"
        )
    return parsed
