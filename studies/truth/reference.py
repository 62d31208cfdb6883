# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Smooth reference motions of an arm: wandering joints, bursts, bumps past a point. An adapter file: SciPy ships no types."""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import make_interp_spline

from imitable.types import Floats
from studies.truth.body import Body

MARGIN = 0.05
"""Part of a joint's range that references stay away from its ends."""

CALM_RAD = 0.5
"""Largest amplitude of a wandering joint, radians (or metres, within its range)."""


@dataclass(frozen=True, eq=False)
class Reference:
    """Positions of all driven joints at the control period, and their derivatives."""

    positions: Floats
    """(T + 1, J)."""
    period: float

    @property
    def times(self) -> Floats:
        """(T + 1) seconds."""
        return self.period * np.arange(len(self.positions), dtype=np.float64)

    def _derivative(self, order: int) -> Floats:
        return np.asarray(make_interp_spline(self.times, self.positions, k=5).derivative(order)(self.times))

    def states(self, body: Body) -> tuple[Floats, Floats]:
        """Return (T + 1, S) states and (T + 1, V) accelerations of a body whose other joints rest."""
        count, model = len(self.positions), body.model
        states, accelerations = np.zeros((count, model.nq + model.nv)), np.zeros((count, model.nv))
        states[:, : model.nq] = model.qpos0
        states[:, body.positions] = self.positions
        states[:, model.nq + body.dofs] = self._derivative(1)
        accelerations[:, body.dofs] = self._derivative(2)
        return states, accelerations


def limits(body: Body) -> tuple[Floats, Floats]:
    """Return (J) lowest and highest angles that references use: the range less a margin, at most ± π about its middle."""
    low, high = body.ranges.T
    low, high = np.where(np.isfinite(low), low, -np.pi), np.where(np.isfinite(high), high, np.pi)
    middle, half = (low + high) / 2, np.minimum((high - low) / 2, np.pi)
    return middle - (1 - MARGIN) * half, middle + (1 - MARGIN) * half


def pose(body: Body, rng: np.random.Generator, holding: float = 0.6) -> Floats:
    """Return (J) a pose in the middle of the ranges, without contacts if there is one, that takes a part of the torques."""
    low, high = limits(body)
    best: tuple[float, Floats] | None = None
    for _ in range(40):
        chosen = low + (high - low) * rng.uniform(0.2, 0.8, len(low))
        qpos = np.array(body.model.qpos0)
        qpos[body.positions] = chosen
        cost = body.contacts(qpos) + max(0.0, body.gravity_ratio(qpos) - holding)
        if best is None or cost < best[0]:
            best = cost, chosen
        if cost == 0:
            break
    assert best is not None
    return best[1]


def wander(body: Body, rng: np.random.Generator, start: Floats, seconds: float, hertz: float) -> Reference:
    """Let every joint follow a sum of two sines about a pose, from rest at the pose."""
    times = body.times(round(seconds / body.period))
    low, high = limits(body)
    room = np.minimum(CALM_RAD, 0.9 * np.minimum(start - low, high - start).clip(0))
    out = np.tile(start, (len(times), 1))
    for joint in range(len(start)):
        for _ in range(2):
            amplitude = 0.5 * room[joint] * rng.uniform(0.2, 1)
            cycles = hertz * rng.uniform(0.3, 1)
            phase = rng.uniform(0, 2 * np.pi)
            out[:, joint] += amplitude * np.sin(2 * np.pi * cycles * times + phase)
    return Reference(start + plateau(times, 0.0, np.inf, min(0.5, seconds / 4))[:, None] * (out - start), body.period)


def burst(base: Reference, joints: list[int], span: tuple[float, float], hertz: float, amplitudes: Floats) -> Reference:
    """Add an oscillation of some joints between two times."""
    ramp = min(0.25, (span[1] - span[0]) / 3)
    shape = plateau(base.times, *span, ramp) * np.sin(2 * np.pi * hertz * (base.times - span[0]))
    positions = base.positions.copy()
    positions[:, joints] += shape[:, None] * amplitudes
    return Reference(positions, base.period)


def bump(base: Reference, joint: int, span: tuple[float, float], top: float) -> Reference:
    """Move one joint to a value between two times."""
    shape = plateau(base.times, *span, (span[1] - span[0]) / 3)
    positions = base.positions.copy()
    positions[:, joint] += shape * (top - positions[:, joint])
    return Reference(positions, base.period)


def plateau(times: Floats, begin: float, end: float, ramp: float) -> Floats:
    """Return a shape that rises from 0 to 1 within `ramp` after `begin` and falls to 0 before `end`, twice differentiable."""
    up, down = ((times - begin) / ramp).clip(0, 1), ((end - times) / ramp).clip(0, 1)
    return _smooth(up) * _smooth(down)


def _smooth(x: Floats) -> Floats:
    return x**3 * (10 - 15 * x + 6 * x**2)
