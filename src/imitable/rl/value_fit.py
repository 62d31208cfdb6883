# SPDX-License-Identifier: MIT
"""Fit the critic by minibatches of Adam."""

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from imitable.nn import fitting
from imitable.nn.fitting import TrainState
from imitable.nn.networks import Mlp


def value_loss(critic: Mlp, inputs: Float[Array, "m o"], targets: Float[Array, " m"]) -> Float[Array, ""]:
    """Return ½ mean (v(x) − target)²."""
    return 0.5 * jnp.square(critic(inputs)[:, 0] - targets).mean()


def fit(
    critic: TrainState[Mlp],
    inputs: Float[Array, "m o"],
    targets: Float[Array, " m"],
    order: Int[Array, "k b"],
    learning_rate: Float[Array, ""],
) -> TrainState[Mlp]:
    """Take one Adam step on each of the k minibatches whose rows `order` names."""
    return fitting.fit(lambda model, rows: value_loss(model, inputs[rows], targets[rows]), critic, order, learning_rate)[0]
