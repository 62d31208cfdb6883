# SPDX-License-Identifier: MIT
"""The network of the house and the Gaussian actor, as Equinox modules over batches of rows, and their way to NumPy and back."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jaxtyping import Array, Float, PRNGKeyArray

from imitable.nn.normaliser import Normaliser
from imitable.nn.typed_jax import array, full
from imitable.policies.perceptron import Activation, Perceptron
from imitable.robots.robot import Robot
from imitable.types import Policy


class Mlp(eqx.Module):
    """h_1 = f(x W_0 + b_0),  h_{i+1} = f(h_i W_i + b_i) (+ h_i if residual),  y = h_L W_L + b_L, on rows.

    Weights are (inputs, outputs), as in its NumPy twin `Perceptron`, and act on whole batches: `eqx.nn.MLP` keeps the transpose
    and sees one row. `jax.nn.relu` has another slope at zero than max(x, 0).
    """

    weights: tuple[Float[Array, "_ _"], ...]
    biases: tuple[Float[Array, " _"], ...]
    activation: Activation = eqx.field(static=True, default="tanh")
    """f."""
    residual: bool = eqx.field(static=True, default=False)
    """Whether each hidden layer but the first adds to the one before it."""

    def __call__(self, x: Float[Array, "n _"]) -> Float[Array, "n _"]:
        """(n, inputs) → (n, outputs)."""
        for index, (weight, bias) in enumerate(zip(self.weights[:-1], self.biases[:-1], strict=True)):
            sums = x @ weight + bias
            active = jnp.tanh(sums) if self.activation == "tanh" else jnp.maximum(sums, 0)
            x = x + active if self.residual and index > 0 else active
        return x @ self.weights[-1] + self.biases[-1]

    @property
    def numpy(self) -> Perceptron:
        """The same network without JAX: closed loops ask it row by row, which NumPy answers sooner than JAX's dispatch."""
        weights, biases = (tuple(np.asarray(leaf) for leaf in part) for part in (self.weights, self.biases))
        return Perceptron(weights, biases, self.activation, self.residual)


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
    return Actor(mean_of(policy), full(policy.action_size, log_std))


def mean_of(policy: Policy) -> Mlp:
    """Return the network of a policy's mean."""
    return Mlp(tuple(array(w) for w in policy.weights), tuple(array(b) for b in policy.biases))


def policy_of(
    mean: Mlp, log_std: npt.ArrayLike, observed: Normaliser, robot: Robot, observation_limit: float = Policy.observation_limit
) -> Policy:
    """Return a network as a policy of a robot: it standardises observations and acts in the robot's control range."""
    network = mean.numpy
    return Policy(
        weights=network.weights,
        biases=network.biases,
        log_std=np.asarray(log_std, np.float32),
        observation_mean=observed.mean.astype(np.float32),
        observation_std=observed.std.astype(np.float32),
        action_centre=robot.control_centre.astype(np.float32),
        action_half_range=robot.control_half_range.astype(np.float32),
        observation_limit=observation_limit,
    )
