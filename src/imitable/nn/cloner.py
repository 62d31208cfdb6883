# SPDX-License-Identifier: MIT
"""Regression of actions on observations: the mean of a policy, fitted by Adam to the squared error in half control ranges."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int

from imitable.nn.networks import Mlp, mlp
from imitable.nn.typed_jax import compiled, descended, gradient, scan, start_optimiser


class Cloner(eqx.Module):
    """A network and its optimiser's state between fits."""

    network: Mlp
    adam: optax.OptState


def fresh(seed: int, sizes: Sequence[int]) -> Cloner:
    """Return a network of the given layer sizes whose first actions are near zero."""
    network = mlp(jax.random.key(seed), sizes, last_scale=0.01)
    return Cloner(network, start_optimiser(optax.scale_by_adam(), network))


def loss(network: Mlp, inputs: Float[Array, "n o"], units: Float[Array, "n a"]) -> Float[Array, ""]:
    """Return the mean of (μ(x) − a)²."""
    return jnp.square(network(inputs) - units).mean()


@compiled
def fit(
    cloner: Cloner,
    inputs: Float[Array, "n o"],
    units: Float[Array, "n a"],
    order: Int[Array, "k b"],
    rates: Float[Array, " k"],
) -> tuple[Cloner, Float[Array, ""]]:
    """Take one Adam step on each of the k minibatches whose rows `order` names; return their mean loss beside."""
    optimiser = optax.scale_by_adam()

    def step(
        carry: tuple[Mlp, optax.OptState], turn: tuple[Int[Array, " b"], Float[Array, ""]]
    ) -> tuple[tuple[Mlp, optax.OptState], Float[Array, ""]]:
        (network, state), (rows, rate) = carry, turn
        slope = gradient(loss)(network, inputs[rows], units[rows])
        return descended(optimiser, network, slope, state, rate), loss(network, inputs[rows], units[rows])

    (network, adam), losses = scan(step, (cloner.network, cloner.adam), (order, rates))
    return Cloner(network, adam), losses.mean()
