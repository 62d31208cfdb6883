# SPDX-License-Identifier: MIT
"""Courses that a trainer of `rl` drives: the task of imitation, and its checkpoints."""

from pathlib import Path

import numpy as np

from imitable.imitation.adversary import Adversary
from imitable.imitation.features import FLOOR, LIMIT, features
from imitable.imitation.gaifo import Gaifo
from imitable.imitation.learner import Job
from imitable.imitation.lessons import Lessons, lessons
from imitable.imitation.reference import reference, task_of
from imitable.models.normaliser import Normaliser
from imitable.rl.checkpoint import load_checkpoint, save_checkpoint
from imitable.rl.expert import check_settings
from imitable.rl.progress import Progress
from imitable.rl.train import Trainer
from imitable.sim.babble import scales
from imitable.sim.task import Moment, Task
from imitable.types import Floats, Policy


class TrainerCourse:
    """A trainer as a course."""

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


def adversarial(method: Gaifo, job: Job, begin: Policy | None = None) -> TrainerCourse:
    """Return the course of adversarial imitation, from fresh networks or from a policy."""
    taught = lessons(job.demos, job.weights, job.seed)
    seen = features(taught, job.imitator, method.features, normalised=bool(method.normalised), root=bool(method.observe_root))
    task = imitation_task(job, taught, observe_root=bool(method.observe_root))
    check_settings(task, method.rl, job.steps, begin)
    trainer = Trainer(
        task,
        method.rl,
        job.steps,
        job.seed,
        begin=begin,
        incentive=Adversary(method, taught, seen, job.seed),
        normaliser=normaliser_of(task, taught, begin) if method.normalised else _identity(task.observation_size),
        observation_limit=LIMIT if method.normalised else np.inf,
        quiet_share=method.quiet_share,
        threads=job.threads,
    )
    return TrainerCourse(trainer)


def imitation_task(job: Job, taught: Lessons, *, observe_root: bool = False) -> Task:
    """Return where imitation takes place: the robot's own task, or a free body that starts like the demonstrations."""
    known = reference(job.imitator, taught, job.seed, job.horizon)
    return task_of(job.imitator, known, observe_root=observe_root)


def normaliser_of(task: Task, taught: Lessons, begin: Policy | None = None) -> Normaliser:
    """Return mean and variance of what a policy observes, under p_w; of a policy to begin from, its own."""
    if begin is not None:
        return Normaliser(begin.observation_mean.astype(np.float64), np.square(begin.observation_std.astype(np.float64)), 1.0)
    blank = np.zeros((len(taught), 0), np.int64)
    observed = task.observe(Moment(taught.before, np.zeros(len(taught), np.int64), blank))
    mean, std = taught.moments(observed)
    return Normaliser(mean, np.square(np.maximum(std, FLOOR * _observed_scale(task))), 1.0)


def _observed_scale(task: Task) -> Floats:
    """(O) how much the observed entries vary when the body babbles."""
    # a task may hide leading entries, never others
    return scales(task.variant).state[-task.observation_size :]


def _identity(size: int) -> Normaliser:
    return Normaliser(np.zeros(size), np.ones(size) - 1e-8, 1.0)
