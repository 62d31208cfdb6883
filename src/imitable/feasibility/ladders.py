# SPDX-License-Identifier: MIT
"""Ladders: which knob of the imitator would have to move, and how far, before it could follow a demonstration?"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, pi

import numpy as np

from imitable.errors import ImitableError
from imitable.feasibility.methods import parse_scorer
from imitable.feasibility.methods.direct import Direct
from imitable.feasibility.reasons import LIMIT_SLACK, broken_limits, needed_forces
from imitable.feasibility.ruler import ruler
from imitable.feasibility.scorer import ScoringJob
from imitable.feasibility.scores import Scores
from imitable.feasibility.weighting import verdict_of_share
from imitable.robots.family import Knob, Value
from imitable.robots.knob_text import value_text
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.robots.servos import FORCE, KD, KP
from imitable.spec_text import split
from imitable.tracking.inverse_dynamics import actuators_on, joints
from imitable.types import Floats, InMemory, Trajectory

Interval = tuple[float, float]

RUNGS = 9
"""Values of a knob that a ladder tries, the imitator's own included."""


@dataclass(frozen=True)
class Rung:
    """The demonstration on a body with one knob turned."""

    value: float
    """Of the knob; of a range, how wide it is."""
    text: str
    """The knob's value as one would type it."""
    share: float
    verdict: str


@dataclass(frozen=True)
class Ladder:
    """The demonstration on a row of bodies, from the imitator's own value on."""

    knob: str
    unit: str
    rungs: tuple[Rung, ...]

    @property
    def sentence(self) -> str:
        """Say from which value on the demonstration can be followed."""
        own, last = self.rungs[0], self.rungs[-1]
        if own.verdict == "feasible":
            return f"feasible with {self.knob} as it is ({own.text})"
        if (reached := self._from("feasible")) is not None:
            sign = "≥" if last.value > own.value else "≤"
            return f"feasible from {self.knob} {sign} {self._named(reached)} (now {own.text})"
        borderline = self._from("borderline")
        best = min(self.rungs, key=lambda rung: rung.share)
        note = f"; borderline from {borderline.text} on" if borderline is not None and own.verdict != "borderline" else ""
        span = f"{self.knob} from {own.text} to {self._named(last)}"
        return f"no {span} makes it feasible: the best share is {best.share:.2f} at {best.text}{note}"

    def _named(self, rung: Rung) -> str:
        return f"{rung.text}, {rung.value:g} {self.unit}" if ".." in rung.text else f"{rung.text} {self.unit}"

    def _from(self, verdict: str) -> Rung | None:
        """Return the first rung from which on all are at least this good."""
        good = {"feasible": ("feasible",), "borderline": ("feasible", "borderline")}[verdict]
        begin = len(self.rungs)
        while begin and self.rungs[begin - 1].verdict in good:
            begin -= 1
        return self.rungs[begin] if begin < len(self.rungs) else None


def ladders(trajectory: Trajectory, imitator: Robot, scores: Scores, *, threads: int = 1) -> tuple[Ladder, ...]:
    """Follow the demonstration on bodies with one knob of the imitator turned, or one group of them."""
    climbed: list[Ladder] = []
    for name, knobs, goal in _together(imitator, _knobs(trajectory, imitator)):
        values = _rungs(imitator.value(knobs[0].name), goal)
        bodies = [imitator, *(turned(imitator, [knob.name for knob in knobs], value) for value in values[1:])]
        shares = _shares(trajectory, imitator, bodies, scores, threads)
        limits = scores.weighing.feasible_share, scores.weighing.borderline_share
        words = [verdict_of_share(share, *limits) for share in shares.tolist()]
        rungs = (Rung(_size(v), value_text(v), float(s), word) for v, s, word in zip(values, shares, words, strict=True))
        unit = f"{knobs[0].unit} wide" if isinstance(goal, tuple) else knobs[0].unit
        climbed.append(Ladder(name, unit, tuple(rungs)))
    return tuple(climbed)


def _together(imitator: Robot, goals: Sequence[tuple[Knob, Value]]) -> list[tuple[str, list[Knob], Value]]:
    """Return names, knobs and goals of ladders: a whole group that has one value and one goal, `strength.*`, is one ladder.

    An arm whose motors are all too weak cannot do it with one strong motor either.
    """
    alike: dict[tuple[str, Value, Value], list[Knob]] = {}
    for knob, goal in goals:
        alike.setdefault((knob.name.partition(".")[0], imitator.value(knob.name), goal), []).append(knob)
    rows: list[tuple[str, list[Knob], Value]] = []
    for (group, _, goal), knobs in alike.items():
        whole = sum(knob.name.startswith(f"{group}.") for knob in imitator.family.knobs)
        if len(knobs) == whole > 1:
            rows.append((f"{group}.*", knobs, goal))
        else:
            rows.extend((knob.name, [knob], goal) for knob in knobs)
    return rows


