# SPDX-License-Identifier: MIT
"""What the data do not say is tried on the robot: order of quaternions and of joints, frame of angular velocities."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from imitable.demos.conversion.body import Joint, Poses, breadth_first, joints_of
from imitable.demos.conversion.mapping import Entry, JointMapping, gather, joint_at
from imitable.demos.conversion.proposal import Place, Proposal
from imitable.demos.conversion.velocities import differentiated
from imitable.demos.formats.source import BODIES, JOINT_POSITIONS, JOINT_VELOCITIES, Recording
from imitable.errors import BadMapping
from imitable.robots.robot import Robot
from imitable.sim.kinematics import joint_space, quaternions
from imitable.types import Floats

FRAMES = 40
"""Frames that a guess is tried on."""
STRANGE_M = 0.1
"""A clip whose bodies lie farther from the robot's than this, on average, is another robot's."""
CLEAR = 1.5
"""One order is better than the other if its floor is steadier by this factor; else the smaller turn decides."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Recordings that guesses are tried on, a few of the source."""

    where: str
    recordings: tuple[Recording, ...]

    def frames(self, robot: Robot, positions: Sequence[Entry]) -> Floats:
        """(≤ FRAMES, nq) positions of frames that are spread over all recordings."""
        joints, _ = joint_at(robot)
        rows = [gather(self.where, recording, positions, joints, speed=False) for recording in self.recordings]
        every = np.concatenate(rows)
        return every[np.unique(np.linspace(0, len(every) - 1, FRAMES).astype(int))]


def rolled(robot: Robot, places: Mapping[int, Place]) -> dict[int, Place]:
    """Return the places of positions with every quaternion read as xyzw instead of wxyz."""
    turned = dict(places)
    for first in quaternions(robot):
        if all(first + k in places for k in range(4)):
            turned |= {first + k: places[first + (k + 3) % 4] for k in range(4)}
    return turned


def quaternion_order(robot: Robot, sample: Sample, orders: Mapping[str, Sequence[Entry]]) -> tuple[str, str]:
    """Return the order of quaternions that suits the robot, and why.

    Read the wrong way, a walking body wallows: its lowest point leaves the floor. Where both are as steady, the one that turns
    the body less from its start is taken.
    """
    poses, wobble, turn = Poses(robot), dict[str, float](), dict[str, float]()
    for order, positions in orders.items():
        frames = unit_rotations(sample.where, robot, sample.frames(robot, positions))
        wobble[order] = float(np.std([poses.lowest(frame) for frame in frames]))
        turn[order] = _mean_turn(robot, frames)
    best, worst = sorted(orders, key=lambda order: wobble[order])
    why = f"its lowest point wanders by {wobble[best]:.3f} m, as {worst} by {wobble[worst]:.3f}"
    if not wobble[worst] > CLEAR * wobble[best]:
        best, worst = sorted(orders, key=lambda order: turn[order])
        why = f"that turns the body by {turn[best]:.2f} rad, {worst} by {turn[worst]:.2f}"
    return best, f"quaternions are read as {best}: {why}"


def _mean_turn(robot: Robot, frames: Floats) -> float:
    turns = [
        2 * np.arccos(np.clip(np.abs(frames[:, first : first + 4] @ robot.start[first : first + 4]), 0, 1)).mean()
        for first in quaternions(robot)
    ]
    return float(np.mean(turns))


def unit_rotations(where: str, robot: Robot, qpos: Floats) -> Floats:
    """(n, nq) → the same with quaternions of length one; lengths that are no rounding are refused."""
    for first in quaternions(robot):
        part = qpos[:, first : first + 4]
        lengths = np.linalg.norm(part, axis=1)
        off = np.abs(lengths - 1)
        if (worst := int(off.argmax())) >= 0 and off[worst] > 0.1:
            name = robot.layout.qpos[first].rpartition("_")[0]
            raise BadMapping(
                where, f"{name} at frame {worst} is no rotation: its quaternion has the length {lengths[worst]:.3g}"
            )
        if off.max() > 1e-6:
            qpos = qpos.copy()
            qpos[:, first : first + 4] = part / lengths[:, None]
    return qpos


