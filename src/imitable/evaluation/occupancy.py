# SPDX-License-Identifier: MIT
"""A policy on a robot that has no task reward: are its states those of the demonstrations, and are they sound? No JAX.

Two clouds of states, n visited ones x with masses p and M demonstrated ones y with masses q, are as far apart as their sliced
Wasserstein distance of order one, in the body's own scales (`sim/babble.py`):

    occupancy = mean over directions θ of ∫ |F_θ(t) − G_θ(t)| dt,    F_θ = Σ p_i [⟨θ, x_i⟩ ≤ t],  G_θ = Σ q_j [⟨θ, y_j⟩ ≤ t]

θ is uniform on the unit sphere of D = 2 nv − root coordinates: where in the world a body is does not count. If all D of them
are off by one scale, this is 1 for D = 1 and about √(2/π) = 0.8 for large D. Visited are states that transitions start from,
as weights count transitions, too. Of large clouds, strata of equal mass give one state each, by a fixed seed.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from imitable import seeding
from imitable.errors import BadOption, BadTrajectory, BadWeights
from imitable.robots.robot import Robot
from imitable.sim.babble import scales
from imitable.sim.kinematics import beyond_limits, penetrating, state_space
from imitable.types import Bools, Floats, Ints, Trajectory

DIRECTIONS = 64
"""Directions θ, drawn by a fixed seed."""

MOST_STATES = 50_000
"""States of each cloud that its occupancy is computed from."""

MOST_POSTURES = 2_000
"""States of each cloud whose contacts are looked for."""


@dataclass(frozen=True)
class Occupancy:
    """Which states a policy's rollouts occupy. Fractions are between 0 and 1."""

    distance: float
    """Distance between visited and demonstrated states."""
    floor: float
    """The same distance between every other demonstration and the rest: what more of the same would show. NaN when unknown."""
    length: float
    """Mean number of transitions."""
    limit_violations: float
    """Fraction of visited states in which a joint stands beyond its range by more than 1 % of its span."""
    contact_violations: float
    """Fraction of visited states in which two geoms are inside each other by more than 5 mm."""
    demonstrated_limit_violations: float
    """Fraction of `limit_violations` in the demonstrations, put on this body."""
    demonstrated_contact_violations: float
    """Fraction of `contact_violations` in the demonstrations, put on this body."""


class Cloud(NamedTuple):
    """Weighted states."""

    states: Floats
    """(N, S), or (N, D) once they are entries in scales."""
    mass: Floats
    """(N) above 0, summing to one."""
    owners: Ints | None = None
    """(N) which demonstration each is of, if that is known."""


def compare_occupancy(
    robot: Robot, rollouts: Sequence[Trajectory], states: Floats, density: Floats, owners: Ints | None = None
) -> Occupancy:
    """Compare a policy's rollouts with demonstrations.

    Args:
        robot: the robot.
        rollouts: the policy's episodes on it.
        states: (M, S) demonstrated states.
        density: (M) how likely each is, up to a factor; one of density zero might as well not be there.
        owners: (M) number of the demonstration that each is of; without them the floor is not known.
    """
    if not rollouts:
        raise BadOption("episodes", 0, "give at least 1")
    visited = np.concatenate([trajectory.states[:-1] for trajectory in rollouts])
    own, shown = _cloud(robot, visited, np.ones(len(visited))), _cloud(robot, states, density, owners)
    ours, theirs = _in_scales(robot, _thinned(own, MOST_STATES)), _in_scales(robot, _thinned(shown, MOST_STATES))
    return Occupancy(
        distance=sliced_distance(ours, theirs),
        floor=_floor(theirs),
        length=float(np.mean([len(trajectory) for trajectory in rollouts])),
        limit_violations=_fraction(beyond_limits, robot, own),
        contact_violations=_fraction(penetrating, robot, _thinned(own, MOST_POSTURES)),
        demonstrated_limit_violations=_fraction(beyond_limits, robot, shown),
        demonstrated_contact_violations=_fraction(penetrating, robot, _thinned(shown, MOST_POSTURES)),
    )


