# SPDX-License-Identifier: MIT
"""Train an expert for a robot: the verb behind `imitable train`."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from imitable.errors import BadOption
from imitable.evaluation.returns import EVALUATION_SEED, EpisodeReturns, measure_returns
from imitable.rl.checkpoint import load_checkpoint, save_checkpoint
from imitable.rl.progress import Progress
from imitable.rl.settings import Method
from imitable.rl.settings import method as parse_settings
from imitable.rl.train import Trainer
from imitable.sim.disturbance import Pushes
from imitable.sim.rollout import check_fit
from imitable.sim.task import Task
from imitable.types import Policy

LOOK_STEPS = 20_000
"""Control steps between two looks at the mean policy."""

LOOK_EPISODES = 20
"""Episodes of one look."""

QUIETER = float(np.log(np.sqrt(0.5)))
"""One step of `quietened`: half the variance."""


@dataclass(frozen=True)
class Goal:
    """When to stop before the budget is spent."""

    mean_return: float
    """Mean return with mean actions that is good enough."""
    worst_fraction: float = 0.8
    """And the worst episode of the look must reach this part of it, so that a gait that falls at times goes on learning."""

    def reached(self, look: EpisodeReturns) -> bool:
        """Return whether a look at the policy satisfies the goal."""
        return look.mean >= self.mean_return and float(look.returns.min()) >= self.worst_fraction * self.mean_return


@dataclass(frozen=True)
class Expert:
    """A trained policy and what it is worth."""

    policy: Policy
    steps: int
    """Control steps it learned from."""
    reached_goal: bool
    """Whether it stopped at its goal rather than at the end of its budget."""
    mean: EpisodeReturns
    """With mean actions."""
    sampled: EpisodeReturns
    """With sampled actions."""


@dataclass(frozen=True)
class Start:
    """What training begins with."""

    training_task: Task | None = None
    """What it learns on, if not the task itself: the same body with other start states or with actuation noise, say."""
    begin: Policy | None = None
    """The policy that it goes on from; None: fresh networks."""
    pushes: Pushes | None = None
    """What disturbs the body while it learns."""
    staggered: bool = False
    """Cut the first episodes at random steps, so that every batch shows all parts of an episode (see `Trainer`)."""


@dataclass(frozen=True)
class Stopping:
    """When training stops, and what becomes of the policy then."""

    goal: Goal | None = None
    """Good enough to stop before the budget is spent."""
    look_steps: int = LOOK_STEPS
    """Control steps between two looks whether the goal is reached."""
    tolerance: float = 0.05
    """Part of the return by which sampled actions may fall behind mean actions; the exploration is lowered until they do."""
    deviation: float | None = None
    """And it is lowered until no sampled episode falls, and their returns deviate by at most this fraction of their mean."""
    episodes: int = 100
    """Episodes of the last evaluation."""


def _ignore(progress: Progress) -> None:
    del progress


@dataclass(frozen=True)
class Execution:
    """How a run is carried out: nothing here changes its result."""

    checkpoint: Path | None = None
    """File to go on from after an interruption."""
    checkpoint_every_s: float = 60.0
    """Seconds between two checkpoints."""
    resume: bool = False
    """Go on from the checkpoint."""
    threads: int = 1
    """Of the simulator."""
    on_progress: Callable[[Progress], None] = _ignore
    """Called after every iteration."""


AFRESH, AT_THE_END, PLAINLY = Start(), Stopping(), Execution()
"""Fresh networks on the task itself, the whole budget, one thread without checkpoints."""


def train(
    task: Task,
    method: Method | str = "ppo",
    steps: int = 1_000_000,
    seed: int = 0,
    start: Start = AFRESH,
    stopping: Stopping = AT_THE_END,
    execution: Execution = PLAINLY,
) -> Expert:
    """Train until the goal or the budget is reached, then quieten the exploration and evaluate.

    Args:
        task: what the expert is evaluated on, and learns on unless `start` names another.
        method: how it learns, or its text: ppo or trpo[:KEY=VALUE…].
        steps: control steps that it learns from, at most.
        seed: seed of everything random.
        start: what it begins with.
        stopping: when it stops, and what becomes of the policy then.
        execution: checkpoints, threads, and who is told of progress.
    """
    learner = parse_settings(method) if isinstance(method, str) else method
    check_settings(task, learner, steps, start.begin)
    trainer = Trainer(
        start.training_task or task,
        learner,
        steps,
        seed,
        begin=start.begin,
        pushes=start.pushes,
        staggered=start.staggered,
        threads=execution.threads,
    )
    if execution.resume and execution.checkpoint is not None:
        load_checkpoint(trainer, execution.checkpoint)
    reached = _learn(task, trainer, stopping, execution)
    return _finished(task, trainer, reached, stopping, execution.threads)


def check_settings(task: Task, method: Method, steps: int, begin: Policy | None) -> None:
    """Refuse settings that cannot train anything."""
    if steps < method.batch:
        raise BadOption("steps", steps, f"give at least environments × length = {method.batch}")
    if begin is None:
        return
    check_fit(task, begin)
    widths = tuple(len(bias) for bias in begin.biases[:-1])
    if widths != method.hidden:
        raise BadOption("hidden", method.hidden, f"the policy to begin from has layers of {widths}")
    if steps < method.critic_steps + method.batch:
        raise BadOption("steps", steps, f"give more than critic_steps = {method.critic_steps}, which teach only the critic")


def _learn(task: Task, trainer: Trainer, stopping: Stopping, execution: Execution) -> bool:
    """Iterate to the goal (True) or the budget (False)."""
    saved_at = time.monotonic()
    while not trainer.done:
        execution.on_progress(trainer.iterate())
        if stopping.goal is not None and _satisfied(task, trainer, stopping.goal, stopping.look_steps):
            return True
        if execution.checkpoint is not None and time.monotonic() - saved_at > execution.checkpoint_every_s:
            save_checkpoint(trainer, execution.checkpoint)
            saved_at = time.monotonic()
    return False


def _satisfied(task: Task, trainer: Trainer, goal: Goal, look_steps: int) -> bool:
    """Return whether this is a step to look at the mean policy, and it is good enough.

    Looks come at fixed steps, so that a resumed run looks where an uninterrupted one would.
    """
    due = trainer.steps // look_steps != (trainer.steps - trainer.method.batch) // look_steps
    if not due or trainer.critic_only:
        return False
    return goal.reached(measure_returns(task, trainer.policy, LOOK_EPISODES, trainer.seed))


def _finished(task: Task, trainer: Trainer, reached: bool, stopping: Stopping, threads: int) -> Expert:
    mean = measure_returns(task, trainer.policy, stopping.episodes, EVALUATION_SEED, threads=threads)
    policy, sampled = quietened(task, trainer.policy, mean, stopping.tolerance, stopping.deviation, threads=threads)
    about = {"robot": str(task.robot), "body": task.robot.hash, "steps": str(trainer.steps), "seed": str(trainer.seed)}
    return Expert(replace(policy, about=about), trainer.steps, reached, mean, sampled)


def quietened(
    task: Task,
    policy: Policy,
    mean: EpisodeReturns,
    tolerance: float,
    deviation: float | None = None,
    *,
    threads: int = 1,
    most: int = 10,
) -> tuple[Policy, EpisodeReturns]:
    """Halve the exploration's variance until sampled actions return within `tolerance` of mean actions.

    With `deviation`, also until no episode falls, and their returns deviate by at most this fraction of their mean.
    Exploration is a tool of learning; what is left of it should not change what the policy does.
    """
    sampled = measure_returns(task, policy, len(mean.returns), EVALUATION_SEED, sampled=True, threads=threads)
    for _ in range(most):
        if abs(sampled.mean - mean.mean) <= tolerance * abs(mean.mean) and (deviation is None or sampled.is_steady(deviation)):
            break
        policy = replace(policy, log_std=policy.log_std + np.float32(QUIETER))
        sampled = measure_returns(task, policy, len(mean.returns), EVALUATION_SEED, sampled=True, threads=threads)
    return policy, sampled
