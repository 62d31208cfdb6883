# SPDX-License-Identifier: MIT
"""What the paper prints: final returns, mean and standard deviation over five runs, p-values, steps."""

from collections.abc import Iterable
from dataclasses import dataclass

from imitable.experiments.settings import SETTINGS


@dataclass(frozen=True)
class Printed:
    """One number of the paper's tables."""

    method: str
    """The paper's name of the method."""
    mean: float
    std: float


Rows = tuple[Printed, ...]
"""Numbers of several methods."""

PAPER: dict[str, Rows] = {
    "swimmer": (Printed("Ours", 74.3, 20.1), Printed("GAIL", 30.9, 23.5)),
    "walker2d-1": (Printed("Ours", 3144.3, 23.5), Printed("GAIL", 261.1, 5.6)),
    "walker2d-2": (Printed("Ours", 3424.0, 645.0),),
    "half_cheetah-1": (Printed("Ours", 2830.6, 292.6), Printed("GAIL", 2443.6, 440.7)),
    "half_cheetah-2": (Printed("Ours", 3142.0, 89.0),),
    "hopper": (Printed("Ours", 3329.6, 115.2), Printed("GAIL", 3009.6, 362.4)),
}
"""By setting; Ours weighs by feasibility, GAIL imitates everything. The second settings print no number for GAIL."""


def _four(gail: tuple[float, float], sail: tuple[float, float], feas: tuple[float, float], ours: tuple[float, float]) -> Rows:
    return Printed("GAIL", *gail), Printed("SAIL", *sail), Printed("ID-Feas", *feas), Printed("Ours", *ours)


PERCENTAGES: dict[str, dict[int, Rows]] = {
    "swimmer": {
        20: _four((40.0, 34.3), (-7.7, 19.7), (23.1, 33.9), (68.2, 24.7)),
        50: _four((37.9, 35.2), (-5.5, 24.6), (30.6, 28.1), (76.4, 22.1)),
        100: _four((30.9, 23.5), (-3.0, 28.4), (48.2, 39.0), (74.3, 20.1)),
    },
    "walker2d-1": {
        20: _four((276.9, 18.3), (8.5, 17.5), (244.3, 27.4), (3137.6, 50.2)),
        50: _four((313.1, 63.0), (-5.3, 56.4), (261.0, 46.7), (3127.0, 30.7)),
        100: _four((261.1, 5.6), (19.0, 30.1), (227.0, 24.2), (3144.3, 23.5)),
    },
    "half_cheetah-1": {
        40: _four((2464.9, 460.2), (-556.7, 365.8), (2604.4, 423.1), (2716.7, 301.6)),
        60: _four((2597.2, 399.0), (-503.3, 299.3), (2515.3, 311.0), (2812.4, 261.2)),
        100: _four((2443.6, 440.7), (-603.0, 389.6), (2594.4, 508.7), (2830.6, 292.6)),
    },
    "hopper": {
        20: _four((2798.3, 351.1), (-252.6, 432.6), (2040.3, 408.3), (3273.3, 180.2)),
        50: _four((2996.6, 623.2), (-1622.2, 1780.1), (2108.9, 611.9), (3351.0, 146.3)),
        100: _four((3009.6, 362.4), (-7.0, 11.4), (1916.1, 750.4), (3329.6, 115.2)),
    },
}
"""By setting and percentage of all demonstrations: its table of varying numbers, where ID-Feas is called RAL."""

MAPPING = (
    Printed("GAIL", 31.20, 22.25),
    Printed("SAIL", 0.56, 4.27),
    Printed("DCC", 5.32, 3.43),
    Printed("ID-Feas", 48.96, 38.50),
    Printed("Ours", 74.89, 19.68),
)
"""On Swimmer, against a method that maps demonstrations."""

DEMONSTRATED: dict[str, tuple[Printed, Printed]] = {
    "swimmer": (Printed("Demonstrations", 106, 3), Printed("Ours", 75, 20)),
    "walker2d-1": (Printed("Demonstrations", 3098, 118), Printed("Ours", 3147, 10)),
    "walker2d-2": (Printed("Demonstrations", 3720, 336), Printed("Ours", 3424, 645)),
    "half_cheetah-1": (Printed("Demonstrations", 3229, 170), Printed("Ours", 2832, 291)),
    "half_cheetah-2": (Printed("Demonstrations", 3337, 67), Printed("Ours", 3142, 89)),
    "hopper": (Printed("Demonstrations", 3460, 87), Printed("Ours", 3330, 115)),
}
"""Demonstrations against Ours."""

SIMULATED_ARM, REAL_ARM = "simulated arm", "real arm"
ARM: dict[str, tuple[Printed, Printed]] = {
    SIMULATED_ARM: (Printed("Demonstrations", 1823, 110), Printed("Ours", 2127, 5053)),
    REAL_ARM: (Printed("Demonstrations", 2531, 362), Printed("Ours", 2746, 2712)),
}
"""The arm's columns of the same table."""

HIGHEST_P = {
    "swimmer": (0.116, "ID-Feas"),
    "walker2d-1": (2.55e-14, "GAIL"),
    "walker2d-2": (0.297, "ID-Feas"),
    "half_cheetah-1": (0.188, "ID-Feas"),
    "half_cheetah-2": (0.0037, "ID-Feas"),
    "hopper": (0.026, "GAIL"),
}
"""The highest p of Ours against a baseline that it prints, and against whom; the test is not named."""

ARM_P = {SIMULATED_ARM: (7.252e-9, 1.047e-8), REAL_ARM: (2.432e-7, 3.534e-8)}
"""The highest p of the arm, of its return and of its success, both with ID-Feas."""

CLAIM = "mujoco-a"
"""The experiment of its own claim: with projection it has learned and tested nothing."""

STEPS = {"score": 500_000, "learner": 70_000_000}
"""Simulator steps of one f-MDP, and of imitation, about."""


def printed(setting: str, method: str) -> Printed | None:
    """Return what the paper prints for a method with all demonstrations."""
    rows = PERCENTAGES.get(setting, {}).get(100, ()) or PAPER.get(setting, ())
    return next((row for row in rows if row.method == method), None)


def highest_p(experiment: str, setting: str) -> tuple[float, str] | None:
    """Return the paper's highest p beside that of an experiment, and against whom; see `CLAIM`."""
    return HIGHEST_P.get(setting) if experiment == CLAIM else None


def setting_name(imitator: str, demonstrators: Iterable[str]) -> str | None:
    """Return the name of the paper's setting with this imitator and these demonstrators, if there is one."""
    names = set(demonstrators)
    return next((s.name for s in SETTINGS if s.imitator == imitator and set(s.demonstrators) == names), None)
