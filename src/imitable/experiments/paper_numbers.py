# SPDX-License-Identifier: MIT
"""What the paper prints for its settings: final returns, mean and standard deviation over five runs with all demonstrations."""

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


PAPER = {
    "swimmer": (Printed("Ours", 74.3, 20.1), Printed("GAIL", 30.9, 23.5)),
    "walker2d-1": (Printed("Ours", 3144.3, 23.5), Printed("GAIL", 261.1, 5.6)),
    "walker2d-2": (Printed("Ours", 3424.0, 645.0),),
    "half_cheetah-1": (Printed("Ours", 2830.6, 292.6), Printed("GAIL", 2443.6, 440.7)),
    "half_cheetah-2": (Printed("Ours", 3142.0, 89.0),),
    "hopper": (Printed("Ours", 3329.6, 115.2), Printed("GAIL", 3009.6, 362.4)),
}
"""By setting; Ours weighs by feasibility, GAIL imitates everything. The second settings print no number for GAIL."""


def setting_name(imitator: str, demonstrators: Iterable[str]) -> str | None:
    """Return the name of the paper's setting with this imitator and these demonstrators, if there is one."""
    names = set(demonstrators)
    return next((s.name for s in SETTINGS if s.imitator == imitator and set(s.demonstrators) == names), None)
