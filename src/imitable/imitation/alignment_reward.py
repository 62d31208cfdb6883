# SPDX-License-Identifier: MIT
"""The reward model of SAIL: a Wasserstein critic on single states, and the actions that lead where demonstrators go next.

z (n, O) are standardised observations; changes (n, O) are differences of z divided by the root mean square of the demonstrated
ones, clipped to ± `LIMIT`. Loss of the critic c: mean c(own) − mean c(demonstrated) + penalty · mean (‖∂c/∂z‖ − 1)².
"""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from imitable import seeding
from imitable.imitation.transitions import Sampler
from imitable.nn import discriminator, inverse_model
from imitable.nn.discriminator import Discriminator
from imitable.nn.inverse_model import LIMIT, Learning, Residual
from imitable.nn.networks import Mlp
from imitable.nn.next_state_vae import NextState
from imitable.nn.typed_jax import array, compiled, descended, gradient, leaves, replaced, scan
from imitable.rl.reward_model import Rewards, absorbed_steps
from imitable.sim.rollout import Segment
from imitable.tensors import Arrays
from imitable.types import Floats, Ints, Singles

PAY = 0.1
"""Reward = this · (critic − its mean over demonstrated states)."""

ROWS = 128
"""Rows of one gradient step of VAE, inverse model and pre-training."""

REFINED_RATE = 3e-4
"""Adam's rate where the inverse model follows the policy."""


@dataclass(frozen=True)
class AlignmentSettings:
    """How critic and inverse model learn beside the policy."""

    discount: float
    """γ of the return."""
    hidden: tuple[int, ...]
    """Layer widths of the critic."""
    rate: float
    """Its rate of learning."""
    minibatch: int
    """Rows of each side in one of its gradient steps."""
    steps: int
    """Its gradient steps after every batch."""
    penalty: float
    """Weight of its gradient penalty."""
    inverse_updates: int
    """Gradient steps of the inverse model after every batch."""


