# SPDX-License-Identifier: MIT
"""SAIL (Liu et al., 2020) without any demonstrator's action: align states, locally by a prior on actions, globally by a reward.

A β-VAE learns where the demonstrators go next, an inverse model learns from the imitator's own movements which action leads
there, and the policy's mean is held to what both say together: a*(s) = inverse(s, VAE(s)). A Wasserstein critic pays the
imitator for being in states like the demonstrated ones. Only states that were drawn from p_w are seen.

z (n, O) are standardised observations; changes (n, O) are differences of z divided by the root mean square of the demonstrated
ones, clipped to ± `LIMIT`. `nn/` has the losses of critic, VAE and inverse model.
"""

from dataclasses import dataclass, replace
from typing import Annotated

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from imitable import seeding
from imitable.imitation.features import FLOOR
from imitable.imitation.learner import LearningJob
from imitable.imitation.training import PolicyTraining, imitation_task, normaliser_of, observations, untrained_policy
from imitable.imitation.transitions import Sampler, WeightedTransitions, transitions_of
from imitable.nn import cloner, discriminator, inverse_model, next_state_vae, wasserstein_critic
from imitable.nn.fitting import falling_rates
from imitable.nn.inverse_model import LIMIT, Learning
from imitable.nn.networks import Mlp, mean_of
from imitable.nn.next_state_vae import NextState
from imitable.nn.typed_jax import array, compiled, leaves, replaced
from imitable.policies.acting import normalised
from imitable.rl.reward_model import Rewards, absorbing_steps
from imitable.rl.settings import (
    Averaged,
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
from imitable.sim.rollout import Segment
from imitable.sim.task import Task
from imitable.spec_text import Range, check_fields
from imitable.tensors import Arrays
from imitable.types import Floats, Ints, Policy, Singles

REWARD_SCALE = 0.1
"""Reward = this · (critic − its mean over demonstrated states)."""

FARTHEST = 10.0
"""Standardised observations are clipped to ± this (`Policy.observation_limit`)."""

ROWS = 128
"""Rows of one gradient step of VAE, inverse model and pre-training."""

MOVEMENT = 200
"""Steps of one random movement."""

FITTED_RATE, REFINED_RATE = 1e-3, 3e-4
"""Adam's rates where a network is fitted once (falling to a hundredth), and where it follows the policy."""


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
    averaged: Averaged = 0.05
    """Part of the steps, at their end, whose policies' mean is the result."""
    staggered: bool = True
    """1: first episodes are cut at random steps, or where nothing falls each batch would show one part of the movement only."""
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
    def least_steps(self) -> int:
        """Own random movements, all or a quarter; then one batch after those that teach everything but the policy."""
        practised = self.critic_steps + self.rl.batch
        return min(practised + self.babbled, -(-4 * practised // 3))

    def begin(self, job: LearningJob) -> PolicyTraining:
        """Fit the VAE to the transitions, babble, fit the inverse model, pre-train the policy."""
        transitions = transitions_of(job)
        task, reference = imitation_task(job, transitions)
        normaliser = normaliser_of(task, transitions)
        rng = seeding.generator(job.seed, "sail")
        policy = untrained_policy(self.rl, task, job.seed, normaliser)
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
            reward_model=AlignmentReward(self, demonstrated, goal, inverse, job.seed),
            normaliser=normaliser,
            staggered=self.staggered,
            threads=job.threads,
        )
        return PolicyTraining(trainer, reference, spent)


@dataclass(frozen=True, eq=False)
class Demonstrated:
    """What M transitions show; in the rows of absorbing pairs, z and changes mean nothing."""

    z: Singles
    """(M, O) standardised observations."""
    changes: Singles
    """(M, O) to the next ones."""
    after: Singles
    """(M, O + 1) the next ones as the critic sees them: a last entry is 0, but not where they are `absorbed`."""
    critic_density: Floats
    """(M) how often the critic is shown each."""
    density: Floats
    """(M) relative probability."""
    real: Ints
    """Rows that are no absorbing pairs."""
    rms: Singles
    """(O) root mean square of the differences of z."""

    def draw(self, rng: np.random.Generator, steps: int) -> Ints:
        """Draw the rows (steps, `ROWS`) of real transitions from p_w."""
        return self.real[Sampler(self.density[self.real]).draw(rng, (steps, ROWS))]


class AlignmentReward:
    """Pays 0.1 (c(s′) − mean c(demonstrated)) and names the actions a*(s) = inverse(s, VAE(s)); critic and inverse learn on.

    Falls lead into an absorbing state that the critic sees, too, and the mean reward is taken off, as in GAIfO's reward.
    """

    def __init__(self, method: Sail, demonstrated: Demonstrated, goal: NextState, inverse: Learning, seed: int) -> None:
        """Begin with a fresh critic."""
        self._method, self._demonstrated, self._goal, self._inverse = method, demonstrated, goal, inverse
        self._sampler = Sampler(demonstrated.critic_density)
        # the stream's name stays, whatever the class is called: another one would move numbers
        self._rng = seeding.generator(seed, "aligner")
        self._critic = discriminator.fresh(
            int(self._rng.integers(2**32)), demonstrated.after.shape[1], method.discriminator_hidden
        )
        self._rate, self._penalty = (array(x, np.float32) for x in (method.discriminator_rate, method.penalty))
        self._absorbed = absorbed(demonstrated.z.shape[1])[None]

    def __call__(self, segment: Segment) -> Rewards:
        """Return rewards by the critic as it stands, then let critic and inverse model learn from the segment."""
        inputs, after = (rows.reshape(-1, rows.shape[2]) for rows in (segment.inputs, segment.next_inputs))
        rows = np.concatenate([_with_flag(after), self._absorbed])
        theirs, chosen = self._draws(len(rows), absorbing_steps(segment, self._method.discount))
        demonstrated = float(self._values(theirs[0]).mean())
        rewards = REWARD_SCALE * (self._values(rows) - demonstrated)
        self._critic = wasserstein_critic.fit(self._critic, array(theirs), array(rows[chosen]), self._rate, self._penalty)
        error = self._refine_inverse(inputs, after, segment.units.reshape(len(inputs), -1))
        mean = float(rewards[:-1].mean())
        return Rewards(
            rewards=(rewards[:-1] - mean).reshape(segment.rewards.shape),
            absorbing_reward=float(rewards[-1]) - mean,
            anchors=np.asarray(goal_actions(self._goal, self._inverse.network, array(inputs))).reshape(segment.units.shape),
            metrics={"reward": mean, "reward_absorbed": float(rewards[-1]), "inverse_error": error},
        )

    def _draws(self, count: int, falls: int) -> tuple[Singles, Ints]:
        """Draw (k, b) demonstrated rows by p_w and (k, b) numbers of own ones, the last of which stands for every fall."""
        shape = (self._method.discriminator_steps, self._method.discriminator_minibatch)
        theirs = self._demonstrated.after[self._sampler.draw(self._rng, shape)]
        return theirs, np.minimum(self._rng.integers(count - 1 + falls, size=shape), count - 1)

    def _values(self, rows: Singles) -> Floats:
        """(n, O + 1) → (n) what the critic thinks of states."""
        return np.asarray(wasserstein_critic.values_demonstrated_is_high(self._critic.network, array(rows)), np.float64)

    def _refine_inverse(self, z: Singles, z_after: Singles, units: Singles) -> float:
        """Go on fitting the inverse model to the policy's transitions; return its mean error before that."""
        order = self._rng.integers(len(z), size=(self._method.inverse_updates, ROWS))
        self._inverse, error = inverse_model.continued(
            self._inverse,
            array(np.concatenate([z, _changes(z, z_after, self._demonstrated.rms)], axis=1)),
            # what was asked of the motors beyond their range, they did not do
            array(np.clip(units, -1, 1)),
            array(order, np.int32),
            array(np.full(len(order), REFINED_RATE), np.float32),
        )
        return float(error)

    def snapshot(self) -> tuple[Arrays, dict[str, str]]:
        """Return critic, inverse model and where the generator stands; the VAE does not change."""
        arrays: Arrays = {str(index): np.asarray(leaf) for index, leaf in enumerate(leaves((self._critic, self._inverse)))}
        return arrays, {"rng": seeding.to_json(self._rng)}

    def restore(self, arrays: Arrays, generators: dict[str, str]) -> None:
        """Go back to a snapshot."""
        saved = [array(arrays[str(index)]) for index in range(len(arrays))]
        self._critic, self._inverse = replaced((self._critic, self._inverse), saved)
        self._rng = seeding.from_json(generators["rng"])


def _with_flag(z: Singles) -> Singles:
    """(n, O) → (n, O + 1): states that are not absorbing, as the critic sees them."""
    return np.concatenate([z, np.zeros((len(z), 1), np.float32)], axis=1)


def absorbed(size: int) -> Singles:
    """(O + 1) an absorbing state as the critic sees it: nothing but a flag of 10 √O.

    A Wasserstein critic pays by distance. As far from the middle of the demonstrations as a state with every entry at its
    limit, a fall is never worth more than living on; at 5, nearer than an untrained Hopper (9) or Walker2d (7), it was.
    """
    return np.append(np.zeros(size), FARTHEST * np.sqrt(size)).astype(np.float32)


def _changes(before: Singles, after: Singles, rms: Singles) -> Singles:
    """(n, O), (n, O) → (n, O) changes of z by their root mean square, clipped.

    Entry by entry, not in the tangent space: z is what a network observes, quaternions of one sign among it.
    """
    return np.clip((after - before) / rms, -LIMIT, LIMIT)


@compiled
def goal_actions(goal: NextState, network: Mlp, z: Float[Array, "n o"]) -> Float[Array, "n a"]:
    """(n, O) → (n, A): inverse(z, VAE(z)), in half control ranges, inside the range."""
    return jnp.clip(network(jnp.concatenate([z, jnp.clip(goal(z), -LIMIT, LIMIT)], axis=1)), -1, 1)


def _z(task: Task, policy: Policy, states: Floats) -> Singles:
    """(n, S) → (n, O) standardised observations."""
    return normalised(policy, observations(task, states))


def _demonstrated(task: Task, transitions: WeightedTransitions, policy: Policy, discount: float) -> Demonstrated:
    before, after = (_z(task, policy, states) for states in (transitions.before, transitions.after))
    centre, spread = transitions.moments((after - before).astype(np.float64))
    least = FLOOR * scales(task.robot).change[-task.observation_size :] / policy.observation_std
    rms = np.maximum(np.hypot(centre, spread), least).astype(np.float32)
    rows = _with_flag(after)
    rows[transitions.absorbing] = absorbed(after.shape[1])
    return Demonstrated(
        z=before,
        changes=_changes(before, after, rms),
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
    method: Sail, job: LearningJob, task: Task, policy: Policy, rms: Singles, rng: np.random.Generator
) -> tuple[Learning, int]:
    """Return an inverse model fitted to random movements, and how many transitions they took."""
    steps = min(method.babbled, max(job.steps // 4, 1))
    length = min(MOVEMENT, steps)
    moves = babble(job.imitator, steps // length, length, int(rng.integers(2**53)), threads=job.threads)
    z = [_z(task, policy, move.states) for move in moves]
    before, after = (np.concatenate(parts) for parts in ([rows[:-1] for rows in z], [rows[1:] for rows in z]))
    actions = np.concatenate([move.actions for move in moves if move.actions is not None])
    units = ((actions - policy.action_centre) / policy.action_half_range).astype(np.float32)
    inputs = np.concatenate([before, _changes(before, after, rms)], axis=1)
    fresh = inverse_model.begun(
        int(rng.integers(2**32)),
        inputs.shape[1],
        units.shape[1],
        hidden=method.inverse_hidden,
        blocks=method.inverse_blocks,
    )
    order = rng.integers(len(inputs), size=(method.inverse_steps, ROWS))
    rates = falling_rates(FITTED_RATE, len(order))
    inverse, _ = inverse_model.continued(fresh, array(inputs), array(units), array(order, np.int32), array(rates, np.float32))
    return inverse, len(inputs)


def _pretrained(
    method: Sail, policy: Policy, demonstrated: Demonstrated, goal: NextState, inverse: Learning, rng: np.random.Generator
) -> Policy:
    """Return the policy whose mean was regressed on a*(s) in demonstrated states."""
    order = demonstrated.draw(rng, method.pretrained)
    z = array(demonstrated.z)
    rates = array(falling_rates(FITTED_RATE, len(order)), np.float32)
    actions = goal_actions(goal, inverse.network, z)
    mean = cloner.regressed(mean_of(policy), z, actions, array(order, np.int32), rates).numpy
    return replace(policy, weights=mean.weights, biases=mean.biases)
