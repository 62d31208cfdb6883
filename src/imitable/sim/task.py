# SPDX-License-Identifier: MIT
"""Tasks: where episodes start, what is observed, what is paid, when they end.

A task is told everything through a `Moment`, so that tracking a demonstration is a task like running is.
"""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from imitable.errors import BadModel, BadOption
from imitable.robots.family import Rules
from imitable.robots.robot import Robot
from imitable.types import Bools, Floats, Ints


@dataclass(frozen=True)
class Moment:
    """N simulations at one moment of their episodes."""

    states: Floats
    """(N, S) full states."""
    steps: Ints
    """(N) control steps since each episode's start."""
    context: Ints
    """(N, K) what a task remembers of an episode from its start on (which demonstration it follows); K may be 0."""


def moment_of(states: Floats) -> Moment:
    """(N, S) → states at the beginning of episodes that nothing is remembered of."""
    return Moment(states, np.zeros(len(states), np.int64), np.zeros((len(states), 0), np.int64))


@dataclass(frozen=True)
class End:
    """How episodes stand after a step. A time limit is none of a task's business: rollouts *truncate*."""

    terminated: Bools
    """(N) the task itself is over."""
    absorbing: Bools
    """(N) it is over because the simulation fell into a state it would stay in for ever; implies `terminated`."""


@runtime_checkable
class Task(Protocol):
    """What a rollout needs to know."""

    @property
    def robot(self) -> Robot:
        """The body."""
        ...

    @property
    def horizon(self) -> int:
        """Steps after which a rollout truncates an episode."""
        ...

    @property
    def observation_size(self) -> int:
        """O, the number of observed entries."""
        ...

    @property
    def settings(self) -> str:
        """Everything but the body that rewards, ends and observations depend on: two tasks with equal settings are the same."""
        ...

    def start(self, rng: np.random.Generator, n: int) -> Moment:
        """Draw n start moments."""
        ...

    def observe(self, moment: Moment) -> Floats:
        """(N, O) what a policy sees."""
        ...

    def reward(self, moment: Moment, actions: Floats, after: Moment) -> Floats:
        """(N) what the transitions pay."""
        ...

    def end(self, after: Moment) -> End:
        """Whether the episodes are over in these moments."""
        ...


@dataclass(frozen=True)
class Outcome:
    """How N episodes stand after a step, (N) each."""

    terminated: Bools
    """Ended by the task."""
    truncated: Bools
    """Ended by the clock, or because the simulation is unstable."""
    absorbing: Bools
    """Terminated into an absorbing state."""
    unstable: Bools
    """The simulation failed; the episode stands at its last good state."""

    @property
    def ended(self) -> Bools:
        """Terminated or truncated."""
        return self.terminated | self.truncated


def outcome_after(task: Task, before: Moment, states: Floats, unstable: Bools, limit: int) -> tuple[Moment, Outcome]:
    """Return the moment after a step that gave `states` (N, S), and how the episodes stand.

    Where the simulation is unstable its state means nothing: the last good one takes its place and the episode is truncated.
    """
    states = np.where(unstable[:, None], before.states, states)
    after = Moment(states, before.steps + 1, before.context)
    end = task.end(after)
    terminated = end.terminated & ~unstable
    truncated = unstable | (~terminated & (after.steps >= limit))
    return after, Outcome(terminated, truncated, end.absorbing & ~unstable, unstable)


