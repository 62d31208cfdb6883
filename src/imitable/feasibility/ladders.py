# SPDX-License-Identifier: MIT
"""Ladders: which knob of the imitator would have to move, and how far, before it could follow a demonstration?"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isclose

import numpy as np

from imitable.errors import ImitableError
from imitable.feasibility.methods.direct import Direct
from imitable.feasibility.reasons import needed_forces
from imitable.feasibility.ruler import ruler
from imitable.feasibility.scores import Scores
from imitable.feasibility.weighting import verdicts
from imitable.robots.family import Knob
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot, value_text
from imitable.sim.babble import scales
from imitable.tracking.attempts import compare_attempts, whole_pieces
from imitable.tracking.follow import follow, passive_rollout
from imitable.tracking.inverse_dynamics import motors_on
from imitable.tracking.solver import Lanes, Solver
from imitable.types import Floats, Trajectory

RUNGS = 9
"""Values of a knob that a ladder tries, the imitator's own included."""


@dataclass(frozen=True)
class Rung:
    """The demonstration on a body with one knob turned."""

    value: float
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
        own, values = self.rungs[0], [rung.value for rung in self.rungs]
        span = f"{self.knob} from {own.value:g} to {values[-1]:g} {self.unit}"
        reached = self._from("feasible")
        if reached == own.value:
            return f"feasible from its first state on with {self.knob} as it is ({own.value:g}): what fails comes later"
        if reached is not None:
            sign = "≥" if values[-1] > values[0] else "≤"
            return f"feasible from {self.knob} {sign} {reached:g} {self.unit} (now {own.value:g})"
        nearly = self._from("nearly")
        best = min(self.rungs, key=lambda rung: rung.share)
        note = f"; nearly from {nearly:g} on" if nearly is not None and own.verdict != "nearly" else ""
        return f"no {span} makes it feasible: the best share is {best.share:.2f} at {best.value:g}{note}"

    def _from(self, verdict: str) -> float | None:
        """Return the first value from which on all rungs are at least this good."""
        good = {"feasible": ("feasible",), "nearly": ("feasible", "nearly")}[verdict]
        begin = len(self.rungs)
        while begin and self.rungs[begin - 1].verdict in good:
            begin -= 1
        return self.rungs[begin].value if begin < len(self.rungs) else None


def ladders(trajectory: Trajectory, imitator: Robot, scores: Scores, *, threads: int = 1) -> tuple[Ladder, ...]:
    """Follow the demonstration on bodies with one knob of the imitator turned, all values of a knob in one batch."""
    climbed: list[Ladder] = []
    for knob, goal in _knobs(trajectory, imitator):
        values = [float(f"{value:.4g}") for value in _rungs(_number(imitator, knob), goal)]
        bodies = [turned(imitator, knob.name, value) for value in values]
        shares = _shares(trajectory, imitator, bodies, scores, threads)
        words = verdicts(shares, scores.weighing.feasible_share, scores.weighing.nearly_share)
        rungs = tuple(Rung(v, float(share), word) for v, share, word in zip(values, shares, words, strict=True))
        climbed.append(Ladder(knob.name, knob.unit, rungs))
    return tuple(climbed)


def _shares(trajectory: Trajectory, imitator: Robot, bodies: Sequence[Robot], scores: Scores, threads: int) -> Floats:
    """(R) shares of rollouts from the demonstration's first state, one a body, as `direct` measures them.

    The imitator's own scales serve all bodies: a ladder compares bodies, so its unit must not change.
    """
    key = scores.measurement.key
    rule = ruler(imitator, key.distance, key.entries, key.discount)
    pieces = whole_pieces(np.array([min(rule.horizon(Direct().horizon), len(trajectory))]), len(bodies))
    steps = int(pieces.lengths[0])
    targets = pieces.states([trajectory], steps)
    lanes = Lanes(imitator, scales(imitator).difference, threads, bodies=bodies)
    followed = follow(lanes, Solver(), targets, pieces.lengths, key.seed)
    return compare_attempts(rule, pieces, targets[:, 1:], followed, passive_rollout(lanes, targets[:, 0], steps)).shares(rule)


def _knobs(trajectory: Trajectory, imitator: Robot) -> list[tuple[Knob, float]]:
    """Return the knobs worth turning, and how far: to the demonstrator's value, if it is a robot of the same family.

    For a stranger's demonstration, back to the family's default; if there is nothing to turn back, motors get the strength
    that inverse dynamics asks for and half as much again.
    """
    try:
        demonstrator = parse_robot(trajectory.demonstrator)
    except ImitableError:
        demonstrator = None
    if demonstrator is not None and demonstrator.family.name != imitator.family.name:
        demonstrator = None
    different: list[tuple[Knob, float]] = []
    for knob in imitator.family.knobs:
        own = imitator.value(knob.name)
        goal = demonstrator.value(knob.name) if demonstrator else knob.default
        if knob.name in ("noise", "period") or not isinstance(goal, float) or not isinstance(own, float):
            continue
        if not isclose(goal, own):
            different.append((knob, goal))
    return different or _stronger(trajectory, imitator)


def _stronger(trajectory: Trajectory, imitator: Robot) -> list[tuple[Knob, float]]:
    knobs, stronger = {knob.name: knob for knob in imitator.family.knobs}, dict[str, tuple[Knob, float]]()
    for force in needed_forces(trajectory, imitator, len(trajectory)):
        for actuator in motors_on(imitator, force.joint):
            knob = knobs.get(f"gear.{actuator}")
            if knob is not None and force.available:
                goal = _number(imitator, knob) * max(2.0, 1.5 * force.needed / force.available)
                stronger[knob.name] = (knob, min(goal, knob.high))
    return list(stronger.values())


def _number(imitator: Robot, knob: Knob) -> float:
    value = imitator.value(knob.name)
    assert isinstance(value, float)
    return value


def _rungs(own: float, goal: float) -> Floats:
    """Return the values between two, evenly spaced, or by equal factors where they differ by more than five times."""
    if min(own, goal) > 0 and max(own, goal) > 5 * min(own, goal):
        return np.geomspace(own, goal, RUNGS)
    return np.linspace(own, goal, RUNGS)


def turned(imitator: Robot, knob: str, value: float) -> Robot:
    """Return the imitator with one knob at another value."""
    settings = {name: value_text(old) for name, old in imitator.values} | {knob: value_text(float(f"{value:.4g}"))}
    text = ",".join(f"{name}={number}" for name, number in settings.items())
    return parse_robot(f"{imitator.family.name}:{text}")
