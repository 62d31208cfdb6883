# SPDX-License-Identifier: MIT
"""Multilayer perceptrons and the Gaussian actor, as Equinox modules over batches of rows."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from imitable.nn.typed_jax import array, full
from imitable.types import Policy


class Mlp(eqx.Module):
    """y = W_L tanh(… tanh(W_1 x + b_1) …) + b_L on rows.

    Weights are (inputs, outputs), as in `Policy`, and act on whole batches: `eqx.nn.MLP` keeps the transpose and sees one row.
    """

    weights: tuple[Float[Array, "i o"], ...]
    biases: tuple[Float[Array, " o"], ...]

    def __call__(self, x: Float[Array, "n i"]) -> Float[Array, "n o"]:
        """(n, inputs) → (n, outputs)."""
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            x = jnp.tanh(x @ weight + bias)
        return x @ self.weights[-1] + self.biases[-1]


def mlp(key: PRNGKeyArray, sizes: Sequence[int], last_scale: float) -> Mlp:
    """Return a network with orthogonal weights (gain √2, `last_scale` in the last layer) and zero biases."""
    scales = [float(np.sqrt(2.0))] * (len(sizes) - 2) + [last_scale]
    keys = jax.random.split(key, len(scales))
    weights = tuple(
        jax.nn.initializers.orthogonal(scale)(k, (inputs, outputs), jnp.float32)
        for k, scale, inputs, outputs in zip(keys, scales, sizes[:-1], sizes[1:], strict=True)
    )
    return Mlp(weights, tuple(full(outputs, 0.0) for outputs in sizes[1:]))


class Actor(eqx.Module):
    """A Gaussian over actions: mean by a network, deviation by a free vector."""

    mean: Mlp
    log_std: Float[Array, " a"]


def actor(key: PRNGKeyArray, sizes: Sequence[int], log_std: float) -> Actor:
    """Return an actor whose first actions are near zero."""
    return Actor(mlp(key, sizes, last_scale=0.01), full(sizes[-1], log_std))


def log_probability(mean: Float[Array, "n a"], log_std: Float[Array, " a"], actions: Float[Array, "n a"]) -> Float[Array, " n"]:
    """Return log N(a; μ, σ²) = −½ Σ ((a − μ)/σ)² − Σ log σ − (A/2) log 2π of every row."""
    z = (actions - mean) * jnp.exp(-log_std)
    return -0.5 * jnp.square(z).sum(axis=1) - log_std.sum() - 0.5 * actions.shape[1] * jnp.log(2 * jnp.pi)


def from_policy(policy: Policy, log_std: float) -> Actor:
    """Return a policy's network as an actor that explores by `log_std`: a finished policy explores too little to learn from."""
    mean = Mlp(tuple(array(w) for w in policy.weights), tuple(array(b) for b in policy.biases))
    return Actor(mean, full(policy.action_size, log_std))
