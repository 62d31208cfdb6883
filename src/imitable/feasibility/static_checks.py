# SPDX-License-Identifier: MIT
"""The whole movement, without simulating: where a demonstration is none of the imitator's body, transition by transition.

Seven kinds of violation, each as a ratio to a threshold (`standards`): from 1 on it counts. A demonstration without any may
still be one that cannot be followed; one in which a kind stays above 1 for longer than a moment is no movement of this body
alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from imitable.feasibility.reach import OUT_M, reach_gaps
from imitable.feasibility.standards import WEIGHT_PART, Standards, disagreements, lasting, moment_steps, moments, standards
from imitable.robots.robot import Robot
from imitable.sim.objects import own_entries
from imitable.sim.poses import limited_joints
from imitable.tracking.balance import Balance, Frame, balance, missing_forces
from imitable.types import Bools, Floats, Ints

GEOMETRY = ("limit", "speed", "jump", "depth")
"""Kinds that are read off the states. The others are forces, which a model of contacts has a say in."""

SPIKE = 2.0
"""In the mean of a moment, a step's force counts for at most so many thresholds: one step alone exceeds none."""


@dataclass(frozen=True, eq=False)
class Check:
    """One kind of violation over T transitions; of the two states of a transition the worse counts."""

    kind: str
    ratios: Floats
    """(T) size ÷ limit of the worst joint: 1 is at the threshold. Peaks shorter than a moment are cut off."""
    worst: Ints
    """(T) its place in `names`."""
    sizes: Floats
    """(T) how much it is there, in its unit."""
    limits: Floats
    """(T) from where on it counts, in the same unit."""
    names: tuple[str, ...]
    """Joints, or what else can be worst."""
    units: tuple[str, ...]
    """Of each."""


@dataclass(frozen=True)
class Span:
    """A piece of a demonstration in which one kind of violation lasts."""

    kind: str
    begin: int
    """First transition of it."""
    end: int
    """The transition after its last."""
    begin_s: float
    end_s: float
    joint: str
    """Where it is worst."""
    size: float
    """And how much there, in `unit`."""
    limit: float
    """From where on it counts."""
    unit: str
    certain: bool = False
    """Whether no motion within the tolerance avoids it. Otherwise it is a suspicion, for a simulation to confirm."""

    @property
    def sentence(self) -> str:
        """The span in words."""
        size = f"{self.size:.3g} {self.unit}, counted from {self.limit:.3g}"
        if self.kind == "floating":
            return f"{self.begin_s:.2f}..{self.end_s:.2f} s: nothing supports it ({size})"
        return f"{self.begin_s:.2f}..{self.end_s:.2f} s: {self.kind}, {self.joint} ({size})"


@dataclass(frozen=True, eq=False)
class StaticChecks:
    """What the states of a demonstration say of the imitator's body."""

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
        found = [span for check in self.checks for span in _spans(check, self.period_s)]
        return tuple(sorted(found, key=lambda span: (span.begin, span.kind)))


def static_checks(imitator: Robot, states: Floats) -> StaticChecks:
    """(T + 1, S) → all kinds of violation, (T) each; nothing is simulated.

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
    return StaticChecks(
        limits=_lasting("limit", joints.excess(states), own.excess, (joints.names, joints.units), imitator),
        speeds=_lasting("speed", speeds, own.speeds, _named(names, own.frame, "m/s", "rad/s"), imitator),
        jumps=_check("jump", gaps / jump_limits, gaps, jump_limits, _named(names, own.frame, "m", "rad")),
        forces=_mean("force", missing * own.driven, own.forces, newtons, imitator),
        outer_forces=_mean("outer force", missing * ~own.driven, own.forces, newtons, imitator),
        depths=_lasting("depth", found.depths[:, None], np.array([own.depth]), (("contact",), ("m",)), imitator),
        floating=_floating(found, own, imitator),
        period_s=imitator.layout.period_s,
    )


def _tool_checks(imitator: Robot, states: Floats) -> StaticChecks:
    """Judge where an arm's tool is; nothing else is a violation."""
    sizes, tool = np.linalg.norm(reach_gaps(imitator, states), axis=1)[:, None], (("tool",), ("m",))
    nothing = np.zeros((len(states) - 1, 1))

    def none_of(kind: str) -> Check:
        return _check(kind, nothing, nothing, np.ones(1), tool)

    return StaticChecks(
        limits=_lasting("limit", sizes, np.array([OUT_M]), tool, imitator),
        speeds=none_of("speed"),
        jumps=none_of("jump"),
        forces=none_of("force"),
        outer_forces=none_of("outer force"),
        depths=none_of("depth"),
        floating=none_of("floating"),
        period_s=imitator.layout.period_s,
    )


def impossible(spans: Sequence[Span], steps: int) -> Bools:
    """(T) whether a transition is in one of the spans."""
    found = np.zeros(steps, bool)
    for span in spans:
        found[span.begin : span.end] = True
    return found


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


def _spans(check: Check, period_s: float) -> Sequence[Span]:
    """Return the runs in which a check is above 1."""
    edges = np.diff(np.concatenate([[0], check.ratios > 1, [0]]))
    pairs = zip(np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist(), strict=True)
    return [_span(check, begin, end, period_s) for begin, end in pairs]


def _span(check: Check, begin: int, end: int, period_s: float) -> Span:
    row = begin + int(check.ratios[begin:end].argmax())
    column = int(check.worst[row])
    return Span(
        kind=check.kind,
        begin=begin,
        end=end,
        begin_s=begin * period_s,
        end_s=end * period_s,
        joint=check.names[column],
        size=float(check.sizes[row]),
        limit=float(check.limits[row]),
        unit=check.units[column],
    )
