# SPDX-License-Identifier: MIT
"""Why a demonstration fails: where it diverges, which entries fail, what forces it needs, which knob would have to move."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isclose
from pathlib import Path

import numpy as np

from imitable.errors import BadOption, ImitableError
from imitable.feasibility.methods.direct import Direct
from imitable.feasibility.ruler import ruler
from imitable.feasibility.score import measured_again
from imitable.feasibility.scores import Scores
from imitable.feasibility.sources import Sources
from imitable.feasibility.step_files import read_steps
from imitable.feasibility.weighting import verdicts
from imitable.robots.family import Knob
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot, value_text
from imitable.sim.babble import babble, scales
from imitable.sim.kinematics import state_space
from imitable.tracking.attempts import Trace, judged, whole_pieces
from imitable.tracking.follow import follow, passive_rollout
from imitable.tracking.inverse_dynamics import actuator_limits, inverse_forces, joints, motors_on
from imitable.tracking.solver import Lanes, Solver
from imitable.types import Demonstrations, Episode, Floats, Trajectory

LIMIT_SLACK = 0.1
"""Part of a joint's range that it may be past its limit: limits are soft."""

ENTRIES = 5
"""Failing entries that are named."""

RUNGS = 9
"""Values of a knob that a ladder tries, the imitator's own included."""

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


@dataclass(frozen=True)
class Explanation:
    """All that is known of one demonstration's failure."""

    demonstrator: str
    share: float
    verdict: str
    first_divergence: int | None
    """Step, or None."""
    first_divergence_s: float | None
    entries: tuple[FailingEntry, ...]
    """The worst first."""
    limits: tuple[BrokenLimit, ...]
    """Joints that would have to leave their range, the farthest first."""
    forces: tuple[NeededForce, ...]
    """Joints that would need more force than they have, the worst first."""
    ladders: tuple[Ladder, ...]

    @property
    def lines(self) -> list[str]:
        """The explanation as sentences."""
        lines = [f"{self.verdict}: a share of {self.share:.2f} of what doing nothing leaves remains"]
        if self.first_divergence is None:
            lines.append("it never leaves the demonstration for good within the judged steps")
        else:
            lines.append(f"it diverges at step {self.first_divergence} ({self.first_divergence_s:.2f} s)")
        for entry in self.entries[:3]:
            lines.append(f"{entry.name} is off by {entry.gap:.3g} on average, {entry.in_scales:.1f} times its usual spread")
        for broken in self.limits[:4]:
            lines.append(f"{broken.joint} would have to go to {broken.reaches:.3g}, its limit is {broken.limit:.3g}")
        for force in self.forces[:4]:
            has = f"has {force.available:.3g}" if force.available else "nothing drives it"
            lines.append(f"{force.joint} would need {force.needed:.3g} {force.unit}, {has}")
        return [*lines, *(ladder.sentence for ladder in self.ladders)]


def explain(scores: Scores, place: int, demos: Demonstrations | None = None, *, threads: int = 1) -> Explanation:
    """Explain what became of the demonstration at `place` of the scores.

    Args:
        scores: of `score` or `read_scores`.
        place: its row.
        demos: where to find it, in any order; None: in the folder that the scores name.
        threads: threads of the simulator; results do not depend on it.

    What its method saw is read from the steps beside the score file; without them, the demonstration is measured again.
    """
    if not 0 <= place < len(scores):
        raise BadOption("place", place, f"give the row of a demonstration, 0 to {len(scores) - 1}")
    trajectory = _demonstration(scores.episodes[place], demos, scores.path)
    trace = None if scores.path is None else read_steps(scores.path, trajectory.hash)
    return explained(scores, place, trajectory, trace or measured_again(scores, trajectory, threads=threads), threads=threads)


def _demonstration(episode: Episode, demos: Demonstrations | None, path: Path | None) -> Trajectory:
    """Find a scored demonstration again."""
    if demos is not None:
        places = {one.hash: place for place, one in enumerate(demos.episodes)}
        trajectory = demos[places[episode.hash]] if episode.hash in places else None
    else:
        trajectory = Sources(Path() if path is None else path.parent).trajectory(episode)
    if trajectory is None:
        where = "the set given" if demos is not None else episode.source or "memory"
        raise BadOption("demos", where, f"it does not hold episode {episode.index} as it was scored; give the scored set")
    return trajectory


def explained(scores: Scores, place: int, trajectory: Trajectory, trace: Trace, *, threads: int = 1) -> Explanation:
    """Explain a row of the scores; `trace` is what its method saw of `trajectory`."""
    imitator = parse_robot(scores.imitator)
    step = int(scores.first_divergence[place])
    after, last = trace.steps >= max(step, 0), int(trace.steps.max())
    return Explanation(
        demonstrator=trajectory.demonstrator,
        share=float(scores.share[place]),
        verdict=scores.verdict[place],
        first_divergence=step if step >= 0 else None,
        first_divergence_s=step * imitator.layout.period_s if step >= 0 else None,
        entries=failing_entries(imitator, trace.states[after], trajectory.states[trace.steps[after]]),
        limits=broken_limits(trajectory, imitator, last),
        forces=needed_forces(trajectory, imitator, last),
        ladders=ladders(trajectory, imitator, scores, threads=threads),
    )


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
    """Return the joints that leave the imitator's range in the demonstrated states, up to step `steps`."""
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
    left out: its force is that of the limit.
    """
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
    return judged(rule, pieces, targets[:, 1:], followed, passive_rollout(lanes, targets[:, 0], steps)).shares(rule)


def _knobs(trajectory: Trajectory, imitator: Robot) -> list[tuple[Knob, float]]:
    """Return the knobs worth turning, and how far: to the demonstrator's value, if it is a robot of the same robot.

    For a stranger's demonstration, back to the robot's default; if there is nothing to turn back, motors get the strength
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
