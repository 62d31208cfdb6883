# SPDX-License-Identifier: MIT
"""The paper's imitation on the arm: a β-VAE of weighted state transitions, and inverse kinematics for the actions.

The VAE says where the demonstrations go from a state: its answer is the change to the next state, as the action that brings it
about, g(s_{t+1}) − g(s_t) for the tool g of an arm, in half control ranges; the arm's own inverse kinematics turn that into
angles. On a body without a tool the action is that of inverse dynamics. Nothing is simulated while it learns, and actions of
the demonstrators are not used.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from jaxtyping import Array, Float

from imitable.imitation.learner import LearningJob
from imitable.imitation.regression import Minibatches, Regression
from imitable.imitation.training import imitation_task
from imitable.imitation.transitions import transitions_of
from imitable.nn import transition_vae
from imitable.nn.fitting import TrainState
from imitable.nn.networks import Mlp
from imitable.nn.next_state_vae import NextState
from imitable.nn.typed_jax import array
from imitable.rl.settings import LearningRate, Widths
from imitable.robots.robot import Robot
from imitable.spec_text import Range, check_fields
from imitable.tracking.inverse_dynamics import inverse_actions
from imitable.types import Floats

Vae = TrainState[NextState]


@dataclass(frozen=True)
class StateVae:
    """Settings of the VAE; those of the paper's code but for tanh, the budget and a rate that falls along a cosine."""

    gradient_steps: Annotated[int, Range(1, 10**8)] = 4_000
    """Gradient steps."""
    minibatch: Annotated[int, Range(1, 10**7)] = 128
    """Transitions of one gradient step, drawn by weight."""
    learning_rate: LearningRate = 1e-3
    """Adam's rate; falls along a cosine to zero."""
    hidden: Widths = (128, 128, 128)
    """Layer widths of the encoder; the decoder has one less."""
    latent: Annotated[int, Range(1, 10**4)] = 128
    """Entries of the latent."""
    beta: Annotated[float, Range(0, 100)] = 0.005
    """Weight of the divergence from the prior."""

    def __post_init__(self) -> None:
        """Check every value."""
        check_fields(self)

    @property
    def least_steps(self) -> int:
        """None."""
        return 0

    def begin(self, job: LearningJob) -> Regression[Vae]:
        """Read the transitions and start the networks."""
        transitions = transitions_of(job)
        real = ~transitions.absorbing
        units = _units(job.imitator, transitions.before[real], transitions.after[real])
        return Regression(self, _Transitions(self), job, transitions, units, imitation_task(job, transitions))


@dataclass(frozen=True)
class _Transitions:
    """Regresses the VAE; the latent's noise is drawn anew for every gradient step."""

    method: StateVae
    name: str = "state-vae"
    part: str = "vae"
    residuals: int = 5_000

    def fresh(self, seed: int, observed: int, actions: int) -> Vae:
        return transition_vae.fresh(seed, observed, actions, self.method.hidden, self.method.latent)

    def fit(self, model: Vae, batches: Minibatches, rng: np.random.Generator) -> tuple[Vae, Float[Array, ""]]:
        keys = transition_vae.noise_keys(int(rng.integers(2**32)), len(batches.order))
        beta = array(self.method.beta, np.float32)
        return transition_vae.fit(model, batches.inputs, batches.units, batches.order, batches.rates, keys, beta)

    def network(self, model: Vae) -> Mlp:
        return transition_vae.mean_network(model.network)


def _units(imitator: Robot, before: Floats, after: Floats) -> Floats:
    """(n, S), (n, S) → (n, A) the actions that take a state to the next, in half control ranges, inside the range."""
    return np.clip(imitator.to_units(inverse_actions(imitator, before, after)), -1, 1)