def directions(entries: int) -> Floats:
    """(DIRECTIONS, D) unit vectors, the same at every call."""
    drawn = seeding.generator(0, "directions").standard_normal((DIRECTIONS, entries))
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def sliced_distance(one: Cloud, other: Cloud) -> float:
    """Return the mean over directions of the Wasserstein distance of order one."""
    axes = directions(one.states.shape[1])
    # no BLAS product, here and below: its bits may depend on threads
    ours, theirs = (np.einsum("ns,ds->dn", cloud.states, axes) for cloud in (one, other))
    return float(np.mean([_distance(x, one.mass, y, other.mass) for x, y in zip(ours, theirs, strict=True)]))


def mean_distance(cloud: Cloud) -> float:
    """Return the mean distance of two points of a cloud along a direction: 2 ∫ F (1 − F) dt, mean over directions."""
    projected = np.einsum("ns,ds->dn", cloud.states, directions(cloud.states.shape[1]))
    return float(np.mean([_mean_gap(points, cloud.mass) for points in projected]))


def _mean_gap(points: Floats, mass: Floats) -> float:
    """2 ∫ F (1 − F) dt of points (n) on a line: the mean of |x − x′|."""
    order = np.argsort(points, kind="stable")
    below = np.cumsum(mass[order])[:-1]
    return float((2 * below * (1 - below) * np.diff(points[order])).sum())


def _distance(x: Floats, x_mass: Floats, y: Floats, y_mass: Floats) -> float:
    """∫ |F − G| dt of points x (n) and y (m) on a line."""
    points = np.concatenate([x, y])
    order = np.argsort(points, kind="stable")
    difference = np.cumsum(np.concatenate([x_mass, -y_mass])[order])[:-1]
    return float((np.abs(difference) * np.diff(points[order])).sum())


def _floor(cloud: Cloud) -> float:
    """Return the distance between every other demonstration and the rest."""
    if cloud.owners is None or cloud.owners.min() == cloud.owners.max():
        return math.nan
    second = np.unique(cloud.owners, return_inverse=True)[1] % 2 == 1
    halves = [Cloud(cloud.states[half], cloud.mass[half] / cloud.mass[half].sum()) for half in (~second, second)]
    return sliced_distance(*halves)


def cloud_in_scales(robot: Robot, states: Floats, density: Floats) -> Cloud:
    """(M, S) states, (M) how likely each is, up to a factor → their cloud without the root's position, in the body's scales."""
    return _in_scales(robot, _cloud(robot, states, density))


def _cloud(robot: Robot, states: Floats, density: Floats, owners: Ints | None = None) -> Cloud:
    """Check states and densities; leave out what has none."""
    if states.ndim != 2 or states.shape[1] != len(robot.start):
        raise BadTrajectory(f"states must have the shape (M, {len(robot.start)}) of {robot}, got {states.shape}")
    if not np.isfinite(states).all():
        raise BadTrajectory("a demonstrated state is not finite")
    if density.shape != (len(states),):
        raise BadWeights(f"{len(states)} states, but densities of shape {density.shape}")
    if not (np.isfinite(density).all() and (density >= 0).all() and density.sum() > 0):
        raise BadWeights("densities must be finite and from 0 on, and not all 0")
    if owners is not None and owners.shape != density.shape:
        raise BadWeights(f"{len(states)} states, but owners of shape {owners.shape}")
    likely = density > 0
    mass = density[likely] / density[likely].sum()
    return Cloud(states[likely], mass, None if owners is None else owners[likely])


def _thinned(cloud: Cloud, most: int) -> Cloud:
    """Return at most so many states: one of each stratum of equal mass, drawn by a fixed seed so that no gait can keep step."""
    if len(cloud.mass) <= most:
        return cloud
    points = (np.arange(most) + seeding.generator(0, "strata").random(most)) / most
    # the last sum may fall short of one by rounding
    rows = np.minimum(np.searchsorted(np.cumsum(cloud.mass), points, side="right"), len(cloud.mass) - 1)
    return Cloud(cloud.states[rows], np.full(most, 1 / most), None if cloud.owners is None else cloud.owners[rows])


def _in_scales(robot: Robot, cloud: Cloud) -> Cloud:
    """Leave out the root position and divide by the body's own scales."""
    entries, coordinates = slice(robot.root_entries, None), state_space(robot).coordinates(cloud.states)
    return cloud._replace(states=coordinates[:, entries] / scales(robot).coordinates[entries])


def _fraction(wrong: Callable[[Robot, Floats], Bools], robot: Robot, cloud: Cloud) -> float:
    # sums of masses may pass one by rounding
    return min(1.0, float(cloud.mass[wrong(robot, cloud.states)].sum()))
