# SPDX-License-Identifier: MIT
"""One loop that fits every network of the house: one step of an optimiser on each of k minibatches.

    x_{i+1} = x_i − rate_i · u_i,  u_i = optimiser(∂ loss(x_i, batch_i) / ∂x)

To be called inside a compiled function. A minibatch is any tree of arrays: the rows themselves, or the numbers of rows that the
loss then takes from arrays it closes over.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from imitable.nn.typed_jax import descended, leaves, scan, start_optimiser, value_and_gradient
from imitable.types import Floats

Model = TypeVar("Model")
Batch = TypeVar("Batch")

ADAM = optax.scale_by_adam()
"""Adam (Kingma and Ba, 2015) as published: betas 0.9 and 0.999, ε = 1e-8."""


class TrainState(eqx.Module, Generic[Model]):
    """A network, or a tree of them, and its optimiser's state between fits."""

    network: Model
    adam: optax.OptState


def start(network: Model, optimiser: optax.GradientTransformation = ADAM) -> TrainState[Model]:
    """Return the state before the first step."""
    return TrainState(network, start_optimiser(optimiser, network))


def fit(
    loss: Callable[[Model, Batch], Float[Array, ""]],
    state: TrainState[Model],
    batches: Batch,
    rates: Float[Array, "..."],
    optimiser: optax.GradientTransformation = ADAM,
) -> tuple[TrainState[Model], Float[Array, " k"]]:
    """Take one step down `loss` on each of the k minibatches; return the losses before each step, too.

    `batches` has the k minibatches along the first axis of all its arrays; `rates` is one rate for all steps, or one for each.
    """
    return descend(value_and_gradient(loss), state, batches, rates, optimiser)


def descend(
    slope: Callable[[Model, Batch], tuple[Float[Array, ""], Model]],
    state: TrainState[Model],
    batches: Batch,
    rates: Float[Array, "..."] | tuple[Float[Array, "..."], ...],
    optimiser: optax.GradientTransformation = ADAM,
) -> tuple[TrainState[Model], Float[Array, " k"]]:
    """As `fit`, by a function that returns what to record of a step, and the slope.

    A tuple of networks may have a tuple of rates, one for each.
    """
    count = leaves(batches)[0].shape[0]

    def step(
        now: TrainState[Model], turn: tuple[Batch, Array | tuple[Array, ...]]
    ) -> tuple[TrainState[Model], Float[Array, ""]]:
        batch, rate = turn
        recorded, down = slope(now.network, batch)
        return TrainState(*descended(optimiser, now.network, down, now.adam, rate)), recorded

    each = tuple(_for_each(rate, count) for rate in rates) if isinstance(rates, tuple) else _for_each(rates, count)
    return scan(step, state, (batches, each))


def falling_rates(rate: float, steps: int) -> Floats:
    """(steps) rates that fall in a line to a hundredth, so that the last steps average over the minibatches' noise.

    In float64: `optax.linear_schedule` counts in float32, which moves last bits of what was learned before.
    """
    return rate * np.linspace(1, 0.01, steps)


def cosine_rates(rate: float, begin: int, count: int, steps: int) -> Floats:
    """(count) rates from step `begin` on that fall along a cosine to zero, ½ rate (1 + cos(π i / steps)).

    In float64: `optax.cosine_decay_schedule` counts in float32, which moves last bits of what was learned before.
    """
    return rate * (1 + np.cos(np.pi * ((begin + np.arange(count)) / steps))) / 2


def _for_each(rates: Float[Array, "..."], count: int) -> Float[Array, " k"]:
    return jnp.broadcast_to(rates, (count,))
