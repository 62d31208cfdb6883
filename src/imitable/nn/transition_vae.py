# SPDX-License-Identifier: MIT
"""A β-VAE from where a body is to what it does there: z → latent → units, on standardised rows (n, O) and units (n, A).

q(l | z) = N(μ(z), σ(z)²), prior N(0, I), loss = mean |decoded(l) − units| + β · mean KL(q ‖ prior), both means over rows and
entries. What is asked of it later is the answer at l = μ(z). The layer into the latent has no activation, so that encoder and
decoder together are one perceptron then.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, PRNGKeyArray

from imitable.nn import fitting
from imitable.nn.fitting import TrainState
from imitable.nn.networks import Mlp, mlp
from imitable.nn.next_state_vae import NextState, divergence
from imitable.nn.typed_jax import compiled


def fresh(seed: int, observed: int, actions: int, hidden: Sequence[int], latent: int) -> TrainState[NextState]:
    """Return encoder (O → 2 L) and decoder (L → A) before their first step."""
    encoder_key, decoder_key = jax.random.split(jax.random.key(seed), 2)
    return fitting.start(
        NextState(
            mlp(encoder_key, (observed, *hidden, 2 * latent), last_scale=1.0),
            mlp(decoder_key, (latent, *hidden[1:], actions), last_scale=1.0),
        )
    )


def mean_network(model: NextState) -> Mlp:
    """Return the answer at l = μ(z) as one network: the two layers around the latent become one."""
    encoder, decoder = model.encoder, model.decoder
    latent = decoder.weights[0].shape[0]
    weight = encoder.weights[-1][:, :latent] @ decoder.weights[0]
    bias = encoder.biases[-1][:latent] @ decoder.weights[0] + decoder.biases[0]
    return Mlp(
        (*encoder.weights[:-1], weight, *decoder.weights[1:]),
        (*encoder.biases[:-1], bias, *decoder.biases[1:]),
    )


def _loss(
    model: NextState, z: Float[Array, "b o"], units: Float[Array, "b a"], key: PRNGKeyArray, beta: Float[Array, ""]
) -> Float[Array, ""]:
    mean, log_std = model.encoded(z)
    drawn = mean + jnp.exp(log_std) * jax.random.normal(key, mean.shape)
    return jnp.abs(model.decoder(drawn) - units).mean() + beta * divergence(mean, log_std).mean()


@compiled
def fit(
    state: TrainState[NextState],
    z: Float[Array, "m o"],
    units: Float[Array, "m a"],
    order: Int[Array, "k b"],
    rates: Float[Array, " k"],
    keys: Key[Array, " k"],
    beta: Float[Array, ""],
) -> tuple[TrainState[NextState], Float[Array, ""]]:
    """Take a step of Adam on each minibatch of rows that `order` names; return the mean loss, too."""

    def loss(now: NextState, turn: tuple[Int[Array, " b"], PRNGKeyArray]) -> Float[Array, ""]:
        rows, key = turn
        return _loss(now, z[rows], units[rows], key, beta)

    fitted, losses = fitting.fit(loss, state, (order, keys), rates)
    return fitted, losses.mean()


def noise_keys(seed: int, count: int) -> Key[Array, " k"]:
    """Return one key a gradient step, for the draws of the latent."""
    return jax.random.split(jax.random.key(seed), count)
