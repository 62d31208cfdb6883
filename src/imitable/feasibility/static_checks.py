# SPDX-License-Identifier: MIT
"""The whole motion, without simulating: where it is suspicious for the imitator, and where it is certainly impossible.

A span is *certain* where no motion within the tolerance avoids the violation; any other one is a suspicion, which a simulation
has to confirm, because a recording has noise, and a motion nearby may be possible. Everything is measured in metres, radians,
newtons and newton metres against the robot's own limits and the tolerance. What scores depend on is in `unusual`.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from imitable.feasibility.reach import reach_gaps
from imitable.feasibility.spans import Check, Span, spans
from imitable.feasibility.tolerance import Tolerance, default_tolerance
from imitable.feasibility.unusual import lasting, moment_steps, moments
from imitable.robots.robot import Robot
from imitable.robots.speeds import speed_limits
from imitable.sim.ground import GROUND, standing
from imitable.sim.kinematics import joint_space, state_space
from imitable.sim.objects import own_entries
from imitable.sim.poses import limited_joints
from imitable.tracking.balance import Balance, Frame, balance, frame, friction_losses, least_effort, slips
from imitable.tracking.bounds import Bound, excess_travel, overshoots, path_bound, quickest, torque_bound
from imitable.tracking.inverse_dynamics import actuator_limits
from imitable.types import Bools, Floats, Ints

SOFT = 0.5
"""A joint beyond its range, or geoms inside each other, by this part of the tolerance are suspicious."""

SHORT = 0.1
"""A joint is suspicious that lacks this part of its torque."""

NEIGHBOURS, FASTER = 3, 2.5
"""A step is no jump that is less than so many times as large as one of so many before and after it: a frame was dropped."""

PUSHED_OFF, QUICKEST = (50.0, 300.0), (500.0, 2000.0)
"""m/s² and rad/s² that a robot's root may start with between two states, and a joint whose strength is not known."""

LEAN = 0.25
"""A root is suspicious that requires so much of the robot's weight from elsewhere, or this at its radius of gyration."""

TOUCHING_M = 0.005
"""What is nearer than this to its surroundings touches them."""

SLIP = 0.1
"""m/s: a contact that moves faster along the surface slides."""


@dataclass(frozen=True)
class StaticChecks:
    """What the states of a demonstration show."""

    checks: tuple[Check, ...]
    """One per kind, in metres, radians, newtons and newton metres."""
    period_s: float

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """Suspicions, and what is certain, in order of time."""
        found = [span for check in self.checks for span in spans(check, self.period_s)]
        return tuple(sorted(found, key=lambda span: (span.begin, span.kind, span.certain)))


