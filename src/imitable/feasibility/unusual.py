# SPDX-License-Identifier: MIT
"""How unlike a body's own babbling a motion is, transition by transition: for scores and their windows, not for verdicts.

Seven kinds, each as a ratio to a threshold that comes from the body's babbling and a margin: above 1 it counts. These
thresholds are those that recorded scores were made with; what is impossible in metres and radians is in `static_checks`.
"""

from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from imitable.feasibility.reach import OUT_M, reach_gaps
from imitable.feasibility.reasons import LIMIT_SLACK
from imitable.feasibility.spans import Check, Span, spans
from imitable.robots.robot import Robot
from imitable.sim.babble import babble
from imitable.sim.kinematics import joint_space
from imitable.sim.objects import own_entries
from imitable.sim.poses import limited_joints, size
from imitable.tracking.balance import Balance, Frame, balance, frame, friction_losses, missing_forces
from imitable.tracking.inverse_dynamics import actuator_limits
from imitable.types import Bools, Floats, frozen

MOMENT_S = 0.1
"""Forces are means over this time, and what is over sooner does not count: impacts, the roughness of a control step."""

SPEED_MARGIN = 6.0
"""A joint may move so many times as fast as the 99th percentile of its babbling: a practised gait is much faster."""

JUMP_MARGIN = 3.0
"""Positions may disagree with velocities by so many times the largest disagreement in babbling."""

WEIGHT_PART, STRENGTH_PART = 0.5, 0.25
"""An outer force counts from half the body's weight on, or a quarter of what its strongest motor can push with; a motor's lack
of force from a quarter of its strength on, or of what usually passes through its joint in babbling (90th percentile)."""

OWN_MARGIN = 2.0
"""No force or depth counts below so many times the 99th percentile of babbling; so far limits give way before the slack."""

DEPTH_PART = 0.05
"""Geoms may be inside each other by this part of the body's size, whatever babbling says: MuJoCo's contacts are springs."""


@dataclass(frozen=True, eq=False)
class Standards:
    """The thresholds of a body, from where on a violation counts."""

    driven: Bools
    """(nv) whether an actuator moves a degree of freedom."""
    available: Floats
    """(nv) forces of actuators and of dry friction; infinite if unknown."""
    units: Floats
    """(nv) in which missing forces are made small."""
    forces: Floats
    """(nv) missing forces, N or Nm."""
    excess: Floats
    """(J) of limited joints beyond their ranges, radians or metres."""
    speeds: Floats
    """(nv) radians or metres a second; infinite for a root's travel, which has no limit."""
    disagreement: Floats
    """(nv) of positions and velocities, radians or metres, of a joint at rest."""
    disagreement_margin: float
    """Times this, it counts."""
    depth: float
    """Metres."""
    frame: Frame


@lru_cache(maxsize=64)
def standards(imitator: Robot) -> Standards:
    """Return a body's thresholds: of one fixed seed, because they are a property of the body."""
    movements = [trajectory.states for trajectory in babble(imitator, 16, 150, 0)]
    strengths = actuator_limits(imitator)
    driven, available = strengths > 0, strengths + friction_losses(imitator)
    hung, balances = frame(imitator, driven), [balance(imitator, states) for states in movements]
    units = _force_units(driven, available, hung, np.concatenate([moments(one.needed, imitator) for one in balances]))
    missing = np.concatenate([moments(missing_forces(one, available, units), imitator) for one in balances])
    joints, steps = limited_joints(imitator), moment_steps(imitator)
    excess = _high(np.concatenate([lasting(joints.excess(states), steps) for states in movements]))
    depth = _high(np.concatenate([lasting(one.depths[:, None], steps) for one in balances]))
    speeds = _high(np.concatenate([states[:, imitator.layout.nq :] for states in movements]))
    rest, margin = _own_disagreement(imitator, movements, hung)
    return Standards(
        driven=frozen(driven, bool),
        available=frozen(available),
        units=frozen(units),
        forces=frozen(np.maximum(units, OWN_MARGIN * _high(missing))),
        excess=frozen(LIMIT_SLACK * np.diff(joints.ranges)[:, 0] + OWN_MARGIN * excess),
        speeds=frozen(np.where(hung.travel, np.inf, SPEED_MARGIN * np.maximum(speeds, 1e-3 * speeds.max() + 1e-9))),
        disagreement=frozen(rest),
        disagreement_margin=margin,
        depth=max(DEPTH_PART * size(imitator), OWN_MARGIN * float(depth[0])),
        frame=hung,
    )


def moment_steps(robot: Robot) -> int:
    """Return the steps of a moment: an odd number, at least 5."""
    return max(5, 2 * round(MOMENT_S / robot.layout.period_s / 2) + 1)


def moments(rows: Floats, robot: Robot) -> Floats:
    """(T, k) → (T, k) means over a moment around every row, over what there is of it at the ends."""
    before = moment_steps(robot) // 2
    sums = np.concatenate([np.zeros((1, rows.shape[1])), np.cumsum(rows, axis=0)])
    steps = np.arange(len(rows))
    first, last = np.maximum(steps - before, 0), np.minimum(steps + before + 1, len(rows))
    return (sums[last] - sums[first]) / (last - first)[:, None]


