# SPDX-License-Identifier: MIT
"""GAIfO (Torabi et al., 2018) on weighted transitions: imitate what the states show, without any action.

A discriminator learns to tell transitions of the imitator from transitions drawn from p_w, the imitator is paid for looking
like them, and both improve. Presets: `default` (PPO), `trpo` (the same with TRPO) and `paper` (the paper's settings).
"""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from imitable import seeding
from imitable.evaluation.reference import Reference
from imitable.imitation.features import FORMS, LIMIT, Features, features
from imitable.imitation.learner import LearningJob
from imitable.imitation.training import PolicyTraining, imitation_task, normaliser_of
from imitable.imitation.transitions import Sampler, WeightedTransitions, transitions_of
from imitable.nn import discriminator
from imitable.nn.normaliser import Normaliser
from imitable.nn.typed_jax import array, leaves, replaced
from imitable.rl.expert import check_settings
from imitable.rl.reward_model import Rewards, absorbing_steps
from imitable.rl.settings import (
    Averaged,
    Count,
    CriticSteps,
    Epochs,
    Fraction,
    LearningRate,
    LogStd,
    MaxKl,
    Method,
    Minibatch,
    Ppo,
    Trpo,
    Weight,
    Widths,
    same_settings,
)
from imitable.rl.train import Trainer
from imitable.sim.rollout import Segment
from imitable.sim.task import Task
from imitable.spec_text import OneOf, Range, check_fields
from imitable.tensors import Arrays
from imitable.types import Floats, Policy, Singles


@dataclass(frozen=True)
class Gaifo:
    """Settings of the policy's learning and of the discriminator's."""

    presets: ClassVar[dict[str, dict[str, Any]]] = {
        "default": {},
        "trpo": {
            "algorithm": "trpo",
            "length": 64,
            "gae_lambda": 0.97,
            "epochs": 4,
            "minibatch": 512,
            "learning_rate": 1e-3,
            "discriminator_steps": 8,
        },
        "paper": {
            "algorithm": "trpo",
            "environments": 6,
            "length": 1000,
            "discount": 0.995,
            "gae_lambda": 0.97,
            "log_std": 0.0,
            "log_std_end": 3.0,
            "epochs": 1,
            "minibatch": 200,
            "learning_rate": 3e-4,
            "averaged": 0.0,
            "max_kl": 0.01,
            "features": "pair",
            "reward": "softplus",
            "discriminator_hidden": (64, 64),
            "discriminator_rate": 1e-3,
            "discriminator_minibatch": 6000,
            "discriminator_steps": 1,
            "penalty": 0.0,
            "absorbing": False,
            "staggered": False,
            "observe_root": True,
            "normalised": False,
        },
    }

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
    """Passes over the batch (PPO), or of the value fit over it (TRPO)."""
    minibatch: Minibatch = 256
    """Rows of one gradient step."""
    learning_rate: LearningRate = 3e-4
    """Adam's rate; falls in a line to a tenth."""
    critic_steps: CriticSteps = 40_000
    """Steps that teach everything but the policy, when the training begins from a given one."""
    averaged: Averaged = 0.05
    """Part of the steps, at their end, whose policies' mean is the result: one update can make a walker fall that walked."""
    algorithm: Annotated[str, OneOf("ppo", "trpo")] = "ppo"
    """How the policy learns: ppo or trpo."""
    max_kl: MaxKl = 0.02
    """Largest mean KL divergence of one update (TRPO)."""
    quiet_fraction: Annotated[float, Range(0, 0.5)] = 0.0
    """Part of the simulations that take mean actions, in turns: the discriminator sees the policy without noise, too."""
    staggered: bool = True
    """1: first episodes are cut at random steps, or where nothing falls each batch would show one part of the movement only."""
    features: Annotated[str, OneOf(*FORMS)] = "delta"
    """What the discriminator sees: delta (state and change) or pair (state and next state)."""
    reward: Annotated[str, OneOf("logit", "softplus")] = "logit"
    """What it pays: logit, or softplus = ln(1 + e^logit)."""
    weighting: Annotated[str, OneOf("sampling", "loss")] = "sampling"
    """How weights act: sampling (transitions are drawn by weight) or loss (drawn uniformly, their loss is weighted)."""
    discriminator_hidden: Widths = (100, 100)
    """Layer widths of the discriminator."""
    discriminator_rate: LearningRate = 3e-4
    """Its rate of learning."""
    discriminator_minibatch: Annotated[int, Range(1, 10**7)] = 256
    """Rows of each side in one of its gradient steps."""
    discriminator_steps: Annotated[int, Range(1, 10**4)] = 4
    """Its gradient steps after every batch."""
    penalty: Weight = 1.0
    """Weight of its gradient penalty: at 10 it is too unsure to make Hopper leave its first stand (measured)."""
    absorbing: bool = True
    """1: a fall leads into an absorbing state that the discriminator sees; 0: it ends everything, worth 0."""
    observe_root: bool = False
    """1: policy and discriminator see the root position, as in the paper."""
    normalised: bool = True
    """1: states are standardised by the weighted demonstrations; 0: raw, as in the paper."""

    def __post_init__(self) -> None:
        """Check every value."""
        check_fields(self)
        _ = self.rl

    @property
    def rl(self) -> Method:
        """The settings of the policy's own learning."""
        return same_settings(Ppo, self) if self.algorithm == "ppo" else same_settings(Trpo, self)

    @property
    def least_steps(self) -> int:
        """One batch."""
        return self.rl.batch

    def begin(self, job: LearningJob) -> PolicyTraining:
        """Read the transitions and start policy and discriminator."""
        transitions = transitions_of(job)
        return self.begin_on(job, transitions, *imitation_task(job, transitions, observe_root=self.observe_root))

    def begin_on(
        self,
        job: LearningJob,
        transitions: WeightedTransitions,
        task: Task,
        reference: Reference | None,
        policy: Policy | None = None,
    ) -> PolicyTraining:
        """Start on a task, with these transitions as the demonstrated ones: a fresh policy, or one to go on from."""
        seen = features(transitions, job.imitator, self.features, normalised=self.normalised, root=self.observe_root)
        check_settings(task, self.rl, job.steps, policy)
        if policy is not None:
            normaliser = None  # the trainer takes the policy's own
        elif not self.normalised:
            normaliser = _identity(task.observation_size)
        else:
            normaliser = normaliser_of(task, transitions)
        trainer = Trainer(
            task,
            self.rl,
            job.steps,
            job.seed,
            begin=policy,
            reward_model=DiscriminatorReward(self, transitions, seen, job.seed),
            normaliser=normaliser,
            observation_limit=LIMIT if self.normalised or policy is not None else np.inf,
            quiet_fraction=self.quiet_fraction,
            staggered=self.staggered,
            threads=job.threads,
        )
        return PolicyTraining(trainer, reference)


