# SPDX-License-Identifier: MIT
"""Records of cloning: what was reached, after how many steps of the simulator."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from imitable.experiments.records import read_record
from imitable.experiments.statistics import steps_to

GOAL = 0.95
"""Part of the related demonstrations' return that a curve shall reach."""


@dataclass(frozen=True)
class OwnClone:
    """One seed: the body's own demonstrations, projected and cloned."""

    mean_return: float = field(metadata={"key": "return"})
    lowest: float
    """The lowest return of an episode."""
    steps: int
    """Simulator steps of the projection; cloning takes none."""


@dataclass(frozen=True)
class Curve:
    """One seed: the mean policy's return on the way."""

    projected: int
    """Simulator steps of the projection before."""
    looks: tuple[tuple[int, float], ...]
    """Total simulator steps, and the mean return with mean actions."""


@dataclass(frozen=True)
class CloningRecord:
    """One row of the table; its numbers are written out for the page, the runs say them exactly."""

    group: str
    name: str
    what: str
    """The method."""
    simulator_steps: str
    reached: str
    to_goal: str
    runs: tuple[OwnClone, ...] | tuple[Curve, ...]


def cloning_path(results: Path, name: str) -> Path:
    """Return where the record of a name lies."""
    return results / "imitation" / f"cloning.{name.replace(', ', '-').replace(' ', '.')}.json"


def read_cloning(results: Path) -> list[CloningRecord]:
    """Return all records by name."""
    return [read_record(CloningRecord, path) for path in sorted((results / "imitation").glob("cloning.*.json"))]


def own_record(name: str, runs: Sequence[OwnClone]) -> CloningRecord:
    """Return the record of a body's own demonstrations."""
    reached = ", ".join(f"{one.mean_return:,.0f} (lowest {one.lowest:,.0f})" for one in runs)
    return CloningRecord(
        "cloning", name, "project, cloning", ", ".join(f"{one.steps:,}" for one in runs), reached, "–", tuple(runs)
    )


def curve_record(name: str, what: str, demonstrated_return: float, runs: Sequence[Curve]) -> CloningRecord:
    """Return the record of curves, with the steps until they first reach the goal."""
    goal = GOAL * demonstrated_return
    first = [steps_to(one.looks, goal) for one in runs]
    to_goal = ", ".join("never" if steps is None else f"{steps:,}" for steps in first)
    return CloningRecord(
        "cloning",
        name,
        what,
        ", ".join(f"{one.looks[-1][0]:,}" for one in runs),
        ", ".join(f"{one.looks[-1][1]:,.0f}" for one in runs),
        f"{to_goal} (goal {goal:,.0f})",
        tuple(runs),
    )
