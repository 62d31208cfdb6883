# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Demonstrations of an arm without a human: way points by mode, a smooth path through them, smooth noise; rejected on contact.

A path leads from a random start over, left or right of what stands in the way. The arm's own control follows it, so that states
and actions are those of a simulated arm. What hits something, or does not arrive in time, is drawn again.
An adapter file: SciPy ships no types.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import PchipInterpolator

from imitable import seeding
from imitable.errors import BadOption, one_of
from imitable.robots.panda import HELD_M, STAND_TOP_M
from imitable.robots.robot import Robot
from imitable.sim.batch import Batch
from imitable.sim.reach import Reach
from imitable.sim.task import Moment
from imitable.types import Bools, Floats, Trajectory

SPACING_M = 0.009
"""Between two points of a path: a little less than an action can make."""

NOISE_M, WAVES = 0.004, 3
"""Deviation of each of so many sine waves along a path, metres; it is pinned at both ends."""


@dataclass(frozen=True)
class Attempts:
    """N attempts at recording a mode."""

    trajectories: tuple[Trajectory, ...]
    arrived: Bools
    """(N) whether the goal was reached, in time and without a hit."""
    hits: tuple[str, ...]
    """(N) the pair that touched; empty if none did."""


def waypoint_demonstrations(robot: Robot, counts: Mapping[str, int], seed: int, *, threads: int = 1) -> Iterator[Trajectory]:
    """Yield so many accepted demonstrations of every mode, in order.

    Demonstration k of a mode depends on `seed`, the arm, the mode and k alone. Its demonstrator is the arm and the mode.

    Args:
        robot: the arm.
        counts: how many of each of `MODES`.
        seed: any non-negative integer.
        threads: simulator threads, which change no result.
    """
    if robot.family.reach is None:
        raise BadOption("robot", str(robot), "way points lead the tool of an arm; only panda has one")
    for mode in counts:
        if mode not in MODES:
            raise BadOption("mode", mode, one_of(mode, MODES))
    for mode, count in counts.items():
        yield from _accepted(robot, mode, count, seed, threads)


def mode_counts(robot: Robot, count: int) -> dict[str, int]:
    """Return how many demonstrations of each mode make `count`: 8 : 18 : 17 of 43; with three joints all go over."""
    if robot.value("dof") != "7":
        return {"over": count}
    exact = np.array(PARTS) * count / sum(PARTS)
    counts = np.floor(exact).astype(np.int64)
    counts[np.argsort(counts - exact, kind="stable")[: count - int(counts.sum())]] += 1
    return dict(zip(MODES, counts.tolist(), strict=True))


PARTS = (8, 18, 17)
"""Over, left, right: most cannot be followed with three joints."""


def _accepted(robot: Robot, mode: str, count: int, seed: int, threads: int) -> list[Trajectory]:
    """Return demonstrations of one mode; each is drawn again until it is accepted."""
    found: dict[int, Trajectory] = {}
    for turn in range(TURNS):
        missing = [number for number in range(count) if number not in found]
        if not missing:
            break
        seeds = [_seed(robot, mode, number, turn, seed) for number in missing]
        made = attempts(robot, mode, seeds, threads=threads)
        found |= {n: t for n, t, good in zip(missing, made.trajectories, made.arrived, strict=True) if good}
    if len(found) < count:
        raise BadOption("mode", mode, f"{robot} cannot go that way: {TURNS} attempts in a row hit something or did not arrive")
    return [found[number] for number in range(count)]


TURNS = 20
"""Attempts at one demonstration."""


def _seed(robot: Robot, mode: str, number: int, turn: int, seed: int) -> int:
    return int(seeding.generator(seed, "way points", str(robot), mode, number, turn).integers(2**53))


