# SPDX-License-Identifier: MIT
"""SAIL (Liu et al., 2020) without any demonstrator's action: align states, locally by a prior on actions, globally by a reward.

A β-VAE learns where the demonstrators go next, an inverse model learns from the imitator's own movements which action leads
there, and the policy's mean is held to what both say together: a*(s) = inverse(s, VAE(s)). A Wasserstein critic pays the
imitator for being in states like the demonstrated ones. Only states that were drawn from p_w are seen.
"""

from dataclasses import dataclass, replace
from typing import Annotated

import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int

from imitable import seeding
from imitable.imitation.alignment_reward import (
    ROWS,
    AlignmentReward,
    AlignmentSettings,
    Demonstrated,
    changes_of,
    goal_actions,
    with_flag,
)
from imitable.imitation.features import FLOOR
from imitable.imitation.learner import Job
from imitable.imitation.training import PolicyTraining, imitation_task, normaliser_of, observations, policy_of
from imitable.imitation.transitions import WeightedTransitions, weighted_transitions
from imitable.nn import inverse_model, next_state_vae
from imitable.nn.inverse_model import LIMIT, Learning
from imitable.nn.networks import Mlp
from imitable.nn.next_state_vae import NextState
from imitable.nn.normaliser import Normaliser
from imitable.nn.typed_jax import array, compiled, descended, gradient, scan, start_optimiser
from imitable.policies.acting import normalised
from imitable.rl.agent import fresh_networks
from imitable.rl.settings import (
    Count,
    CriticSteps,
    Epochs,
    Fraction,
    LearningRate,
    LogStd,
    Minibatch,
    Ppo,
    Weight,
    Widths,
    same_settings,
)
from imitable.rl.train import Trainer
from imitable.sim.babble import babble, scales
from imitable.sim.task import Task
from imitable.spec_text import Range, check_fields
from imitable.types import Floats, Policy, Singles

MOVEMENT = 200
"""Steps of one random movement."""

FITTED_RATE = 1e-3
"""Adam's rate where a network is fitted once; falls to a hundredth."""


