# SPDX-License-Identifier: MIT
"""Rollouts: segments of many simulations for learning, whole episodes for recording and evaluating."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from imitable import seeding
from imitable.errors import BadPolicy, UnstableSimulation
from imitable.policies.acting import act, controls, mean, normalised
from imitable.robots.robot import Robot
from imitable.sim.batch import Batch
from imitable.sim.disturbance import Pusher, Pushes, one_push
from imitable.sim.task import Moment, Outcome, Task, outcome_after
from imitable.spec_text import split
from imitable.types import Bools, Floats, Ints, Policy, Singles, Trajectory

EPISODES_AT_ONCE = 64
"""Simulations that `episodes` runs side by side."""


@dataclass(frozen=True)
class Segment:
    """T control steps of N simulations; row t, column i is one transition of simulation i."""

    moments: Moment
    """(T · N, …) where the transitions start."""
    after: Moment
    """(T · N, …) where they end, before any restart."""
    observations: Floats
    """(T, N, O) raw observations."""
    inputs: Singles
    """(T, N, O) normalised observations, as the policy saw them."""
    next_inputs: Singles
    """(T, N, O) normalised observations after the step, before any restart."""
    units: Singles
    """(T, N, A) sampled actions in half control ranges."""
    rewards: Floats
    """(T, N) task rewards."""
    terminated: Bools
    """(T, N) ended by the task."""
    truncated: Bools
    """(T, N) ended by the clock, or because the simulation is unstable."""
    absorbing: Bools
    """(T, N) terminated into an absorbing state."""
    unstable: int
    """Simulations that MuJoCo gave up on."""
    returns: Floats
    """(E) returns of the whole episodes that ended here."""
    lengths: Ints
    """(E) and their lengths."""


class Collector:
    """N simulations of a task that never stop: each restarts when its episode ends."""

    def __init__(
        self,
        task: Task,
        size: int,
        seed: int,
        threads: int = 1,
        pushes: Pushes | None = None,
        staggered: bool = False,
    ) -> None:
        """Start `size` episodes, pushed at times if asked. `staggered`: the clocks of the first ones stand at random steps."""
        self.task = task
        self.batch = Batch(task.robot, size, threads)
        self._starts = seeding.generator(seed, "start")
        self._noise = seeding.generator(seed, "exploration")
        self._actuation = seeding.generator(seed, "actuation")
        first = task.start(self._starts, size)
        self.batch.set_state(first.states)
        self._states, self._steps, self._context = first.states, first.steps, first.context
        self._returns = np.zeros(size)
        if staggered:
            self._steps = seeding.generator(seed, "stagger").integers(0, task.horizon, size)
        self._cut = self._steps > first.steps  # its episode is shorter than its clock says
        self._pusher = None if pushes is None else Pusher(pushes, task.robot, size, task.horizon, seed)

    def collect(self, policy: Policy, length: int, quiet: Bools | None = None) -> Segment:
        """Take `length` control steps with sampled actions, or with mean actions where `quiet` (N) says so."""
        n = len(self.batch)
        noise = np.exp(policy.log_std) * self._noise.standard_normal((length, n, policy.action_size), dtype=np.float32)
        if quiet is not None:
            noise[:, quiet] = 0.0
        record = _Record(length, n, self._states.shape[1], self._context.shape[1], policy)
        for t in range(length):
            self._advance(record, policy, noise[t], t)
        return self._segment(record, policy)

    def _advance(self, record: "_Record", policy: Policy, noise: Singles, t: int) -> None:
        task, moment = self.task, Moment(self._states, self._steps, self._context)
        observations = task.observe(moment)
        inputs = normalised(policy, observations)
        units = mean(policy, inputs) + noise
        if self._pusher is not None:
            self.batch.push(self._pusher.forces())
        unstable = self.batch.step(_disturbed(task, controls(policy, units), self._actuation))
        after, outcome = outcome_after(task, moment, self.batch.states, unstable, task.horizon)
        record.write(t, moment, after, observations, inputs, units, outcome)
        self._states, self._steps = after.states, after.steps
        if outcome.ended.any():
            self._restart(np.flatnonzero(outcome.ended))

    def _restart(self, ids: Ints) -> None:
        fresh = self.task.start(self._starts, len(ids))
        self.batch.set_state(fresh.states, ids)
        if self._pusher is not None:
            self._pusher.stop(ids)
        # copies: the arrays are part of the record by now
        self._states, self._steps, self._context = self._states.copy(), self._steps.copy(), self._context.copy()
        self._states[ids], self._steps[ids], self._context[ids] = fresh.states, fresh.steps, fresh.context

    def _segment(self, record: "_Record", policy: Policy) -> Segment:
        moments, after = record.moments()
        length, n = record.terminated.shape
        actions = controls(policy, record.units.reshape(length * n, -1))
        rewards = self.task.reward(moments, actions, after).reshape(length, n)
        next_inputs = normalised(policy, self.task.observe(after)).reshape(record.inputs.shape)
        returns, lengths = self._finished(rewards, record)
        return Segment(
            moments=moments,
            after=after,
            observations=record.observations,
            inputs=record.inputs,
            next_inputs=next_inputs,
            units=record.units,
            rewards=rewards,
            terminated=record.terminated,
            truncated=record.truncated,
            absorbing=record.absorbing,
            unstable=record.unstable,
            returns=returns,
            lengths=lengths,
        )

    def _finished(self, rewards: Floats, record: "_Record") -> tuple[Floats, Ints]:
        """Return the returns and lengths of the whole episodes that ended, and carry the others on.

        An unpaid step (NaN) makes NaN of its episode's return, but must not hide that of the next: such steps are counted.
        """
        unpaid = np.isnan(rewards)
        sums, blanks = np.cumsum(np.where(unpaid, 0.0, rewards), axis=0), np.cumsum(unpaid, axis=0)
        counted, skipped = np.zeros(rewards.shape[1]), np.zeros(rewards.shape[1], int)
        ended = np.argwhere(record.terminated | record.truncated)
        returns, whole = np.zeros(len(ended)), np.ones(len(ended), bool)
        for row, (t, i) in enumerate(ended):
            whole[row], self._cut[i] = not self._cut[i], False
            returns[row] = self._returns[i] + sums[t, i] - counted[i] if blanks[t, i] == skipped[i] else np.nan
            self._returns[i], counted[i], skipped[i] = 0.0, sums[t, i], blanks[t, i]
        self._returns += np.where(blanks[-1] == skipped, sums[-1] - counted, np.nan)
        return returns[whole], record.steps[ended[whole, 0], ended[whole, 1]] + 1

    def snapshot(self) -> tuple[dict[str, Floats | Ints], dict[str, str]]:
        """Return arrays and generator states from which `restore` goes on to the same bits."""
        arrays: dict[str, Floats | Ints] = {
            "rows": self.batch.rows,
            "states": self._states,
            "steps": self._steps,
            "context": self._context,
            "returns": self._returns.copy(),  # collecting goes on in place
            "cut": self._cut.astype(np.int64),
        }
        generators = {"start": self._starts, "exploration": self._noise, "actuation": self._actuation}
        states = {name: seeding.to_json(rng) for name, rng in generators.items()}
        if self._pusher is not None:
            pushed, drawn = self._pusher.snapshot()
            arrays, states = arrays | pushed, states | drawn
        return arrays, states

    def restore(self, arrays: dict[str, Floats | Ints], generators: dict[str, str]) -> None:
        """Go back to a snapshot."""
        self.batch.set_rows(arrays["rows"].astype(np.float64))
        self._states = arrays["states"].astype(np.float64)
        self._steps, self._context = arrays["steps"].astype(np.int64), arrays["context"].astype(np.int64)
        self._returns, self._cut = arrays["returns"].astype(np.float64), arrays["cut"].astype(bool)
        self._starts, self._noise, self._actuation = (
            seeding.from_json(generators[name]) for name in ("start", "exploration", "actuation")
        )
        if self._pusher is not None:
            self._pusher.restore(arrays, generators)


class _Record:
    """The arrays that a segment fills step by step."""

    def __init__(self, length: int, n: int, state_size: int, context_size: int, policy: Policy) -> None:
        shape = (length, n)
        self.states = np.empty((*shape, state_size))
        self.next_states = np.empty((*shape, state_size))
        self.steps = np.empty(shape, np.int64)
        self.context = np.empty((*shape, context_size), np.int64)
        self.observations = np.empty((*shape, policy.observation_size))
        self.inputs = np.empty((*shape, policy.observation_size), np.float32)
        self.units = np.empty((*shape, policy.action_size), np.float32)
        self.terminated = np.empty(shape, bool)
        self.truncated = np.empty(shape, bool)
        self.absorbing = np.empty(shape, bool)
        self.unstable = 0

    def write(
        self, t: int, moment: Moment, after: Moment, observations: Floats, inputs: Singles, units: Singles, outcome: Outcome
    ) -> None:
        self.states[t], self.steps[t], self.context[t] = moment.states, moment.steps, moment.context
        self.next_states[t] = after.states
        self.observations[t], self.inputs[t], self.units[t] = observations, inputs, units
        self.terminated[t], self.truncated[t], self.absorbing[t] = outcome.terminated, outcome.truncated, outcome.absorbing
        self.unstable += int(outcome.unstable.sum())

    def moments(self) -> tuple[Moment, Moment]:
        """Return all starts and all ends of transitions, flattened to (T · N, …)."""
        steps, context = self.steps.reshape(-1), self.context.reshape(self.steps.size, -1)
        return (
            Moment(self.states.reshape(steps.size, -1), steps, context),
            Moment(self.next_states.reshape(steps.size, -1), steps + 1, context),
        )


def _disturbed(task: Task, actions: Floats, rng: np.random.Generator) -> Floats:
    """Add the body's actuation noise: u = a + noise · half_range · ξ."""
    if task.robot.noise == 0.0:
        return actions
    return actions + actuation_noise(task.robot, rng, actions.shape)


