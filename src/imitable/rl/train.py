# SPDX-License-Identifier: MIT
"""The training loop: collect, scale, update, again. One trainer is one seed in one process."""

from collections import deque
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
from jaxtyping import Array, Int

from imitable import seeding
from imitable.nn.networks import Actor, from_policy, policy_of
from imitable.nn.normaliser import Normaliser, fresh, updated
from imitable.nn.typed_jax import array, blended, start_jax
from imitable.rl import ppo, scaling, trpo
from imitable.rl.agent import Agent, Rates, fresh_networks
from imitable.rl.experience import Experience
from imitable.rl.progress import Progress
from imitable.rl.reward_model import RewardModel, Rewards, TaskReward, terminal_values
from imitable.rl.settings import Method, Ppo, Trpo
from imitable.sim.disturbance import Pushes
from imitable.sim.rollout import Collector, Segment
from imitable.sim.task import Task
from imitable.types import Bools, Policy

WINDOW = 64
"""Episodes that the reported return averages over."""


class Trainer:
    """One run: a task, a method, a budget and a seed."""

    def __init__(
        self,
        task: Task,
        method: Method,
        budget: int,
        seed: int,
        *,
        begin: Policy | None = None,
        reward_model: RewardModel | None = None,
        normaliser: Normaliser | None = None,
        observation_limit: float = 10.0,
        quiet_fraction: float = 0.0,
        pushes: Pushes | None = None,
        staggered: bool = False,
        threads: int = 1,
    ) -> None:
        """Start from fresh networks, or from the policy `begin`, whose normaliser then stays as it is.

        `reward_model` gives the rewards instead of the task, `normaliser` is used as it is instead of a running one, and
        observations are then clipped to ± `observation_limit`. `quiet_fraction` of the simulations take mean actions, in turns
        from batch to batch: where the mean policy would stand still for ever, others then begin to look for a way out.
        `pushes` disturb the body while it learns. `staggered` cuts the first episodes at random steps: where nothing falls,
        all simulations would otherwise be in the same part of their episodes for ever, and each batch show that part only.
        """
        start_jax()
        self.task, self.method, self.budget, self.seed = task, method, budget, seed
        self.begin_hash = begin.hash if begin is not None else ""
        self.steps = 0
        self.quiet_fraction, self._observation_limit = quiet_fraction, observation_limit
        self.pushes, self.staggered = pushes, staggered
        self.collector = Collector(task, method.environments, seed, threads, pushes, staggered)
        self.order = seeding.generator(seed, "minibatches")
        self.recent: deque[tuple[float, int]] = deque(maxlen=WINDOW)
        self.scale = scaling.fresh(method.environments)
        self.reward_model: RewardModel = TaskReward() if reward_model is None else reward_model
        self._running = normaliser is None and begin is None  # a given policy knows its inputs in these units alone
        self.observed = normaliser or _first_normaliser(task, begin)
        actor, critic = fresh_networks(method, task.observation_size, task.robot.control_range.shape[1], seed)
        self.agent = _module(method).start((actor if begin is None else from_policy(begin, method.log_std), critic))
        self.mean_actor: Actor = self.agent.actor
        self.averaged = 0  # actors that it is the mean of

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
        """What the run has come to, for NumPy: the mean of the last policies, if the method averages and has begun to."""
        return self._policy_of(self.mean_actor if self.averaged else self.agent.actor)

    @property
    def current(self) -> Policy:
        """The policy that collects."""
        return self._policy_of(self.agent.actor)

    def _policy_of(self, actor: Actor) -> Policy:
        return policy_of(actor.mean, actor.log_std, self.observed, self.task.robot, self._observation_limit)

    def iterate(self) -> Progress:
        """Collect one segment and learn from it."""
        rates = self._rates()
        quiet = self._quiet()
        segment = self.collector.collect(self.current, self.method.length, quiet)
        rewards = self.reward_model(segment)
        batch = self._experience(segment, rewards, quiet)
        agent, metrics = _module(self.method).update(self.method, self.agent, batch, self._minibatches(), rates)
        if self.critic_only:
            # a fresh critic knows nothing of the policy it is given: learn that first, or its advice ruins the policy
            agent = Agent(self.agent.actor, agent.critic, agent.adam)
        self.agent = agent
        if self._running:
            self.observed = updated(self.observed, segment.observations.reshape(-1, self.task.observation_size))
        self.steps += segment.rewards.size
        self._average()
        self.recent.extend(zip(segment.returns.tolist(), segment.lengths.tolist(), strict=True))
        paid = [episode for episode in self.recent if not np.isnan(episode[0])]
        return Progress(
            steps=self.steps,
            mean_return=_mean([total for total, _ in paid]),
            # of the same episodes; where none is ever paid, of all
            mean_length=_mean([length for _, length in paid or self.recent]),
            unstable=segment.unstable,
            metrics={name: float(value) for name, value in metrics.items()} | rewards.metrics,
        )

    def _average(self) -> None:
        """Count the actor into the mean of the last ones, m_k = m_{k−1} + (θ_k − m_{k−1}) / k (Polyak and Juditsky, 1992)."""
        if self.steps > (1 - self.method.averaged) * self.budget:
            self.averaged += 1
            self.mean_actor = blended(self.mean_actor, self.agent.actor, 1 / self.averaged)

    def _rates(self) -> Rates:
        """Anneal in a line over the budget: the learning rate to a tenth, the bound on exploration to its end."""
        spent = min(1.0, self.steps / self.budget)
        bound = self.method.log_std + spent * (self.method.log_std_end - self.method.log_std)
        return Rates(array(self.method.learning_rate * (1 - 0.9 * spent), np.float32), array(bound, np.float32))

    def _quiet(self) -> Bools:
        """(N) whose turn it is to take mean actions: every simulation is quiet in one of 1 / quiet_fraction batches."""
        turns = round(1 / self.quiet_fraction) if self.quiet_fraction else 0
        ids = np.arange(self.method.environments)
        return (ids + self.steps // self.method.batch) % turns == 0 if turns else np.zeros(len(ids), bool)

    def _experience(self, segment: Segment, given: Rewards, quiet: Bools) -> Experience:
        ended = segment.terminated | segment.truncated
        self.scale, rewards = scaling.scaled(self.scale, given.rewards, ended, self.method.discount)
        future = terminal_values(segment, given, self.method.discount) / self.scale.seen.std
        anchors = np.zeros_like(segment.units) if given.anchors is None else given.anchors
        return Experience(
            inputs=array(segment.inputs),
            next_inputs=array(segment.next_inputs),
            actions=array(segment.units),
            rewards=array(rewards, np.float32),
            anchors=array(anchors),
            terminal_values=array(future, np.float32),
            terminated=array(segment.terminated),
            ended=array(ended),
            quiet=array(quiet),
        )

    def _minibatches(self) -> Int[Array, "k b"]:
        """(k, b) rows of every gradient step: each epoch is a new permutation of the batch."""
        rows = self.method.batch
        order = np.stack([self.order.permutation(rows) for _ in range(self.method.epochs)])
        whole = rows // self.method.minibatch * self.method.minibatch
        return array(order[:, :whole].reshape(-1, self.method.minibatch), np.int32)


def _mean(values: Sequence[float] | Sequence[int]) -> float:
    """Return the mean; NaN of nothing."""
    return float(np.mean(values)) if values else float("nan")


def _first_normaliser(task: Task, begin: Policy | None) -> Normaliser:
    if begin is None:
        return fresh(task.observation_size)
    return Normaliser(begin.observation_mean.astype(np.float64), np.square(begin.observation_std.astype(np.float64)), 1e5)


def _module(method: Method) -> Any:
    """Return the file that knows how to start and update a method."""
    modules: dict[type, ModuleType] = {Trpo: trpo, Ppo: ppo}
    return modules[type(method)]
