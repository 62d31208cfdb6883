# SPDX-License-Identifier: MIT
"""Regression of actions on observations: the mean of a policy, fitted by Adam to the squared error in half control ranges."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from imitable.nn import fitting
from imitable.nn.fitting import TrainState
from imitable.nn.networks import Mlp, mlp
from imitable.nn.typed_jax import compiled

Cloner = TrainState[Mlp]


def fresh(seed: int, sizes: Sequence[int]) -> Cloner:
    """Return a network of the given layer sizes whose first actions are near zero."""
    return fitting.start(mlp(jax.random.key(seed), sizes, last_scale=0.01))


def loss(network: Mlp, inputs: Float[Array, "n o"], units: Float[Array, "n a"]) -> Float[Array, ""]:
    """Return the mean of (μ(x) − a)²."""
    return jnp.square(network(inputs) - units).mean()


def distance(network: Mlp, inputs: Float[Array, "n o"], units: Float[Array, "n a"]) -> Float[Array, ""]:
    """Return the mean of ‖μ(x) − a‖²: A times the loss above."""
    return jnp.square(network(inputs) - units).sum(axis=1).mean()


@compiled
def fit(
    cloner: Cloner,
    inputs: Float[Array, "n o"],
    units: Float[Array, "n a"],
    order: Int[Array, "k b"],
    rates: Float[Array, " k"],
) -> tuple[Cloner, Float[Array, ""]]:
    """Take one Adam step on each of the k minibatches whose rows `order` names; return their mean loss, too."""
    cloner, losses = fitting.fit(lambda network, rows: loss(network, inputs[rows], units[rows]), cloner, order, rates)
    return cloner, losses.mean()


@compiled
def regressed(
    network: Mlp,
    inputs: Float[Array, "n o"],
    units: Float[Array, "n a"],
    order: Int[Array, "k b"],
    rates: Float[Array, " k"],
) -> Mlp:
    """Return a network after one Adam step on `distance` for each of the k minibatches whose rows `order` names."""
    cloner = fitting.start(network)
    return fitting.fit(lambda mean, rows: distance(mean, inputs[rows], units[rows]), cloner, order, rates)[0].network
