# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""Motions of arms: what an arm makes itself, and what it cannot do, with how far any possible motion stays away.

An adapter file: MuJoCo ships no types.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mujoco
import numpy as np

from imitable.seeding import generator
from imitable.types import Floats
from studies.truth.body import Body, Control, inertia_of
from studies.truth.reference import Reference, bump, burst, limits, pose, wander
from studies.truth.robots import Entry
from studies.truth.scenes import robot_text
from studies.truth.shortage import TOLERANCE_M, TOLERANCE_RAD, smallest_deviation

SECONDS = 3.0
CALM_HZ, FASTEST_HZ = 0.6, 6.0
POSITION_GAIN = 8.0
"""1/s: how fast computed torque takes back an error of position."""


@dataclass(frozen=True, eq=False)
class Made:
    """States, and what is known of them, before they have a name and a group."""

    states: Floats
    fine: Floats | None = None
    """(F, Q) positions per simulator step, of a motion that the body made."""
    part: str = ""
    span: tuple[float, float] | None = None
    magnitude: float = 0.0
    amount: float = 0.0
    unit: str = ""
    use: float = 0.0


class Arm:
    """An arm of the suite, and the imitators its motions are scored on."""

    def __init__(self, robot: Entry, seed: int = 0) -> None:
        """Compile the arm."""
        self.robot, self.seed = robot, seed
        self.body = Body(robot_text(robot))

    def _rng(self, *names: str | int) -> np.random.Generator:
        return generator(self.seed, "truth", self.robot.name, *names)

    # what the arm makes itself

    def own(self, index: int, knob: str = "") -> Made:
        """Return a motion that the arm made; every other one near a limit of torque or range."""
        limits_speed = knob.startswith("speed")  # a simulator has no such limit: only calm motions are sure to keep it
        body = self._knobbed(knob) if knob and not limits_speed else self.body
        rng = self._rng("own", knob, index)
        start = pose(body, rng)
        reference = wander(body, rng, start, SECONDS, CALM_HZ)
        if limits_speed:
            reference = wander(body, rng, start, SECONDS, 0.2)
        elif index % 4 == 1:
            reference = self._hard(body, rng, reference)
        elif index % 4 == 3:
            reference = self._far(body, rng, reference)
        return self._made(body, reference)

    def _made(self, body: Body, reference: Reference) -> Made:
        states, _ = reference.states(body)
        control = servo_control(states[:, : body.model.nq], body) if body.robot.has_servos else computed_torque(states, body)
        used: list[float] = []

        def watched(k: int, data: Any) -> Floats:
            if k:
                used.append(float(body.torque_ratio(np.array(data.qfrc_actuator)[body.dofs]).max()))
            return control(k, data)

        made, fine = body.simulate(states[0], watched, len(states) - 1)
        return Made(made, fine, use=min(1.0, max([*used, body.range_use(made)])))

    def _hard(self, body: Body, rng: np.random.Generator, base: Reference) -> Reference:
        """Speed joints up until their torque is just about all there is."""
        joints, span, amplitudes = self._plan(body, rng, base)
        low, high = 0.3, FASTEST_HZ
        for _ in range(12):
            middle = (low + high) / 2
            states, accelerations = burst(base, joints, span, middle, amplitudes).states(body)
            over = float(body.torque_ratio(body.required(states, accelerations)).max()) > 1.0
            low, high = (low, middle) if over else (middle, high)
        return burst(base, joints, span, low, amplitudes)

    def _far(self, body: Body, rng: np.random.Generator, base: Reference) -> Reference:
        """Move one joint close to an end of its range."""
        joint = int(rng.integers(len(body.joints)))
        low, high = limits(body)
        top = float(rng.choice((low[joint], high[joint])))
        return bump(base, joint, (0.5, SECONDS - 0.3), top)

    # what the arm cannot do

    def torque(self, index: int) -> Made | None:
        """Return a motion with a burst that needs a multiple of the torques, from barely more to 30 times."""
        rng, body = self._rng("torque", index), self.body
        base = wander(body, rng, pose(body, rng), SECONDS, CALM_HZ)
        joints, span, amplitudes = self._plan(body, rng, base)
        target = float(np.exp(rng.uniform(np.log(1.5), np.log(30))))
        low, high, found = 0.5, FASTEST_HZ, None
        for _ in range(10):
            middle = (low + high) / 2
            found = burst(base, joints, span, middle, amplitudes)
            over = float(body.torque_ratio(body.required(*found.states(body))).max()) > target
            low, high = (low, middle) if over else (middle, high)
        assert found is not None
        return self._short(body, *found.states(body))

    def _plan(self, body: Body, rng: np.random.Generator, base: Reference) -> tuple[list[int], tuple[float, float], Floats]:
        """Draw which joints burst, when, and how far."""
        count = int(rng.integers(1, len(body.joints) + 1)) if rng.random() < 0.5 else int(rng.integers(1, 3))
        joints = sorted(rng.choice(len(body.joints), size=min(count, len(body.joints)), replace=False).tolist())
        low, high = limits(body)
        room = np.minimum(base.positions.min(axis=0) - low, high - base.positions.max(axis=0))[joints].clip(0.02)
        amplitudes = np.minimum(room, 1.2) * rng.uniform(0.6, 1)
        length = rng.uniform(0.6, 2.4)
        begin = rng.uniform(0.2, SECONDS - 0.2 - length)
        return joints, (begin, begin + length), amplitudes * rng.choice((-1, 1), len(joints))

    def _short(self, body: Body, states: Floats, accelerations: Floats) -> Made | None:
        """Return what is known of a motion that may need more torque than there is; None if it does not."""
        deviation, ratio, joint = smallest_deviation(body, states, accelerations)
        if ratio <= 1.0 or not np.isfinite(deviation) or deviation < 0.05:
            return None
        over = np.flatnonzero(body.torque_ratio(body.required(states, accelerations)).max(axis=1) > 1)
        span = (float(over[0] * body.period), float(over[-1] * body.period))
        return Made(states, part=body.names[joint], span=span, magnitude=deviation, amount=ratio, unit="× torque")

    def weakened(self, made: str, index: int) -> Made | None:
        """Return a motion that the arm makes, but not with a weaker motor (`strength`) or a payload (`mass`)."""
        rng, imitator = self._rng(made, index), self._knobbed(self.knobs[made])
        body = self.body
        reference = wander(body, rng, pose(body, rng), SECONDS, CALM_HZ)
        if index % 3:
            reference = self._hard(body, rng, reference)
        states = self._made(body, reference).states
        return self._short(imitator, states, self._accelerations(states))

    def _accelerations(self, states: Floats) -> Floats:
        """Return (T + 1, V) accelerations of simulated states, mean over the steps around each."""
        nq, h = self.body.model.nq, self.body.period
        return np.gradient(states[:, nq:], h, axis=0)

    def cut(self, index: int) -> Made | None:
        """Return a motion that the arm makes and that leaves a reduced joint range, by 0.02 to 0.6 rad (or a part of it)."""
        rng, body = self._rng("range", index), self.body
        joint, top = self._cut
        start = pose(body, rng)
        tolerance = TOLERANCE_RAD if body.turning[joint] else TOLERANCE_M
        start[joint] = top - tolerance * rng.uniform(1, 4)
        base = wander(body, rng, start, SECONDS, CALM_HZ)
        base.positions[:, joint] = start[joint]
        room = limits(body)[1][joint] - top
        beyond = min(float(np.exp(rng.uniform(np.log(0.3), np.log(6)))) * tolerance, 0.95 * room)
        length = rng.uniform(0.8, 1.6)
        begin = rng.uniform(0.3, SECONDS - 0.3 - length)
        states = self._made(body, bump(base, joint, (begin, begin + length), top + beyond)).states
        excess = states[:, body.positions[joint]] - top
        over = np.flatnonzero(excess > 0)
        if not len(over) or over[0] == 0:
            return None
        worst, unit = float(excess.max()), "rad" if body.turning[joint] else "m"
        span = (float(over[0] * body.period), float(over[-1] * body.period))
        return Made(states, part=body.names[joint], span=span, magnitude=worst / tolerance, amount=worst, unit=unit)

    def fast(self, index: int) -> Made | None:
        """Return a motion that the arm makes, but not below a limit of one joint's speed. ε: see `slowest_deviation`."""
        rng, body = self._rng("speed", index), self.body
        joint, limit = self._limited
        start = pose(body, rng)
        base = wander(body, rng, start, SECONDS, CALM_HZ)
        low, high = limits(body)
        room = min(start[joint] - low[joint], high[joint] - start[joint], 1.5)
        length = rng.uniform(0.6, 2.0)
        begin = rng.uniform(0.2, SECONDS - 0.2 - length)
        hertz = limit / (2 * np.pi * room) * float(np.exp(rng.uniform(np.log(1.2), np.log(6))))
        states = self._made(body, burst(base, [joint], (begin, begin + length), hertz, np.array([room]))).states
        deviation = slowest_deviation(states[:, body.positions[joint]], limit * body.period)
        tolerance = TOLERANCE_RAD if body.turning[joint] else TOLERANCE_M
        moved = np.abs(np.diff(states[:, body.positions[joint]], append=states[-1, body.positions[joint]])) / body.period
        speeds = np.maximum(moved, np.abs(states[:, body.model.nq + body.dofs[joint]]))
        over = np.flatnonzero(speeds > limit)
        if not len(over) or deviation < 0.05 * tolerance:
            return None
        span, ratio = (float(over[0] * body.period), float(over[-1] * body.period)), float(speeds.max()) / limit
        return Made(states, None, body.names[joint], span, deviation / tolerance, ratio, "× speed")

    # the knobs

    @cached_property
    def _limited(self) -> tuple[int, float]:
        """Joint whose speed is limited, and the limit: 1 rad/s, or half its range per second if that is less."""
        joint = int(self._rng("limited").choice(np.argsort(np.subtract(*limits(self.body)))[:3]))
        low, high = (end[joint] for end in limits(self.body))
        return joint, float(min(1.0, (high - low) / 2))

    @cached_property
    def _cut(self) -> tuple[int, float]:
        """Joint whose range is cut, and where."""
        body, rng = self.body, self._rng("cut")
        low, high = limits(body)
        joint = int(rng.choice(np.argsort(low - high)[:3]))
        return joint, float(low[joint] + rng.uniform(0.5, 0.65) * (high[joint] - low[joint]))

    @cached_property
    def knobs(self) -> dict[str, str]:
        """The knob setting of each imitator that motions are scored on, by how they are made impossible."""
        body, (joint, top) = self.body, self._cut
        low = body.ranges[joint, 0]
        unit = 180 / np.pi if body.turning[joint] else 1.0
        lowest = max(-360.0, low * unit) if np.isfinite(low) else -180.0
        motor, strength = self._weak_motor()
        last = self._last_mass()
        return {
            "range": f"range.{body.names[joint]}={lowest:.4f}..{top * unit:.4f}",
            "strength": f"strength.{motor}={strength:.3g}",
            "speed": f"speed.{body.names[self._limited[0]]}={self._limited[1]:.4g}",
            "mass": f"mass.{last}={self._payload(last):.4g}",
        }

    def _last_mass(self) -> str:
        """Return the name of the body that the last joint carries, or of the nearest one before it that has a mass."""
        model = self.body.model
        place = int(model.jnt_bodyid[self.body.joints[-1]])
        while not model.body_mass[place]:
            place = int(model.body_parentid[place])
        return str(model.body(place).name)

    def _weak_motor(self) -> tuple[str, float]:
        """Return the motor that typical motions use most, and a factor that leaves it too weak for them."""
        body, use = self.body, []
        for index in range(6):
            rng = self._rng("typical", index)
            reference = self._hard(body, rng, wander(body, rng, pose(body, rng), SECONDS, CALM_HZ))
            use.append(body.torque_ratio(body.required(*reference.states(body))).max(axis=0))
        typical = np.median(use, axis=0)
        joint = int(np.argmax(typical))
        return body.robot.actuator_names[body.actuator_of(joint)], float(np.clip(0.1 * typical[joint], 0.01, 0.4))

    def _payload(self, last: str) -> float:
        """Return a mass of the last body at which typical motions need about four times the torques."""
        mass = max(0.2, float(self.body.model.body(last).mass[0]))
        for _ in range(14):
            mass *= 1.6
            body, ratios = Body(robot_text(self.robot, f"mass.{last}={mass:.4g}")), []
            for index in range(4):
                rng = self._rng("payload", index)
                reference = wander(self.body, rng, pose(self.body, rng), SECONDS, CALM_HZ)
                ratios.append(body.torque_ratio(body.required(*reference.states(body))).max())
            if float(np.median(ratios)) > 4.0:
                break
        return mass

    def _knobbed(self, knob: str) -> Body:
        bodies = self.__dict__.setdefault("_bodies", {})
        if knob not in bodies:
            bodies[knob] = Body(robot_text(self.robot, knob))
        return bodies[knob]


