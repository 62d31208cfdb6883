# SPDX-License-Identifier: MIT
"""Motor babbling: a body's own movements under random, smooth controls. Whatever it does there, it can do."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from imitable import seeding
from imitable.errors import UnstableSimulation
from imitable.robots.robot import Robot
from imitable.sim.batch import Batch
from imitable.sim.kinematics import state_space
from imitable.sim.own_task import own_task
from imitable.types import Floats, Trajectory

SMOOTHNESS, LOUDNESS = 0.9, 0.7
"""Controls are 0.7 u_t in half control ranges, clipped to the range: u_t = 0.9 u_{t−1} + √(1 − 0.9²) ξ_t, u_{−1} = ξ_0."""

SERVO_SMOOTHNESS, SERVO_LOUDNESS = 0.95, 0.5
"""Those of servos, whose controls are positions and are smoothed twice: rough ones ask for leaps that no arm is asked for."""


@dataclass(frozen=True)
class Scales:
    """How much a body's state varies when it babbles: standard deviations.

    Of entries as a policy observes them, and of coordinates and differences (`kinematics.StateSpace`), which distances are
    measured in. They are the same but for bodies with quaternions. Those of an arm are of its tool, (3), and the same along
    all axes, whether it can move there or not: a metre is a metre.
    """

    state: Floats
    """(S) of the entries."""
    change: Floats
    """(S) of their changes in one control step."""
    coordinates: Floats
    """(2 nv) of the coordinates."""
    difference: Floats
    """(2 nv) of the differences between a state and the one before it."""


def babble(
    robot: Robot, count: int, steps: int, seed: int, *, starts: Floats | None = None, threads: int = 1
) -> list[Trajectory]:
    """Record `count` trajectories of `steps` control steps; an unstable one is cut short.

    They begin where the body's episodes do, or in the states `starts` (count, S).
    """
    rng = seeding.generator(seed, "babble")
    if starts is None:
        starts = own_task(robot).start(rng, count).states
    actions = _smooth(robot, rng.standard_normal((steps, count, robot.control_range.shape[1])))
    batch = Batch(robot, count, threads)
    batch.set_state(starts)
    states, lengths, failed = [starts], np.full(count, steps), np.zeros(count, bool)
    for t in range(steps):
        failed |= batch.step(actions[t])
        lengths = np.where(failed, np.minimum(lengths, t), lengths)
        states.append(batch.states)
    rows = np.stack(states, axis=1)
    if not lengths.any():
        raise UnstableSimulation(str(robot), seed)
    return [
        Trajectory(rows[i, : length + 1], str(robot), actions[:length, i])
        for i, length in enumerate(lengths.tolist())
        if length
    ]


def _smooth(robot: Robot, noise: Floats) -> Floats:
    """(T, N, A) white noise → (T, N, A) smooth controls inside the range."""
    if robot.has_servos:
        units = _filtered(_filtered(noise, SERVO_SMOOTHNESS), SERVO_SMOOTHNESS)
        return robot.to_controls(np.clip(SERVO_LOUDNESS * units / units.std(), -1, 1))
    return robot.to_controls(np.clip(LOUDNESS * _filtered(noise, SMOOTHNESS), -1, 1))


def _filtered(noise: Floats, smoothness: float) -> Floats:
    """(T, …) white noise → (T, …) of the same deviation, each a part of the one before."""
    units, now = np.empty_like(noise), noise[0]
    for t, draw in enumerate(noise):
        now = smoothness * now + np.sqrt(1 - smoothness**2) * draw
        units[t] = now
    return units


@lru_cache(maxsize=64)
def scales(robot: Robot) -> Scales:
    """Return the body's own scales: of one fixed seed, because they are a property of the body."""
    movements = [trajectory.states for trajectory in babble(robot, 32, 200, 0)]
    space, states = state_space(robot), np.concatenate(movements)
    changes = np.concatenate([np.diff(one, axis=0) for one in movements])
    differences = np.concatenate([space.difference(one[1:], one[:-1]) for one in movements])
    if robot.tool is not None:
        seen, steps = (np.full(3, array.std(axis=0).max()) for array in (space.coordinates(states), differences))
        return Scales(seen, steps, seen, steps)
    deviations = (array.std(axis=0) for array in (states, changes, space.coordinates(states), differences))
    return Scales(*map(_floored, deviations))


def _floored(deviations: Floats) -> Floats:
    """Keep an entry that hardly moves from being blown up: at least a thousandth of the largest."""
    return np.maximum(deviations, max(1e-9, 1e-3 * float(deviations.max())))
