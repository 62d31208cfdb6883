# SPDX-License-Identifier: MIT
"""Train an expert for a robot: the verb behind `imitable train`."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from imitable.errors import BadOption
from imitable.evaluate import EVALUATION_SEED, Evaluation, evaluate
from imitable.rl.checkpoint import load_checkpoint, save_checkpoint
from imitable.rl.method import Method
from imitable.rl.progress import Progress
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
    worst_share: float = 0.8
    """And the worst episode of the look must reach this share of it, so that a gait that falls at times goes on learning."""

    def reached(self, look: Evaluation) -> bool:
        """Return whether a look at the policy satisfies the goal."""
        return look.mean >= self.mean_return and float(look.returns.min()) >= self.worst_share * self.mean_return


@dataclass(frozen=True)
class Expert:
    """A trained policy and what it is worth."""

    policy: Policy
    steps: int
    """Control steps it learned from."""
    reached_goal: bool
    """Whether it stopped at its goal rather than at the end of its budget."""
    mean: Evaluation
    """With mean actions."""
    sampled: Evaluation
    """With sampled actions."""


def train(
    task: Task,
    method: Method,
    steps: int,
    seed: int,
    *,
    practice: Task | None = None,
    pushes: Pushes | None = None,
    staggered: bool = False,
    begin: Policy | None = None,
    goal: Goal | None = None,
    look_steps: int = LOOK_STEPS,
    tolerance: float = 0.05,
    deviation: float | None = None,
    episodes: int = 100,
    checkpoint: Path | None = None,
    resume: bool = False,
    checkpoint_s: float = 60.0,
    threads: int = 1,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> Expert:
    """Train until the goal or the budget is reached, then quieten the exploration and evaluate.

    `practice` is what it learns on, if not the task itself: the same body with other start states or with actuation noise, say,
    and `pushes` disturb it there, `staggered` (see `Trainer`) or not. `checkpoint` is written every `checkpoint_s` seconds;
    with `resume` a run goes on from it to the same result.
    """
    check_settings(task, method, steps, begin)
    trainer = Trainer(practice or task, method, steps, seed, begin=begin, pushes=pushes, staggered=staggered, threads=threads)
    if resume and checkpoint is not None:
        load_checkpoint(trainer, checkpoint)
    reached = _learn(task, trainer, goal, look_steps, checkpoint, checkpoint_s, on_progress)
    return _finished(task, trainer, reached, tolerance, deviation, episodes, threads)


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


def _learn(
    task: Task,
    trainer: Trainer,
    goal: Goal | None,
    look_steps: int,
    checkpoint: Path | None,
    checkpoint_s: float,
    on_progress: Callable[[Progress], None],
) -> bool:
    """Iterate to the goal (True) or the budget (False)."""
    saved_at = time.monotonic()
    while not trainer.done:
        on_progress(trainer.iterate())
        if goal is not None and _satisfied(task, trainer, goal, look_steps):
            return True
        if checkpoint is not None and time.monotonic() - saved_at > checkpoint_s:
            save_checkpoint(trainer, checkpoint)
            saved_at = time.monotonic()
    return False


def _satisfied(task: Task, trainer: Trainer, goal: Goal, look_steps: int) -> bool:
    """Return whether this is a step to look at the mean policy, and it is good enough.

    Looks come at fixed steps, so that a resumed run looks where an uninterrupted one would.
    """
    due = trainer.steps // look_steps != (trainer.steps - trainer.method.batch) // look_steps
    if not due or trainer.critic_only:
        return False
    return goal.reached(evaluate(task, trainer.policy, LOOK_EPISODES, trainer.seed))


def _finished(
    task: Task, trainer: Trainer, reached: bool, tolerance: float, deviation: float | None, episodes: int, threads: int
) -> Expert:
    mean = evaluate(task, trainer.policy, episodes, EVALUATION_SEED, threads=threads)
    policy, sampled = quietened(task, trainer.policy, mean, tolerance, deviation, threads=threads)
    about = {"robot": str(task.variant), "body": task.variant.hash, "steps": str(trainer.steps), "seed": str(trainer.seed)}
    return Expert(replace(policy, about=about), trainer.steps, reached, mean, sampled)


def quietened(
    task: Task,
    policy: Policy,
    mean: Evaluation,
    tolerance: float,
    deviation: float | None = None,
    *,
    threads: int = 1,
    most: int = 10,
) -> tuple[Policy, Evaluation]:
    """Halve the exploration's variance until sampled actions return within `tolerance` of mean actions.

    With `deviation`, also until none of the episodes falls, and their returns deviate by at most this share of their mean.

    Exploration is a tool of learning; what is left of it should not change what the policy does.
    """
    sampled = evaluate(task, policy, len(mean.returns), EVALUATION_SEED, sampled=True, threads=threads)
    for _ in range(most):
        if abs(sampled.mean - mean.mean) <= tolerance * abs(mean.mean) and (deviation is None or sampled.is_steady(deviation)):
            break
        policy = replace(policy, log_std=policy.log_std + np.float32(QUIETER))
        sampled = evaluate(task, policy, len(mean.returns), EVALUATION_SEED, sampled=True, threads=threads)
    return policy, sampled