def slowest_deviation(positions: Floats, step: float) -> float:
    """Return how far a joint of at most `step` per frame must stay away: max (|q_i − q_j| − |i − j| · step) / 2."""
    frames = np.arange(len(positions))
    apart = np.abs(positions[:, None] - positions[None]) - step * np.abs(frames[:, None] - frames[None])
    return float(apart.max()) / 2


def computed_torque(reference: Floats, body: Body) -> Control:
    """Return torques held for a control period each, corrected by trying them until the velocity at its end fits."""
    model, trial, inverse = body.model, mujoco.MjData(body.model), mujoco.MjData(body.free)
    nq, h, dofs = model.nq, body.period, body.dofs
    actuators = [body.actuator_of(j) for j in range(len(dofs))]
    gain = model.actuator_gear[actuators, 0] * model.actuator_gainprm[actuators, 0]
    low, high = model.actuator_ctrlrange.T

    def control(k: int, data: Any) -> Floats:
        qpos, qvel = np.array(data.qpos), np.array(data.qvel)
        error = reference[k + 1, body.positions] - (qpos[body.positions] + h * qvel[dofs])
        wanted = reference[k + 1, nq + dofs] + POSITION_GAIN * error
        qacc = np.zeros(model.nv)
        qacc[dofs] = (wanted - qvel[dofs]) / h
        u = np.zeros(model.nu)
        u[actuators] = body.inverse(inverse, np.concatenate([qpos, qvel]), qacc)[dofs] / gain
        inertia = inertia_of(model, data)[np.ix_(dofs, dofs)]
        for _ in range(2):
            trial.qpos[:], trial.qvel[:], trial.time = qpos, qvel, 0
            trial.qacc_warmstart[:] = data.qacc_warmstart
            trial.ctrl[:] = np.clip(u, low, high)
            for _ in range(body.skip):
                mujoco.mj_step(model, trial)
            u[actuators] += inertia @ (wanted - np.array(trial.qvel)[dofs]) / h / gain
        return u

    return control


def servo_control(reference: Floats, body: Body) -> Control:
    """Return the reference's next positions as commands of the servos."""
    actuators = [body.actuator_of(j) for j in range(len(body.dofs))]

    def control(k: int, data: Any) -> Floats:
        del data
        u = np.zeros(body.model.nu)
        u[actuators] = reference[k + 1, body.positions]
        return u

    return control


def made_impossible(arm: Arm, made: str) -> Iterator[Made | None]:
    """Make motions of one kind, as many as are asked for; None where one turns out possible."""
    for index in range(10_000):
        if made in ("strength", "mass"):
            found = arm.weakened(made, index)
        else:
            found = {"torque": arm.torque, "range": arm.cut, "speed": arm.fast}[made](index)
        yield found
