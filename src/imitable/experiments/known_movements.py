# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""Movements of which it is known whether a body can do them: because it did, or because it was made to by what it lacks.

An adapter file: MuJoCo ships no types.
"""

import mujoco
import numpy as np

from imitable.evaluation.returns import play
from imitable.feasibility.unusual import standards
from imitable.policies.shipped import policy_for
from imitable.robots.robot import Robot
from imitable.sim.babble import babble, scales
from imitable.sim.poses import limited_joints
from imitable.sim.task import Locomotion
from imitable.tracking.follow import passive_rollout
from imitable.tracking.inverse_dynamics import passive_actions
from imitable.tracking.solver import Lanes
from imitable.types import Floats, Trajectory

EACH, SEED, FREE_STEPS = 8, 5, 200
"""Movements of a kind; their seed; control steps of those that no policy ends."""

FAINT, BEYOND, LIFT_M, LIFT_S = 0.3, 3.0, 0.5, 0.5
"""Factor of faint actions; outer forces in those of the actuators; metres and seconds of a lift."""

EXCESS = 0.3
"""A joint is moved beyond its stop by so much of its range."""


def own_gaits(robot: Robot, each: int) -> dict[str, list[Trajectory]]:
    """Return what the shipped policy does with mean and with sampled actions; of a robot without one, longer babble."""
    if not robot.family.rules:
        return {"long babble": babble(robot, each, 2 * FREE_STEPS, SEED + 1)}
    task, policy = Locomotion(robot), policy_for(robot)
    return {"mean": play(task, policy, each, SEED), "sampled": play(task, policy, each, SEED, sampled=True)}


def replayed(robot: Robot, movements: list[Trajectory], factor: float, forces: Floats | None = None) -> list[Trajectory]:
    """Return what comes of actions times a factor, from the same starts, under outer forces (T, nv) if there are any.

    Actions are counted from those that ask for no force at the start, which are zero but for servos.
    """
    steps = min(FREE_STEPS, *(len(one) for one in movements))
    made: list[Trajectory] = []
    for one in movements:
        assert one.actions is not None
        data, states, idle = mujoco.MjData(robot.model), [one.states[0]], passive_actions(robot, one.states[:1])[0]
        data.qpos[:], data.qvel[:] = np.split(one.states[0], [robot.layout.nq])
        for t in range(steps):
            data.ctrl[:] = idle + factor * (one.actions[t] - idle)
            data.qfrc_applied[:] = 0.0 if forces is None else forces[t]
            mujoco.mj_step(robot.model, data, robot.frame_skip)
            states.append(np.concatenate([data.qpos, data.qvel]))
        made.append(Trajectory(np.array(states), str(robot)))
    return made


def outer_forces(robot: Robot) -> Floats:
    """(T, nv) forces on every degree of freedom, `BEYOND` times what its actuators have, or what units its kind has."""
    own, times = standards(robot), robot.layout.period_s * np.arange(FREE_STEPS)
    strengths = np.where(own.driven & np.isfinite(own.available), own.available, own.units)
    phases = np.random.default_rng(SEED).uniform(0, 2 * np.pi, robot.model.nv)
    return BEYOND * strengths * np.sin(2 * np.pi * times[:, None] + phases)


def lifted(robot: Robot, movements: list[Trajectory]) -> list[Trajectory]:
    """Return gaits that rise by half a metre in half a second, and stay there."""
    height = next((row for row, name in enumerate(robot.layout.qpos) if name == "rootz"), None)
    if height is None or not robot.model.opt.gravity.any():
        return []
    made: list[Trajectory] = []
    for one in movements:
        states, times = one.states.copy(), robot.layout.period_s * np.arange(len(one.states))
        states[:, height] += LIFT_M * np.minimum(times / LIFT_S, 1.0)
        states[:, robot.layout.nq + height] += LIFT_M / LIFT_S * (times < LIFT_S)
        made.append(Trajectory(states, str(robot)))
    return made


def beyond_stops(robot: Robot, movements: list[Trajectory]) -> list[Trajectory]:
    """Return movements whose last limited joint soon is beyond its stop, by `EXCESS` of its range at least, and stays there."""
    limits = limited_joints(robot)
    if not limits.names:
        return []
    column, (low, high) = int(limits.entries[-1]), limits.ranges[-1]
    made: list[Trajectory] = []
    for one in movements:
        states, times = one.states.copy(), robot.layout.period_s * np.arange(len(one.states))
        states[:, column] += (high + EXCESS * (high - low) - states[:, column].min()) * np.minimum(times / LIFT_S, 1.0)
        made.append(Trajectory(states, str(robot)))
    return made


def movements(robot: Robot, each: int = EACH) -> dict[str, tuple[bool, list[Trajectory]]]:
    """Return so many movements of every kind, and whether the body can do them."""
    gaits = own_gaits(robot, each)
    first = next(iter(gaits.values()))
    babbled = babble(robot, each, FREE_STEPS, SEED)
    can = {**gaits, "rest": resting(robot, babbled), "faint": replayed(robot, first, FAINT), "babble": babbled}
    cannot = {
        "pushed": replayed(robot, first, 1.0, outer_forces(robot)),
        "lifted": lifted(robot, first),
        "beyond stops": beyond_stops(robot, first),
    }
    kinds = [(name, True, some) for name, some in can.items()] + [(name, False, some) for name, some in cannot.items()]
    return {name: (good, some) for name, good, some in kinds if some}


def resting(robot: Robot, movements: list[Trajectory]) -> list[Trajectory]:
    """Return a body whose actuators do nothing, from some way after it began to: most have come to rest, on the ground."""
    lanes = Lanes(robot, scales(robot).difference)
    states = passive_rollout(lanes, np.stack([one.states[-1] for one in movements]), 2 * FREE_STEPS)
    return [Trajectory(one, str(robot)) for one in states[:, FREE_STEPS:]]
