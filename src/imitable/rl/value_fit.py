# SPDX-License-Identifier: MIT
"""Fit the critic by minibatches of Adam."""

import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int

from imitable.nn.networks import Mlp
from imitable.nn.typed_jax import descended, gradient, scan


def value_loss(critic: Mlp, inputs: Float[Array, "m o"], targets: Float[Array, " m"]) -> Float[Array, ""]:
    """Return ½ mean (v(x) − target)²."""
    return 0.5 * jnp.square(critic(inputs)[:, 0] - targets).mean()


def fit(
    critic: Mlp,
    adam: optax.OptState,
    inputs: Float[Array, "m o"],
    targets: Float[Array, " m"],
    order: Int[Array, "k b"],
    learning_rate: Float[Array, ""],
) -> tuple[Mlp, optax.OptState]:
    """Take one Adam step on each of the k minibatches whose rows `order` names."""
    optimiser = optax.scale_by_adam()

    def step(carry: tuple[Mlp, optax.OptState], rows: Int[Array, " b"]) -> tuple[tuple[Mlp, optax.OptState], None]:
        model, state = carry
        slope = gradient(value_loss)(model, inputs[rows], targets[rows])
        return descended(optimiser, model, slope, state, learning_rate), None

    return scan(step, (critic, adam), order)[0]
