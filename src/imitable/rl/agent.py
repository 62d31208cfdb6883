# SPDX-License-Identifier: MIT
"""What a method keeps between updates, and the step from experience to rows that all methods share."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from imitable import seeding
from imitable.nn.networks import Actor, Mlp, actor, log_probability, mlp
from imitable.rl.experience import Experience, Rows
from imitable.rl.returns import advantages, standardised
from imitable.rl.settings import Method


class Agent(eqx.Module):
    """Actor, critic and their optimiser's state."""

    actor: Actor
    critic: Mlp
    adam: optax.OptState
    """Adam's moments: of the critic (TRPO), or of actor and critic (PPO)."""


class Rates(NamedTuple):
    """What the training loop anneals."""

    learning_rate: Float[Array, ""]
    log_std_bound: Float[Array, ""]


def fresh_networks(method: Method, observations: int, actions: int, seed: int) -> tuple[Actor, Mlp]:
    """Return untrained networks."""
    actor_key, critic_key = jax.random.split(jax.random.key(int(seeding.generator(seed, "networks").integers(2**32))))
    return (
        actor(actor_key, (observations, *method.hidden, actions), method.log_std),
        mlp(critic_key, (observations, *method.hidden, 1), last_scale=1.0),
    )


def to_rows(agent: Agent, batch: Experience, discount: float, gae_lambda: float) -> Rows:
    """Flatten experience and add advantages and targets."""
    t, n, size = batch.inputs.shape
    inputs, actions = batch.inputs.reshape(t * n, size), batch.actions.reshape(t * n, -1)
    values = agent.critic(inputs)[:, 0].reshape(t, n)
    future = agent.critic(batch.next_inputs.reshape(t * n, size))[:, 0].reshape(t, n)
    next_values = jnp.where(batch.terminated, batch.terminal_values, future)
    gains = advantages(batch.rewards, values, next_values, batch.ended, discount, gae_lambda)
    return Rows(
        inputs=inputs,
        actions=actions,
        anchors=batch.anchors.reshape(t * n, -1),
        log_probabilities=log_probability(agent.actor.mean(inputs), agent.actor.log_std, actions),
        advantages=jnp.where(batch.quiet, 0.0, standardised(gains)).reshape(-1),
        targets=(gains + values).reshape(-1),
    )


def bounded(module: Actor, log_std_bound: Float[Array, ""]) -> Actor:
    """Return the actor with its exploration held below the bound."""
    return Actor(module.mean, jnp.minimum(module.log_std, log_std_bound))
