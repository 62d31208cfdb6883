# SPDX-License-Identifier: MIT
"""The reward model of SAIL: a Wasserstein critic on single states, and the actions that lead where demonstrators go next.

z (n, O) are standardised observations; changes (n, O) are differences of z divided by the root mean square of the demonstrated
ones, clipped to ± `LIMIT`. Loss of the critic c: mean c(own) − mean c(demonstrated) + penalty · mean (‖∂c/∂z‖ − 1)².
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from imitable import seeding
from imitable.imitation.features import FLOOR
from imitable.imitation.learner import Job
from imitable.imitation.training import PolicyTraining, imitation_task, normaliser_of
from imitable.imitation.transitions import Sampler, WeightedTransitions, weighted_transitions
from imitable.nn import cloner, discriminator, inverse_model, next_state_vae, wasserstein_critic
from imitable.nn.fitting import falling_rates
from imitable.nn.inverse_model import LIMIT, Learning
from imitable.nn.networks import Mlp, mean_of, policy_of
from imitable.nn.next_state_vae import NextState
from imitable.nn.normaliser import Normaliser
from imitable.nn.typed_jax import array, compiled, leaves, replaced
from imitable.policies.acting import normalised
from imitable.rl.agent import fresh_networks
from imitable.rl.reward_model import Rewards, absorbing_steps
from imitable.rl.train import Trainer
from imitable.sim.babble import babble, scales
from imitable.sim.rollout import Segment
from imitable.sim.task import Moment, Task
from imitable.tensors import Arrays
from imitable.types import Floats, Ints, Policy, Singles

if TYPE_CHECKING:
    from imitable.imitation.methods.sail import Sail

PAY = 0.1
"""Reward = this · (critic − its mean over demonstrated states)."""

ROWS = 128
"""Rows of one gradient step of VAE, inverse model and pre-training."""

MOVEMENT = 200
"""Steps of one random movement."""

FITTED_RATE, REFINED_RATE = 1e-3, 3e-4
"""Adam's rates where a network is fitted once (falling to a hundredth), and where it follows the policy."""


@dataclass(frozen=True, eq=False)
class Shown:
    """What M lessons show; in the rows of absorbing pairs, z and changes mean nothing."""

    z: Singles
    """(M, O) standardised observations."""
    changes: Singles
    """(M, O) to the next ones."""
    after: Singles
    """(M, O + 1) the next ones as the critic sees them: a last entry is `LIMIT` where they are absorbing, else 0."""
    judged: Floats
    """(M) how often the critic is shown each."""
    density: Floats
    """(M) relative probability."""
    real: Ints
    """Rows that are no absorbing pairs."""
    rms: Singles
    """(O) root mean square of the differences of z."""

    def drawn(self, rng: np.random.Generator, steps: int) -> Ints:
        """Draw the rows (steps, `ROWS`) of real transitions from p_w."""
        return self.real[Sampler(self.density[self.real]).draw(rng, (steps, ROWS))]


