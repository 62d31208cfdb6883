# SPDX-License-Identifier: MIT
"""A discriminator: tells the rows of one class from those of another. Logits above zero mean the first class."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from imitable.nn.networks import Mlp, mlp
from imitable.nn.typed_jax import array, compiled, descended, gradient, scan, start_optimiser


class Discriminator(eqx.Module):
    """A network with one output, and its optimiser's state between fits."""

    network: Mlp
    adam: optax.OptState


def fresh(seed: int, features: int, hidden: Sequence[int]) -> Discriminator:
    """Return a discriminator that is in two minds about everything: its first logits are near zero."""
    network = mlp(jax.random.key(seed), (features, *hidden, 1), last_scale=0.01)
    return Discriminator(network, start_optimiser(optax.scale_by_adam(), network))


@compiled
def logits(network: Mlp, rows: Float[Array, "n f"]) -> Float[Array, " n"]:
    """(n, F) → (n): ln P(first class) − ln P(second class)."""
    return network(rows)[:, 0]


def loss(
    network: Mlp,
    first: Float[Array, "b f"],
    second: Float[Array, "b f"],
    emphasis: Float[Array, " b"],
    penalty: Float[Array, ""],
) -> Float[Array, ""]:
    """Return the logistic loss plus `penalty` · mean ‖∂ logit / ∂ row‖² between the classes.

    `emphasis` multiplies the loss of the first class's rows; ones where rows are drawn by weight already.
    The penalised rows lie on the lines between pairs of both classes. It bounds how sure the network gets of classes that do
    not overlap, whose logits would grow without end.
    """

    def total(rows: Float[Array, "b f"]) -> Float[Array, ""]:
        return network(rows).sum()

    mix = array(np.linspace(0, 1, first.shape[0])[:, None], np.float32)
    slopes = gradient(total)(mix * first + (1 - mix) * second)
    sure = (emphasis * jax.nn.softplus(-network(first)[:, 0])).mean() + jax.nn.softplus(network(second)).mean()
    return sure + penalty * jnp.square(slopes).sum(axis=1).mean()


@compiled
def fit(
    discriminator: Discriminator,
    first: Float[Array, "k b f"],
    second: Float[Array, "k b f"],
    emphasis: Float[Array, "k b"],
    learning_rate: Float[Array, ""],
    penalty: Float[Array, ""],
) -> Discriminator:
    """Take one Adam step on each of k minibatches of b rows of each class, which the caller draws (by weight, if it will)."""
    optimiser = optax.scale_by_adam()

    def step(
        carry: tuple[Mlp, optax.OptState], rows: tuple[Float[Array, "b f"], Float[Array, "b f"], Float[Array, " b"]]
    ) -> tuple[tuple[Mlp, optax.OptState], None]:
        network, state = carry
        slope = gradient(loss)(network, *rows, penalty)
        return descended(optimiser, network, slope, state, learning_rate), None

    (network, adam), _ = scan(step, (discriminator.network, discriminator.adam), (first, second, emphasis))
    return Discriminator(network, adam)
