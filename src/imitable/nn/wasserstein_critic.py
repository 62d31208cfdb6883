# SPDX-License-Identifier: MIT
"""A Wasserstein critic with a gradient penalty (Gulrajani et al., 2017): high where rows look demonstrated.

loss = mean c(imitated) − mean c(demonstrated) + penalty · mean (‖∂c/∂row‖ − 1)².
"""

import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from imitable.nn import fitting
from imitable.nn.discriminator import Discriminator, slopes_between
from imitable.nn.networks import Mlp
from imitable.nn.typed_jax import compiled

OPTIMISER = optax.scale_by_adam(b1=0.5, b2=0.99)
"""Little momentum, because the imitator moves between fits."""


@compiled
def values_demonstrated_is_high(network: Mlp, rows: Float[Array, "n f"]) -> Float[Array, " n"]:
    """(n, F) → (n): c(row), up to a constant."""
    return network(rows)[:, 0]


@compiled
def fit(
    critic: Discriminator,
    demonstrated: Float[Array, "k b f"],
    imitated: Float[Array, "k b f"],
    learning_rate: Float[Array, ""],
    penalty: Float[Array, ""],
) -> Discriminator:
    """Take one Adam step on each of k minibatches of b rows of each class."""
    batches = (demonstrated, imitated)
    return fitting.fit(lambda network, rows: loss(network, *rows, penalty), critic, batches, learning_rate, OPTIMISER)[0]


def loss(
    network: Mlp, demonstrated: Float[Array, "b f"], imitated: Float[Array, "b f"], penalty: Float[Array, ""]
) -> Float[Array, ""]:
    """Return mean c(imitated) − mean c(demonstrated) + penalty · mean (‖∂c/∂row‖ − 1)², the last on lines between both."""
    slopes = slopes_between(network, demonstrated, imitated)
    # the root has no slope at zero
    norms = jnp.sqrt(jnp.square(slopes).sum(axis=1) + 1e-12)
    return network(imitated).mean() - network(demonstrated).mean() + penalty * jnp.square(norms - 1).mean()