def actuation_noise(robot: Robot, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Draw noise · half_range · ξ, ξ ~ N(0, I), of a shape (…, A)."""
    return robot.noise * robot.control_half_range * rng.standard_normal(shape)


def check_fit(task: Task, policy: Policy) -> None:
    """Refuse a policy whose inputs or outputs are not those of the task's body."""
    actions, owner = task.robot.control_range.shape[1], policy.about.get("robot", "")
    if owner and split(owner)[0] != task.robot.family.name:
        raise BadPolicy(owner, f"it is a policy of another robot than {task.robot.family.name}")
    if (policy.observation_size, policy.action_size) != (task.observation_size, actions):
        raise BadPolicy(
            owner or "given",
            f"it maps {policy.observation_size} observations to {policy.action_size} actions, but {task.robot} "
            f"has {task.observation_size} and {actions}; use a policy of this robot",
        )


def episodes(
    task: Task, policy: Policy, seeds: Sequence[int], *, sampled: bool = False, push: float = 0.0, threads: int = 1
) -> Iterator[tuple[Trajectory, Floats]]:
    """Play one episode a seed; yield each trajectory with its rewards (T), in order.

    An episode depends on its own seed alone, not on how many are played or at once. If `push` is above 0, the body is pushed
    once in each with so many newtons: at a random time, in a random horizontal direction.
    """
    for begin in range(0, len(seeds), EPISODES_AT_ONCE):
        yield from _play(task, policy, seeds[begin : begin + EPISODES_AT_ONCE], sampled, push, threads)


def _play(
    task: Task, policy: Policy, seeds: Sequence[int], sampled: bool, push: float, threads: int
) -> Iterator[tuple[Trajectory, Floats]]:
    n, batch = len(seeds), Batch(task.robot, len(seeds), threads)
    starts = [task.start(seeding.generator(seed, "episode"), 1) for seed in seeds]
    context = np.concatenate([start.context for start in starts])
    states = np.empty((task.horizon + 1, n, len(task.robot.start)))
    states[0] = np.concatenate([start.states for start in starts])
    exploration, disturbance = _episode_noise(task, policy, seeds, sampled)
    pushed = one_push(task.robot, push, seeds, task.horizon) if push else None
    actions = np.empty((task.horizon, n, policy.action_size))
    lengths, terminated, alive = np.zeros(n, np.int64), np.zeros(n, bool), np.arange(n)
    batch.set_state(states[0])
    for t in range(task.horizon):
        moment = Moment(states[t, alive], np.full(len(alive), t), context[alive])
        actions[t, alive] = act(policy, task.observe(moment)) + exploration[t, alive]
        if pushed is not None:
            batch.push(pushed.forces(t)[alive], alive)
        unstable = batch.step(actions[t, alive] + disturbance[t, alive], alive)
        after, outcome = outcome_after(task, moment, batch.states[alive], unstable, task.horizon)
        states[t + 1, alive] = after.states
        lengths[alive[~unstable]] = t + 1
        terminated[alive] = outcome.absorbing  # a goal that was reached is no fall
        alive = alive[~outcome.ended]
        if not len(alive):
            break
    for i, seed in enumerate(seeds):
        if not lengths[i]:
            raise UnstableSimulation(str(task.robot), seed)
        yield _finished_episode(
            task, states[: lengths[i] + 1, i], actions[: lengths[i], i], context[i], bool(terminated[i]), seed
        )


def _episode_noise(task: Task, policy: Policy, seeds: Sequence[int], sampled: bool) -> tuple[Floats, Floats]:
    """Return exploration and actuation noise (horizon, N, A), each episode's drawn from its own seed."""
    shape = (task.horizon, policy.action_size)
    zeros = np.broadcast_to(0.0, (task.horizon, len(seeds), policy.action_size))
    exploration = disturbance = zeros
    if sampled:
        scale = policy.action_half_range * np.exp(policy.log_std)
        exploration = scale * np.stack([seeding.generator(s, "exploration").standard_normal(shape) for s in seeds], axis=1)
    if task.robot.noise:
        disturbance = np.stack([actuation_noise(task.robot, seeding.generator(s, "actuation"), shape) for s in seeds], axis=1)
    return exploration, disturbance


def _finished_episode(
    task: Task, states: Floats, actions: Floats, context: Ints, terminated: bool, seed: int
) -> tuple[Trajectory, Floats]:
    steps = np.arange(len(actions))
    contexts = np.broadcast_to(context, (len(actions), len(context)))
    rewards = task.reward(Moment(states[:-1], steps, contexts), actions, Moment(states[1:], steps + 1, contexts))
    trajectory = Trajectory(states, str(task.robot), actions, terminated, float(rewards.sum()), seed)
    return trajectory, rewards