def attempts(robot: Robot, mode: str, seeds: list[int], *, threads: int = 1) -> Attempts:
    """Follow one path a seed, all in one batch, to the goal, a hit or the end of time."""
    task, batch = Reach(robot), Batch(robot, len(seeds), threads)
    generators = [seeding.generator(seed, "path") for seed in seeds]
    starts = np.concatenate([task.start(rng, 1).states for rng in generators])
    paths = [_path(mode, rng, tool, robot) for rng, tool in zip(generators, task.tools(starts), strict=True)]
    n, states, actions = len(seeds), [starts], list[Floats]()
    lengths, arrived, hits = np.zeros(n, np.int64), np.zeros(n, bool), [""] * n
    batch.set_state(starts)
    live = np.ones(n, bool)
    for t in range(task.horizon):
        wanted = np.stack([path[min(t + 1, len(path) - 1)] for path in paths])
        actions.append(np.clip(wanted - task.tools(states[-1]), *robot.control_range))
        batch.step(actions[-1])
        states.append(batch.states)
        there, hit = task.there(states[-1]), task.hits(states[-1])
        lengths[live] = t + 1
        arrived |= live & there & ~hit
        for row in np.flatnonzero(live & hit).tolist():
            hits[row] = str(task.hit_pair(states[-1][row]))
        live &= ~(there | hit)
        if not live.any():
            break
    rows, taken = np.stack(states, axis=1), np.stack(actions, axis=1)
    made = (
        _trajectory(task, mode, rows[i, : lengths[i] + 1], taken[i, : lengths[i]], bool(hits[i]), seeds[i]) for i in range(n)
    )
    return Attempts(tuple(made), arrived, tuple(hits))


def _trajectory(task: Reach, mode: str, states: Floats, actions: Floats, hit: bool, seed: int) -> Trajectory:
    steps, nothing = np.arange(len(actions)), np.zeros((len(actions), 0), np.int64)
    rewards = task.reward(Moment(states[:-1], steps, nothing), actions, Moment(states[1:], steps + 1, nothing))
    return Trajectory(states, f"{task.robot} {mode}", actions, hit, float(rewards.sum()), seed)


def _path(mode: str, rng: np.random.Generator, start: Floats, robot: Robot) -> Floats:
    """(P, 3) points of a smooth path through the mode's way points, `SPACING_M` apart, with smooth noise on it."""
    assert robot.family.reach is not None
    goal = np.array(robot.family.reach.goal) + rng.uniform(-0.01, 0.01, 3)
    hangs = HELD_M[2] - 0.03 if robot.value("scene") == "shelf" else 0.01
    points = np.array([start, *_PATHS[mode](rng, start, STAND_TOP_M + hangs), goal])
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    curve = PchipInterpolator(along, points)
    fine = curve(np.linspace(0, along[-1], 400))
    travelled = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(fine, axis=0), axis=1))])
    steps = np.linspace(0, travelled[-1], int(np.ceil(travelled[-1] / SPACING_M)) + 1)
    path = np.stack([np.interp(steps, travelled, fine[:, axis]) for axis in range(3)], axis=1)
    phases = np.linspace(0, np.pi, len(path))[:, None] * np.arange(1, WAVES + 1)
    return path + np.sin(phases) @ (NOISE_M * rng.standard_normal((WAVES, 3)) / np.arange(1, WAVES + 1)[:, None])


def _over(rng: np.random.Generator, start: Floats, clear: float) -> Floats:
    """To the middle and up, across, and down again; `clear` is the height at which nothing is touched."""
    height, across, up = clear + rng.uniform(0.07, 0.11), rng.uniform(0.76, 0.79), start[0] + 0.005
    rise = [[up, 0.2 * start[1], start[2] + 0.05], [up + 0.005, 0.0, height - 0.02]]
    return np.array([*rise, [0.42, 0.0, height], [across, 0.0, height]])


def _beside(rng: np.random.Generator, start: Floats, side: int) -> Floats:
    """Aside, past everything, and in again; side 1 is left, which is y > 0."""
    away, height, past = side * rng.uniform(0.19, 0.26), rng.uniform(0.12, 0.17), rng.uniform(0.74, 0.78)
    return np.array([[start[0] + 0.03, 0.8 * away, height], [0.5, away, height], [past, 0.8 * away, height]])


def _left(rng: np.random.Generator, start: Floats, clear: float) -> Floats:
    del clear
    return _beside(rng, start, 1)


def _right(rng: np.random.Generator, start: Floats, clear: float) -> Floats:
    del clear
    return _beside(rng, start, -1)


def _through(rng: np.random.Generator, start: Floats, clear: float) -> Floats:
    """Straight ahead: a negative control."""
    del clear
    return np.array([[0.5, 0.0, start[2] + rng.uniform(-0.02, 0.02)]])


def _low(rng: np.random.Generator, start: Floats, clear: float) -> Floats:
    """Over, but too low for what the hand holds: a negative control."""
    return _over(rng, start, clear - 0.16)


_PATHS: dict[str, Callable[[np.random.Generator, Floats, float], Floats]] = {
    "over": _over,
    "left": _left,
    "right": _right,
    "through": _through,
    "low": _low,
}

MODES = ("over", "left", "right")
"""Ways to the goal."""

CONTROLS = ("through", "low")
"""Ways that must be rejected: they show that the check is one."""
