# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""Motions of floating bases: what they make themselves, and the same with an impossible second spliced in.

How impossible a splice is, in times the tolerance, is documented at each: the smallest deviation of a motion that might be
possible, ÷ ε, the tolerance of positions: 0.25 m, or 15 % of a small body's size; 0.8 rad of the upright direction, 0.5 rad of
joints, 0.2 rad of their ranges. An adapter file: MuJoCo ships no types.
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import mujoco
import numpy as np

from imitable.seeding import generator
from imitable.types import Floats
from studies.truth import drives
from studies.truth.arms import Made
from studies.truth.body import Body
from studies.truth.reference import plateau
from studies.truth.robots import Entry
from studies.truth.root import Root
from studies.truth.scenes import robot_text

SECONDS = 5.0
BODY_M, BODY_PART, TILT_RAD, JOINT_RAD, RANGE_RAD = 0.25, 0.15, 0.8, 0.5, 0.2
TURNING, TRAVEL = 1.0, 1.0
"""rad/s and m/s: by how much a body may turn or travel faster or slower than it does."""

GRAVITY = 9.81
SPLICES = ("jump", "teleport", "spin", "float", "lean", "limit", "skate", "shake")
ON_A_FLOOR = frozenset({"float", "lean", "skate"})
BASES = 12
"""Own motions that splices are put into."""


