# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false, reportMissingTypeStubs=false
"""How floating bases move by themselves: shipped policies, walking policies, standing servos, random torques.

An adapter file: MuJoCo and onnxruntime ship no types.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Any

import mujoco
import numpy as np
import onnxruntime

import imitable as im
from imitable.types import Floats
from studies.truth.body import Body, Control
from studies.truth.reference import plateau
from studies.truth.robots import Entry
from studies.truth.scenes import package_path, policy_gains


@dataclass(frozen=True, eq=False)
class Played:
    """A start state and the controls from there on."""

    start: Floats
    control: Control


def shipped_policy(body: Body, rng: np.random.Generator, steps: int) -> Played:
    """Let the policy shipped for a body play; its controls are replayed in plain MuJoCo."""
    policy, seed = im.policy_for(body.robot), int(rng.integers(2**31))
    (episode,) = im.collect(im.own_task(body.robot), policy, 1, seed, sampled=bool(rng.random() < 0.3))
    assert episode.actions is not None
    if len(episode) < steps:
        return shipped_policy(body, rng, steps)
    first = int(rng.integers(0, min(len(episode) - steps, round(4 / body.period)) + 1))
    actions = episode.actions[first:]
    return Played(np.array(episode.states[first]), lambda k, data: actions[k])


def random_torque(body: Body, rng: np.random.Generator, steps: int) -> Played:
    """Drive a body that floats freely by smooth random controls, up to their whole range in every other motion."""
    times = body.times(steps)
    low, high = body.model.actuator_ctrlrange.T
    size = (high - low) / 2 * (1.0 if rng.random() < 0.5 else 0.4)
    cycles, phases = rng.uniform(0.2, 1.5, (3, body.model.nu)), rng.uniform(0, 2 * np.pi, (3, body.model.nu))
    waves = np.sin(2 * np.pi * cycles[None] * times[:, None, None] + phases[None]).mean(axis=1) * 1.5
    controls = (high + low) / 2 + size * waves.clip(-1, 1)
    start = np.concatenate([body.model.qpos0, 0.1 * rng.standard_normal(body.model.nv)])
    return Played(start, lambda k, data: controls[k])


def standing_servos(body: Body, robot: Entry, rng: np.random.Generator, steps: int, size: float) -> Played:
    """Let a body stand on its servos and crouch, sway and wave, slowly."""
    home = standing(body, robot)
    times = body.times(steps)
    target = np.tile(home[body.positions], (steps + 1, 1))
    low, high = body.ranges.T
    crouch = size * rng.uniform(0.2, 1) * np.sin(2 * np.pi * rng.uniform(0.2, 0.6) * times)
    for j, name in enumerate(body.names):
        lower = [(pattern, angle) for pattern, angle in robot.home if fnmatch(name, pattern)]
        if lower:
            target[:, j] += 0.5 * crouch * lower[0][1]
        if not lower or lower[0][1] == 0.0:
            room = min(0.8, (high[j] - low[j]) / 4) if not lower else 0.1
            target[:, j] += size * room * rng.uniform(0, 1) * np.sin(2 * np.pi * rng.uniform(0.2, 0.8) * times)
    ramp = plateau(times, 0.0, np.inf, 0.5)[:, None]
    target = home[body.positions] + ramp * (target - home[body.positions])
    actuators = [body.actuator_of(j) for j in range(len(body.joints))]

    def control(k: int, data: Any) -> Floats:
        del data
        u = np.zeros(body.model.nu)
        u[actuators] = target[k + 1]
        return u

    return Played(np.concatenate([home, np.zeros(body.model.nv)]), control)


def standing(body: Body, robot: Entry) -> Floats:
    """Return (Q) the home pose with its lowest point on the floor."""
    qpos = np.array(body.model.qpos0)
    for j, name in enumerate(body.names):
        for pattern, angle in robot.home:
            if fnmatch(name, pattern):
                qpos[body.positions[j]] = angle
    qpos[2] += 1.0
    qpos[2] -= lowest(body, qpos)
    return qpos


def lowest(body: Body, qpos: Floats) -> float:
    """Return the height of the lowest point of the body's colliding geoms over the floor."""
    model, data = body.model, body.data
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    floor = next(g for g in range(model.ngeom) if int(model.geom_type[g]) == int(mujoco.mjtGeom.mjGEOM_PLANE))
    solid = [g for g in range(model.ngeom) if model.geom_bodyid[g] and (model.geom_contype[g] or model.geom_conaffinity[g])]
    return min(float(mujoco.mj_geomDistance(model, data, g, floor, 10.0, None)) for g in solid)