@dataclass(frozen=True)
class Locomotion:
    """Run forward: r = Δx / period + alive bonus − control cost · Σ a², over at a fall (see `Rules`).

    The defaults are the paper's. `gymnasium()` turns all of them to what Gymnasium's v5 environments do.
    """

    robot: Robot
    clipped_cost: bool = True
    """Charge the action clipped to the control range (paper), or the raw action (Gymnasium)."""
    bonus_on_fall: bool = True
    """Pay the alive bonus on the step that falls, too (paper and Gymnasium up to v4), or not (v5)."""
    observe_root: bool = False
    """Let the policy see the root position, as the paper does."""
    headings: tuple[float, float] | None = None
    """Start at a heading drawn from this interval, in degrees: practice for a body that must turn before it can swim."""
    pace: float | None = None
    """Metres a second; what a step is faster than this is taken off its reward: practice for a gait that is not too fast."""
    effort: float = 0.0
    """Taken off the reward for each unit of Σ a², beside the control cost: practice for a gait that spares its motors."""
    length: int | None = None
    """Cut episodes after this many steps instead of the robot's own: practice that starts more often."""
    rules: Rules = field(init=False)

    def __post_init__(self) -> None:
        """Refuse a robot without a task."""
        if self.robot.family.rules is None:
            raise BadModel(str(self.robot), "a model file has no task reward; only built-in robots have one")
        if self.headings is not None and self.robot.family.rules.heading_entry is None:
            raise BadOption("headings", self.headings, f"{self.robot.family.name} cannot turn; only swimmer can")
        if self.pace is not None and not 0 < self.pace < np.inf:
            raise BadOption("pace", self.pace, "give metres a second above 0")
        if not 0 <= self.effort < np.inf:
            raise BadOption("effort", self.effort, "give a number of at least 0")
        if self.length is not None and self.length < 1:
            raise BadOption("length", self.length, "give a number of steps above 0")
        object.__setattr__(self, "rules", self.robot.family.rules)

    @property
    def horizon(self) -> int:
        """Steps after which an episode is cut."""
        return self.rules.horizon if self.length is None else self.length

    @property
    def observation_size(self) -> int:
        """O = S minus the hidden root position entries."""
        return len(self.robot.start) - self._hidden

    @property
    def settings(self) -> str:
        """The options and the rules."""
        options = (type(self).__name__, self.clipped_cost, self.bonus_on_fall, self.observe_root, self.headings, self.rules)
        practice = (self.pace, self.effort, self.length)
        return repr(options if practice == (None, 0.0, None) else (*options, *practice))

    @property
    def _hidden(self) -> int:
        return 0 if self.observe_root else self.rules.root_entries

    @cached_property
    def _nq(self) -> int:
        return self.robot.layout.nq

    def start(self, rng: np.random.Generator, n: int) -> Moment:
        """Draw the start state plus noise, as Gymnasium's environments do."""
        noise, nv = self.rules.start_noise, len(self.robot.start) - self._nq
        qpos = rng.uniform(-noise, noise, (n, self._nq))
        qvel = noise * rng.standard_normal((n, nv)) if self.rules.normal_velocity else rng.uniform(-noise, noise, (n, nv))
        states = self.robot.start + np.concatenate([qpos, qvel], axis=1)
        if self.headings is not None:
            states[:, self.rules.heading_entry] += np.radians(rng.uniform(*self.headings, n))
        return moment_of(states)

    def observe(self, moment: Moment) -> Floats:
        """(N, O) the state without the root position, velocities clipped where the robot's rules say so."""
        observations = moment.states[:, self._hidden :]
        limit = self.rules.velocity_limit
        if limit is None:
            return observations
        observations = observations.copy()
        velocities = observations[:, self._nq - self._hidden :]
        np.clip(velocities, -limit, limit, out=velocities)
        return observations

    def reward(self, moment: Moment, actions: Floats, after: Moment) -> Floats:
        """(N) speed plus bonus minus control cost; a speed v above a pace p counts as 2 p − v."""
        speed = (after.states[:, 0] - moment.states[:, 0]) / self.robot.layout.period_s
        if self.pace is not None:
            speed = self.pace - np.abs(speed - self.pace)
        if self.clipped_cost:
            actions = np.clip(actions, *self.robot.control_range)
        rewards = speed - (self.rules.control_cost + self.effort) * np.square(actions).sum(axis=1)
        if self.bonus_on_fall:
            return rewards + self.rules.alive_bonus
        return rewards + self.rules.alive_bonus * ~self._fallen(after.states)

    def end(self, after: Moment) -> End:
        """A fall is terminal and absorbing."""
        fallen = self._fallen(after.states)
        return End(fallen, fallen)

    def _fallen(self, states: Floats) -> Bools:
        healthy = np.ones(len(states), bool)
        for column, interval in ((1, self.rules.height), (2, self.rules.pitch)):
            if interval is not None:
                healthy &= (states[:, column] > interval[0]) & (states[:, column] < interval[1])
        if self.rules.entries is not None:
            healthy &= (np.abs(states[:, 2:]) < self.rules.entries).all(axis=1)
        return ~healthy


@dataclass(frozen=True)
class Free:
    """A body without a task: it observes its whole state, is paid NaN and never ends."""

    robot: Robot
    horizon: int = 1000
    starts: Floats | None = field(default=None, compare=False)
    """(K, S) states to start from, each as likely as the other; None: where its model says."""

    @property
    def observation_size(self) -> int:
        """O = S."""
        return len(self.robot.start)

    @property
    def settings(self) -> str:
        """The horizon and the starts."""
        starts = "" if self.starts is None else hashlib.sha256(self.starts.tobytes()).hexdigest()[:16]
        return repr((type(self).__name__, self.horizon, starts))

    def start(self, rng: np.random.Generator, n: int) -> Moment:
        """Draw starts, or return the model's own n times."""
        states = (
            np.tile(self.robot.start, (n, 1)) if self.starts is None else self.starts[rng.integers(len(self.starts), size=n)]
        )
        return moment_of(states)

    def observe(self, moment: Moment) -> Floats:
        """(N, S) the state."""
        return moment.states

    def reward(self, moment: Moment, actions: Floats, after: Moment) -> Floats:
        """(N) NaN: nothing is known of a reward."""
        del actions, after
        return np.full(len(moment.states), np.nan)

    def end(self, after: Moment) -> End:
        """Never."""
        never = np.zeros(len(after.states), bool)
        return End(never, never)


def gymnasium(robot: Robot) -> Locomotion:
    """Return the task as Gymnasium's v5 environments pay and observe it."""
    return Locomotion(robot, clipped_cost=False, bonus_on_fall=False)
