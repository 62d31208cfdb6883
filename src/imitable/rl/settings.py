# SPDX-License-Identifier: MIT
"""Learning methods as frozen tables of hyper-parameters, checked when built. No JAX here, so that help stays light.

Every method is one flat table, so that text sets it flat (`ppo:epochs=5`, `gaifo:length=64`) and its defaults are its own. What
tables share is stated once: the types below say the range of a setting, and `same_settings` makes the table of an algorithm
from that of a learner that trains a policy by it.
"""

from dataclasses import dataclass, fields
from math import inf
from typing import Annotated, TypeVar

from imitable.errors import BadOption
from imitable.spec_text import Range, check_fields, parse_method

Count = Annotated[int, Range(1, 65536)]
"""Of simulations or of steps."""

Fraction = Annotated[float, Range(0, 1)]
"""A discount or a λ."""

Widths = Annotated[tuple[int, ...], Range(1, 65536)]
"""Of a network's hidden layers."""

LogStd = Annotated[float, Range(-10, 3)]
"""Logarithm of a deviation, in half control ranges."""

CriticSteps = Annotated[int, Range(0, inf)]
"""Steps that teach only the critic."""

Epochs = Annotated[int, Range(1, 1000)]
"""Passes over a batch."""

Minibatch = Annotated[int, Range(1, inf)]
"""Rows of one gradient step."""

LearningRate = Annotated[float, Range(1e-12, 1)]
"""Adam's rate."""

Averaged = Annotated[float, Range(0, 1)]
"""Part of a run, at its end, whose policies are averaged."""

MaxKl = Annotated[float, Range(1e-9, 10)]
"""Largest mean KL divergence of one update."""

Weight = Annotated[float, Range(0, inf)]
"""Of a term of a loss."""


@dataclass(frozen=True)
class Trpo:
    """Trust region policy optimisation (Schulman et al., 2015)."""

    environments: Count = 64
    """Simulations side by side."""
    length: Count = 64
    """Steps of each simulation between two updates."""
    discount: Fraction = 0.99
    """γ of the return."""
    gae_lambda: Fraction = 0.97
    """λ of the generalised advantage estimate."""
    hidden: Widths = (64, 64)
    """Layer widths of actor and critic."""
    log_std: LogStd = -0.5
    """Exploration at the start: logarithm of the deviation, in half control ranges."""
    log_std_end: LogStd = -1.5
    """Upper bound on the exploration at the end of the budget; the bound falls in a line from the start."""
    critic_steps: CriticSteps = 80_000
    """Steps that teach only the critic, when a run begins from a given policy."""
    averaged: Averaged = 0.0
    """Part of the steps, at their end, whose policies' mean is the result; 0: the last policy is."""
    epochs: Epochs = 4
    """Passes of the value fit over the batch."""
    minibatch: Minibatch = 512
    """Rows of one gradient step of the value fit."""
    learning_rate: LearningRate = 1e-3
    """Adam's rate in the value fit; falls in a line to a tenth."""
    max_kl: MaxKl = 0.02
    """Largest mean KL divergence of one update."""
    damping: Annotated[float, Range(1e-9, inf)] = 0.1
    """Added to the Fisher matrix's diagonal."""
    cg_steps: Annotated[int, Range(1, 1000)] = 10
    """Steps of conjugate gradient."""
    fisher_fraction: Annotated[float, Range(1e-6, 1)] = 0.25
    """Part of the batch that the Fisher product averages over."""
    search_steps: Annotated[int, Range(0, 100)] = 10
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

    environments: Count = 64
    """Simulations side by side."""
    length: Count = 64
    """Steps of each simulation between two updates."""
    discount: Fraction = 0.99
    """γ of the return."""
    gae_lambda: Fraction = 0.95
    """λ of the generalised advantage estimate."""
    hidden: Widths = (64, 64)
    """Layer widths of actor and critic."""
    log_std: LogStd = -0.5
    """Exploration at the start: logarithm of the deviation, in half control ranges."""
    log_std_end: LogStd = -1.5
    """Upper bound on the exploration at the end of the budget; the bound falls in a line from the start."""
    critic_steps: CriticSteps = 80_000
    """Steps that teach only the critic, when a run begins from a given policy."""
    averaged: Averaged = 0.0
    """Part of the steps, at their end, whose policies' mean is the result; 0: the last policy is."""
    epochs: Epochs = 10
    """Passes over the batch."""
    minibatch: Minibatch = 512
    """Rows of one gradient step."""
    learning_rate: LearningRate = 3e-4
    """Adam's rate; falls in a line to a tenth."""
    clip: Annotated[float, Range(1e-6, 10)] = 0.2
    """Bound on the change of the probability ratio that is still rewarded."""
    max_gradient: Annotated[float, Range(1e-9, inf)] = 0.5
    """Gradients are scaled down to this norm."""
    anchor: Weight = 0.0
    """Weight of the squared distance of mean actions to those that a reward model names; the task's own names none."""

    def __post_init__(self) -> None:
        """Check every value."""
        _check(self)

    @property
    def batch(self) -> int:
        """Transitions between two updates."""
        return self.environments * self.length


Method = Trpo | Ppo

Algorithm = TypeVar("Algorithm", Trpo, Ppo)

METHODS: dict[str, type[Trpo] | type[Ppo]] = {"trpo": Trpo, "ppo": Ppo}
"""Names on the command line."""


def method(text: str) -> Method:
    """Return the method that `text` names, e.g. `method("ppo:epochs=5")`."""
    return parse_method(text, METHODS)


def same_settings(algorithm: type[Algorithm], learner: object) -> Algorithm:
    """Return the table of an algorithm with those settings that a learner's table has under the same names."""
    names = [field.name for field in fields(algorithm) if hasattr(learner, field.name)]
    return algorithm(**{name: getattr(learner, name) for name in names})


def _check(made: Method) -> None:
    check_fields(made)
    if made.minibatch > made.batch:
        raise BadOption("minibatch", made.minibatch, f"give at most environments × length = {made.batch}")
