# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""Movements as motion clips, a file a demonstration: LAFAN1's CSV (30 Hz), GMR's pickle, holosoma's npz.

An adapter file: MuJoCo ships no types.
"""

import io
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np

from imitable.demos.conversion.body import joints_of
from imitable.demos.conversion.resample import Curve, grid, same_rate
from imitable.demos.formats import gmr, lafan1
from imitable.errors import BadOption
from imitable.exporters.job import ExportJob
from imitable.exporters.written import Written
from imitable.files import check_only, new_folder
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.kinematics import state_space
from imitable.types import Episode, Floats, Trajectory

Maker = Callable[[Robot, Trajectory], bytes]


def write_lafan1(job: ExportJob) -> Written:
    """Write CSV files; LAFAN1's rate is 30 Hz, whatever that of the movements."""
    return write_clips(job, lafan1_bytes, ".csv")


def write_gmr(job: ExportJob) -> Written:
    """Write pickles of plain arrays."""
    return write_clips(job, gmr_bytes, ".pkl")


def write_holosoma(job: ExportJob) -> Written:
    """Write npz files with all bodies in the world."""
    return write_clips(job, holosoma_bytes, ".npz")


def write_clips(job: ExportJob, make: Maker, suffix: str) -> Written:
    """Write one file a demonstration into a new folder."""
    robot = body_of(job)
    names = clip_names(job, suffix)
    check_only(job.out, f"*{suffix}")
    with new_folder(job.out) as folder:
        for name, trajectory in zip(names, job.demos, strict=True):
            (folder / name).write_bytes(make(robot, trajectory))
    return Written(tuple(job.out / name for name in names))


def body_of(job: ExportJob) -> Robot:
    """Return the imitator, whose movements these must be: a free root, then joints of one degree of freedom."""
    robot = parse_robot(job.scores.imitator)
    joints = joints_of(robot)
    if robot.layout.state != job.demos.layout.state:
        raise BadOption("--to", job.scores.imitator, "the demonstrations are not of the imitator's joints")
    if not joints or joints[0].kind != "free" or not all(joint.single for joint in joints[1:]):
        raise BadOption("--to", str(robot), "clips are of bodies with a free root and hinges or slides; this one is none")
    return robot


def clip_names(job: ExportJob, suffix: str) -> list[str]:
    """Return a file name for every demonstration: its origin's, else its number; no two alike."""
    names: list[str] = []
    for place, episode in enumerate(job.demos.episodes):
        stem = _stem(job, episode, place)
        names.append(f"{stem}{suffix}" if f"{stem}{suffix}" not in names else f"{stem}-{place:06d}{suffix}")
    return names


def _stem(job: ExportJob, episode: Episode, place: int) -> str:
    origin = job.origin(episode)
    return Path(origin.name).stem if origin is not None and origin.file is not None else f"episode-{place:06d}"


def lafan1_bytes(robot: Robot, trajectory: Trajectory) -> bytes:
    """Return a movement as LAFAN1's CSV."""
    nq, period = robot.layout.nq, robot.layout.period_s
    qpos, times = trajectory.states[:, :nq], period * np.arange(float(len(trajectory) + 1))
    if not same_rate(times, 1 / lafan1.FPS):
        qpos = Curve(state_space(robot), times, qpos, trajectory.states[:, nq:]).positions(grid(times, 1 / lafan1.FPS))
    return lafan1.clip_bytes(qpos[:, :3], qpos[:, 3:7], qpos[:, 7:])


def gmr_bytes(robot: Robot, trajectory: Trajectory) -> bytes:
    """Return a movement as GMR's pickle."""
    qpos = trajectory.states[:, : robot.layout.nq]
    return gmr.clip_bytes(qpos[:, :3], qpos[:, 3:7], qpos[:, 7:], robot.layout.period_s)


def holosoma_bytes(robot: Robot, trajectory: Trajectory) -> bytes:
    """Return a movement as holosoma's npz: velocities of the root in the world's frame, as that of all bodies."""
    model, nq = robot.model, robot.layout.nq
    places, turns, speeds = _bodies(robot, trajectory.states)
    qvel = trajectory.states[:, nq:].copy()
    qvel[:, 3:6] = speeds[:, int(model.jnt_bodyid[0]), :3]
    held = io.BytesIO()
    np.savez(
        held,
        fps=np.array([1 / robot.layout.period_s]),
        joint_pos=trajectory.states[:, :nq],
        joint_vel=qvel,
        body_pos_w=places,
        body_quat_w=turns,
        body_lin_vel_w=speeds[..., 3:],
        body_ang_vel_w=speeds[..., :3],
        joint_names=np.array([joint.name for joint in joints_of(robot)[1:]]),
        body_names=np.array([model.body(index).name for index in range(model.nbody)]),
    )
    return held.getvalue()


def _bodies(robot: Robot, states: Floats) -> tuple[Floats, Floats, Floats]:
    """(n, S) → (n, B, 3) positions, (n, B, 4) rotations, (n, B, 6) turns and speeds of all bodies in the world's frame."""
    model, data, nq = robot.model, mujoco.MjData(robot.model), robot.layout.nq
    places, turns = np.empty((len(states), model.nbody, 3)), np.empty((len(states), model.nbody, 4))
    speeds = np.empty((len(states), model.nbody, 6))
    for frame, state in enumerate(states):
        data.qpos[:], data.qvel[:] = state[:nq], state[nq:]
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        places[frame], turns[frame] = data.xpos, data.xquat
        for body in range(model.nbody):
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, speeds[frame, body], 0)
    return places, turns, speeds
