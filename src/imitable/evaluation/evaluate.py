# SPDX-License-Identifier: MIT
"""What a policy is worth: its task's return, a user's reward, or, without either, how near it comes to the demonstrations."""

from dataclasses import asdict
from math import isfinite
from typing import Any

from imitable.evaluation.occupancy import conduct
from imitable.evaluation.reference import Reference, task_of
from imitable.evaluation.returns import EVALUATION_SEED, counted, played
from imitable.evaluation.reward_function import Reward, with_returns
from imitable.robots.robot import Robot
from imitable.sim.task import Task
from imitable.types import Policy, Trajectory

SHOWN = {
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
"""What tables show of an evaluation, where it is known, and the name of its column; ± is between episodes."""


def reported(imitator: Robot, reward: Reward | None) -> str:
    """Say which numbers an imitator's policies are judged by."""
    if reward is not None:
        return f"reports the return by {reward.name}, which the learner never sees"
    if imitator.family.rules is not None:
        return "reports the task's return, which the learner never sees"
    return "has no task reward: reports how near its states come to the demonstrated ones; --reward adds a return"


def worth(
    imitator: Robot,
    policy: Policy,
    known: Reference | None,
    episodes: int,
    *,
    seed: int = EVALUATION_SEED,
    reward: Reward | None = None,
    threads: int = 1,
) -> dict[str, dict[str, Any]]:
    """Play episodes with mean and with sampled actions; return the numbers of both."""
    task = _task(imitator, policy, known)
    found: dict[str, dict[str, Any]] = {}
    for name, sampled in (("mean_actions", False), ("sampled_actions", True)):
        rollouts = played(task, policy, episodes, seed, sampled=sampled, threads=threads)
        found[name] = _numbers(imitator, rollouts, known, reward)
    return found


def shown(imitator: Robot, policy: Policy, known: Reference | None) -> Trajectory:
    """Return the first of the episodes with mean actions that `worth` counts."""
    [rollout] = played(_task(imitator, policy, known), policy, 1, EVALUATION_SEED)
    return rollout


def _task(imitator: Robot, policy: Policy, known: Reference | None) -> Task:
    return task_of(imitator, known, observe_root=policy.observation_size == len(imitator.start))


def _numbers(imitator: Robot, rollouts: list[Trajectory], known: Reference | None, reward: Reward | None) -> dict[str, Any]:
    evaluation = counted(rollouts if reward is None else with_returns(reward, rollouts))
    numbers: dict[str, Any] = dict(evaluation.summary())
    if known is not None:
        numbers |= asdict(conduct(imitator, rollouts, known.states, known.density, known.owners))
    numbers = {name: value for name, value in numbers.items() if isfinite(value)}
    each = {"lengths": evaluation.lengths.tolist(), "terminated": evaluation.terminated.tolist()}
    return numbers | each | ({"returns": evaluation.returns.tolist()} if "return_mean" in numbers else {})