@dataclass(frozen=True)
class Sail:
    """Settings of the policy's learning, of the models behind its prior and of the critic that pays it."""

    environments: Count = 64
    """Simulations side by side."""
    length: Count = 32
    """Steps of each simulation between two updates."""
    discount: Annotated[float, Range(0, 0.99999)] = 0.99
    """γ of the return; an absorbing state for ever needs one below 1."""
    gae_lambda: Fraction = 0.95
    """λ of the generalised advantage estimate."""
    hidden: Widths = (64, 64)
    """Layer widths of actor and critic."""
    log_std: LogStd = -1.0
    """Exploration at the start: logarithm of the deviation, in half control ranges."""
    log_std_end: LogStd = -2.0
    """Upper bound on the exploration at the end; the bound falls in a line from the start."""
    epochs: Epochs = 5
    """Passes over the batch."""
    minibatch: Minibatch = 512
    """Rows of one gradient step."""
    learning_rate: LearningRate = 3e-4
    """Adam's rate; falls in a line to a tenth."""
    critic_steps: CriticSteps = 40_000
    """Steps that teach everything but the policy, after it was pre-trained."""
    anchor: Weight = 1.0
    """Weight of the prior ‖μ(s) − a*(s)‖², the clipped surrogate having the weight 1."""
    goal_hidden: Widths = (128, 128)
    """Layer widths of the VAE's encoder; its decoder has them in reverse."""
    goal_latent: Count = 16
    """Latent entries."""
    goal_steps: Annotated[int, Range(1, 10**7)] = 4000
    """Gradient steps of the VAE."""
    beta: Weight = 0.005
    """β, the weight of the VAE's divergence from its prior."""
    babbled: Annotated[int, Range(1, 10**8)] = 50_000
    """Own random transitions that the inverse model begins with; part of the steps, a quarter of them at most."""
    inverse_hidden: Count = 64
    """Width of the inverse model's layers."""
    inverse_blocks: Annotated[int, Range(0, 100)] = 3
    """Its residual blocks."""
    inverse_steps: Annotated[int, Range(1, 10**7)] = 3000
    """Its gradient steps on random movements."""
    inverse_updates: Annotated[int, Range(0, 10**4)] = 12
    """Its gradient steps after every batch, on the policy's own transitions."""
    pretrained: Annotated[int, Range(0, 10**7)] = 2000
    """Gradient steps that bring the policy to a*(s) in demonstrated states, before it moves."""
    discriminator_hidden: Widths = (100, 100)
    """Layer widths of the Wasserstein critic."""
    discriminator_rate: LearningRate = 3e-4
    """Its rate of learning."""
    discriminator_minibatch: Annotated[int, Range(1, 10**7)] = 256
    """Rows of each side in one of its gradient steps."""
    discriminator_steps: Annotated[int, Range(1, 10**4)] = 8
    """Its gradient steps after every batch."""
    penalty: Weight = 1.0
    """Weight of its gradient penalty."""

    def __post_init__(self) -> None:
        """Check every value."""
        check_fields(self)
        _ = self.rl

    @property
    def rl(self) -> Ppo:
        """The settings of the policy's own learning."""
        return same_settings(Ppo, self)

    @property
    def alignment(self) -> AlignmentSettings:
        """The settings of what learns beside the policy."""
        return AlignmentSettings(
            discount=self.discount,
            hidden=self.discriminator_hidden,
            rate=self.discriminator_rate,
            minibatch=self.discriminator_minibatch,
            steps=self.discriminator_steps,
            penalty=self.penalty,
            inverse_updates=self.inverse_updates,
        )

    @property
    def least_steps(self) -> int:
        """Own random movements, all or a quarter; then one batch after those that teach everything but the policy."""
        practised = self.critic_steps + self.rl.batch
        return min(practised + self.babbled, -(-4 * practised // 3))

    def begin(self, job: Job) -> PolicyTraining:
        """Fit the VAE to the transitions, babble, fit the inverse model, pre-train the policy."""
        transitions = weighted_transitions(job.demos, job.weights, job.seed)
        task, reference = imitation_task(job, transitions)
        normaliser = normaliser_of(task, transitions)
        rng = seeding.generator(job.seed, "sail")
        policy = _untrained(self, task, job.seed, normaliser)
        demonstrated = _demonstrated(task, transitions, policy, self.discount)
        job.say("fitting the model of where demonstrators go next")
        goal = _goal(self, demonstrated, rng)
        job.say("fitting the inverse model to own random movements")
        inverse, spent = _babbled(self, job, task, policy, demonstrated.rms, rng)
        trainer = Trainer(
            task,
            self.rl,
            job.steps - spent,
            job.seed,
            begin=_pretrained(self, policy, demonstrated, goal, inverse, rng),
            reward_model=AlignmentReward(self.alignment, demonstrated, goal, inverse, job.seed),
            normaliser=normaliser,
            threads=job.threads,
        )
        return PolicyTraining(trainer, reference)


def _untrained(method: Sail, task: Task, seed: int, normaliser: Normaliser) -> Policy:
    """Return the policy before it has learned anything but how to standardise."""
    actor, _ = fresh_networks(method.rl, task.observation_size, len(task.robot.control_centre), seed)
    return policy_of(actor.mean, np.asarray(actor.log_std), normaliser, task.robot)


def _z(task: Task, policy: Policy, states: Floats) -> Singles:
    """(n, S) → (n, O) standardised observations."""
    return normalised(policy, observations(task, states))


def _demonstrated(task: Task, transitions: WeightedTransitions, policy: Policy, discount: float) -> Demonstrated:
    before, after = (_z(task, policy, states) for states in (transitions.before, transitions.after))
    centre, spread = transitions.moments((after - before).astype(np.float64))
    least = FLOOR * scales(task.robot).change[-task.observation_size :] / policy.observation_std
    rms = np.maximum(np.hypot(centre, spread), least).astype(np.float32)
    rows = with_flag(after)
    rows[transitions.absorbing] = 0.0
    rows[transitions.absorbing, -1] = LIMIT
    return Demonstrated(
        z=before,
        changes=changes_of(before, after, rms),
        after=rows,
        critic_density=transitions.discriminator_density(discount, absorbing=True),
        density=transitions.density,
        real=np.flatnonzero(~transitions.absorbing),
        rms=rms,
    )


def _goal(method: Sail, demonstrated: Demonstrated, rng: np.random.Generator) -> NextState:
    """Return the VAE of where demonstrators go next."""
    return next_state_vae.fit(
        demonstrated.z,
        demonstrated.changes,
        demonstrated.draw(rng, method.goal_steps),
        int(rng.integers(2**32)),
        hidden=method.goal_hidden,
        latent=method.goal_latent,
        beta=method.beta,
        learning_rate=FITTED_RATE,
    )


def _babbled(
    method: Sail, job: Job, task: Task, policy: Policy, rms: Singles, rng: np.random.Generator
) -> tuple[Learning, int]:
    """Return an inverse model fitted to random movements, and how many transitions they took."""
    steps = min(method.babbled, max(job.steps // 4, 1))
    length = min(MOVEMENT, steps)
    moves = babble(job.imitator, steps // length, length, int(rng.integers(2**53)), threads=job.threads)
    z = [_z(task, policy, move.states) for move in moves]
    before, after = (np.concatenate(parts) for parts in ([rows[:-1] for rows in z], [rows[1:] for rows in z]))
    actions = np.concatenate([move.actions for move in moves if move.actions is not None])
    units = ((actions - policy.action_centre) / policy.action_half_range).astype(np.float32)
    inputs = np.concatenate([before, changes_of(before, after, rms)], axis=1)
    fresh = inverse_model.begun(
        int(rng.integers(2**32)),
        inputs.shape[1],
        units.shape[1],
        hidden=method.inverse_hidden,
        blocks=method.inverse_blocks,
    )
    order = rng.integers(len(inputs), size=(method.inverse_steps, ROWS))
    rates = FITTED_RATE * np.linspace(1, 0.01, len(order))
    inverse, _ = inverse_model.continued(fresh, array(inputs), array(units), array(order, np.int32), array(rates, np.float32))
    return inverse, len(inputs)


def _pretrained(
    method: Sail, policy: Policy, demonstrated: Demonstrated, goal: NextState, inverse: Learning, rng: np.random.Generator
) -> Policy:
    """Return the policy whose mean was regressed on a*(s) in demonstrated states."""
    order = demonstrated.draw(rng, method.pretrained)
    untrained = Mlp(tuple(array(w) for w in policy.weights), tuple(array(b) for b in policy.biases))
    z = array(demonstrated.z)
    rates = array(FITTED_RATE * np.linspace(1, 0.01, len(order)), np.float32)
    network = _regressed(untrained, z, goal_actions(goal, inverse.network, z), array(order, np.int32), rates)
    return replace(
        policy, weights=tuple(np.asarray(w) for w in network.weights), biases=tuple(np.asarray(b) for b in network.biases)
    )


@compiled
def _regressed(
    network: Mlp, z: Float[Array, "m o"], units: Float[Array, "m a"], order: Int[Array, "k b"], rates: Float[Array, " k"]
) -> Mlp:
    """Take one Adam step on mean ‖μ(z) − units‖² for each of the k minibatches whose rows `order` names."""
    optimiser = optax.scale_by_adam()

    def distance(mean: Mlp, rows: Int[Array, " b"]) -> Float[Array, ""]:
        return jnp.square(mean(z[rows]) - units[rows]).sum(axis=1).mean()

    def step(
        carry: tuple[Mlp, optax.OptState], minibatch: tuple[Int[Array, " b"], Float[Array, ""]]
    ) -> tuple[tuple[Mlp, optax.OptState], None]:
        (mean, state), (rows, rate) = carry, minibatch
        return descended(optimiser, mean, gradient(distance)(mean, rows), state, rate), None

    return scan(step, (network, start_optimiser(optimiser, network)), (order, rates))[0][0]