class AlignmentReward:
    """Pays 0.1 (c(s′) − mean c(demonstrated)) and names the actions a*(s) = inverse(s, VAE(s)); critic and inverse learn on.

    Falls lead into an absorbing state that the critic judges, and the mean reward is taken off, as in `DiscriminatorReward`.
    """

    def __init__(self, method: "Sail", shown: Shown, goal: NextState, own: Learning, seed: int) -> None:
        """Begin with a fresh critic."""
        self._method, self._shown, self._goal, self._own = method, shown, goal, own
        self._sampler = Sampler(shown.judged)
        self._rng = seeding.generator(seed, "aligner")
        self._judge = discriminator.fresh(int(self._rng.integers(2**32)), shown.after.shape[1], method.discriminator_hidden)
        self._rate, self._penalty = (array(x, np.float32) for x in (method.discriminator_rate, method.penalty))
        self._absorbed = np.zeros((1, shown.after.shape[1]), np.float32)
        self._absorbed[0, -1] = LIMIT

    def __call__(self, segment: Segment) -> Rewards:
        """Rewards by the critic as it stands, then let critic and inverse model learn from the segment."""
        inputs, after = (rows.reshape(-1, rows.shape[2]) for rows in (segment.inputs, segment.next_inputs))
        rows = np.concatenate([_flagged(after), self._absorbed])
        theirs, chosen = self._draws(len(rows), absorbing_steps(segment, self._method.discount))
        demonstrated = float(self._judged(theirs[0]).mean())
        rewards = PAY * (self._judged(rows) - demonstrated)
        self._judge = wasserstein_critic.fit(self._judge, array(theirs), array(rows[chosen]), self._rate, self._penalty)
        units = segment.units.reshape(len(inputs), -1)
        self._own, error = _refined(self._own, self._method, self._rng, inputs, _changes(inputs, after, self._shown.rms), units)
        mean = float(rewards[:-1].mean())
        return Rewards(
            rewards=(rewards[:-1] - mean).reshape(segment.rewards.shape),
            absorbing_reward=float(rewards[-1]) - mean,
            anchors=np.asarray(wanted(self._goal, self._own.network, array(inputs))).reshape(segment.units.shape),
            metrics={"reward": mean, "reward_absorbed": float(rewards[-1]), "inverse_error": error},
        )

    def _draws(self, count: int, falls: int) -> tuple[Singles, Ints]:
        """Draw (k, b) demonstrated rows by p_w and (k, b) numbers of own ones, the last of which stands for every fall."""
        shape = (self._method.discriminator_steps, self._method.discriminator_minibatch)
        theirs = self._shown.after[self._sampler.draw(self._rng, shape)]
        return theirs, np.minimum(self._rng.integers(count - 1 + falls, size=shape), count - 1)

    def _judged(self, rows: Singles) -> Floats:
        return np.asarray(wasserstein_critic.values_demonstrated_is_high(self._judge.network, array(rows)), np.float64)

    def snapshot(self) -> tuple[Arrays, dict[str, str]]:
        """Return critic, inverse model and where the generator stands; the VAE does not change."""
        arrays: Arrays = {str(index): np.asarray(leaf) for index, leaf in enumerate(leaves((self._judge, self._own)))}
        return arrays, {"rng": seeding.to_json(self._rng)}

    def restore(self, arrays: Arrays, generators: dict[str, str]) -> None:
        """Go back to a snapshot."""
        kept = [array(arrays[str(index)]) for index in range(len(arrays))]
        self._judge, self._own = replaced((self._judge, self._own), kept)
        self._rng = seeding.from_json(generators["rng"])


def aligning(method: "Sail", job: Job) -> PolicyTraining:
    """Return the training of SAIL: goals from the lessons, the inverse model from babbling, the policy from both."""
    transitions = weighted_transitions(job.demos, job.weights, job.seed)
    task = imitation_task(job, transitions)
    normaliser = normaliser_of(task, transitions)
    rng = seeding.generator(job.seed, "sail")
    policy = _untrained(method, task, job.seed, normaliser)
    shown = _shown(task, transitions, policy, method.discount)
    job.say("fitting the model of where demonstrators go next")
    goal = next_state_vae.fit(
        shown.z,
        shown.changes,
        shown.drawn(rng, method.goal_steps),
        int(rng.integers(2**32)),
        hidden=method.goal_hidden,
        latent=method.goal_latent,
        beta=method.beta,
        learning_rate=FITTED_RATE,
    )
    job.say("fitting the inverse model to own random movements")
    own, spent = _babbled(method, job, task, policy, shown.rms, rng)
    begin = _pretrained(method, policy, shown, goal, own, rng)
    reward_model = AlignmentReward(method, shown, goal, own, job.seed)
    trainer = Trainer(
        task,
        method.rl,
        job.steps - spent,
        job.seed,
        begin=begin,
        reward_model=reward_model,
        normaliser=normaliser,
        threads=job.threads,
    )
    return PolicyTraining(trainer)


