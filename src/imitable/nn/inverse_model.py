# SPDX-License-Identifier: MIT
"""Inverse dynamics: which action leads from a state by a wanted change. A residual network, fitted to own transitions."""

from collections.abc import Sequence
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int

from imitable import seeding
from imitable.nn.typed_jax import array, compiled, descended, full, gradient, scan, start_optimiser
from imitable.policies.acting import rowwise
from imitable.tensors import Arrays
from imitable.types import Floats, Singles

LIMIT = 5.0
"""Standardised inputs are clipped to ± this: a wanted change that is out of reach must not be out of all experience too."""


class Residual(eqx.Module):
    """h_0 = max(0, x W_0 + b_0),  h_{i+1} = h_i + max(0, h_i W_i + b_i),  y = h_L W_L + b_L, on rows."""

    weights: tuple[Float[Array, "i o"], ...]
    biases: tuple[Float[Array, " o"], ...]

    def __call__(self, x: Float[Array, "n i"]) -> Float[Array, "n o"]:
        """(n, inputs) → (n, outputs)."""
        hidden = jnp.maximum(x @ self.weights[0] + self.biases[0], 0)
        for weight, bias in zip(self.weights[1:-1], self.biases[1:-1], strict=True):
            hidden = hidden + jnp.maximum(hidden @ weight + bias, 0)
        return hidden @ self.weights[-1] + self.biases[-1]


class Learning(eqx.Module):
    """A network that goes on learning, and its optimiser's state between fits."""

    network: Residual
    adam: optax.OptState


@dataclass(frozen=True, eq=False)
class Inverse:
    """A fitted network as plain arrays: closed loops ask it row by row, which NumPy answers sooner than JAX's dispatch."""

    weights: tuple[Singles, ...]
    """Layer matrices, each (inputs, outputs)."""
    biases: tuple[Singles, ...]
    """Layer offsets, each (outputs)."""
    mean: Floats
    """(F) centre of the inputs."""
    std: Floats
    """(F) their scale."""

    def __call__(self, inputs: Floats) -> Floats:
        """(N, F) states and wanted changes → (N, A) actions."""
        x = _standardised(inputs, self.mean, self.std)
        hidden = np.maximum(rowwise(x, self.weights[0]) + self.biases[0], 0)
        for weight, bias in zip(self.weights[1:-1], self.biases[1:-1], strict=True):
            hidden = hidden + np.maximum(rowwise(hidden, weight) + bias, 0)
        return (rowwise(hidden, self.weights[-1]) + self.biases[-1]).astype(np.float64)


def fit(
    inputs: Floats, actions: Floats, seed: int, *, hidden: int, blocks: int, passes: int, minibatch: int, learning_rate: float
) -> Inverse:
    """Fit inputs (N, F) = (state, next state − state) → actions (N, A) by Adam on the Huber loss.

    The rate falls in a line to a hundredth, so that the last passes average over the minibatches' noise.
    """
    mean, std = inputs.mean(axis=0), np.maximum(inputs.std(axis=0), 1e-9)
    rng = seeding.generator(seed, "inverse")
    batch = min(minibatch, len(inputs))
    whole = len(inputs) // batch * batch
    order = np.concatenate([rng.permutation(len(inputs))[:whole] for _ in range(passes)]).reshape(-1, batch)
    rates = learning_rate * np.linspace(1, 0.01, len(order))
    network = _fresh(int(rng.integers(2**32)), (inputs.shape[1], *([hidden] * (blocks + 1)), actions.shape[1]))
    found = _descend(
        network,
        array(_standardised(inputs, mean, std)),
        array(actions, np.float32),
        array(order, np.int32),
        array(rates, np.float32),
    )
    return Inverse(tuple(np.asarray(w) for w in found.weights), tuple(np.asarray(b) for b in found.biases), mean, std)


def begun(seed: int, inputs: int, actions: int, *, hidden: int, blocks: int) -> Learning:
    """Return a network that has learned nothing yet."""
    network = _fresh(seed, (inputs, *([hidden] * (blocks + 1)), actions))
    return Learning(network, start_optimiser(optax.scale_by_adam(), network))


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
    return _descend_on(learning, inputs, actions, order, rates), error


def to_arrays(inverse: Inverse) -> Arrays:
    """Return a fitted network as named arrays."""
    named: Arrays = {"mean": inverse.mean, "std": inverse.std}
    for index, (weight, bias) in enumerate(zip(inverse.weights, inverse.biases, strict=True)):
        named |= {f"layer{index}.weight": weight, f"layer{index}.bias": bias}
    return named


def from_arrays(named: Arrays) -> Inverse:
    """Return the network that `to_arrays` named."""
    depth = sum(name.endswith(".weight") for name in named)
    return Inverse(
        tuple(named[f"layer{index}.weight"] for index in range(depth)),
        tuple(named[f"layer{index}.bias"] for index in range(depth)),
        named["mean"],
        named["std"],
    )


def _standardised(inputs: Floats, mean: Floats, std: Floats) -> Singles:
    return np.clip((inputs - mean) / std, -LIMIT, LIMIT).astype(np.float32)


def _fresh(seed: int, sizes: Sequence[int]) -> Residual:
    """Return He-initialised layers; those of the blocks are small, so that a deep network begins as a shallow one."""
    keys = jax.random.split(jax.random.key(seed), len(sizes) - 1)
    last = len(sizes) - 2
    weights = tuple(
        (0.1 if 0 < index < last else 1.0) * jax.nn.initializers.he_normal()(key, (sizes[index], sizes[index + 1]), jnp.float32)
        for index, key in enumerate(keys)
    )
    return Residual(weights, tuple(full(outputs, 0.0) for outputs in sizes[1:]))


def _huber(network: Residual, inputs: Float[Array, "n i"], actions: Float[Array, "n a"]) -> Float[Array, ""]:
    """Return mean h(e), h(e) = e²/2 up to |e| = 1 and |e| − ½ beyond."""
    error = jnp.abs(network(inputs) - actions)
    near = jnp.minimum(error, 1.0)
    return (near * (error - 0.5 * near)).mean()


def _descend_on(
    learning: Learning,
    inputs: Float[Array, "n i"],
    actions: Float[Array, "n a"],
    order: Int[Array, "k b"],
    rates: Float[Array, " k"],
) -> Learning:
    """Take one Adam step on each of the k minibatches whose rows `order` names."""
    optimiser = optax.scale_by_adam()

    def step(
        carry: tuple[Residual, optax.OptState], turn: tuple[Int[Array, " b"], Float[Array, ""]]
    ) -> tuple[tuple[Residual, optax.OptState], None]:
        (model, state), (rows, rate) = carry, turn
        slope = gradient(_huber)(model, inputs[rows], actions[rows])
        return descended(optimiser, model, slope, state, rate), None

    return Learning(*scan(step, (learning.network, learning.adam), (order, rates))[0])


@compiled
def _descend(
    network: Residual,
    inputs: Float[Array, "n i"],
    actions: Float[Array, "n a"],
    order: Int[Array, "k b"],
    rates: Float[Array, " k"],
) -> Residual:
    """Descend from a fresh optimiser's state."""
    learning = Learning(network, start_optimiser(optax.scale_by_adam(), network))
    return _descend_on(learning, inputs, actions, order, rates).network
