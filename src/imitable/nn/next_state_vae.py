# SPDX-License-Identifier: MIT
"""A β-VAE that says where a demonstrator would go next: z → latent → change to the next z, all on standardised rows (n, O).

q(l | z) = N(μ(z), σ(z)²), prior N(0, I), loss = mean (decoded(l) − change)² + β · mean KL(q ‖ prior), both means over rows and
entries. What is asked of it later is the prediction at l = μ(z): one answer, no noise.
"""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key, PRNGKeyArray

from imitable.nn import fitting
from imitable.nn.fitting import falling_rates
from imitable.nn.networks import Mlp, mlp
from imitable.nn.typed_jax import array, compiled
from imitable.types import Ints, Singles

LOG_STD = (-20.0, 0.5)
"""Bounds of ln σ."""


class NextState(eqx.Module):
    """Encoder (O → 2 L) and decoder (L → O)."""

    encoder: Mlp
    decoder: Mlp

    def encoded(self, z: Float[Array, "n o"]) -> tuple[Float[Array, "n l"], Float[Array, "n l"]]:
        """(n, O) → (n, L) μ and (n, L) ln σ."""
        mean, log_std = jnp.split(self.encoder(z), 2, axis=1)
        return mean, jnp.clip(log_std, *LOG_STD)

    def __call__(self, z: Float[Array, "n o"]) -> Float[Array, "n o"]:
        """(n, O) → (n, O): the most likely change."""
        return self.decoder(self.encoded(z)[0])


def divergence(mean: Float[Array, "n l"], log_std: Float[Array, "n l"]) -> Float[Array, "n l"]:
    """Return KL(N(μ, σ²) ‖ N(0, 1)) = ½ (μ² + σ² − 1) − ln σ of every entry."""
    return 0.5 * (jnp.square(mean) + jnp.exp(2 * log_std) - 1) - log_std


def fit(
    z: Singles,
    changes: Singles,
    order: Ints,
    seed: int,
    *,
    hidden: Sequence[int],
    latent: int,
    beta: float,
    learning_rate: float,
) -> NextState:
    """Fit rows (M, O) → (M, O): an Adam step, with `falling_rates`, on each minibatch of rows that `order` (k, b) names."""
    encoder_key, decoder_key, noise_key = jax.random.split(jax.random.key(seed), 3)
    model = NextState(
        mlp(encoder_key, (z.shape[1], *hidden, 2 * latent), last_scale=1.0),
        mlp(decoder_key, (latent, *hidden[::-1], z.shape[1]), last_scale=1.0),
    )
    return _fit(
        model,
        array(z),
        array(changes),
        array(order, np.int32),
        array(falling_rates(learning_rate, len(order)), np.float32),
        jax.random.split(noise_key, len(order)),
        array(beta, np.float32),
    )


def _loss(
    model: NextState, z: Float[Array, "b o"], changes: Float[Array, "b o"], key: PRNGKeyArray, beta: Float[Array, ""]
) -> Float[Array, ""]:
    mean, log_std = model.encoded(z)
    drawn = mean + jnp.exp(log_std) * jax.random.normal(key, mean.shape)
    return jnp.square(model.decoder(drawn) - changes).mean() + beta * divergence(mean, log_std).mean()


@compiled
def _fit(
    model: NextState,
    z: Float[Array, "m o"],
    changes: Float[Array, "m o"],
    order: Int[Array, "k b"],
    rates: Float[Array, " k"],
    keys: Key[Array, " k"],
    beta: Float[Array, ""],
) -> NextState:
    def loss(now: NextState, turn: tuple[Int[Array, " b"], PRNGKeyArray]) -> Float[Array, ""]:
        rows, key = turn
        return _loss(now, z[rows], changes[rows], key, beta)

    return fitting.fit(loss, fitting.start(model), (order, keys), rates)[0].network
