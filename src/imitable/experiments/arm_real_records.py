# SPDX-License-Identifier: MIT
"""What `arm_real.py` measures: trials by row, and how sure it is that one row is above another."""

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from imitable.experiments.franky_server import Difference
from imitable.experiments.records import read_if_there
from imitable.experiments.statistics import fisher, welch
from imitable.types import Floats

ROBOT = "panda:dof=3"
SLOWDOWN = 2.0
"""An action is given 0.1 s: the tool moves at up to 10 cm/s, as in a laboratory."""
DIFFERENCE = Difference(noise=0.001, shift_x=0.005, shift_z=0.005, load=0.2, friction=1.5, stiffness=0.8)
"""A millirad of noise, a shelf that stands 5 mm further and higher, a book of 200 g, more friction, softer servos."""

PlanePath = tuple[tuple[int, int], ...]
"""x and z of a tool in the plane of the three joints, millimetres."""
THINNING = 4
"""One place in so many is kept of a path, and the last."""


@dataclass(frozen=True)
class Trial:
    """One trial of one policy."""

    seed: int
    """Of its start."""
    policy: str
    """Hash."""
    steps: int
    total_return: float
    """−50 an action, −10000 at a hit, +5000 at the goal; a trial that a limit stopped pays for all actions up to the cap."""
    goal: bool
    hit: bool
    """Whether the arm touched something, came nearer than 1 cm, or was stopped before a command that would have made it."""
    stopped: str
    """Why it was stopped, if it was."""
    path: PlanePath | None = None
    """Where the tool was, by the joints that were read; None of trials from before paths were kept."""


@dataclass(frozen=True)
class ArmRealRecord:
    """All trials."""

    group: str
    hardware: str
    robot: str
    slowdown: float
    difference: Difference
    rows: dict[str, tuple[Trial, ...]]


def thinned(tools: Floats) -> PlanePath:
    """(T + 1, 3) places of a tool in metres → some of them, the first and the last included, as a path in the plane."""
    kept = sorted({*range(0, len(tools), THINNING), len(tools) - 1})
    places = np.round(1000 * tools[kept][:, [0, 2]]).astype(int).tolist()
    return tuple((x, z) for x, z in places)


def record_path(results: Path) -> Path:
    """Return where the record lies."""
    return results / "arm_real.json"


def empty_record() -> ArmRealRecord:
    """Return a record before its first trial."""
    return ArmRealRecord("arm-real", "none: franky-sim behind libfranka's protocol", ROBOT, SLOWDOWN, DIFFERENCE, {})


def read_arm_real(results: Path) -> ArmRealRecord | None:
    """Return the record, if it is there."""
    return read_if_there(ArmRealRecord, record_path(results))


@dataclass(frozen=True)
class Compared:
    """One row beside ours."""

    trials: int
    return_mean: float
    return_std: float
    """Between trials."""
    goals: int
    hits: int
    stops: int
    """Trials that a limit ended."""
    p_return: float
    """Two-sided p of Welch's test against our row; NaN of our own."""
    p_goal: float
    """Two-sided p of Fisher's exact test of successes."""


def compared(record: ArmRealRecord, ours: str = "Ours") -> dict[str, Compared]:
    """Return every row beside ours."""
    best = record.rows.get(ours, ())
    return {name: _compared(trials, best if name != ours else ()) for name, trials in record.rows.items()}


def _compared(trials: tuple[Trial, ...], ours: tuple[Trial, ...]) -> Compared:
    returns, goals = _returns(trials), sum(one.goal for one in trials)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # trials that all end alike do not deviate
        test = welch(_returns(ours), returns)
    won = sum(one.goal for one in ours)
    return Compared(
        trials=len(trials),
        return_mean=float(returns.mean()),
        return_std=float(returns.std(ddof=1)) if len(returns) > 1 else float("nan"),
        goals=goals,
        hits=sum(one.hit for one in trials),
        stops=sum(bool(one.stopped) and not one.hit for one in trials),
        p_return=test.two_sided,
        p_goal=fisher((won, len(ours)), (goals, len(trials))) if ours else float("nan"),
    )


def _returns(trials: tuple[Trial, ...]) -> Floats:
    return np.array([one.total_return for one in trials], float)
