# SPDX-License-Identifier: MIT
"""Motor babbling: a body's own movements under random, smooth controls. Whatever it does there, it can do."""

from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np

from imitable import seeding
from imitable.errors import UnstableSimulation
from imitable.robots.robot import Robot
from imitable.robots.speeds import speed_limits
from imitable.sim.batch import Batch
from imitable.sim.kinematics import state_space
from imitable.sim.objects import driven_dofs
from imitable.sim.own_task import own_task
from imitable.sim.poses import joint_columns, plausible_amplitudes
from imitable.types import Bools, Floats, Ints, Trajectory

SMOOTHNESS, LOUDNESS = 0.9, 0.7
"""Controls are 0.7 u_t in half control ranges, clipped to the range: u_t = 0.9 u_{t−1} + √(1 − 0.9²) ξ_t, u_{−1} = ξ_0."""

SERVO_SMOOTHNESS, SERVO_LOUDNESS = 0.95, 0.5
"""Those of servos, whose controls are positions and are smoothed twice: rough ones ask for leaps that no arm is asked for."""


ABSURD_HZ, PLAUSIBLE_HZ = 25.0, 2.0
"""No body is meant to swing a joint over its whole range as fast as the first; many do as fast as the second."""


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


@dataclass(frozen=True, eq=False)
class _Deviations:
    """Standard deviations of one body's babbling, before anything is bounded."""

    entries: Scales
    """As they are."""
    absurd: Bools
    """(nv) degrees of freedom whose babbling says nothing of plausible motions."""
    bounds: Floats
    """(nv) largest deviations of their speeds."""
    amplitudes: Floats
    """(nv) of plausible motions: half a joint's range, radians or metres."""


@lru_cache(maxsize=64)
def scales(robot: Robot) -> Scales:
    """Return the body's own scales: of one fixed seed, because they are a property of the body.

    Torques that push a light, hardly damped joint back and forth spin it at thousands of rad/s, against which anything is
    near. A joint is *absurd* whose speed deviates by more than that of a sine at `ABSURD_HZ` over its range (a radian where
    it has none), or that is driven round and round. It is measured by a sine at `PLAUSIBLE_HZ` instead. A speed limit also
    bounds a speed's deviation.
    """
    found = _deviations(robot)
    if robot.tool is not None or (not found.absurd.any() and np.isinf(found.bounds).all()):
        return Scales(*(_floored(getattr(found.entries, field.name)) for field in fields(Scales)))
    nq, nv, rates = robot.layout.nq, len(found.absurd), 2 * np.pi * PLAUSIBLE_HZ
    places, dofs = _places(robot)
    chosen = found.absurd[dofs]
    places, dofs = places[chosen], dofs[chosen]
    speeds = np.where(found.absurd, np.minimum(found.bounds, rates * found.amplitudes / np.sqrt(2)), found.bounds)
    changes = np.where(found.absurd, rates * robot.layout.period_s * speeds, 2 * found.bounds)
    positions, moves = found.amplitudes / np.sqrt(2), robot.layout.period_s * speeds
    state, change, coordinates, difference = (getattr(found.entries, field.name).copy() for field in fields(Scales))
    for first, seen, steps in ((nq, state, change), (nv, coordinates, difference)):
        at = places if first == nq else dofs
        seen[at], steps[at] = np.minimum(seen[at], positions[dofs]), np.minimum(steps[at], moves[dofs])
        seen[first:], steps[first:] = np.minimum(seen[first:], speeds), np.minimum(steps[first:], changes)
    return Scales(*map(_floored, (state, change, coordinates, difference)))


def absurd_joints(robot: Robot) -> tuple[str, ...]:
    """Return the joints whose babbling is absurd, so that plausible motions are assumed in its place."""
    found = _deviations(robot)
    names = (name.removesuffix("_velocity") for name in robot.layout.qvel)
    return tuple(name for name, absurd in zip(names, found.absurd.tolist(), strict=True) if absurd)


@lru_cache(maxsize=64)
def _deviations(robot: Robot) -> _Deviations:
    movements = [trajectory.states for trajectory in babble(robot, 32, 200, 0)]
    space, states = state_space(robot), np.concatenate(movements)
    changes = np.concatenate([np.diff(one, axis=0) for one in movements])
    differences = np.concatenate([space.difference(one[1:], one[:-1]) for one in movements])
    nothing = np.zeros(len(robot.layout.qvel), bool)
    if robot.tool is not None:
        seen, steps = (np.full(3, array.std(axis=0).max()) for array in (space.coordinates(states), differences))
        return _Deviations(Scales(seen, steps, seen, steps), nothing, np.full(len(nothing), np.inf), np.ones(len(nothing)))
    found = Scales(*(array.std(axis=0) for array in (states, changes, space.coordinates(states), differences)))
    amplitudes, speeds = plausible_amplitudes(robot), found.coordinates[space.nv :]
    absurd = speeds > 2 * np.pi * ABSURD_HZ * amplitudes / np.sqrt(2)
    turning = [dof for columns in joint_columns(robot).turning if len(columns) == 1 for dof in columns]
    spins = np.isin(np.arange(space.nv), turning) & driven_dofs(robot.model)
    absurd |= spins & (found.coordinates[: space.nv] > np.pi)
    return _Deviations(found, absurd, speed_limits(robot), amplitudes)


def _places(robot: Robot) -> tuple[Ints, Ints]:
    """Return the position entries and degrees of freedom of joints that turn or slide."""
    names = {name: place for place, name in enumerate(robot.layout.qpos)}
    pairs = [(names.get(name.removesuffix("_velocity"), -1), dof) for dof, name in enumerate(robot.layout.qvel)]
    return tuple(np.array([pair for pair in pairs if pair[0] >= 0], np.int64).reshape(-1, 2).T)  # type: ignore[return-value]


def _floored(deviations: Floats) -> Floats:
    """Keep an entry that hardly moves from being blown up: at least a thousandth of the largest."""
    return np.maximum(deviations, max(1e-9, 1e-3 * float(deviations.max())))
