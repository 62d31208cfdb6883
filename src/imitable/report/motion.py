# SPDX-License-Identifier: MIT
"""Bodies in motion, as the page draws them: outlines in the plane of motion, or arms in space, thinned in time and rounded."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from imitable.report.poses import Figure, figure, ground, scene
from imitable.robots.robot import Robot
from imitable.sim.poses import positions
from imitable.types import Floats, Ints

FRAMES = 240
"""Frames of an animation, at most."""

NUMBERS = 60_000
"""Coordinates of an animation, at most: a body of many parts gets fewer frames."""


def motion(imitator: Robot, steps: Ints, bodies: Sequence[tuple[str, Robot, Floats]]) -> dict[str, Any] | None:
    """Return named bodies in (F, S) states at (F) control steps, in whole units of `unit` metres; None of nothing to see."""
    if not bodies:
        return None
    width = 2 if imitator.tool is None else 3
    coordinates = sum(width * int(sum(figure(body, states[:1]).counts)) for _, body, states in bodies)
    if not coordinates:
        return None  # a model without a visible geom
    frames = thinned(len(steps), int(min(FRAMES, max(2, NUMBERS // max(1, coordinates)))))
    figures = {name: figure(body, states[frames]) for name, body, states in bodies}
    if imitator.tool is not None:
        return _in_space(imitator, rounded(steps[frames] * imitator.layout.period_s), figures, bodies)
    axes, unit = _plane(figures.values()), _unit(figures.values())
    return {
        "times": rounded(steps[frames] * imitator.layout.period_s),
        "axes": ["xyz"[axis] for axis in axes],
        "unit": unit,
        "ground": ground(imitator) if axes[1] == 2 else None,
        **{name: None for name in ("demonstrated", "attempted")},
        **{name: _drawn(one, axes, unit) for name, one in figures.items()},
    }


def _in_space(
    imitator: Robot,
    times: list[float | None],
    figures: dict[str, Figure],
    bodies: Sequence[tuple[str, Robot, Floats]],
) -> dict[str, Any]:
    """Return arms as the page turns them in space: with their scene, the goal and the paths of their tools."""
    assert imitator.tool is not None
    assert imitator.family.reach is not None
    unit, axes, reach = _unit(figures.values()), (0, 1, 2), imitator.family.reach
    paths = {name: positions(body, states, (imitator.tool.site,)) for name, body, states in bodies}
    goal = Figure((reach.radius,), (1,), np.array([[reach.goal]]))
    return {
        "times": times,
        "axes": ["x", "y", "z"],
        "unit": unit,
        "ground": None,
        "scene": _drawn(scene(imitator), axes, unit),
        "goal": _drawn(goal, axes, unit),
        "paths": {name: np.round(path / unit).astype(int).reshape(-1).tolist() for name, path in paths.items()},
        **{name: None for name in ("demonstrated", "attempted")},
        **{name: _drawn(one, axes, unit) for name, one in figures.items()},
    }


def rounded(numbers: Iterable[float]) -> list[float | None]:
    """Return numbers with five digits, and null where there is none: JSON knows no NaN."""
    return [float(f"{number:.5g}") if np.isfinite(number) else None for number in numbers]


def thinned(count: int, most: int) -> Ints:
    """Return at most `most` of `count` places, evenly, the last one always among them."""
    stride = -(-count // most)
    return np.arange(count - 1, -1, -stride)[::-1]


def _plane(figures: Iterable[Figure]) -> tuple[int, int]:
    """Return the two axes to look at: left out is the one along which the bodies extend least; of equals y, then z."""
    points = np.concatenate([one.points.reshape(-1, 3) for one in figures])
    extent = (points.max(axis=0) - points.min(axis=0)).round(6)
    hidden = min((1, 2, 0), key=lambda axis: float(extent[axis]))
    across, up = (axis for axis in range(3) if axis != hidden)
    return across, up


def _unit(figures: Iterable[Figure]) -> float:
    """Return a length that is small against one body: about a thousandth of it."""
    size = max(float(np.ptp(one.points[0], axis=0).max()) + 2 * max(one.radii, default=0.0) for one in figures)
    return float(10.0 ** np.floor(np.log10(max(size, 1e-6)) - 2.5))


def _drawn(one: Figure, axes: tuple[int, ...], unit: float) -> dict[str, Any]:
    whole = np.round(one.points[:, :, list(axes)] / unit).astype(int)
    return {
        "radii": rounded(np.array(one.radii) / unit),
        "counts": list(one.counts),
        "points": whole.reshape(len(whole), -1).tolist(),
    }
