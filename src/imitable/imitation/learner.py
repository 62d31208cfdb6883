# SPDX-License-Identifier: MIT
"""What a learner is (hyper-parameters that begin a training), and what a training is (learning that can be interrupted)."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from imitable.evaluation.reference import Reference
from imitable.evaluation.result import ProjectionCount
from imitable.rl.progress import Progress
from imitable.robots.robot import Robot
from imitable.types import Demonstrations, Policy, Weights


@dataclass(frozen=True)
class LearningJob:
    """Everything that a learner is given."""

    demos: Demonstrations
    imitator: Robot
    weights: Weights | None
    """Probability mass of every demonstration; None: every transition counts the same."""
    steps: int
    """Control steps that it may learn from."""
    seed: int
    threads: int = 1
    say: Callable[[str], None] = lambda line: None
    horizon: int | None = None
    """Steps of an episode of a robot without a task; None: those of the longest demonstration."""
    projections: Path | None = None
    """Folder of projections that runs share; nothing that is learned depends on it."""


class Training(Protocol):
    """One run under way. The same job gives the same policy, to the last bit, whether it was interrupted or not."""

    @property
    def done(self) -> bool:
        """Whether nothing is left to do."""
        ...

    @property
    def progress(self) -> float:
        """Part of the work that is done, from 0 to 1."""
        ...

    @property
    def reference(self) -> Reference | None:
        """The demonstrations as it saw them, that its policy is compared with; None on a robot with a task of its own."""
        ...

    @property
    def policy(self) -> Policy:
        """The policy so far."""
        ...

    def iterate(self) -> Progress:
        """Learn a little."""
        ...

    def save(self, path: Path) -> None:
        """Write everything that the rest of the training depends on."""
        ...

    def load(self, path: Path) -> None:
        """Go on from what `save` wrote in a training of the same job."""
        ...


@runtime_checkable
class Projects(Protocol):
    """What a training that projects demonstrations first can say of it."""

    @property
    def projection(self) -> ProjectionCount:
        """What it took so far."""
        ...


class Learner(Protocol):
    """A frozen dataclass of hyper-parameters: `imitate` checks its input, writes its run folder and evaluates its policy."""

    @property
    def least_steps(self) -> int:
        """Control steps below which nothing would be learned."""
        ...

    def begin(self, job: LearningJob) -> Training:
        """Return the training before its first iteration; may take a while (networks that are fitted beforehand)."""
        ...