@dataclass(frozen=True)
class Gait:
    """What a walking policy of holosoma-inference expects; its observation terms are in alphabetical order."""

    default: tuple[float, ...]
    """Angles at rest, in the policy's order."""
    angular: float
    """Scale of the base's angular velocity."""
    speeds: float
    """Scale of the joints' velocities."""


ACTION_SCALE = 0.25
"""Radians per unit of action; scaled by effort / kp, as whole-body tracking policies are, both walkers fall."""

GAITS = {
    "g1": Gait(
        (-0.312, 0, 0, 0.669, -0.363, 0) * 2 + (0,) * 3 + (0.2, 0.2, 0, 0.6, 0, 0, 0) + (0.2, -0.2, 0, 0.6, 0, 0, 0),
        0.25,
        0.05,
    ),
    "t1": Gait(
        (0, 0, 0.2, -1.35, 0, -0.5, 0, 0, 0, 0.2, 1.35, 0, 0.5, 0, 0, 0, 0) + (-0.2, 0, 0, 0.4, -0.25, 0) * 2,
        1.0,
        0.1,
    ),
}


class Walker:
    """A walking policy in closed loop."""

    def __init__(self, body: Body, robot: Entry) -> None:
        """Load the policy."""
        names, _, _ = policy_gains(robot)
        self.body, self.gait = body, GAITS[robot.name]
        self.places = [body.names.index(name) for name in names]
        self.actuators = [body.actuator_of(j) for j in self.places]
        self.session: Any = onnxruntime.InferenceSession(str(package_path(robot.policy)), providers=["CPUExecutionProvider"])

    def start(self) -> Floats:
        """Return the state it starts from: its default pose on the floor."""
        body = self.body
        qpos = np.array(body.model.qpos0)
        qpos[body.positions[self.places]] = self.gait.default
        qpos[2] += 1.0
        qpos[2] -= lowest(body, qpos)
        return np.concatenate([qpos, np.zeros(body.model.nv)])

    def control(self, command: Sequence[float]) -> Control:
        """Return the policy at a command: speed forwards and sideways, turning speed."""
        phase, last = np.array([0.0, np.pi]), np.zeros(len(self.places))
        default = np.array(self.gait.default)
        still = bool(np.linalg.norm(command) < 0.01)

        def control(k: int, data: Any) -> Floats:
            nonlocal phase, last
            down = np.empty(3)
            quaternion = np.array(data.qpos[3:7]) * (1, -1, -1, -1)
            mujoco.mju_rotVecQuat(down, np.array((0.0, 0.0, -1.0)), quaternion)
            if still:
                phase = np.full(2, np.pi)
            terms = (
                last,
                self.gait.angular * np.array(data.qvel[3:6]),
                [command[2]],
                command[:2],
                np.cos(phase),
                np.array(data.qpos)[self.body.positions[self.places]] - default,
                self.gait.speeds * np.array(data.qvel)[self.body.dofs[self.places]],
                down,
                np.sin(phase),
            )
            seen = np.concatenate(terms).astype(np.float32)[None]
            last = self.session.run(None, {"actor_obs": seen})[0][0].astype(float)
            phase = (phase + 2 * np.pi * self.body.period + np.pi) % (2 * np.pi) - np.pi
            u = np.zeros(self.body.model.nu)
            u[self.actuators] = default + ACTION_SCALE * last
            return u

        return control
