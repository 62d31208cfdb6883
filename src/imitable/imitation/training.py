# SPDX-License-Identifier: MIT
"""A training that a trainer of `rl` drives: where imitation takes place, what a policy observes, checkpoints."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from imitable.evaluation.reference import Reference, task_of
from imitable.imitation.features import FLOOR
from imitable.imitation.learner import LearningJob
from imitable.imitation.transitions import WeightedTransitions, reference_of
from imitable.nn.networks import policy_of
from imitable.nn.normaliser import Normaliser
from imitable.rl.agent import fresh_networks
from imitable.rl.checkpoint import load_checkpoint, save_checkpoint
from imitable.rl.progress import Progress
from imitable.rl.settings import Method
from imitable.rl.train import Trainer
from imitable.sim.babble import scales
from imitable.sim.task import Task, moment_of
from imitable.types import Floats, Policy


class PolicyTraining:
    """A trainer as a training."""

    def __init__(self, trainer: Trainer, reference: Reference | None, spent_before: int = 0) -> None:
        """Drive this trainer; its task was made of the reference, if it has one. `spent_before`: steps of random movements."""
        self.trainer, self.reference, self._spent_before = trainer, reference, spent_before

    @property
    def done(self) -> bool:
        """Whether the budget has no room for another batch."""
        return self.trainer.done

    @property
    def progress(self) -> float:
        """Part of the budget that is spent."""
        return 1.0 if self.done else self.trainer.steps / self.trainer.budget

    @property
    def policy(self) -> Policy:
        """The policy so far."""
        return self.trainer.policy

    def iterate(self) -> Progress:
        """Collect a batch and learn from it; the steps are all that were simulated."""
        learned = self.trainer.iterate()
        return replace(learned, steps=self._spent_before + learned.steps)

    def save(self, path: Path) -> None:
        """Write a checkpoint."""
        save_checkpoint(self.trainer, path)

    def load(self, path: Path) -> None:
        """Read a checkpoint."""
        load_checkpoint(self.trainer, path)


def imitation_task(
    job: LearningJob, transitions: WeightedTransitions, *, observe_root: bool = False
) -> tuple[Task, Reference | None]:
    """Return where imitation takes place: the robot's own task, or a free body that starts like the demonstrations.

    The second is what the free body's episodes are compared with; None of a robot that has a task.
    """
    reference = reference_of(job.imitator, transitions, job.seed, job.horizon)
    return task_of(job.imitator, reference, observe_root=observe_root), reference


def untrained_policy(method: Method, task: Task, seed: int, normaliser: Normaliser) -> Policy:
    """Return the policy before it has learned anything but how to standardise."""
    actor, _ = fresh_networks(method, task.observation_size, len(task.robot.control_centre), seed)
    return policy_of(actor.mean, actor.log_std, normaliser, task.robot)


def normaliser_of(task: Task, transitions: WeightedTransitions) -> Normaliser:
    """Return mean and variance of what a policy observes, under p_w."""
    mean, std = transitions.moments(observations(task, transitions.before))
    return Normaliser(mean, np.square(np.maximum(std, FLOOR * _observed_scale(task))), 1.0)


def observations(task: Task, states: Floats) -> Floats:
    """(n, S) → (n, O) what a policy observes of states, at the beginning of an episode."""
    return task.observe(moment_of(states))


def _observed_scale(task: Task) -> Floats:
    """(O) how much the observed entries vary when the body babbles."""
    # a task may hide leading entries, never others
    return scales(task.robot).state[-task.observation_size :]
