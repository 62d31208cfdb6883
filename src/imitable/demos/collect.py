# SPDX-License-Identifier: MIT
"""Recording: a policy plays whole episodes, which become demonstrations."""

from collections.abc import Iterator
from pathlib import Path

from imitable import seeding
from imitable.errors import BadOption
from imitable.sim import rollout
from imitable.sim.task import Task
from imitable.types import Policy, Trajectory


def collect(
    task: Task, policy: Policy, episodes: int, seed: int, *, sampled: bool = False, threads: int = 1
) -> Iterator[Trajectory]:
    """Play episodes and give their trajectories, in order and as they come.

    Episode k depends on `seed`, the body and k alone: asking for more episodes changes none of the first ones, and two bodies
    recorded with one seed start differently.

    Args:
        task: the body, where its episodes start, and what they pay.
        policy: who plays.
        episodes: how many episodes.
        seed: any non-negative integer.
        sampled: add the policy's exploration noise to its mean action.
        threads: simulator threads, which change no result (0: all cores).
    """
    if episodes < 1:
        raise BadOption("episodes", episodes, "record at least one")
    if seed < 0:
        raise BadOption("seed", seed, "give a non-negative integer")
    rollout.check_fit(task, policy)
    seeds = [episode_seed(task, seed, index) for index in range(episodes)]
    return (trajectory for trajectory, _ in rollout.episodes(task, policy, seeds, sampled=sampled, threads=threads))


def episode_seed(task: Task, seed: int, index: int) -> int:
    """Return the seed of one episode; 53 bits, so that any reader of JSON gets it whole."""
    # a model file goes by its name, not its path: the same call gives the same episodes on another machine
    body = Path(str(task.robot)).name
    return int(seeding.generator(seed, "collect", body, index).integers(2**53))
