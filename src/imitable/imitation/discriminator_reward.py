# SPDX-License-Identifier: MIT
"""The reward model of adversarial imitation: a discriminator that learns to tell the imitator from the demonstrations."""

from typing import TYPE_CHECKING

import numpy as np

from imitable import seeding
from imitable.imitation.features import Features
from imitable.imitation.transitions import Sampler, WeightedTransitions
from imitable.nn import discriminator
from imitable.nn.typed_jax import array, leaves, replaced
from imitable.rl.reward_model import Rewards, absorbing_steps
from imitable.sim.rollout import Segment
from imitable.tensors import Arrays
from imitable.types import Floats, Singles

if TYPE_CHECKING:
    from imitable.imitation.methods.gaifo import Gaifo


class DiscriminatorReward:
    """Pays r = logit, or ln(1 + e^logit), of the imitator's transitions; positive logits mean that they look demonstrated.

    A fall leads into an absorbing state whose pair is judged like any other: the future after it is worth r_abs / (1 − γ).
    With this, adding a constant to every reward changes no advantage, so the mean reward is taken off: the critic then need
    not follow the discriminator's drift.
    """

    def __init__(self, method: "Gaifo", transitions: WeightedTransitions, features: Features, seed: int) -> None:
        """Begin in two minds."""
        self._method, self._features = method, features
        self._rows = features.of(transitions)
        by_loss = method.weighting == "loss"
        density = transitions.shown(method.discount, absorbing=bool(method.absorbing))
        self._sampler = Sampler(np.ones(len(transitions)) if by_loss else density)
        self._emphasis = density / density.mean() if by_loss else np.ones(len(transitions))
        self._rng = seeding.generator(seed, "adversary")
        self._judge = discriminator.fresh(int(self._rng.integers(2**32)), features.size, method.discriminator_hidden)
        self._rate, self._penalty = (array(x, np.float32) for x in (method.discriminator_rate, method.penalty))

    def __call__(self, segment: Segment) -> Rewards:
        """Rewards by the discriminator as it stands, then let it learn from the segment."""
        ours = self._features(segment.moments.states, segment.after.states)
        falls = absorbing_steps(segment, self._method.discount) if self._method.absorbing else 0
        rows = np.concatenate([ours, self._features.absorbing[None]])
        rewards = self._rewards(rows)
        demonstrated = self._learn(rows, falls)
        mean, absorbed = float(rewards[:-1].mean()), float(rewards[-1])
        metrics = {"reward": mean, "reward_absorbed": absorbed, "reward_demonstrated": demonstrated}
        paid = rewards[:-1].reshape(segment.rewards.shape)
        return (
            Rewards(paid - mean, absorbed - mean, metrics=metrics) if self._method.absorbing else Rewards(paid, metrics=metrics)
        )

    def _rewards(self, rows: Singles) -> Floats:
        logits = np.asarray(discriminator.logits_demonstrated_is_high(self._judge.network, array(rows)), np.float64)
        return logits if self._method.reward == "logit" else np.logaddexp(0, logits)

    def _learn(self, rows: Singles, falls: int) -> float:
        """Take the gradient steps of one turn; return what the lessons would have been paid before it.

        `rows` ends with the absorbing pair, which stands for every fall.
        """
        shape = (self._method.discriminator_steps, self._method.discriminator_minibatch)
        chosen = self._sampler.draw(self._rng, shape)
        theirs = self._rows[chosen]
        own = np.minimum(self._rng.integers(len(rows) - 1 + falls, size=shape), len(rows) - 1)
        paid = float(self._rewards(theirs[0]).mean())
        self._judge = discriminator.fit(
            self._judge,
            array(theirs),
            array(rows[own]),
            array(self._emphasis[chosen], np.float32),
            self._rate,
            self._penalty,
        )
        return paid

    def snapshot(self) -> tuple[Arrays, dict[str, str]]:
        """Return the discriminator and where its generator stands."""
        arrays: Arrays = {str(index): np.asarray(leaf) for index, leaf in enumerate(leaves(self._judge))}
        return arrays, {"rng": seeding.to_json(self._rng)}

    def restore(self, arrays: Arrays, generators: dict[str, str]) -> None:
        """Go back to a snapshot."""
        self._judge = replaced(self._judge, [array(arrays[str(index)]) for index in range(len(arrays))])
        self._rng = seeding.from_json(generators["rng"])