def lasting(rows: Floats, steps: int) -> Floats:
    """(T, k) → (T, k) what lasts: of the windows of so many steps around a row, the best one's smallest value.

    A shorter peak is cut off, whatever lasts stays as it is.
    """
    steps = min(steps, len(rows))
    smallest = sliding_window_view(rows, steps, axis=0).min(axis=-1)
    padded = np.pad(smallest, ((steps - 1, steps - 1), (0, 0)), constant_values=-np.inf)
    return sliding_window_view(padded, steps, axis=0).max(axis=-1)


def disagreements(robot: Robot, states: Floats) -> tuple[Floats, Floats]:
    """(T + 1, S) → (T, nv) |q_{t+1} − q_t − (q̇_t + q̇_{t+1}) / 2 · period|, and (T, nv) a quarter of the faster travel.

    What integration leaves grows with the speed: a threshold is that of rest plus the second array.
    """
    space, period = joint_space(robot), robot.layout.period_s
    velocities = states[:, space.nq :]
    moved = space.difference(states[1:], states[:-1])[:, : space.nv]
    faster = np.maximum(np.abs(velocities[1:]), np.abs(velocities[:-1]))
    return np.abs(moved - period * (velocities[1:] + velocities[:-1]) / 2), period * faster / 4


def _own_disagreement(robot: Robot, movements: list[Floats], hung: Frame) -> tuple[Floats, float]:
    """(nv) the 99th percentile at rest, and how many times the threshold may be taken."""
    pairs = [disagreements(robot, states) for states in movements]
    sizes, travels = (np.concatenate(column) for column in zip(*pairs, strict=True))
    rest = _high(sizes)
    # joints that hardly move in babbling are no more exact than the others
    for kind in (hung.translations, ~hung.translations):
        rest[kind] = max(1e-9, rest[kind].max(initial=0.0))
    return rest, JUMP_MARGIN * max(1.0, float((sizes / (rest + travels)).max()))


def _force_units(driven: Bools, available: Floats, hung: Frame, needed: Floats) -> Floats:
    """(nv) what counts as a force: see `WEIGHT_PART`. A push at the body's radius of gyration turns it as a torque does."""
    known = np.where(driven & np.isfinite(available), available, 0.0)
    arms = np.where(hung.translations, 1.0, max(hung.radius, 1e-3))
    push = max(WEIGHT_PART * hung.weight, STRENGTH_PART * float((known / arms).max()))
    # not the 99th percentile: at times a joint's stops take many times what usually passes through it
    usual = np.quantile(np.abs(needed), 0.9, axis=0)
    units = np.where(driven, STRENGTH_PART * np.maximum(known, usual), push * arms)
    return np.maximum(units, 1e-3 * float(units.max()) + 1e-9)


def _high(rows: Floats) -> Floats:
    """(N, …) → (…) the 99th percentile of sizes."""
    return np.quantile(np.abs(rows), 0.99, axis=0)


GEOMETRY = ("limit", "speed", "jump", "depth")
"""Kinds that are read off the states. The others are forces, which a model of contacts has a say in."""

SPIKE = 2.0
"""In the mean of a moment, a step's force counts for at most so many thresholds: one step alone exceeds none."""


@dataclass(frozen=True, eq=False)
class Unusual:
    """How far the states of a demonstration are from the imitator's own motions."""

    limits: Check
    """Radians or metres beyond a joint's range."""
    speeds: Check
    """Radians or metres a second; a root's travel has no limit."""
    jumps: Check
    """Radians or metres that positions change besides what velocities say: splices, teleports. One is enough."""
    forces: Check
    """What actuators lack, Nm or N, mean of a moment."""
    outer_forces: Check
    """What somebody else would have to push where nothing drives, N or Nm, mean of a moment."""
    depths: Check
    """Metres that geoms are inside each other."""
    floating: Check
    """Newtons that hold up a body that touches nothing, mean of a moment."""
    period_s: float

    @property
    def checks(self) -> tuple[Check, ...]:
        """All kinds."""
        values = (getattr(self, field.name) for field in fields(self))
        return tuple(value for value in values if isinstance(value, Check))

    @property
    def spans(self) -> tuple[Span, ...]:
        """Where a kind stays above its threshold, in order of time."""
        found = [span for check in self.checks for span in spans(check, self.period_s)]
        return tuple(sorted(found, key=lambda span: (span.begin, span.kind)))


