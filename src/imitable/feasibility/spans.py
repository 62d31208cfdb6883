# SPDX-License-Identifier: MIT
"""One kind of violation over a motion, transition by transition, and the spans of time in which it lasts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from imitable.types import Bools, Floats, Ints

SENTENCES = {
    "range": "{joint} is {size} {unit} beyond its range (tolerance {limit} {unit})",
    "speed": "{joint} moves at {size} {unit} (limit {limit} {unit})",
    "jump": "{joint} jumps by {size} {unit} between two states (tolerance {limit} {unit})",
    "penetration": "{joint} are {size} m inside each other (tolerance {limit} m)",
    "torque": "{joint} requires {size} {unit} and has {limit} {unit}",
    "support": "nothing supports {size} N of the robot's {limit} N",
    "path": "no path of its centre of mass under gravity, {joint}, is nearer than {size} m (tolerance {limit} m)",
    "outer force": "{joint} requires {size} {unit} that no contact gives (counted from {limit} {unit})",
    "balance": "{joint} requires {size} {unit} that no contact gives: the robot tips over (counted from {limit} {unit})",
    "skating": "{joint} slides at {size} m/s and friction would stop it (counted from {limit} m/s)",
    "floating": "nothing supports it ({size} {unit}, counted from {limit})",
    "tracking": "no attempt stays near the motion; {joint} requires {size} {unit} and has {limit} {unit}",
    "reach": "the tool is {size} m out of reach (tolerance {limit} m)",
}
"""What a span of a kind says. Kinds that only scores depend on (`unusual`) have the plain one."""


@dataclass(frozen=True, eq=False)
class Check:
    """One kind of violation over T transitions; of the two states of a transition the worse counts."""

    kind: str
    ratios: Floats
    """(T) above 1 it counts, as a suspicion at least."""
    worst: Ints
    """(T) where it is worst, an index of `names`."""
    sizes: Floats
    """(T) how much it is there, in its unit."""
    limits: Floats
    """(T) what is allowed there, in the same unit."""
    names: tuple[str, ...]
    """Joints, or what else can be worst."""
    units: tuple[str, ...]
    """Of each."""
    certain: Bools | None = None
    """(T) whether no motion within the tolerance avoids it; None if that is never known."""


@dataclass(frozen=True)
class Span:
    """A segment of a demonstration in which one kind of violation lasts."""

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
    """What is allowed."""
    unit: str
    certain: bool = False
    """Whether no motion within the tolerance avoids it. Otherwise it is a suspicion, for a simulation to confirm."""

    @property
    def sentence(self) -> str:
        """The span in words."""
        plain = "{kind}, {joint} ({size} {unit}, counted from {limit})"
        words = {"kind": self.kind, "joint": self.joint, "unit": self.unit}
        text = SENTENCES.get(self.kind, plain).format(**words, size=f"{self.size:.3g}", limit=f"{self.limit:.3g}")
        return f"{self.begin_s:.2f}–{self.end_s:.2f} s: {text}"


def spans(check: Check, period_s: float) -> Sequence[Span]:
    """Return the runs in which a check is above 1, and, apart from them, those in which it is certain."""
    found = [_span(check, begin, end, period_s, certain=False) for begin, end in runs(check.ratios > 1)]
    if check.certain is not None:
        found += [_span(check, begin, end, period_s, certain=True) for begin, end in runs(check.certain)]
    return found


def impossible(found: Sequence[Span], steps: int) -> Bools:
    """(T) whether a transition is in one of the spans."""
    marked = np.zeros(steps, bool)
    for span in found:
        marked[span.begin : span.end] = True
    return marked


def runs(marked: Bools) -> Iterator[tuple[int, int]]:
    """(T) → first and last + 1 of every run of true entries."""
    edges = np.diff(np.concatenate([[0], marked, [0]]))
    return zip(np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist(), strict=True)


def _span(check: Check, begin: int, end: int, period_s: float, *, certain: bool) -> Span:
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
        certain=certain,
    )
