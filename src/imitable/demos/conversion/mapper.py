# SPDX-License-Identifier: MIT
"""One recording through a mapping: positions, velocities, actions at the robot's control period."""

from dataclasses import dataclass, replace

import numpy as np

from imitable.demos.conversion.body import joints_of
from imitable.demos.conversion.find import clock
from imitable.demos.conversion.following import Reached, position_limits
from imitable.demos.conversion.mapping import JointMapping, gather, joint_at
from imitable.demos.conversion.other_arm import OtherArm, follow_hand
from imitable.demos.conversion.resample import Curve, grid, held, same_rate
from imitable.demos.conversion.shortfall import Shortfall, shortfall
from imitable.demos.conversion.tool_poses import follow_poses
from imitable.demos.conversion.trials import to_local, unit_rotations
from imitable.demos.conversion.velocities import AGREE, Disagreement, differentiated, disagreement
from imitable.demos.formats.source import Recording
from imitable.errors import BadDataset
from imitable.robots.robot import Robot
from imitable.sim.kinematics import joint_space
from imitable.types import Floats, Trajectory


@dataclass(frozen=True, eq=False)
class Mapped:
    """A recording as a trajectory of the robot, and what was done to it."""

    trajectory: Trajectory
    resampled: bool
    disagreement: Disagreement | None = None
    """Of velocities that were replaced, because they did not agree with the positions."""
    reached: Reached | None = None
    """How near our hand came to another arm's."""
    shortfall: Shortfall | None = None
    """What the hand lacks of the poses."""


def mapped(where: str, recording: Recording, mapping: JointMapping, robot: Robot, demonstrator: str) -> Mapped:
    """Return a recording as the robot's states: velocities checked, at the control period.

    What needs no change keeps its bits.
    """
    times = clock(mapping, recording)
    qpos = _positions(where, recording, mapping, robot)
    qvel, replaced = _velocities(where, recording, mapping, robot, qpos, times)
    actions = _actions(where, recording, mapping)
    made = _timed(where, recording, Curve(joint_space(robot), times, qpos, qvel), actions, robot, demonstrator)
    return replace(made, disagreement=replaced)


def retargeted(
    where: str, recording: Recording, mapping: JointMapping, other: OtherArm, robot: Robot, demonstrator: str
) -> Mapped:
    """Return a recording of another arm as states of ours: its hand where the other's was, frame by frame."""
    times, space = clock(mapping, recording), joint_space(robot)
    reached = follow_hand(other, robot, _positions(where, recording, mapping, other.robot))
    curve = Curve(space, times, reached.qpos, differentiated(space, reached.qpos, times))
    return replace(_timed(where, recording, curve, None, robot, demonstrator), reached=reached)


def posed(where: str, recording: Recording, mapping: JointMapping, robot: Robot, demonstrator: str) -> Mapped:
    """Return a recording of poses as the robot's states: its hand at each, as near as its joints can."""
    times, space = clock(mapping, recording), joint_space(robot)
    reached = follow_poses(where, recording, mapping, robot)
    curve = Curve(space, times, reached.qpos, differentiated(space, reached.qpos, times), position_limits(robot))
    made = _timed(where, recording, curve, _actions(where, recording, mapping), robot, demonstrator)
    return replace(made, shortfall=shortfall(recording.name, times, reached))


def _timed(where: str, recording: Recording, curve: Curve, actions: Floats | None, robot: Robot, demonstrator: str) -> Mapped:
    """Return the movement at the control period; one that is there already keeps its bits."""
    times, qpos, qvel, period = curve.times, curve.qpos, curve.qvel, robot.layout.period_s
    resampled = not same_rate(times, period)
    if resampled:
        at = grid(times, period)
        if len(at) < 2:
            raise BadDataset(where, f"{recording.name} lasts {times[-1]:.3g} s, less than a control period of {period:g} s")
        qpos, qvel = curve.positions(at), curve.velocities(at, period)
        actions = None if actions is None else held(actions, times, at)
    trajectory = Trajectory(
        states=np.concatenate([qpos, qvel], axis=1),
        demonstrator=demonstrator,
        actions=None if actions is None else actions[:-1],
        terminated=recording.terminated,
        total_return=recording.total_return,
        seed=recording.seed,
    )
    return Mapped(trajectory, resampled)


def _positions(where: str, recording: Recording, mapping: JointMapping, robot: Robot) -> Floats:
    joints, _ = joint_at(robot)
    return unit_rotations(f"{where}: {recording.name}", robot, gather(where, recording, mapping.positions, joints, speed=False))


def _velocities(
    where: str, recording: Recording, mapping: JointMapping, robot: Robot, qpos: Floats, times: Floats
) -> tuple[Floats, Disagreement | None]:
    """Return the data's velocities if they agree with the positions, else differentiated ones."""
    space, (_, joints) = joint_space(robot), joint_at(robot)
    if not mapping.velocities or mapping.differentiate == "always":
        return differentiated(space, qpos, times), None
    qvel = gather(where, recording, mapping.velocities, joints, speed=True)
    if mapping.angular == "world":
        qvel = to_local([joint for joint in joints_of(robot) if joint.kind == "free"], qpos, qvel)
    gap = disagreement(space, qpos, qvel, times)
    if mapping.differentiate == "never" or gap.part <= AGREE:
        return qvel, None
    return differentiated(space, qpos, times), gap


def _actions(where: str, recording: Recording, mapping: JointMapping) -> Floats | None:
    if not mapping.actions or not recording.has_actions:
        return None
    return gather(where, recording, mapping.actions, {}, speed=False)