def joint_order(robot: Robot, proposal: Proposal, sample: Sample) -> tuple[Proposal, str]:
    """Try the joints of a clip that has bodies but no joint names in the file's order and breadth first.

    A guess costs the mean distance of the clip's bodies from the robot's nearest; a clip that suits neither is refused.
    """
    recording = sample.recordings[0]
    if BODIES not in recording.columns:
        return proposal, ""
    singles = [joint for joint in joints_of(robot) if proposal.positions.get(joint.position, ("", 0))[0] == JOINT_POSITIONS]
    orders = {"the file's": singles}
    if not proposal.certain:
        orders["breadth-first"] = [joint for joint in breadth_first(robot) if joint in singles]
    options = {name: _ordered(proposal, order) if len(orders) > 1 else proposal for name, order in orders.items()}
    costs = {name: _body_cost(robot, sample, option) for name, option in options.items()}
    best = min(costs, key=lambda name: costs[name])
    if costs[best] > STRANGE_M:
        reason = f"the bodies of {recording.name} lie {costs[best]:.2f} m from the robot's"
        raise BadMapping(sample.where, f"{reason}: it is a clip of another robot than {robot}")
    remark = f"joints are in {best} order: bodies lie within {costs[best]:.3f} m" if len(options) > 1 else ""
    return options[best], remark


def _ordered(proposal: Proposal, order: Sequence[Joint]) -> Proposal:
    positions = proposal.positions | {joint.position: (JOINT_POSITIONS, k) for k, joint in enumerate(order)}
    velocities = proposal.velocities
    if velocities:
        velocities = velocities | {joint.velocity: (JOINT_VELOCITIES, k) for k, joint in enumerate(order)}
    return replace(proposal, positions=positions, velocities=velocities)


def _body_cost(robot: Robot, sample: Sample, proposal: Proposal) -> float:
    recording, poses = sample.recordings[0], Poses(robot)
    frames = np.unique(np.linspace(0, recording.frames - 1, FRAMES // 4).astype(int))
    costs: list[float] = []
    for frame in frames.tolist():
        qpos = robot.start[: robot.layout.nq].copy()
        for entry, (column, index) in proposal.positions.items():
            qpos[entry] = recording.columns[column][frame, index]
        theirs, ours = recording.columns[BODIES][frame].reshape(-1, 3), poses.bodies(qpos)
        theirs = theirs[np.linalg.norm(theirs, axis=1) > 0]  # some clips list the world, too
        costs.append(float(np.linalg.norm(theirs[:, None] - ours[None], axis=-1).min(axis=1).mean()))
    return float(np.mean(costs))


def angular_frame(robot: Robot, mapping: JointMapping, sample: Sample, times: Sequence[Floats]) -> tuple[str, str]:
    """Return whether angular velocities are local or in the world's frame: the one that agrees with the rotations."""
    free = [joint for joint in joints_of(robot) if joint.kind == "free"]
    positions, velocities = joint_at(robot)
    space, errors = joint_space(robot), dict[str, float](local=0.0, world=0.0)
    for recording, clock in zip(sample.recordings, times, strict=True):
        qpos = unit_rotations(sample.where, robot, gather(sample.where, recording, mapping.positions, positions, speed=False))
        qvel = gather(sample.where, recording, mapping.velocities, velocities, speed=True)
        speeds = differentiated(space, qpos, clock)
        for frame, turned in (("local", qvel), ("world", to_local(free, qpos, qvel))):
            for joint in free:
                part = slice(joint.velocity + 3, joint.velocity + 6)
                errors[frame] += float(np.square(turned[:, part] - speeds[:, part]).sum())
    best = min(errors, key=lambda frame: errors[frame])
    return best, f"the root's angular velocity is read as {best}" if best == "world" else ""


def to_local(free: Sequence[Joint], qpos: Floats, qvel: Floats) -> Floats:
    """(n, nq), (n, nv) → (n, nv) angular velocities of free bodies turned from the world's frame into their own: Rᵀ ω."""
    turned = qvel.copy()
    for joint in free:
        w, x, y, z = qpos[:, joint.position + 3 : joint.position + 7].T
        vector, omega = np.stack([x, y, z], axis=1), qvel[:, joint.velocity + 3 : joint.velocity + 6]
        twice = 2 * np.cross(omega, vector)
        turned[:, joint.velocity + 3 : joint.velocity + 6] = omega + w[:, None] * twice + np.cross(twice, vector)
    return turned