class DiscriminatorReward:
    """Pays r = logit, or ln(1 + e^logit), of the imitator's transitions; positive logits mean that they look demonstrated.

    A fall leads into an absorbing state whose pair is seen like any other: the future after it is worth r_abs / (1 − γ).
    With this, adding a constant to every reward changes no advantage, so the mean reward is taken off: the critic then need
    not follow the discriminator's drift.
    """

    def __init__(self, method: Gaifo, transitions: WeightedTransitions, seen: Features, seed: int) -> None:
        """Begin with a discriminator that tells nothing apart."""
        self._method, self._features = method, seen
        self._demonstrated = seen.of(transitions)
        by_loss = method.weighting == "loss"
        density = transitions.discriminator_density(method.discount, absorbing=method.absorbing)
        self._sampler = Sampler(np.ones(len(transitions)) if by_loss else density)
        self._emphasis = density / density.mean() if by_loss else np.ones(len(transitions))
        # the stream's name stays, whatever the class is called: another one would move numbers
        self._rng = seeding.generator(seed, "adversary")
        self._discriminator = discriminator.fresh(int(self._rng.integers(2**32)), seen.size, method.discriminator_hidden)
        self._rate, self._penalty = (array(x, np.float32) for x in (method.discriminator_rate, method.penalty))

    def __call__(self, segment: Segment) -> Rewards:
        """Return rewards by the discriminator as it stands, then let it learn from the segment."""
        own = self._features(segment.moments.states, segment.after.states)
        falls = absorbing_steps(segment, self._method.discount) if self._method.absorbing else 0
        rows = np.concatenate([own, self._features.absorbing[None]])
        rewards = self._rewards(rows)
        demonstrated = self._learn(rows, falls)
        mean, absorbing_reward = float(rewards[:-1].mean()), float(rewards[-1])
        metrics = {"reward": mean, "reward_absorbed": absorbing_reward, "reward_demonstrated": demonstrated}
        given = rewards[:-1].reshape(segment.rewards.shape)
        if not self._method.absorbing:
            return Rewards(given, metrics=metrics)
        return Rewards(given - mean, absorbing_reward - mean, metrics=metrics)

    def _rewards(self, rows: Singles) -> Floats:
        logits = np.asarray(discriminator.logits_demonstrated_is_high(self._discriminator.network, array(rows)), np.float64)
        return logits if self._method.reward == "logit" else np.logaddexp(0, logits)

    def _learn(self, rows: Singles, falls: int) -> float:
        """Take the gradient steps of one batch; return what the demonstrations would have been paid before them.

        `rows` ends with the absorbing pair, which stands for every fall.
        """
        shape = (self._method.discriminator_steps, self._method.discriminator_minibatch)
        chosen = self._sampler.draw(self._rng, shape)
        demonstrated = self._demonstrated[chosen]
        own = np.minimum(self._rng.integers(len(rows) - 1 + falls, size=shape), len(rows) - 1)
        paid = float(self._rewards(demonstrated[0]).mean())
        self._discriminator = discriminator.fit(
            self._discriminator,
            array(demonstrated),
            array(rows[own]),
            array(self._emphasis[chosen], np.float32),
            self._rate,
            self._penalty,
        )
        return paid

    def snapshot(self) -> tuple[Arrays, dict[str, str]]:
        """Return the discriminator and where its generator stands."""
        arrays: Arrays = {str(index): np.asarray(leaf) for index, leaf in enumerate(leaves(self._discriminator))}
        return arrays, {"rng": seeding.to_json(self._rng)}

    def restore(self, arrays: Arrays, generators: dict[str, str]) -> None:
        """Go back to a snapshot."""
        self._discriminator = replaced(self._discriminator, [array(arrays[str(index)]) for index in range(len(arrays))])
        self._rng = seeding.from_json(generators["rng"])


def _identity(size: int) -> Normaliser:
    """Return the normaliser that leaves observations as they are."""
    return Normaliser(np.zeros(size), np.ones(size) - 1e-8, 1.0)
