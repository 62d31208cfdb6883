# SPDX-License-Identifier: MIT
"""Records of one learning case, all seeds together, and whether the own-body check is passed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from imitable.experiments.cases import LearningCase
from imitable.experiments.records import FLAT, read_record
from imitable.types import Floats

Actions = Literal["mean_actions", "sampled_actions"]

GOALS = {"half_cheetah": 0.95, "hopper": 0.95, "swimmer": 0.9, "walker2d": 0.9}
"""Part of the demonstrations' return that the own-body check asks for, by robot."""

TOLERANCE = 0.1
"""Swimmer's mean and sampled returns shall agree within this."""


@dataclass(frozen=True)
class Returns:
    """A policy's episodes with one kind of actions, in brief."""

    episodes: int
    return_mean: float
    return_std: float
    return_min: float
    length_mean: float
    falls: int


@dataclass(frozen=True)
class LearningRun:
    """What one seed came to."""

    seed: int
    demonstrated_return: float
    """Mean return of the demonstrations, each on its own body."""
    mean_actions: Returns
    """Of the final policy."""
    sampled_actions: Returns
    """Of the final policy."""
    best_mean_actions: Returns
    """Of the policy with the best return on the way."""
    seconds: int
    """Learning and evaluation, on one thread beside another job."""
    curve: tuple[tuple[int, float | None], ...]
    """Steps, and the mean return of the last 64 episodes so far; None before the first one ends."""


@dataclass(frozen=True)
class LearningRecord:
    """A case and its runs."""

    case: LearningCase = field(metadata=FLAT)
    runs: tuple[LearningRun, ...]
    """One a seed."""

    def returns(self, actions: Actions = "mean_actions") -> Floats:
        """(seeds) mean return of every seed's final policy."""
        return np.array([getattr(run, actions).return_mean for run in self.runs])

    @property
    def falls(self) -> int:
        """Episodes of all seeds that ended by a fall, mean actions."""
        return sum(run.mean_actions.falls for run in self.runs)

    @property
    def demonstrated_return(self) -> float:
        """Mean return of the demonstrations."""
        return self.runs[0].demonstrated_return


def learning_path(results: Path, case: LearningCase) -> Path:
    """Return where the record of a case lies."""
    return results / "imitation" / case.record


def read_learning(results: Path, group: str) -> list[LearningRecord]:
    """Return the records of a group, by name."""
    return [read_record(LearningRecord, path) for path in sorted((results / "imitation").glob(f"{group}.*.json"))]


def demonstrated_fraction(record: LearningRecord) -> float:
    """Return the mean return over seeds as a part of the demonstrations' return."""
    return float(record.returns().mean()) / record.demonstrated_return


def reaches_goal(record: LearningRecord) -> bool:
    """Return whether the own-body check is passed: the robot's goal; on Swimmer, sampled actions must agree as well."""
    mean, sampled = float(record.returns().mean()), float(record.returns("sampled_actions").mean())
    agree = record.case.name != "swimmer" or abs(mean - sampled) <= TOLERANCE * abs(sampled)
    return demonstrated_fraction(record) >= GOALS[record.case.name] and agree


def alone_returns(records: Sequence[LearningRecord]) -> dict[tuple[str, str], float]:
    """Return what imitating one demonstrator alone came to, by imitator and demonstrator."""
    return {(record.case.imitator, record.case.demonstrators[0]): float(record.returns().mean()) for record in records}
