# SPDX-License-Identifier: MIT
"""Courses that a trainer of `rl` drives: the task of imitation, and its checkpoints."""

from pathlib import Path

import numpy as np

from imitable.evaluation.reference import task_of
from imitable.imitation.discriminator_reward import DiscriminatorReward
from imitable.imitation.features import FLOOR, LIMIT, features
from imitable.imitation.learner import Job
from imitable.imitation.methods.gaifo import Gaifo
from imitable.imitation.transitions import WeightedTransitions, reference, weighted_transitions
from imitable.nn.normaliser import Normaliser
from imitable.rl.checkpoint import load_checkpoint, save_checkpoint
from imitable.rl.expert import check_settings
from imitable.rl.progress import Progress
from imitable.rl.train import Trainer
from imitable.sim.babble import scales
from imitable.sim.task import Moment, Task
from imitable.types import Floats, Policy


class PolicyTraining:
    """A trainer as a training."""

    def __init__(self, trainer: Trainer) -> None:
        """Drive this trainer."""
        self.trainer = trainer

    @property
    def done(self) -> bool:
        """Whether the budget has no room for another batch."""
        return self.trainer.done

    @property
    def share(self) -> float:
        """Part of the budget that is spent."""
        return 1.0 if self.done else self.trainer.steps / self.trainer.budget

    @property
    def policy(self) -> Policy:
        """The policy so far."""
        return self.trainer.policy

    def iterate(self) -> Progress:
        """Collect a batch and learn from it."""
        return self.trainer.iterate()

    def save(self, path: Path) -> None:
        """Write a checkpoint."""
        save_checkpoint(self.trainer, path)

    def load(self, path: Path) -> None:
        """Read a checkpoint."""
        load_checkpoint(self.trainer, path)


def adversarial(method: Gaifo, job: Job, begin: Policy | None = None) -> PolicyTraining:
    """Return the training of adversarial imitation, from fresh networks or from a policy."""
    transitions = weighted_transitions(job.demos, job.weights, job.seed)
    seen = features(
        transitions, job.imitator, method.features, normalised=bool(method.normalised), root=bool(method.observe_root)
    )
    task = imitation_task(job, transitions, observe_root=bool(method.observe_root))
    check_settings(task, method.rl, job.steps, begin)
    trainer = Trainer(
        task,
        method.rl,
        job.steps,
        job.seed,
        begin=begin,
        reward_model=DiscriminatorReward(method, transitions, seen, job.seed),
        normaliser=normaliser_of(task, transitions, begin) if method.normalised else _identity(task.observation_size),
        observation_limit=LIMIT if method.normalised else np.inf,
        quiet_share=method.quiet_share,
        threads=job.threads,
    )
    return PolicyTraining(trainer)


def imitation_task(job: Job, transitions: WeightedTransitions, *, observe_root: bool = False) -> Task:
    """Return where imitation takes place: the robot's own task, or a free body that starts like the demonstrations."""
    known = reference(job.imitator, transitions, job.seed, job.horizon)
    return task_of(job.imitator, known, observe_root=observe_root)


def normaliser_of(task: Task, transitions: WeightedTransitions, begin: Policy | None = None) -> Normaliser:
    """Return mean and variance of what a policy observes, under p_w; of a policy to begin from, its own."""
    if begin is not None:
        return Normaliser(begin.observation_mean.astype(np.float64), np.square(begin.observation_std.astype(np.float64)), 1.0)
    blank = np.zeros((len(transitions), 0), np.int64)
    observed = task.observe(Moment(transitions.before, np.zeros(len(transitions), np.int64), blank))
    mean, std = transitions.moments(observed)
    return Normaliser(mean, np.square(np.maximum(std, FLOOR * _observed_scale(task))), 1.0)


def _observed_scale(task: Task) -> Floats:
    """(O) how much the observed entries vary when the body babbles."""
    # a task may hide leading entries, never others
    return scales(task.robot).state[-task.observation_size :]


def _identity(size: int) -> Normaliser:
    return Normaliser(np.zeros(size), np.ones(size) - 1e-8, 1.0)
