# SPDX-License-Identifier: MIT
"""The parts of a trust region step, each a function that can be tested alone."""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from imitable.nn.networks import Actor, log_probability
from imitable.nn.typed_jax import array, chosen, leaves, linearised, repeat_while, stepped
from imitable.rl.experience import Rows


def surrogate(actor: Actor, rows: Rows) -> Float[Array, ""]:
    """Return the expected advantage of the new policy, mean exp(log π(a|x) − log π_old(a|x)) A."""
    new = log_probability(actor.mean(rows.inputs), actor.log_std, rows.actions)
    return (jnp.exp(new - rows.log_probabilities) * rows.advantages).mean()


def mean_kl(old: Actor, new: Actor, inputs: Float[Array, "m o"]) -> Float[Array, ""]:
    """Return mean KL(old ‖ new) = mean Σ log(σ'/σ) + (σ² + (μ − μ')²) / (2 σ'²) − ½ over rows."""
    return gaussian_kl(old.mean(inputs), old.log_std, new.mean(inputs), new.log_std).mean()


def gaussian_kl(
    mean: Float[Array, "m a"], log_std: Float[Array, " a"], new_mean: Float[Array, "m a"], new_log_std: Float[Array, " a"]
) -> Float[Array, " m"]:
    """Return the KL divergence of diagonal Gaussians, row by row."""
    ratio = (jnp.exp(2 * log_std) + jnp.square(mean - new_mean)) * jnp.exp(-2 * new_log_std)
    return (new_log_std - log_std + 0.5 * ratio - 0.5).sum(axis=1)


def fisher_product(actor: Actor, inputs: Float[Array, "m o"], damping: float) -> Callable[[Actor], Actor]:
    """Return v ↦ (F + damping · I) v, F the Fisher matrix of the actor averaged over rows.

    For a Gaussian with free deviations F = Jᵀ diag(σ⁻²) J / m on the mean's parameters (J = ∂μ/∂θ) and 2 I on log σ. The
    network is linearised once, so that a product costs two linear passes; differentiating the KL twice repeats it every time.
    """
    push, pull = linearised(lambda mean: mean(inputs), actor.mean)
    precision = jnp.exp(-2 * actor.log_std) / inputs.shape[0]

    def product(v: Actor) -> Actor:
        curved = Actor(pull(push(v.mean) * precision), 2 * v.log_std)
        return stepped(curved, v, damping)

    return product


def inner(a: Actor, b: Actor) -> Float[Array, ""]:
    """Return the sum of products over all parameters."""
    return jnp.stack([jnp.vdot(x, y) for x, y in zip(leaves(a), leaves(b), strict=True)]).sum()


class Search(NamedTuple):
    """Where a line search ended."""

    actor: Actor
    kl: Float[Array, ""]
    improvement: Float[Array, ""]
    accepted: Bool[Array, ""]


def line_search(old: Actor, step: Actor, rows: Rows, max_kl: float, halvings: int) -> Search:
    """Return the first of old + 2⁻ᵏ step, k = 0, 1, …, that improves the surrogate within the KL bound; else `old`."""
    before = surrogate(old, rows)

    def attempt(scale: Float[Array, ""]) -> Search:
        new = stepped(old, step, scale)
        improvement, kl = surrogate(new, rows) - before, mean_kl(old, new, rows.inputs)
        return Search(new, kl, improvement, (improvement > 0) & (kl <= max_kl))

    def more(carry: tuple[Array, Search]) -> Bool[Array, ""]:
        k, search = carry
        return ~search.accepted & (k <= halvings)

    def halve(carry: tuple[Array, Search]) -> tuple[Array, Search]:
        k, _ = carry
        return k + 1, attempt(0.5**k)

    first = (array(1), attempt(array(1.0)))
    _, search = repeat_while(more, halve, first)
    # falls back to `old`, whose KL and improvement are zero
    keep = search.accepted.astype(jnp.float32)
    return Search(chosen(search.accepted, search.actor, old), keep * search.kl, keep * search.improvement, search.accepted)
