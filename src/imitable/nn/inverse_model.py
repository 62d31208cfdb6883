# SPDX-License-Identifier: MIT
"""Inverse dynamics: which action leads from a state by a wanted change. A residual network, fitted to own transitions."""

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from imitable import seeding
from imitable.nn import fitting
from imitable.nn.fitting import TrainState, falling_rates
from imitable.nn.networks import Mlp
from imitable.nn.typed_jax import array, compiled, full
from imitable.policies.perceptron import Perceptron, layers_from_arrays, layers_to_arrays
from imitable.tensors import Arrays
from imitable.types import Floats, Singles

LIMIT = 5.0
"""Standardised inputs are clipped to ± this: a wanted change that is out of reach must not be out of all experience too."""


Learning = TrainState[Mlp]


@dataclass(frozen=True, eq=False)
class Inverse:
    """A fitted network, and how its inputs are standardised."""

    network: Perceptron
    mean: Floats
    """(F) centre of the inputs."""
    std: Floats
    """(F) their scale."""

    def __call__(self, inputs: Floats) -> Floats:
        """(N, F) states and wanted changes → (N, A) actions."""
        return self.network(_standardised(inputs, self.mean, self.std)).astype(np.float64)


def fit(
    inputs: Floats, actions: Floats, seed: int, *, hidden: int, blocks: int, passes: int, minibatch: int, learning_rate: float
) -> Inverse:
    """Fit inputs (N, F) = (state, next state − state) → actions (N, A) by Adam on the Huber loss, with `falling_rates`."""
    mean, std = inputs.mean(axis=0), np.maximum(inputs.std(axis=0), 1e-9)
    rng = seeding.generator(seed, "inverse")
    batch = min(minibatch, len(inputs))
    whole = len(inputs) // batch * batch
    order = np.concatenate([rng.permutation(len(inputs))[:whole] for _ in range(passes)]).reshape(-1, batch)
    learning = begun(int(rng.integers(2**32)), inputs.shape[1], actions.shape[1], hidden=hidden, blocks=blocks)
    learning, _ = _fit(
        learning,
        array(_standardised(inputs, mean, std)),
        array(actions, np.float32),
        array(order, np.int32),
        array(falling_rates(learning_rate, len(order)), np.float32),
    )
    return Inverse(learning.network.numpy, mean, std)


def begun(seed: int, inputs: int, actions: int, *, hidden: int, blocks: int) -> Learning:
    """Return a network that has learned nothing yet."""
    return fitting.start(_fresh(seed, (inputs, *([hidden] * (blocks + 1)), actions)))


@compiled
def continued(
    learning: Learning,
    inputs: Float[Array, "n i"],
    actions: Float[Array, "n a"],
    order: Int[Array, "k b"],
    rates: Float[Array, " k"],
) -> tuple[Learning, Float[Array, ""]]:
    """Go on learning from rows that are standardised already; return the mean error in actions before it, too."""
    error = jnp.abs(learning.network(inputs) - actions).mean()
    return _fit(learning, inputs, actions, order, rates)[0], error


def to_arrays(inverse: Inverse) -> Arrays:
    """Return a fitted network as named arrays."""
    layers = layers_to_arrays(inverse.network.weights, inverse.network.biases)
    return {"mean": inverse.mean, "std": inverse.std, **layers}


def from_arrays(named: Arrays) -> Inverse:
    """Return the network that `to_arrays` named."""
    weights, biases = layers_from_arrays(named)
    return Inverse(Perceptron(weights, biases, "relu", residual=True), named["mean"], named["std"])


def _standardised(inputs: Floats, mean: Floats, std: Floats) -> Singles:
    return np.clip((inputs - mean) / std, -LIMIT, LIMIT).astype(np.float32)


def _fresh(seed: int, sizes: Sequence[int]) -> Mlp:
    """Return He-initialised layers; those of the blocks are small, so that a deep network begins as a shallow one."""
    keys = jax.random.split(jax.random.key(seed), len(sizes) - 1)
    last = len(sizes) - 2
    weights = tuple(
        (0.1 if 0 < index < last else 1.0) * jax.nn.initializers.he_normal()(key, (sizes[index], sizes[index + 1]), jnp.float32)
        for index, key in enumerate(keys)
    )
    return Mlp(weights, tuple(full(outputs, 0.0) for outputs in sizes[1:]), "relu", residual=True)


def _huber(network: Mlp, inputs: Float[Array, "n i"], actions: Float[Array, "n a"]) -> Float[Array, ""]:
    """Return mean h(e), h(e) = e²/2 up to |e| = 1 and |e| − ½ beyond.

    As n (|e| − n/2), n = min(|e|, 1): `optax.huber_loss` is the sum of two terms, which moves last bits of what was learned
    before.
    """
    error = jnp.abs(network(inputs) - actions)
    near = jnp.minimum(error, 1.0)
    return (near * (error - 0.5 * near)).mean()


@compiled
def _fit(
    learning: Learning,
    inputs: Float[Array, "n i"],
    actions: Float[Array, "n a"],
    order: Int[Array, "k b"],
    rates: Float[Array, " k"],
) -> tuple[Learning, Float[Array, " k"]]:
    """Take one Adam step on each of the k minibatches whose rows `order` names."""
    return fitting.fit(lambda network, rows: _huber(network, inputs[rows], actions[rows]), learning, order, rates)
