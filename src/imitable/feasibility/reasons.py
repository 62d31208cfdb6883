# SPDX-License-Identifier: MIT
"""Reasons why a demonstration cannot be followed, from states alone: entries missed, limits broken, forces lacking."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from imitable.robots.robot import Robot
from imitable.sim.babble import babble, scales
from imitable.sim.kinematics import state_space
from imitable.tracking.inverse_dynamics import actuator_limits, inverse_forces, joints
from imitable.types import Floats, Trajectory

LIMIT_SLACK = 0.1
"""Part of a joint's range that it may be past its limit: limits are soft."""

ENTRIES = 5
"""Failing entries that are named."""

BIAS = 2.0
"""Inverse dynamics over a whole control step is rough, the more so in contact: a force counts when it exceeds what the joint
has by more than this many times what the same estimate asks for on the imitator's own movements."""


@dataclass(frozen=True)
class FailingEntry:
    """A state entry that the imitator misses."""

    name: str
    gap: float
    """Mean size of the gap over the steps after the divergence, in the entry's own unit."""
    in_scales: float
    """The same, in deviations of the imitator's own movements."""


@dataclass(frozen=True)
class BrokenLimit:
    """A joint that the demonstration takes past the imitator's range; radians or metres."""

    joint: str
    reaches: float
    limit: float


@dataclass(frozen=True)
class NeededForce:
    """What inverse dynamics asks of a joint: the median over the demonstrated steps."""

    joint: str
    unit: str
    needed: float
    available: float
    """0 for a joint that nothing drives."""


def failing_entries(imitator: Robot, attempted: Floats, demonstrated: Floats) -> tuple[FailingEntry, ...]:
    """(K, S), (K, S) → the entries whose mean gap is largest, in deviations of the imitator's own movements."""
    space = state_space(imitator)
    gaps = np.abs(space.difference(attempted, demonstrated)).mean(axis=0)
    if not np.isfinite(gaps).all():
        return ()
    ratios, names = gaps / scales(imitator).coordinates, space.names(imitator.layout.state)
    worst = map(int, np.argsort(-ratios)[:ENTRIES])
    return tuple(FailingEntry(names[i], float(gaps[i]), float(ratios[i])) for i in worst)


def broken_limits(trajectory: Trajectory, imitator: Robot, steps: int) -> tuple[BrokenLimit, ...]:
    """Return the joints that leave the imitator's range in the demonstrated states, up to step `steps`; none of an arm."""
    if imitator.tool is not None:
        return ()
    states, broken = trajectory.states[: steps + 1], list[BrokenLimit]()
    for joint in joints(imitator):
        low, high = joint.limits
        values = states[:, joint.position]
        for limit, reaches in ((low, float(values.min())), (high, float(values.max()))):
            if np.isfinite(limit) and not low <= reaches <= high and abs(reaches - limit) > LIMIT_SLACK * (high - low):
                broken.append(BrokenLimit(joint.name, reaches, limit))
    return tuple(sorted(broken, key=lambda one: -abs(one.reaches - one.limit)))


def needed_forces(trajectory: Trajectory, imitator: Robot, steps: int) -> tuple[NeededForce, ...]:
    """Return the joints that need more force than they have on the demonstrated transitions, up to step `steps`.

    τ from `mj_inverse` at the demonstrated states; a joint without an actuator has none to give. A joint past its limit is
    left out: its force is that of the limit. Of an arm only the tool's path counts: there are many ways to hold it.
    """
    if imitator.tool is not None:
        return ()
    outside = {broken.joint for broken in broken_limits(trajectory, imitator, steps)}
    demonstrated, own = _forces(trajectory, imitator, steps), _own_forces(imitator)
    available, lacking = actuator_limits(imitator), list[NeededForce]()
    for joint in joints(imitator):
        needed, has = float(demonstrated[joint.velocity]), float(available[joint.velocity])
        if joint.name not in outside and needed > has + BIAS * max(0.0, float(own[joint.velocity]) - has) + 1e-6:
            lacking.append(NeededForce(joint.name, joint.force_unit, needed, has))
    return tuple(sorted(lacking, key=lambda force: (force.available == 0, force.available - force.needed)))


def _forces(trajectory: Trajectory, imitator: Robot, steps: int) -> Floats:
    """(nv) median size of the forces that the transitions ask for."""
    forces = inverse_forces(imitator, trajectory.states[:steps], trajectory.states[1 : steps + 1])
    return np.median(np.abs(forces), axis=0)


@lru_cache(maxsize=64)
def _own_forces(imitator: Robot) -> Floats:
    """(nv) the same on the imitator's own movements: what the estimate asks for where nothing is lacking."""
    return np.median([_forces(trajectory, imitator, len(trajectory)) for trajectory in babble(imitator, 8, 100, 0)], axis=0)
