# SPDX-License-Identifier: MIT
"""What a policy is worth: its task's return, a user's reward, or, without either, how near it comes to the demonstrations."""

from dataclasses import replace
from math import isfinite

from imitable.errors import BadOption
from imitable.evaluation.occupancy import compare_occupancy
from imitable.evaluation.reference import Reference, task_of
from imitable.evaluation.result import Performance, PolicyEvaluation
from imitable.evaluation.returns import EVALUATION_SEED, play, returns_of
from imitable.evaluation.reward_function import RewardFunction, import_reward, with_returns
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.task import Task
from imitable.types import Policy, Trajectory
from imitable.user_code import allow

Episodes = int | tuple[int, int]
"""Episodes of an evaluation with each kind of actions, or with mean and with sampled ones."""

COLUMNS = {
    "return_mean": "return",
    "return_std": "±",
    "return_min": "lowest",
    "length_mean": "length",
    "falls": "falls",
    "occupancy": "occupancy",
    "floor": "floor",
    "limit_violations": "limits",
    "contact_violations": "contacts",
}
"""What tables show of a performance, where it is known, and the name of its column; ± is between episodes."""


def evaluate(
    imitator: Robot | str,
    policy: Policy,
    reference: Reference | None = None,
    *,
    episodes: Episodes = 100,
    seed: int = 0,
    reward: RewardFunction | str | None = None,
    threads: int = 1,
) -> PolicyEvaluation:
    """Play episodes with mean and with sampled actions; return what both came to.

    Args:
        imitator: the robot that the policy moves, or its text.
        policy: the policy.
        reference: the demonstrations that a robot without a task is compared with (a run folder keeps them); None: its task.
        episodes: episodes with each kind of actions; a pair: with mean, and with sampled actions.
        seed: another one gives other start states.
        reward: a reward, or the dotted name of a function, that returns are counted by; None: the task's own.
        threads: threads of the simulator; results do not depend on it.
    """
    mean, sampled = episode_counts(episodes)
    robot = parse_robot(imitator) if isinstance(imitator, str) else imitator
    allow(reward)
    function = import_reward(reward) if isinstance(reward, str) else reward
    task = _task(robot, policy, reference)

    def performance(count: int, *, sampled: bool) -> Performance:
        rollouts = play(task, policy, count, EVALUATION_SEED + seed, sampled=sampled, threads=threads)
        return _performance(robot, rollouts, reference, function)

    return PolicyEvaluation(performance(mean, sampled=False), performance(sampled, sampled=True))


def episode_counts(episodes: Episodes) -> tuple[int, int]:
    """Return how many episodes are played with mean and with sampled actions; refuse less than one of a kind."""
    counts = (episodes, episodes) if isinstance(episodes, int) else episodes
    if min(counts) < 1:
        raise BadOption("episodes", episodes, "give a number above 0")
    return counts


def first_episode(imitator: Robot, policy: Policy, reference: Reference | None) -> Trajectory:
    """Return the first of the episodes with mean actions that `evaluate` plays."""
    [rollout] = play(_task(imitator, policy, reference), policy, 1, EVALUATION_SEED)
    return rollout


def what_is_reported(imitator: Robot, reward: str | None) -> str:
    """Say which numbers an imitator's policies are evaluated by."""
    if reward is not None:
        return f"reports the return by {reward}, which the learner never sees"
    if imitator.family.has_task:
        return "reports the task's return, which the learner never sees"
    return "has no task reward: reports how near its states come to the demonstrated ones; --reward adds a return"


def _task(imitator: Robot, policy: Policy, reference: Reference | None) -> Task:
    return task_of(imitator, reference, observe_root=policy.observation_size == len(imitator.start), held_out=True)


def _performance(
    imitator: Robot, rollouts: list[Trajectory], reference: Reference | None, reward: RewardFunction | None
) -> Performance:
    counted = returns_of(rollouts if reward is None else with_returns(reward, rollouts))
    numbers = counted.summary()
    performance = Performance(
        episodes=len(rollouts),
        length_mean=numbers["length_mean"],
        falls=int(counted.terminated.sum()),
        lengths=tuple(counted.lengths.tolist()),
        terminated=tuple(counted.terminated.tolist()),
    )
    if isfinite(counted.mean):
        performance = replace(
            performance,
            return_mean=numbers["return_mean"],
            return_std=numbers["return_std"],
            return_min=numbers["return_min"],
            returns=tuple(counted.returns.tolist()),
        )
    return performance if reference is None else _with_occupancy(performance, imitator, rollouts, reference)


def _with_occupancy(performance: Performance, imitator: Robot, rollouts: list[Trajectory], reference: Reference) -> Performance:
    occupancy = compare_occupancy(imitator, rollouts, reference.states, reference.density, reference.owners)
    return replace(
        performance,
        occupancy=occupancy.distance,
        floor=occupancy.floor if isfinite(occupancy.floor) else None,
        length=occupancy.length,
        limit_violations=occupancy.limit_violations,
        contact_violations=occupancy.contact_violations,
        demonstrated_limit_violations=occupancy.demonstrated_limit_violations,
        demonstrated_contact_violations=occupancy.demonstrated_contact_violations,
    )