def _shares(trajectory: Trajectory, imitator: Robot, bodies: Sequence[Robot], scores: Scores, threads: int) -> Floats:
    """(R) shares of the demonstration on every body, as `direct` measures them: in the way of the scores, if it made them.

    The imitator's own ruler serves all bodies: a ladder compares bodies, so its unit must not change.
    """
    key = scores.measurement.key
    rule = ruler(imitator, key.distance, key.entries, key.discount)
    scorer = parse_scorer(key.method) if split(key.method)[0] == "direct" else Direct(effort="quick")
    demos, shares = InMemory(imitator.layout, [trajectory]), list[float]()
    for body in bodies:
        measure = scorer.prepared(ScoringJob(demos, body, rule, key.seed, key.rollouts, threads))
        shares.append(measure([trajectory])[0].share)
    return np.array(shares)


def _knobs(trajectory: Trajectory, imitator: Robot) -> list[tuple[Knob, Value]]:
    """Return the knobs worth turning, and how far: to the demonstrator's value, if it is a robot of the same family.

    For a stranger's demonstration, back to the family's default; if there is nothing to turn back, actuators get the strength
    that inverse dynamics asks for and half as much again, and joints the range that the demonstration takes. Ranges only grow.
    """
    try:
        demonstrator = parse_robot(trajectory.demonstrator)
    except ImitableError:
        demonstrator = None
    if demonstrator is not None and demonstrator.family.name != imitator.family.name:
        demonstrator = None
    different: list[tuple[Knob, Value]] = []
    for knob in imitator.family.knobs:
        own = imitator.value(knob.name)
        goal = demonstrator.value(knob.name) if demonstrator else knob.default
        if knob.name.partition(".")[0] in ("noise", "period", KP, KD, FORCE):
            continue
        if isinstance(own, str) or isinstance(goal, str):
            if own != goal and f"{own}{goal}".isdigit():  # one of two words is no ladder, but two numbers are
                different.append((knob, goal))
            continue
        if isinstance(own, tuple) and isinstance(goal, tuple):
            goal = _wider(trajectory, imitator, knob, own, goal)
        if not np.allclose(goal, own, rtol=1e-9, atol=0):
            different.append((knob, goal))
    return different or [*_stronger(trajectory, imitator), *_reaching(trajectory, imitator)]


def _stronger(trajectory: Trajectory, imitator: Robot) -> list[tuple[Knob, Value]]:
    """Return the actuators that lack strength."""
    stronger: dict[str, tuple[Knob, Value]] = {}
    for force in needed_forces(trajectory, imitator, len(trajectory)):
        for actuator in actuators_on(imitator, force.joint):
            knob = imitator.family.knob(f"strength.{actuator}")
            if knob is not None and force.available:
                own = imitator.value(knob.name)
                assert isinstance(own, float)
                stronger[knob.name] = (knob, min(own * max(2.0, 1.5 * force.needed / force.available), knob.high))
    return list(stronger.values())


def _reaching(trajectory: Trajectory, imitator: Robot) -> list[tuple[Knob, Value]]:
    """Return the joints whose range the demonstration leaves."""
    reaching: dict[str, tuple[Knob, Value]] = {}
    for broken in broken_limits(trajectory, imitator, len(trajectory)):
        knob = imitator.family.knob(f"range.{broken.joint}")
        own = None if knob is None else imitator.value(knob.name)
        if knob is not None and isinstance(own, tuple):
            reaching[knob.name] = (knob, _wider(trajectory, imitator, knob, own, (-inf, inf)))
    return list(reaching.values())


def _wider(trajectory: Trajectory, imitator: Robot, knob: Knob, own: Interval, goal: Interval) -> Interval:
    """Return the own range with its ends moved out to those of `goal`; to what the demonstration takes, if it has none."""
    [joint] = [one for one in joints(imitator) if f"range.{one.name}" == knob.name]
    places = trajectory.states[:, joint.position] * (180 / pi if knob.unit == "degrees" else 1.0)
    room = LIMIT_SLACK * (own[1] - own[0])  # limits are soft: a joint gives way before it reaches them
    low = goal[0] if isfinite(goal[0]) else max(float(places.min()) - room, knob.low)
    high = goal[1] if isfinite(goal[1]) else min(float(places.max()) + room, knob.high)
    return min(own[0], low), max(own[1], high)


def _size(value: Value) -> float:
    return value[1] - value[0] if isinstance(value, tuple) else float(value)


def _rungs(own: Value, goal: Value) -> list[Value]:
    """Return the values between two, evenly spaced, or by equal factors where numbers differ by more than five times."""
    if isinstance(own, str):
        return [own, goal]
    if isinstance(own, tuple) and isinstance(goal, tuple):
        ends = [np.linspace(*pair, RUNGS) for pair in zip(own, goal, strict=True)]
        return [(_short(float(low)), _short(float(high))) for low, high in zip(*ends, strict=True)]
    assert isinstance(own, float)
    assert isinstance(goal, float)
    even = min(own, goal) <= 0 or max(own, goal) <= 5 * min(own, goal)
    return [_short(float(value)) for value in (np.linspace if even else np.geomspace)(own, goal, RUNGS)]


def _short(number: float) -> float:
    """Return the number to four digits."""
    return float(f"{number:.4g}")


def turned(imitator: Robot, knobs: Sequence[str], value: Value) -> Robot:
    """Return the imitator with these knobs at another value."""
    settings = {name: value_text(old) for name, old in imitator.values} | dict.fromkeys(knobs, value_text(value))
    text = ",".join(f"{name}={number}" for name, number in settings.items())
    return parse_robot(f"{imitator.family.name}:{text}")
