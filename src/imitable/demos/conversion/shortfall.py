# SPDX-License-Identifier: MIT
"""Poses that a hand cannot reach: how many, where the farthest is, and the line that says so."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from imitable.demos.conversion.following import TURN_M, Reached
from imitable.types import Floats

MISSED_M = 1e-3
"""Metres from which on a pose counts as one that cannot be reached."""
MISSED_RAD = 0.01
"""And radians."""


@dataclass(frozen=True)
class Shortfall:
    """What one recording's hand lacks."""

    recording: str
    frames: int
    missed: int
    """Frames whose pose is not reached."""
    time_s: float
    """Of the worst frame, from the recording's first."""
    gap_m: float
    """There."""
    turn: float
    """There, radians."""


def shortfall(recording: str, times: Floats, reached: Reached) -> Shortfall:
    """Return what a recording's hand lacks; `times` (n) are the seconds of its frames."""
    missed = (reached.gaps_m > MISSED_M) | (reached.turns > MISSED_RAD)
    worst = int((reached.gaps_m + TURN_M * reached.turns).argmax())
    gap, turn = float(reached.gaps_m[worst]), float(reached.turns[worst])
    return Shortfall(recording, len(times), int(np.count_nonzero(missed)), float(times[worst]), gap, turn)


def shortfall_remarks(found: Sequence[Shortfall]) -> list[str]:
    """Return the line about all recordings; none if every pose is reached."""
    short = [one for one in found if one.missed]
    if not short:
        return []
    worst = max(short, key=lambda one: one.gap_m + TURN_M * one.turn)
    turned = f" and {worst.turn:.2g} rad" if worst.turn > MISSED_RAD else ""
    frames = f"{sum(one.missed for one in found):,} of {sum(one.frames for one in found):,} frames"
    where = f"{worst.recording} at {worst.time_s:.2f} s is out of reach by {100 * worst.gap_m:.1f} cm{turned}"
    return [f"{where}, the farthest of {frames} in {len(short):,} of {len(found):,} recordings: they are approached"]
