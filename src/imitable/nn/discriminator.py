# SPDX-License-Identifier: MIT
"""A discriminator: tells the rows that were demonstrated from those of the imitator. Names say which of them is high."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from imitable.nn import fitting
from imitable.nn.fitting import TrainState
from imitable.nn.networks import Mlp, mlp
from imitable.nn.typed_jax import array, compiled, full, gradient

Discriminator = TrainState[Mlp]


def fresh(seed: int, features: int, hidden: Sequence[int]) -> Discriminator:
    """Return a discriminator that is in two minds about everything: its first logits are near zero."""
    return fitting.start(mlp(jax.random.key(seed), (features, *hidden, 1), last_scale=0.01))


@compiled
def logits_demonstrated_is_high(network: Mlp, rows: Float[Array, "n f"]) -> Float[Array, " n"]:
    """(n, F) → (n): ln P(demonstrated) − ln P(imitated), of a network that `fit` has fitted."""
    return network(rows)[:, 0]


@compiled
def logits_imitated_is_high(network: Mlp, rows: Float[Array, "n f"]) -> Float[Array, " n"]:
    """(n, F) → (n): ln P(imitated) − ln P(demonstrated), of a network that `fit_imitated_is_high` has fitted."""
    return network(rows)[:, 0]


@compiled
def fit(
    discriminator: Discriminator,
    demonstrated: Float[Array, "k b f"],
    imitated: Float[Array, "k b f"],
    emphasis: Float[Array, "k b"],
    learning_rate: Float[Array, ""],
    penalty: Float[Array, ""],
) -> Discriminator:
    """Take one Adam step on each of k minibatches of b rows of each class, which the caller draws (by weight, if it will).

    `emphasis` multiplies the loss of demonstrated rows; ones where rows are drawn by weight already.
    """
    return _fit(discriminator, (demonstrated, imitated, emphasis), learning_rate, penalty)


@compiled
def fit_imitated_is_high(
    discriminator: Discriminator,
    *,
    imitated: Float[Array, "k b f"],
    demonstrated: Float[Array, "k b f"],
    learning_rate: Float[Array, ""],
    penalty: Float[Array, ""],
) -> Discriminator:
    """As `fit`, but towards logits that are high where a row looks like the imitator's own, and without emphasis."""
    return _fit(discriminator, (imitated, demonstrated, full(imitated.shape[:2], 1.0)), learning_rate, penalty)


def _fit(
    discriminator: Discriminator,
    batches: tuple[Float[Array, "k b f"], Float[Array, "k b f"], Float[Array, "k b"]],
    learning_rate: Float[Array, ""],
    penalty: Float[Array, ""],
) -> Discriminator:
    return fitting.fit(lambda network, rows: loss(network, *rows, penalty), discriminator, batches, learning_rate)[0]


def loss(
    network: Mlp,
    high: Float[Array, "b f"],
    low: Float[Array, "b f"],
    emphasis: Float[Array, " b"],
    penalty: Float[Array, ""],
) -> Float[Array, ""]:
    """Return mean e softplus(−logit(high)) + mean softplus(logit(low)) + penalty · mean ‖∂ logit / ∂ row‖².

    The penalised rows lie on the lines between pairs of both classes. It bounds how sure the network gets of classes that do
    not overlap, whose logits would grow without end.
    """
    slopes = slopes_between(network, high, low)
    sure = (emphasis * jax.nn.softplus(-network(high)[:, 0])).mean() + jax.nn.softplus(network(low)).mean()
    return sure + penalty * jnp.square(slopes).sum(axis=1).mean()


def slopes_between(network: Mlp, high: Float[Array, "b f"], low: Float[Array, "b f"]) -> Float[Array, "b f"]:
    """(b, F) → (b, F): ∂ network / ∂ row at m · high + (1 − m) · low, where m goes from 0 to 1 along the rows."""

    def total(rows: Float[Array, "b f"]) -> Float[Array, ""]:
        return network(rows).sum()

    mix = array(np.linspace(0, 1, high.shape[0])[:, None], np.float32)
    return gradient(total)(mix * high + (1 - mix) * low)
