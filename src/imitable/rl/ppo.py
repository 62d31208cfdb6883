# SPDX-License-Identifier: MIT
"""PPO: several epochs of minibatches on the clipped surrogate and the value loss together."""

import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int

from imitable.nn.fitting import TrainState, fit
from imitable.nn.networks import Actor, Mlp, log_probability
from imitable.nn.typed_jax import compiled, rows_of, start_optimiser
from imitable.rl.agent import Agent, Rates, bounded, to_rows
from imitable.rl.experience import Experience, Rows
from imitable.rl.settings import Ppo
from imitable.rl.trust_region import mean_kl
from imitable.rl.value_fit import value_loss

Networks = tuple[Actor, Mlp]


def _optimiser(max_gradient: float) -> optax.GradientTransformation:
    return optax.chain(optax.clip_by_global_norm(max_gradient), optax.scale_by_adam(eps=1e-5))


def start(networks: Networks) -> Agent:
    """Return the agent before its first update."""
    actor, critic = networks
    return Agent(actor, critic, start_optimiser(_optimiser(1.0), networks))


def clipped_surrogate(actor: Actor, rows: Rows, clip: float) -> Float[Array, ""]:
    """Return mean min(ρ A, clip(ρ, 1 ± c) A), ρ = π(a|x) / π_old(a|x)."""
    new = log_probability(actor.mean(rows.inputs), actor.log_std, rows.actions)
    ratio = jnp.exp(new - rows.log_probabilities)
    return jnp.minimum(ratio * rows.advantages, jnp.clip(ratio, 1 - clip, 1 + clip) * rows.advantages).mean()


def _loss(networks: Networks, rows: Rows, clip: float, anchor: float) -> Float[Array, ""]:
    """Return value loss − surrogate + anchor · mean ‖μ(x) − a*‖²."""
    actor, critic = networks
    loss = value_loss(critic, rows.inputs, rows.targets) - clipped_surrogate(actor, rows, clip)
    if anchor == 0.0:
        return loss
    return loss + anchor * jnp.square(actor.mean(rows.inputs) - rows.anchors).sum(axis=1).mean()


@compiled
def update(
    method: Ppo, agent: Agent, batch: Experience, order: Int[Array, "k b"], rates: Rates
) -> tuple[Agent, dict[str, Float[Array, ""]]]:
    """Take one gradient step on each of the k minibatches whose rows `order` names."""
    rows = to_rows(agent, batch, method.discount, method.gae_lambda)

    def loss(networks: Networks, chosen: Int[Array, " b"]) -> Float[Array, ""]:
        return _loss(networks, rows_of(rows, chosen), method.clip, method.anchor)

    begun = TrainState((agent.actor, agent.critic), agent.adam)
    trained, _ = fit(loss, begun, order, rates.learning_rate, _optimiser(method.max_gradient))
    actor, critic = trained.network
    metrics = {
        "kl": mean_kl(agent.actor, actor, rows.inputs),
        "improvement": clipped_surrogate(actor, rows, method.clip) - rows.advantages.mean(),
        "value_loss": value_loss(critic, rows.inputs, rows.targets),
    }
    return Agent(bounded(actor, rates.log_std_bound), critic, trained.adam), metrics
