# SPDX-License-Identifier: MIT
"""A small biped on a floor, and movements of it: what motion clips are made of."""

from pathlib import Path

import mujoco
import numpy as np

from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.types import Floats

BIPED = """
<mujoco model="biped">
  <option timestep="0.01"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1"/>
    <body name="pelvis" pos="0 0 0.5">
      <freejoint name="root"/>
      <geom type="box" size="0.05 0.12 0.05" mass="3"/>
      <body name="left_thigh" pos="0 0.1 0">
        <joint name="left_hip_joint" axis="0 1 0" range="-90 90"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.22" size="0.03" mass="1"/>
        <body name="left_shin" pos="0 0 -0.22">
          <joint name="left_knee_joint" axis="0 1 0" range="0 120"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.22" size="0.03" mass="0.7"/>
        </body>
      </body>
      <body name="right_thigh" pos="0 -0.1 0">
        <joint name="right_hip_joint" axis="0 1 0" range="-90 90"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.22" size="0.03" mass="1"/>
        <body name="right_shin" pos="0 0 -0.22">
          <joint name="right_knee_joint" axis="0 1 0" range="0 120"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.22" size="0.03" mass="0.7"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="left_hip" joint="left_hip_joint" ctrllimited="true" ctrlrange="-9 9"/>
    <motor name="left_knee" joint="left_knee_joint" ctrllimited="true" ctrlrange="-9 9"/>
    <motor name="right_hip" joint="right_hip_joint" ctrllimited="true" ctrlrange="-9 9"/>
    <motor name="right_knee" joint="right_knee_joint" ctrllimited="true" ctrlrange="-9 9"/>
  </actuator>
</mujoco>
"""


def biped(folder: Path) -> Robot:
    """Return the biped of a file in a folder."""
    path = folder / "biped.xml"
    path.write_text(BIPED)
    return parse_robot(str(path))


def walk(frames: int = 60, fps: float = 30.0, phase: float = 0.0) -> tuple[Floats, Floats]:
    """Return qpos (n, 11) and qvel (n, 10) of a stroll along an arc; angular velocities are the local ones."""
    t = np.arange(frames) / fps
    heading, turn, speed = 0.9 + 0.8 * t + phase, 0.8, 0.4
    roll, roll_speed = 0.1 * np.sin(3 * t), 0.3 * np.cos(3 * t)
    x, y = speed / turn * np.sin(heading), -speed / turn * np.cos(heading)
    yaw_half, roll_half = heading / 2, roll / 2
    rotation = np.stack(  # turned by the heading about z, then rolled about the body's x
        [
            np.cos(yaw_half) * np.cos(roll_half),
            np.cos(yaw_half) * np.sin(roll_half),
            np.sin(yaw_half) * np.sin(roll_half),
            np.sin(yaw_half) * np.cos(roll_half),
        ],
        axis=1,
    )
    hip, knee = 0.4 * np.sin(4 * t + phase), 0.5 + 0.4 * np.cos(4 * t + phase)
    qpos = np.column_stack([x, y, np.full(frames, 0.47), rotation, hip, knee, -hip, 1.0 - knee + 0.2])
    local = np.stack([roll_speed, turn * np.sin(roll), turn * np.cos(roll)], axis=1)
    hip_speed, knee_speed = 1.6 * np.cos(4 * t + phase), -1.6 * np.sin(4 * t + phase)
    velocity = np.column_stack([speed * np.cos(heading), speed * np.sin(heading), np.zeros(frames), local])
    return qpos, np.column_stack([velocity, hip_speed, knee_speed, -hip_speed, -knee_speed])


def world_turn(qpos: Floats, qvel: Floats) -> Floats:
    """(n, 10) → the same with the root's angular velocity in the world's frame."""
    turned = qvel.copy()
    for row, (position, velocity) in enumerate(zip(qpos, qvel, strict=True)):
        result = np.empty(3)
        mujoco.mju_rotVecQuat(result, velocity[3:6].copy(), position[3:7].copy())
        turned[row, 3:6] = result
    return turned


def bodies(robot: Robot, qpos: Floats) -> Floats:
    """(n, nq) → (n, bodies, 3) positions of all bodies but the world."""
    data, places = mujoco.MjData(robot.model), []
    for position in qpos:
        data.qpos[:] = position
        mujoco.mj_kinematics(robot.model, data)
        places.append(data.xpos[1:].copy())
    return np.array(places)