def unusual(imitator: Robot, states: Floats) -> Unusual:
    """(T + 1, S) → all kinds, (T) each; nothing is simulated.

    Limits, speeds, jumps and depths are read off the states. Forces are the least that T transitions lack:

    r = argmin ‖r / unit‖  with  M q̈ + bias − passive = supportsᵀ x + u + r,  x ≥ 0,  |u| ≤ strength

    supports are the directions of contacts (pyramids of friction) and joint limits, u the actuators. So r is what somebody
    else would have to push: on undriven degrees of freedom an outer force, on driven ones what their actuators lack.

    Of an arm only its tool counts, whatever its joints do: limits are then metres that it is out of reach.
    """
    if imitator.tool is not None:
        return _tool_checks(imitator, states)
    own, found = standards(imitator), balance(imitator, states)
    mine = own_entries(imitator)[imitator.layout.nq :]  # what objects do is not asked of the robot
    missing = np.where(mine, missing_forces(found, own.available, own.units), 0.0)
    joints, speeds = limited_joints(imitator), np.where(mine, np.abs(states[:, imitator.layout.nq :]), 0.0)
    names = tuple(name.removesuffix("_velocity") for name in imitator.layout.qvel)
    newtons = _named(names, own.frame, "N", "Nm")
    gaps, travels = disagreements(imitator, states)
    gaps = np.where(mine, gaps, 0.0)
    jump_limits = own.disagreement_margin * (own.disagreement + travels)
    return Unusual(
        limits=_lasting("limit", joints.excess(states), own.excess, (joints.names, joints.units), imitator),
        speeds=_lasting("speed", speeds, own.speeds, _named(names, own.frame, "m/s", "rad/s"), imitator),
        jumps=_check("jump", gaps / jump_limits, gaps, jump_limits, _named(names, own.frame, "m", "rad")),
        forces=_mean("force", missing * own.driven, own.forces, newtons, imitator),
        outer_forces=_mean("outer force", missing * ~own.driven, own.forces, newtons, imitator),
        depths=_lasting("depth", found.depths[:, None], np.array([own.depth]), (("contact",), ("m",)), imitator),
        floating=_floating(found, own, imitator),
        period_s=imitator.layout.period_s,
    )


def _tool_checks(imitator: Robot, states: Floats) -> Unusual:
    """Judge where an arm's tool is; nothing else is a violation."""
    sizes, tool = np.linalg.norm(reach_gaps(imitator, states), axis=1)[:, None], (("tool",), ("m",))
    nothing = np.zeros((len(states) - 1, 1))

    def none_of(kind: str) -> Check:
        return _check(kind, nothing, nothing, np.ones(1), tool)

    return Unusual(
        limits=_lasting("limit", sizes, np.array([OUT_M]), tool, imitator),
        speeds=none_of("speed"),
        jumps=none_of("jump"),
        forces=none_of("force"),
        outer_forces=none_of("outer force"),
        depths=none_of("depth"),
        floating=none_of("floating"),
        period_s=imitator.layout.period_s,
    )


Names = tuple[tuple[str, ...], tuple[str, ...]]
"""Names and units of columns."""


def _check(kind: str, ratios: Floats, sizes: Floats, limits: Floats, names: Names) -> Check:
    """(T, k) ratios and sizes, (k) or (T, k) limits → the worst column of every transition."""
    if not ratios.shape[1]:
        ratios, sizes, limits, names = np.zeros((len(ratios), 1)), np.zeros((len(ratios), 1)), np.ones(1), (("",), ("",))
    limits = np.broadcast_to(limits, sizes.shape)
    worst, rows = ratios.argmax(axis=1), np.arange(len(sizes))
    return Check(kind, ratios[rows, worst], worst, sizes[rows, worst], limits[rows, worst], *names)


def _lasting(kind: str, sizes: Floats, limits: Floats, names: Names, imitator: Robot) -> Check:
    """(T + 1, k) sizes at states, (k) limits → of every transition, the larger one of its two states, as far as it lasts."""
    larger = np.maximum(sizes[:-1], sizes[1:])
    return _check(kind, lasting(larger, moment_steps(imitator)) / limits, larger, limits, names)


def _mean(kind: str, missing: Floats, limits: Floats, names: Names, imitator: Robot) -> Check:
    """(T, k) missing forces, (k) limits → means over a moment, which must last another quarter of it.

    Signs cancel, and in ratios spikes are cut off.
    """
    cut = np.clip(missing, -SPIKE * limits, SPIKE * limits)
    ratios, sizes = np.abs(moments(cut, imitator)) / limits, np.abs(moments(missing, imitator))
    return _check(kind, lasting(ratios, moment_steps(imitator) // 4 + 1), sizes, limits, names)


def _floating(found: Balance, own: Standards, imitator: Robot) -> Check:
    """Judge what holds the body up against gravity while nothing that it touches could."""
    hung, limit = own.frame, np.array([max(WEIGHT_PART * own.frame.weight, 1e-9)])
    up = found.needed @ hung.down / -max(hung.weight, 1e-9)
    held: Bools = np.abs(found.supports @ hung.down).max(axis=1) > 1e-6 * max(hung.weight, 1e-9)
    carried = np.where(held | (hung.weight == 0), 0.0, np.maximum(up, 0.0))
    return _mean("floating", carried[:, None], limit, (("body",), ("N",)), imitator)


def _named(names: tuple[str, ...], hung: Frame, translation: str, rotation: str) -> Names:
    return names, tuple(translation if slides else rotation for slides in hung.translations.tolist())