@dataclass(frozen=True, eq=False)
class _Motion:
    """One demonstration on one robot, and what all checks need of it."""

    imitator: Robot
    states: Floats
    tolerance: Tolerance
    balance: Balance
    hung: Frame
    mine: Bools
    """(nv) degrees of freedom of the robot itself, not of objects."""
    available: Floats
    """(nv) forces of actuators and dry friction."""
    driven: Bools
    """(nv) whether an actuator moves a degree of freedom."""
    moved: Floats
    """(T, nv) differences of positions."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name.removesuffix("_velocity") for name in self.imitator.layout.qvel)

    def units(self, translation: str, rotation: str) -> tuple[str, ...]:
        return tuple(translation if slides else rotation for slides in self.hung.translations.tolist())

    @property
    def tube(self) -> Floats:
        """(nv) half-width of the tolerance."""
        turning = np.where(self.hung.roots, self.tolerance.tilt_rad, self.tolerance.joint_rad)
        return np.where(self.mine, np.where(self.hung.translations, self.tolerance.position_m, turning), 0.0)


def static_checks(imitator: Robot, states: Floats, tolerance: Tolerance | None = None) -> StaticChecks:
    """(T + 1, S) → suspicions and what is certain; nothing is simulated.

    Of an arm that is controlled by its tool only the tool counts, whatever its joints do.
    """
    tolerance, period = tolerance or default_tolerance(imitator), imitator.layout.period_s
    if imitator.tool is not None:
        return StaticChecks(_tool_checks(imitator, states, tolerance), period)
    strengths, found = actuator_limits(imitator), balance(imitator, states, own_near_m=TOUCHING_M)
    motion = _Motion(
        imitator,
        states,
        tolerance,
        found,
        frame(imitator, strengths > 0),
        own_entries(imitator)[imitator.layout.nq :],
        strengths + friction_losses(imitator),
        strengths > 0,
        joint_space(imitator).difference(states[1:], states[:-1])[:, : len(imitator.layout.qvel)],
    )
    checks = (_ranges(motion), _speeds(motion), _jumps(motion), _depths(motion), *_forces(motion), _path(motion))
    return StaticChecks(checks, period)


def _worst(kind: str, sizes: Floats, limits: Floats, ratios: Floats, names: tuple[str, ...], units: tuple[str, ...]) -> Check:
    """(T, k) sizes, limits and ratios → the column with the largest ratio of every transition."""
    if not ratios.shape[1]:
        sizes, limits, ratios, names, units = (
            np.zeros((3, len(ratios), 1))[0],
            np.ones((1, 1)),
            np.zeros((len(ratios), 1)),
            ("",),
            ("",),
        )
    limits = np.broadcast_to(limits, sizes.shape)
    worst, rows = ratios.argmax(axis=1), np.arange(len(sizes))
    return Check(kind, ratios[rows, worst], worst, sizes[rows, worst], limits[rows, worst], names, units)


def _ranges(motion: _Motion) -> Check:
    """Joints beyond their ranges, at both states of a transition: one noisy state is none.

    A stop is a spring: a joint that hits it goes on for about its speed times the time constant of the spring.
    """
    joints, tolerance = limited_joints(motion.imitator), motion.tolerance
    excess = joints.excess(motion.states)
    both = np.minimum(excess[1:], excess[:-1])
    limits = tolerance.of_ranges(motion.imitator)
    check = _worst("range", both, limits, both / (SOFT * limits), joints.names, joints.units)
    return replace(check, certain=(both > limits + overshoots(motion.imitator, motion.moved)).any(axis=1))


def _speeds(motion: _Motion) -> Check:
    """Joints faster than they can be; certain where they go farther than a motion nearby could."""
    imitator, period, steps = motion.imitator, motion.imitator.layout.period_s, len(motion.moved)
    limits = np.where(motion.mine, speed_limits(imitator), np.inf)
    speeds = np.abs(motion.moved) / period
    ratios = lasting(speeds, min(3, moment_steps(imitator))) / (1 + SHORT) / limits
    check, certain = _worst("speed", speeds, limits, ratios, motion.names, motion.units("m/s", "rad/s")), np.zeros(steps, bool)
    for dof in np.flatnonzero(np.isfinite(limits)).tolist():
        way = np.concatenate([[0.0], np.cumsum(motion.moved[:, dof])])
        for begin, end, _ in excess_travel(way, float(limits[dof]) * period, 2 * float(motion.tube[dof])):
            certain[begin:end] = True
    return replace(check, certain=certain)


def _jumps(motion: _Motion) -> Check:
    """Changes of positions in one transition that no speed around it and no force explains; certain beyond twice the tube."""
    imitator, period = motion.imitator, motion.imitator.layout.period_s
    sizes = np.abs(motion.moved)
    padded = np.pad(sizes, ((NEIGHBOURS, NEIGHBOURS), (0, 0)))
    around = np.lib.stride_tricks.sliding_window_view(padded, 2 * NEIGHBOURS + 1, axis=0)
    others = np.delete(around, NEIGHBOURS, axis=-1).max(axis=-1)
    starts = np.where(motion.hung.translations, *PUSHED_OFF)
    quick = quickest(imitator, motion.states, motion.available)
    quick = np.where(quick < np.inf, quick, np.where(motion.hung.translations, *QUICKEST))
    starts = np.where(motion.hung.roots | ~motion.driven, starts, quick)
    gaps = np.where(motion.mine, sizes - FASTER * others - starts * period**2 / 2, 0.0)
    limits = 2 * np.maximum(motion.tube, 1e-9)
    check = _worst("jump", gaps, limits, 2 * gaps / limits, motion.names, motion.units("m", "rad"))
    return replace(check, certain=(gaps > limits).any(axis=1))


def _depths(motion: _Motion) -> Check:
    """Geoms inside each other, at both states of a transition and besides those that are so at the start.

    Out of what is fixed a motion nearby is one tolerance higher; two links move apart by two.
    """
    imitator, tolerance = motion.imitator, motion.tolerance.position_m
    found, [own] = standing(imitator, motion.states, reach_m=0.0), standing(imitator, imitator.start[None], reach_m=0.0).depths
    depths = np.maximum(0.0, np.minimum(found.depths[1:], found.depths[:-1]) - own)
    names = sorted(set(found.pairs))
    worst = np.array([names.index(pair) for pair in found.pairs])[:-1]
    limits = np.where([GROUND in found.pairs[t] for t in range(len(depths))], tolerance, 2 * tolerance)
    units = ("m",) * len(names)
    return Check("penetration", depths / (SOFT * limits), worst, depths, limits, tuple(names), units, depths > limits)


def _forces(motion: _Motion) -> tuple[Check, ...]:
    """What joints lack, and what the root requires that no contact gives; means of a moment.

    Contacts carry the root first, so that what a weak motor lacks is found at its joint.
    """
    hung, names = motion.hung, motion.names
    forces = np.where(motion.mine, least_effort(motion.balance, motion.available, hung.arms), 0.0)
    missing = _beyond(forces, motion.available)
    mean, newtons = moments(missing, motion.imitator), motion.units("N", "Nm")
    joints = np.where(motion.driven, motion.available, 0.0)
    least = np.where(motion.driven, np.maximum(SHORT * motion.available, 1e-9), _push(motion) * hung.arms)
    torque = _worst("torque", np.abs(mean) + joints, joints, np.where(hung.roots, 0.0, np.abs(mean) / least), names, newtons)
    bound = _torque_bound(motion)
    torque = replace(
        torque,
        ratios=np.where(bound.certain, np.maximum(torque.ratios, bound.ratios / SHORT), torque.ratios),
        worst=np.where(bound.certain, bound.worst, torque.worst),
        sizes=np.where(bound.certain, bound.sizes, torque.sizes),
        limits=np.where(bound.certain, joints[bound.worst], torque.limits),
        certain=bound.certain,
    )
    up = mean @ hung.down / -max(hung.weight, 1e-9)
    weight = max(hung.weight, 1e-9)
    support = Check("support", up / (LEAN * weight) * (hung.weight > 0), *_one(up, weight, "robot", "N"))
    travel = mean - np.outer(-up, hung.down) / weight * (hung.weight > 0)
    outer = _worst("outer force", np.abs(travel), least, np.where(hung.travel, np.abs(travel) / least, 0.0), names, newtons)
    turns = hung.roots & ~hung.travel
    tips = _worst("balance", np.abs(mean), least, np.where(turns, np.abs(mean) / least, 0.0), names, newtons)
    return torque, support, outer, tips, _skating(motion, missing)


def _torque_bound(motion: _Motion) -> Bound:
    """Joints that lack torque whatever the motion within the tolerance does; nothing is known where anything else may push."""
    joints, states = limited_joints(motion.imitator), motion.states
    pushed = np.abs(motion.balance.supports).max(axis=1) > 1e-9
    for entry, (low, high), ball in zip(joints.entries.tolist(), joints.ranges.tolist(), joints.balls, strict=True):
        if not ball:
            dof = motion.imitator.layout.qvel.index(f"{motion.imitator.layout.qpos[entry]}_velocity")
            near = (states[:, entry] < low + motion.tube[dof]) | (states[:, entry] > high - motion.tube[dof])
            pushed[:, dof] |= near[1:] | near[:-1]
    limits = np.where(motion.mine & ~motion.hung.roots, motion.available, np.inf)
    return torque_bound(motion.imitator, states, limits, motion.tube, pushed)


def _skating(motion: _Motion, missing: Floats) -> Check:
    """Contacts that slide although their friction would stop them: against the slip they push, and nothing balances it."""
    imitator, hung = motion.imitator, motion.hung
    found = slips(imitator, motion.states, TOUCHING_M)
    speeds = np.minimum(found.speeds[1:], found.speeds[:-1])
    names = tuple(str(imitator.model.body(place).name) or f"body{place}" for place in range(imitator.model.nbody))
    excess = np.zeros(len(speeds))
    if (speeds > SLIP).any() and hung.travel.any():
        sliding = balance(imitator, motion.states, sliding_ms=SLIP, own_near_m=TOUCHING_M)
        rows = np.flatnonzero(speeds > SLIP)
        with_slip = missing.copy()
        with_slip[rows] = _beyond(least_effort(sliding, motion.available, hung.arms, rows), motion.available)[rows]
        size, without = (np.linalg.norm(moments(one * hung.travel, imitator), axis=1) for one in (with_slip, missing))
        excess = np.where(speeds > SLIP, (size - without) / _push(motion), 0.0)
    limits = np.full(len(speeds), SLIP)
    return Check("skating", excess, found.bodies[:-1], speeds, limits, names, ("m/s",) * len(names))


def _path(motion: _Motion) -> Check:
    """Where the centre of mass leaves every path that gravity and contacts allow."""
    bound, free = path_bound(motion.imitator, motion.states, motion.hung, motion.tolerance.position_m)
    limits = np.full(len(free), motion.tolerance.position_m)
    worst = np.where(free, 0, 1)
    return Check("path", bound.ratios, worst, bound.sizes, limits, ("free", "in contact"), ("m", "m"), bound.certain)


def _one(sizes: Floats, limit: float, name: str, unit: str) -> tuple[Ints, Floats, Floats, tuple[str], tuple[str]]:
    """Return the fields of a check with one column."""
    return np.zeros(len(sizes), np.int64), sizes, np.full(len(sizes), limit), (name,), (unit,)


def _beyond(forces: Floats, available: Floats) -> Floats:
    """(T, nv), (nv) → (T, nv) what nobody has to give."""
    return forces - np.clip(forces, -available, available)


def _push(motion: _Motion) -> float:
    """Return what counts as an outer force, newtons: a part of the weight, or of the strongest motor's push without one."""
    known = np.where(motion.driven & np.isfinite(motion.available), motion.available, 0.0)
    return max(1e-9, LEAN * (motion.hung.weight or float((known / motion.hung.arms).max(initial=0.0))))


def _tool_checks(imitator: Robot, states: Floats, tolerance: Tolerance) -> tuple[Check, ...]:
    """Of an arm that is controlled by its tool: where that is out of reach, and where it moves farther than it can."""
    assert imitator.tool is not None
    gaps, limit, steps = np.linalg.norm(reach_gaps(imitator, states), axis=1), tolerance.position_m, len(states) - 1
    both = np.minimum(gaps[1:], gaps[:-1])
    reach = Check("reach", both / (SOFT * limit), *_one(both, limit, "tool", "m"), certain=both > limit)
    tools, most, certain = state_space(imitator).coordinates(states), imitator.tool.step_m, np.zeros(steps, bool)
    speeds = np.abs(np.diff(tools, axis=0)).max(axis=1)
    for column in tools.T:
        for begin, end, _ in excess_travel(column, most, 2 * limit):
            certain[begin:end] = True
    period = imitator.layout.period_s
    numbers = _one(speeds / period, most / period, "tool", "m/s")
    ratios = lasting(speeds[:, None], 3)[:, 0] / most / (1 + SHORT)
    return reach, Check("speed", ratios, *numbers, certain=certain)
