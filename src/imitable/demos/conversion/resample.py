# SPDX-License-Identifier: MIT
"""Movements at another rate: cubic Hermite curves through recorded positions, rotations in the tangent space."""

from dataclasses import dataclass

import numpy as np

from imitable.sim.kinematics import StateSpace
from imitable.types import Floats, Ints

SAME = 1e-4
"""Two periods that differ by a smaller part are one."""
NUDGE = 1e-4
"""Velocities are read off the curve so many periods before and after."""


@dataclass(frozen=True, eq=False)
class Curve:
    """A movement at any time between its first and its last frame.

    Within frame i it is x(s) = x_i ⊕ (h01(s) d_i + h10(s) v_i Δ_i + h11(s) v_{i+1} Δ_i), s in [0, 1], with d_i the difference
    of its ends, Δ_i its duration and Hermite's polynomials h. ⊕ and d live in the tangent space.
    """

    space: StateSpace
    times: Floats
    """(n) seconds."""
    qpos: Floats
    """(n, nq)."""
    qvel: Floats
    """(n, nv)."""
    limits: tuple[Floats, Floats] | None = None
    """(nq) each: the lowest and the highest that positions between two frames may be."""

    def positions(self, at: Floats) -> Floats:
        """(m) seconds → (m, nq)."""
        frame: Ints = np.clip(np.searchsorted(self.times, at, "right") - 1, 0, len(self.times) - 2)
        span = (self.times[frame + 1] - self.times[frame])[:, None]
        s = ((at - self.times[frame]) / span[:, 0])[:, None]
        begin, end = self._states(frame), self._states(frame + 1)
        whole = self.space.difference(end, begin)[:, : self.space.nv]
        rise, leave, arrive = s * s * (3 - 2 * s), s * (1 - s) ** 2, s * s * (s - 1)
        way = rise * whole + span * (leave * self.qvel[frame] + arrive * self.qvel[frame + 1])
        found = self.space.moved(begin, np.concatenate([way, np.zeros_like(way)], axis=1))[:, : self.space.nq]
        return found if self.limits is None else np.clip(found, *self.limits)

    def velocities(self, at: Floats, period_s: float) -> Floats:
        """(m) seconds → (m, nv) the curve's own speed, from just before to just after."""
        nudge = NUDGE * period_s
        before, after = np.maximum(at - nudge, self.times[0]), np.minimum(at + nudge, self.times[-1])
        zeros = np.zeros((len(at), self.space.nv))
        states = [np.concatenate([self.positions(when), zeros], axis=1) for when in (after, before)]
        return self.space.difference(states[0], states[1])[:, : self.space.nv] / (after - before)[:, None]

    def _states(self, frames: Ints) -> Floats:
        return np.concatenate([self.qpos[frames], np.zeros((len(frames), self.space.nv))], axis=1)


def same_rate(times: Floats, period_s: float) -> bool:
    """Return whether frames are a period apart already."""
    return bool((np.abs(np.diff(times) - period_s) <= SAME * period_s).all())


def grid(times: Floats, period_s: float) -> Floats:
    """Return the times of the new frames: from the first on, a period apart, up to the last."""
    count = int(np.floor((times[-1] - times[0]) / period_s + SAME)) + 1
    return np.minimum(times[0] + period_s * np.arange(count), times[-1])


def held(rows: Floats, times: Floats, at: Floats) -> Floats:
    """(n, w) → (m, w) what was given last at each time: a controller holds its command."""
    late: Floats = at + SAME * float(times[1] - times[0])
    last: Ints = np.searchsorted(times, late, "right") - 1
    return rows[np.clip(last, 0, len(rows) - 1)]