@dataclass(frozen=True, eq=False)
class Demonstrated:
    """What M transitions show; in the rows of absorbing pairs, z and changes mean nothing."""

    z: Singles
    """(M, O) standardised observations."""
    changes: Singles
    """(M, O) to the next ones."""
    after: Singles
    """(M, O + 1) the next ones as the critic sees them: a last entry is `LIMIT` where they are absorbing, else 0."""
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

    def __init__(
        self, settings: AlignmentSettings, demonstrated: Demonstrated, goal: NextState, inverse: Learning, seed: int
    ) -> None:
        """Begin with a fresh critic."""
        self._settings, self._demonstrated, self._goal, self._inverse = settings, demonstrated, goal, inverse
        self._sampler = Sampler(demonstrated.critic_density)
        # the stream's name is no word of ours any more: another one would move numbers
        self._rng = seeding.generator(seed, "aligner")
        self._critic = discriminator.fresh(int(self._rng.integers(2**32)), demonstrated.after.shape[1], settings.hidden)
        self._rate, self._penalty = (array(x, np.float32) for x in (settings.rate, settings.penalty))
        self._absorbed = np.zeros((1, demonstrated.after.shape[1]), np.float32)
        self._absorbed[0, -1] = LIMIT

    def __call__(self, segment: Segment) -> Rewards:
        """Rewards by the critic as it stands, then let critic and inverse model learn from the segment."""
        inputs, after = (rows.reshape(-1, rows.shape[2]) for rows in (segment.inputs, segment.next_inputs))
        rows = np.concatenate([with_flag(after), self._absorbed])
        theirs, chosen = self._draws(len(rows), absorbed_steps(segment, self._settings.discount))
        demonstrated = float(self._values(theirs[0]).mean())
        rewards = PAY * (self._values(rows) - demonstrated)
        self._critic = critic_fit(self._critic, array(theirs), array(rows[chosen]), self._rate, self._penalty)
        error = self._refine_inverse(inputs, after, segment.units.reshape(len(inputs), -1))
        mean = float(rewards[:-1].mean())
        return Rewards(
            rewards=(rewards[:-1] - mean).reshape(segment.rewards.shape),
            absorbed=float(rewards[-1]) - mean,
            anchors=np.asarray(goal_actions(self._goal, self._inverse.network, array(inputs))).reshape(segment.units.shape),
            metrics={"reward": mean, "reward_absorbed": float(rewards[-1]), "inverse_error": error},
        )

    def _draws(self, count: int, falls: int) -> tuple[Singles, Ints]:
        """Draw (k, b) demonstrated rows by p_w and (k, b) numbers of own ones, the last of which stands for every fall."""
        shape = (self._settings.steps, self._settings.minibatch)
        theirs = self._demonstrated.after[self._sampler.draw(self._rng, shape)]
        return theirs, np.minimum(self._rng.integers(count - 1 + falls, size=shape), count - 1)

    def _values(self, rows: Singles) -> Floats:
        """(n, O + 1) → (n) what the critic thinks of states."""
        return np.asarray(discriminator.logits(self._critic.network, array(rows)), np.float64)

    def _refine_inverse(self, z: Singles, z_after: Singles, units: Singles) -> float:
        """Go on fitting the inverse model to the policy's transitions; return its mean error before that."""
        order = self._rng.integers(len(z), size=(self._settings.inverse_updates, ROWS))
        self._inverse, error = inverse_model.continued(
            self._inverse,
            array(np.concatenate([z, changes_of(z, z_after, self._demonstrated.rms)], axis=1)),
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


def with_flag(z: Singles) -> Singles:
    """(n, O) → (n, O + 1): states that are not absorbing, as the critic sees them."""
    return np.concatenate([z, np.zeros((len(z), 1), np.float32)], axis=1)


def changes_of(before: Singles, after: Singles, rms: Singles) -> Singles:
    """(n, O), (n, O) → (n, O) changes of z by their root mean square, clipped."""
    return np.clip((after - before) / rms, -LIMIT, LIMIT)


@compiled
def goal_actions(goal: NextState, network: Residual, z: Float[Array, "n o"]) -> Float[Array, "n a"]:
    """(n, O) → (n, A): inverse(z, VAE(z)), in half control ranges, inside the range."""
    return jnp.clip(network(jnp.concatenate([z, jnp.clip(goal(z), -LIMIT, LIMIT)], axis=1)), -1, 1)


def critic_loss(
    network: Mlp, demonstrated: Float[Array, "b f"], own: Float[Array, "b f"], penalty: Float[Array, ""]
) -> Float[Array, ""]:
    """Return mean c(own) − mean c(demonstrated) + penalty · mean (‖∂c/∂row‖ − 1)², the last on lines between both classes."""

    def total(rows: Float[Array, "b f"]) -> Float[Array, ""]:
        return network(rows).sum()

    mix = array(np.linspace(0, 1, demonstrated.shape[0])[:, None], np.float32)
    slopes = gradient(total)(mix * demonstrated + (1 - mix) * own)
    # the root has no slope at zero
    norms = jnp.sqrt(jnp.square(slopes).sum(axis=1) + 1e-12)
    return network(own).mean() - network(demonstrated).mean() + penalty * jnp.square(norms - 1).mean()


@compiled
def critic_fit(
    critic: Discriminator,
    demonstrated: Float[Array, "k b f"],
    own: Float[Array, "k b f"],
    learning_rate: Float[Array, ""],
    penalty: Float[Array, ""],
) -> Discriminator:
    """Take one Adam step (betas 0.5, 0.99) on each of k minibatches of b rows of each class."""
    optimiser = optax.scale_by_adam(b1=0.5, b2=0.99)

    def step(
        carry: tuple[Mlp, optax.OptState], rows: tuple[Float[Array, "b f"], Float[Array, "b f"]]
    ) -> tuple[tuple[Mlp, optax.OptState], None]:
        network, state = carry
        return descended(optimiser, network, gradient(critic_loss)(network, *rows, penalty), state, learning_rate), None

    return Discriminator(*scan(step, (critic.network, critic.adam), (demonstrated, own))[0])
