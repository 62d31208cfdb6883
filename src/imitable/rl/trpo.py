# SPDX-License-Identifier: MIT
"""TRPO: a natural gradient step inside a KL ball, then a value fit."""

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from imitable.nn.fitting import ADAM, TrainState
from imitable.nn.networks import Actor, Mlp
from imitable.nn.typed_jax import compiled, gradient, positive_solve, scaled, start_optimiser
from imitable.rl.agent import Agent, Rates, bounded, to_rows
from imitable.rl.experience import Experience
from imitable.rl.settings import Trpo
from imitable.rl.trust_region import fisher_product, inner, line_search, surrogate
from imitable.rl.value_fit import fit, value_loss


def start(networks: tuple[Actor, Mlp]) -> Agent:
    """Return the agent before its first update."""
    actor, critic = networks
    return Agent(actor, critic, start_optimiser(ADAM, critic))


@compiled
def update(
    method: Trpo, agent: Agent, batch: Experience, order: Int[Array, "k b"], rates: Rates
) -> tuple[Agent, dict[str, Float[Array, ""]]]:
    """Take one step: x = F⁻¹ g by conjugate gradient, scaled to √(2 δ / xᵀ F x), halved until KL ≤ δ and the surrogate grew."""
    rows = to_rows(agent, batch, method.discount, method.gae_lambda)
    slope = gradient(surrogate)(agent.actor, rows)
    # the minibatches are random permutations of the rows: their first rows are a random part of the batch
    part = order.reshape(-1)[: max(1, round(method.fisher_fraction * rows.inputs.shape[0]))]
    product = fisher_product(agent.actor, rows.inputs[part], method.damping)
    direction = positive_solve(product, slope, method.cg_steps)
    scale = jnp.sqrt(2 * method.max_kl / jnp.maximum(inner(direction, product(direction)), 1e-12))
    step = scaled(direction, scale)
    search = line_search(agent.actor, step, rows, method.max_kl, method.search_steps)
    critic = fit(TrainState(agent.critic, agent.adam), rows.inputs, rows.targets, order, rates.learning_rate)
    metrics = {
        "kl": search.kl,
        "improvement": search.improvement,
        "accepted": search.accepted.astype(jnp.float32),
        "value_loss": value_loss(critic.network, rows.inputs, rows.targets),
    }
    return Agent(bounded(search.actor, rates.log_std_bound), critic.network, critic.adam), metrics
