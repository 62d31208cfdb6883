# SPDX-License-Identifier: MIT
"""The training loop: collect, scale, update, again. One trainer is one seed in one process."""

from collections import deque
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from jaxtyping import Array, Int

from imitable import seeding
from imitable.models import normaliser
from imitable.models.networks import from_policy
from imitable.models.typed_jax import array, full
from imitable.rl import ppo, scaling, trpo
from imitable.rl.batch import Experience
from imitable.rl.learner import Learner, Rates, fresh_networks
from imitable.rl.method import Method, Ppo, Trpo
from imitable.sim.rollout import Collector, Segment
from imitable.sim.task import Task
from imitable.types import Policy

WINDOW = 64
"""Episodes that the reported return averages over."""


@dataclass(frozen=True)
class Progress:
    """What one iteration reports."""

    steps: int
    """Control steps taken so far."""
    mean_return: float
    """Mean return of the last episodes, with sampled actions; NaN before the first one ends."""
    mean_length: float
    """And their mean length."""
    diverged: int
    """Simulations that MuJoCo gave up on in this iteration."""
    metrics: dict[str, float]
    """What the method says of its update."""


class Trainer:
    """One run: a task, a method, a budget and a seed."""

    def __init__(
        self, task: Task, method: Method, budget: int, seed: int, *, begin: Policy | None = None, threads: int = 1
    ) -> None:
        """Start from fresh networks, or from the policy `begin`."""
        self.task, self.method, self.budget, self.seed = task, method, budget, seed
        self.begin_hash = begin.hash if begin is not None else ""
        self.steps = 0
        self.collector = Collector(task, method.environments, seed, threads)
        self.order = seeding.generator(seed, "minibatches")
        self.recent: deque[tuple[float, int]] = deque(maxlen=WINDOW)
        self.scale = scaling.fresh(method.environments)
        self.observed = normaliser.fresh(task.observation_size)
        if begin is not None:
            # as if the normaliser had seen a good deal, so that the first batch does not move it
            variance = np.square(begin.observation_std.astype(np.float64))
            self.observed = normaliser.Normaliser(begin.observation_mean.astype(np.float64), variance, 1e5)
        low, high = task.variant.control_range
        actor, critic = fresh_networks(method, task.observation_size, len(low), seed)
        self.learner = _module(method).start((actor if begin is None else from_policy(begin, method.log_std), critic))
        self._range = ((low + high) / 2, (high - low) / 2)

    @property
    def done(self) -> bool:
        """Whether the budget has no room for another batch."""
        return self.steps + self.method.batch > self.budget

    @property
    def critic_only(self) -> bool:
        """Whether the run began from a given policy and still teaches only the critic."""
        return bool(self.begin_hash) and self.steps < self.method.critic_steps

    @property
    def policy(self) -> Policy:
        """The current policy, for NumPy."""
        actor = self.learner.actor
        return Policy(
            weights=tuple(np.asarray(w) for w in actor.mean.weights),
            biases=tuple(np.asarray(b) for b in actor.mean.biases),
            log_std=np.asarray(actor.log_std),
            observation_mean=self.observed.mean.astype(np.float32),
            observation_std=self.observed.std.astype(np.float32),
            action_centre=self._range[0].astype(np.float32),
            action_half_range=self._range[1].astype(np.float32),
        )

    def iterate(self) -> Progress:
        """Collect one segment and learn from it."""
        rates = self._rates()
        segment = self.collector.collect(self.policy, self.method.length)
        batch = self._experience(segment)
        learner, metrics = _module(self.method).update(self.method, self.learner, batch, self._minibatches(), rates)
        if self.critic_only:
            # a fresh critic knows nothing of the policy it is given: learn that first, or its advice ruins the policy
            learner = Learner(self.learner.actor, learner.critic, learner.adam)
        self.learner = learner
        self.observed = normaliser.updated(self.observed, segment.observations.reshape(-1, self.task.observation_size))
        self.steps += segment.rewards.size
        self.recent.extend(zip(segment.returns.tolist(), segment.lengths.tolist(), strict=True))
        returns, lengths = zip(*self.recent, strict=True) if self.recent else ((np.nan,), (np.nan,))
        return Progress(
            steps=self.steps,
            mean_return=float(np.mean(returns)),
            mean_length=float(np.mean(lengths)),
            diverged=segment.diverged,
            metrics={name: float(value) for name, value in metrics.items()},
        )

    def _rates(self) -> Rates:
        """Anneal in a line over the budget: the learning rate to a tenth, the bound on exploration to its end."""
        spent = min(1.0, self.steps / self.budget)
        bound = self.method.log_std + spent * (self.method.log_std_end - self.method.log_std)
        return Rates(array(self.method.learning_rate * (1 - 0.9 * spent), np.float32), array(bound, np.float32))

    def _experience(self, segment: Segment) -> Experience:
        ended = segment.terminated | segment.truncated
        self.scale, rewards = scaling.scaled(self.scale, segment.rewards, ended, self.method.discount)
        return Experience(
            inputs=array(segment.inputs),
            next_inputs=array(segment.next_inputs),
            actions=array(segment.units),
            rewards=array(rewards, np.float32),
            terminal_values=full(rewards.shape, 0.0),
            terminated=array(segment.terminated),
            ended=array(ended),
        )

    def _minibatches(self) -> Int[Array, "k b"]:
        """(k, b) rows of every gradient step: each epoch is a new permutation of the batch."""
        rows = self.method.batch
        order = np.stack([self.order.permutation(rows) for _ in range(self.method.epochs)])
        whole = rows // self.method.minibatch * self.method.minibatch
        return array(order[:, :whole].reshape(-1, self.method.minibatch), np.int32)


def _module(method: Method) -> Any:
    """Return the file that knows how to start and update a method."""
    modules: dict[type, ModuleType] = {Trpo: trpo, Ppo: ppo}
    return modules[type(method)]