class Floating:
    """A floating base of the suite."""

    def __init__(self, robot: Entry, seed: int = 0) -> None:
        """Compile the body."""
        self.robot, self.seed = robot, seed
        self.body = Body(robot_text(robot))
        self.root = Root(self.body)
        self.tolerance = min(BODY_M, BODY_PART * self.body.size)
        self.steps = round(SECONDS / self.body.period)
        self._bases: dict[int, Floats] = {}

    def _rng(self, *names: str | int) -> np.random.Generator:
        return generator(self.seed, "truth", self.robot.name, *names)

    # what the body makes itself

    def own(self, index: int) -> Made:
        """Return a motion of the body that does not end in a fall."""
        for attempt in range(40):
            rng, used = self._rng("own", index, attempt), [0.0]
            played = self._played(rng, attempt, index)

            def watched(k: int, data: Any, played: drives.Played = played, used: list[float] = used) -> Floats:
                used.append(float(self.body.torque_ratio(np.array(data.qfrc_actuator)[self.body.dofs]).max(initial=0)))
                return played.control(k, data)

            skipped = round(1 / self.body.period) if self.robot.drive in ("walking policy", "standing servos") else 0
            states, fine = self.body.simulate(played.start, watched, self.steps + skipped)
            states, fine = states[skipped:], fine[skipped * self.body.skip :]
            if np.isfinite(states).all() and not self._fell(states):
                return Made(states, fine, use=min(1.0, max(*used, self.body.range_use(states))))
        raise RuntimeError(f"{self.robot.name} falls in 40 attempts of 40")

    def _played(self, rng: np.random.Generator, attempt: int, index: int) -> drives.Played:
        body, steps = self.body, self.steps
        if self.robot.drive == "shipped policy":
            return drives.shipped_policy(body, rng, steps)
        if self.robot.drive == "random torque":
            return drives.random_torque(body, rng, steps)
        if self.robot.drive == "standing servos":
            return drives.standing_servos(body, self.robot, rng, steps + round(1 / body.period), 0.9**attempt)
        walker = drives.Walker(body, self.robot)
        still = index % 6 == 0
        command = (0.0, 0.0, 0.0) if still else (rng.uniform(-0.5, 0.9), rng.uniform(-0.3, 0.3), rng.uniform(-0.5, 0.5))
        return drives.Played(walker.start(), walker.control(command))

    def _fell(self, states: Floats) -> bool:
        """Return whether a body that walks or stands lies; planar ones and those without gravity cannot."""
        if not self.root.free or not self.robot.gravity:
            return False
        upright = 1 - 2 * (states[:, 4] ** 2 + states[:, 5] ** 2)
        return bool(upright.min() < 0.6)

    def _base(self, index: int) -> Floats:
        """Return an own motion to splice into; another one than those that are scored as feasible."""
        place = 10_000 + index % BASES
        if place not in self._bases:
            self._bases[place] = self.own(place).states
        return self._bases[place]

    # what it cannot do

    def can(self, kind: str) -> bool:
        """Return whether a splice makes sense on this body."""
        if kind == "limit":
            return bool(np.isfinite(self.body.ranges).all(axis=1).any())
        return self.robot.gravity or kind not in ON_A_FLOOR

    def spliced(self, kind: str) -> Iterator[Made | None]:
        """Make motions with one kind of splice, at random places, lengths and magnitudes; None where one might be possible."""
        make: dict[str, Callable[[Floats, np.random.Generator], Made | None]] = {
            "jump": self._jump,
            "teleport": self._teleport,
            "spin": self._spin,
            "float": self._float,
            "lean": self._lean,
            "limit": self._limit,
            "skate": self._skate,
            "shake": self._shake,
            "range": self._cut,
        }
        for index in range(10_000):
            yield make[kind](self._base(index), self._rng(kind, index))

    @cached_property
    def knobs(self) -> dict[str, str]:
        """The knob setting of the imitator with a reduced joint range, of bodies that are files and use a range widely."""
        if self.robot.model.count("/") == 0 or not self.can("limit"):
            return {}
        joint, top = self._narrow
        low = self.body.ranges[joint, 0]
        return {"range": f"range.{self.body.names[joint]}={np.degrees(low):.4f}..{np.degrees(top):.4f}"}

    @cached_property
    def _narrow(self) -> tuple[int, float]:
        """The joint that own motions move the most, and an upper end of its range well inside what they use."""
        angles = np.stack([self._base(index)[:, self.body.positions] for index in range(6)])
        top, width = np.median(angles.max(axis=1), axis=0), np.median(np.ptp(angles, axis=1), axis=0)
        limited = np.isfinite(self.body.ranges).all(axis=1) & self.body.turning
        joint = int(np.argmax(np.where(limited, width, 0)))
        return joint, float(top[joint] - 0.7 * width[joint])

    def _cut(self, base: Floats, rng: np.random.Generator) -> Made | None:
        """Return an own motion that leaves the reduced range. Magnitude: excess ÷ 0.2 rad."""
        joint, top = self._narrow
        states = self.own(20_000 + int(rng.integers(1_000_000))).states
        inside = np.flatnonzero(states[:, self.body.positions[joint]] < top)
        states = states[inside[0] :] if len(inside) else states[:0]
        excess = states[:, self.body.positions[joint]] - top
        if len(states) < len(base) // 2 or excess.max() <= 0:
            return None
        over = np.flatnonzero(excess > 0)
        span, worst = (float(over[0] * self.body.period), float(over[-1] * self.body.period)), float(excess.max())
        return Made(states, None, self.body.names[joint], span, worst / RANGE_RAD, worst, "rad")

    @cached_property
    def _times(self) -> Floats:
        return self.body.times(self.steps)

    def _when(self, rng: np.random.Generator, shortest: float, longest: float) -> tuple[float, float]:
        length = rng.uniform(shortest, longest)
        begin = rng.uniform(0.3, SECONDS - 0.3 - length)
        h = self.body.period
        return round(begin / h) * h, round((begin + length) / h) * h

    def _with(self, base: Floats, qpos: Floats, span: tuple[float, float]) -> Floats:
        """Return states with new positions, and new velocities where positions changed."""
        nq, h = self.body.model.nq, self.body.period
        states = np.concatenate([qpos, base[:, nq:]], axis=1)
        first, last = max(0, round(span[0] / h) - 1), min(len(qpos), round(span[1] / h) + 2)
        states[first:last, nq:] = self.body.velocities(qpos, h)[first:last]
        return states

    def _jump(self, base: Floats, rng: np.random.Generator, seconds: float = 0.2) -> Made:
        """Move 1–12 ε within 0.2 s, or in one frame, and go on from there.

        Magnitude: half of the distance that it cannot travel ÷ ε, because a motion may be ahead before and behind after.
        """
        begin, _ = self._when(rng, 0.2, 0.2)
        end = begin + max(self.body.period, round(seconds / self.body.period) * self.body.period)
        distance = self.tolerance * float(np.exp(rng.uniform(np.log(1), np.log(12))))
        distance += TRAVEL * (end - begin)
        part = ((self._times - begin) / (end - begin)).clip(0, 1)
        nq = self.body.model.nq
        qpos = self.root.shifted(base[:, :nq], part[:, None] * distance * self._way(rng))
        states = self._with(base, qpos, (begin, end))
        magnitude = (distance - TRAVEL * (end - begin)) / 2 / self.tolerance
        return Made(states, part="root", span=(begin, end), magnitude=magnitude, amount=distance, unit="m")

    def _teleport(self, base: Floats, rng: np.random.Generator) -> Made:
        return self._jump(base, rng, seconds=0.0)

    def _way(self, rng: np.random.Generator) -> Floats:
        ways = self.root.ways
        way = rng.standard_normal(len(ways)) @ ways
        return way / np.linalg.norm(way)

    def _spin(self, base: Floats, rng: np.random.Generator) -> Made:
        """Turn by 0.6 rad up to a whole turn within 0.4 s; a planar body there and back, unless it turns wholly.

        Magnitude of an angle α beyond what it may turn by itself: 2 r sin(α / 4) ÷ ε, with the farthest body r from the axis,
        because a motion may stay half of it away; of a planar body α / 2 ÷ 0.8 rad, if that is more.
        """
        begin, _ = self._when(rng, 0.4, 0.4)
        end, angle = begin + 0.4, float(min(2 * np.pi, np.exp(rng.uniform(np.log(0.6), np.log(9.0)))))
        part = ((self._times - begin) / 0.4).clip(0, 1)
        if not self.root.free and angle < 2 * np.pi:
            part = plateau(self._times, begin, end, 0.2)
        sign, nq = float(rng.choice((-1.0, 1.0))), self.body.model.nq
        qpos = self.root.turned(base[:, :nq], sign * angle * part, self.root.axis)
        states = self._with(base, qpos, (begin, end))
        middle = base[round(begin / self.body.period), None, :nq]
        arms = np.cross(self.body.body_positions(middle)[0] - self.root.position(middle), self.root.axis)
        beyond = max(0.0, angle - TURNING * 0.4)
        magnitude = 2 * float(np.linalg.norm(arms, axis=1).max()) * np.sin(beyond / 4) / self.tolerance
        if not self.root.free:
            magnitude = max(magnitude, beyond / 2 / TILT_RAD)
        return Made(states, part="root", span=(begin, end), magnitude=float(magnitude), amount=angle, unit="rad")

    def _float(self, base: Floats, rng: np.random.Generator) -> Made:
        """Lift the body and hold it in the air. Magnitude: the smaller of height and g · D² / 16, ÷ ε.

        A body that only gravity moves stays within ± ε of a height for D = 4 √(ε / g) seconds at most.
        """
        begin, end = span = self._when(rng, 0.8, 1.8)
        height = float(np.exp(rng.uniform(np.log(0.15), np.log(1.5))))
        shape = plateau(self._times, begin, end, 0.2)
        up = np.zeros((len(shape), 3))
        up[:, 2] = height * shape
        states = self._with(base, self.root.shifted(base[:, : self.body.model.nq], up), span)
        hanging = end - begin - 0.4
        magnitude = min(height, GRAVITY * hanging**2 / 16) / self.tolerance
        return Made(states, part="root", span=span, magnitude=magnitude, amount=height, unit="m")

    def _lean(self, base: Floats, rng: np.random.Generator) -> Made | None:
        """Lean the body about the ground below it by 0.2–1.4 rad, for over a second.

        Magnitude: how far the centre of mass is outside the box around the feet ÷ ε; some body must be as far off to balance.
        """
        begin, end = span = self._when(rng, 1.2, 2.2)
        nq, angle = self.body.model.nq, float(np.exp(rng.uniform(np.log(0.2), np.log(1.4))))
        axis = self.root.axis if not self.root.free else np.cross((0.0, 0.0, 1.0), self._way(rng))
        below = self.root.position(base[:, :nq])
        below[:, 2] = 0
        angles = float(rng.choice((-1.0, 1.0))) * angle * plateau(self._times, begin, end, 0.3)
        qpos = self.root.turned(base[:, :nq], angles, axis, below)
        lift = np.zeros((len(qpos), 3))
        for k in np.flatnonzero(angles):
            lift[k, 2] = drives.lowest(self.body, base[k, :nq]) - drives.lowest(self.body, qpos[k])
        qpos = self.root.shifted(qpos, lift)
        middle = round((begin + end) / 2 / self.body.period)
        self.body.data.qpos[:] = qpos[middle]
        mujoco.mj_forward(self.body.model, self.body.data)
        mass_at = np.array(self.body.data.subtree_com[self.root.base])
        feet = self._support(qpos[middle])
        outside = float(np.linalg.norm(np.maximum(0, np.maximum(feet[0] - mass_at[:2], mass_at[:2] - feet[1]))))
        if outside < 0.1 * self.tolerance:
            return None  # it might hold that
        magnitude = outside / self.tolerance
        states = self._with(base, qpos, span)
        return Made(states, part="root", span=span, magnitude=magnitude, amount=angle, unit="rad")

    def _support(self, qpos: Floats) -> Floats:
        """Return (2, 2) the horizontal box around everything within 2 cm of the lowest point."""
        corners = self.body.corners(qpos)
        low = corners[corners[:, 2] < corners[:, 2].min() + 0.02, :2]
        return np.array([low.min(axis=0), low.max(axis=0)])

    def _limit(self, base: Floats, rng: np.random.Generator) -> Made:
        """Move one joint 0.1–1 rad past its range. Magnitude: excess ÷ 0.2 rad."""
        span = self._when(rng, 0.5, 1.2)
        limited = np.flatnonzero(np.isfinite(self.body.ranges).all(axis=1) & self.body.turning)
        joint, side = int(rng.choice(limited)), int(rng.integers(2))
        excess = float(np.exp(rng.uniform(np.log(0.1), np.log(1.0))))
        top = self.body.ranges[joint, side] + (excess if side else -excess)
        qpos, place = base[:, : self.body.model.nq].copy(), self.body.positions[joint]
        qpos[:, place] += plateau(self._times, *span, (span[1] - span[0]) / 3) * (top - qpos[:, place])
        states = self._with(base, qpos, span)
        return Made(states, None, self.body.names[joint], span, excess / RANGE_RAD, excess, "rad")

    def _skate(self, base: Floats, rng: np.random.Generator) -> Made:
        """Freeze the posture and glide at 0.3–2 m/s.

        Magnitude: what a glide on friction 1 falls short of ÷ ε; it does not count that the body might step instead.
        """
        begin, end = span = self._when(rng, 0.8, 1.6)
        speed = float(np.exp(rng.uniform(np.log(0.3), np.log(2.0))))
        frozen = plateau(self._times, begin, end, 0.15)
        h, nq = self.body.period, self.body.model.nq
        clock = np.concatenate([[0.0], np.cumsum(h * (1 - (frozen[:-1] + frozen[1:]) / 2))]) / h
        glide = np.concatenate([[0.0], np.cumsum(h * speed * (frozen[:-1] + frozen[1:]) / 2)])
        qpos = self._between(base[:, :nq], clock)
        qpos = self.root.shifted(qpos, glide[:, None] * self._way(rng))
        states = np.concatenate([qpos, self.body.velocities(qpos, h)], axis=1)
        distance = speed * (end - begin - 0.15)
        magnitude = (distance - speed**2 / (2 * GRAVITY)) / self.tolerance
        return Made(states, part="feet", span=span, magnitude=magnitude, amount=speed, unit="m/s")

    def _between(self, qpos: Floats, clock: Floats) -> Floats:
        """Return positions at fractional frames."""
        first = np.floor(clock).astype(int).clip(0, len(qpos) - 2)
        out = np.empty_like(qpos)
        step = np.empty(self.body.model.nv)
        for row, a, part in zip(out, first, clock - first, strict=True):
            mujoco.mj_differentiatePos(self.body.model, step, 1.0, qpos[a], qpos[a + 1])
            row[:] = qpos[a]
            mujoco.mj_integratePos(self.body.model, row, step, float(part))
        return out

    def _shake(self, base: Floats, rng: np.random.Generator) -> Made | None:
        """Swing one joint at 4–8 Hz. Magnitude: what its torque leaves undone, at the far end of its limb ÷ ε or ÷ 0.5 rad.

        The inertia is the smallest that the joint can meet, with the rest of the body free to give way: 1 / (M⁻¹)_jj.
        """
        span = self._when(rng, 0.6, 1.4)
        joint, hertz = int(rng.integers(len(self.body.joints))), min(rng.uniform(4, 8), 0.3 / self.body.period)
        place, nq = self.body.positions[joint], self.body.model.nq
        middle = base[round(sum(span) / 2 / self.body.period), :nq]
        dof = self.body.dofs[joint]
        inertia = float(1 / np.linalg.inv(self.body.inertia(middle))[dof, dof])
        low, high = self.body.ranges[joint]
        centre = (low + high) / 2 if np.isfinite(high - low) else middle[place]
        room = min((high - low) / 2, 1.5) if np.isfinite(high - low) else 1.5
        amplitude = room * rng.uniform(0.3, 0.95)
        omega = 2 * np.pi * hertz
        undone = amplitude - float(np.abs(self.body.torques[joint]).max()) / (inertia * omega**2)
        magnitude = float(undone * max(self._reach(joint, middle) / self.tolerance, 1 / JOINT_RAD))
        if magnitude < 0.1:
            return None
        shape = plateau(self._times, *span, 0.15)
        qpos = base[:, :nq].copy()
        swung = centre + amplitude * np.sin(omega * (self._times - span[0]))
        qpos[:, place] += shape * (swung - qpos[:, place])
        return Made(self._with(base, qpos, span), None, self.body.names[joint], span, magnitude, hertz, "Hz")

    def _reach(self, joint: int, qpos: Floats) -> float:
        """Return how far the bodies that a joint carries reach from it."""
        model, data = self.body.model, self.body.data
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        here, far, first = self.body.joints[joint], 0.0, int(model.jnt_bodyid[self.body.joints[joint]])
        for g in range(model.ngeom):
            carried = int(model.geom_bodyid[g])
            while carried > first:
                carried = int(model.body_parentid[carried])
            if carried == first:
                far = max(far, float(np.linalg.norm(data.geom_xpos[g] - data.xanchor[here]) + model.geom_rbound[g]))
        return far