@compiled
def wanted(goal: NextState, network: Mlp, z: Float[Array, "n o"]) -> Float[Array, "n a"]:
    """(n, O) → (n, A): inverse(z, VAE(z)), in half control ranges, inside the range."""
    return jnp.clip(network(jnp.concatenate([z, jnp.clip(goal(z), -LIMIT, LIMIT)], axis=1)), -1, 1)


def _untrained(method: "Sail", task: Task, seed: int, observed: Normaliser) -> Policy:
    """Return the policy before it has learned anything; it knows how to standardise."""
    actor, _ = fresh_networks(method.rl, task.observation_size, task.robot.control_range.shape[1], seed)
    return policy_of(actor.mean, actor.log_std, observed, task.robot)


def _observed(task: Task, policy: Policy, states: Floats) -> Singles:
    """(n, S) → (n, O) standardised observations."""
    moment = Moment(states, np.zeros(len(states), np.int64), np.zeros((len(states), 0), np.int64))
    return normalised(policy, task.observe(moment))


def _shown(task: Task, transitions: WeightedTransitions, policy: Policy, discount: float) -> Shown:
    before, after = (_observed(task, policy, states) for states in (transitions.before, transitions.after))
    centre, spread = transitions.moments((after - before).astype(np.float64))
    least = FLOOR * scales(task.robot).change[-task.observation_size :] / policy.observation_std
    rms = np.maximum(np.hypot(centre, spread), least).astype(np.float32)
    rows = _flagged(after)
    rows[transitions.absorbing] = 0.0
    rows[transitions.absorbing, -1] = LIMIT
    real = np.flatnonzero(~transitions.absorbing)
    judged = transitions.shown(discount, absorbing=True)
    return Shown(before, _changes(before, after, rms), rows, judged, transitions.density, real, rms)


def _flagged(z: Singles) -> Singles:
    """(n, O) → (n, O + 1): states that are not absorbing."""
    return np.concatenate([z, np.zeros((len(z), 1), np.float32)], axis=1)


def _changes(before: Singles, after: Singles, rms: Singles) -> Singles:
    return np.clip((after - before) / rms, -LIMIT, LIMIT)


def _babbled(
    method: "Sail", job: Job, task: Task, policy: Policy, rms: Singles, rng: np.random.Generator
) -> tuple[Learning, int]:
    """Return an inverse model fitted to random movements, and how many transitions they took."""
    steps = min(method.babbled, max(job.steps // 4, 1))
    length = min(MOVEMENT, steps)
    moved = babble(job.imitator, steps // length, length, int(rng.integers(2**53)), threads=job.threads)
    z = [_observed(task, policy, one.states) for one in moved]
    before, after = (np.concatenate(parts) for parts in ([one[:-1] for one in z], [one[1:] for one in z]))
    actions = np.concatenate([one.actions for one in moved if one.actions is not None])
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
    own, _ = inverse_model.continued(fresh, array(inputs), array(units), array(order, np.int32), array(rates, np.float32))
    return own, len(inputs)


def _refined(
    own: Learning, method: "Sail", rng: np.random.Generator, z: Singles, changes: Singles, units: Singles
) -> tuple[Learning, float]:
    """Go on fitting the inverse model to the policy's transitions; return its mean error before that, too."""
    order = rng.integers(len(z), size=(method.inverse_updates, ROWS))
    own, error = inverse_model.continued(
        own,
        array(np.concatenate([z, changes], axis=1)),
        # what the motors were told beyond their range, they did not do
        array(np.clip(units, -1, 1)),
        array(order, np.int32),
        array(np.full(len(order), REFINED_RATE), np.float32),
    )
    return own, float(error)


def _pretrained(
    method: "Sail", policy: Policy, shown: Shown, goal: NextState, own: Learning, rng: np.random.Generator
) -> Policy:
    """Return the policy whose mean was regressed on a*(s) in demonstrated states."""
    order = shown.drawn(rng, method.pretrained)
    z = array(shown.z)
    rates = array(falling_rates(FITTED_RATE, len(order)), np.float32)
    mean = cloner.regressed(mean_of(policy), z, wanted(goal, own.network, z), array(order, np.int32), rates).numpy
    return replace(policy, weights=mean.weights, biases=mean.biases)
