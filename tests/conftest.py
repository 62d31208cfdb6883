# SPDX-License-Identifier: MIT
"""Tiny robots that every test may use; one thread a test process, and no skips where a change is judged."""

from pathlib import Path

import pytest

from imitable.runtime import one_thread
from tests.no_skips import pytest_make_collect_report, pytest_runtest_makereport

__all__ = ["pytest_make_collect_report", "pytest_runtest_makereport"]

one_thread()  # before any test imports NumPy and JAX: the bits of a run here are those of the command line

SLIDER = """
<mujoco model="slider">
  <option timestep="0.01" gravity="0 0 0"/>
  <worldbody>
    <body name="cart">
      <joint name="slide" type="slide" axis="1 0 0" range="-1 1" damping="0.1"/>
      <geom name="box" type="box" size="0.1 0.1 0.1" mass="1"/>
    </body>
  </worldbody>
  <actuator>
    <motor name="push" joint="slide" gear="2" ctrllimited="true" ctrlrange="-1 1"/>
  </actuator>
</mujoco>
"""
"""A cart of 1 kg on a rail of ±1 m, pushed with up to 2 N."""


@pytest.fixture
def slider_path(tmp_path: Path) -> Path:
    """Return the path of a one-joint robot's model file."""
    path = tmp_path / "slider.xml"
    path.write_text(SLIDER)
    return path


ARM = """
<mujoco model="arm">
  <option timestep="0.01" gravity="0 0 0"/>
  <worldbody>
    <body name="upper">
      <joint name="shoulder" type="hinge" axis="0 0 1" range="-2 2" damping="0.2"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="1"/>
      <body name="lower" pos="0.3 0 0">
        <joint name="elbow" type="hinge" axis="0 0 1" range="-2 2" damping="0.2"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="1"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="shoulder_motor" joint="shoulder" gear="2" ctrllimited="true" ctrlrange="-1 1"/>
    <motor name="elbow_motor" joint="elbow" gear="1" ctrllimited="true" ctrlrange="-1 1"/>
  </actuator>
</mujoco>
"""
"""Two links of 30 cm in the plane, without contact."""


@pytest.fixture
def arm_path(tmp_path: Path) -> Path:
    """Return the path of a two-link arm's model file."""
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    return path


SERVO_ARM = """
<mujoco model="servo_arm">
  <compiler angle="radian"/>
  <option integrator="implicitfast"/>
  <default>
    <joint armature="0.02"/>
    <geom type="capsule" size="0.02" contype="0" conaffinity="0"/>
    <position kp="4500" dampratio="1" forcerange="-87 87" inheritrange="1"/>
  </default>
  <worldbody>
    <body name="base" pos="0 0 0.1">
      <joint name="rotation" axis="0 0 1" range="-2.2 2.2"/>
      <geom fromto="0 0 0 0 0 0.05" mass="0.12"/>
      <body name="upper" pos="0 0 0.05">
        <joint name="pitch" axis="0 1 0" range="-3.14 0.2"/>
        <geom fromto="0 0 0 0.11 0 0" mass="0.16"/>
        <body name="lower" pos="0.11 0 0">
          <joint name="elbow" axis="0 1 0" range="0 3.14"/>
          <geom fromto="0 0 0 0.13 0 0" mass="0.3"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="rotation" joint="rotation"/>
    <position name="pitch" joint="pitch"/>
    <position name="elbow" joint="elbow"/>
  </actuator>
  <keyframe><key qpos="0 -1.57 1.57"/></keyframe>
</mujoco>
"""
"""Three stiff position servos under gravity: from no force to all of it is a hundredth of what they can be told."""


@pytest.fixture
def servo_arm_path(tmp_path: Path) -> Path:
    """Return the path of a servo arm's model file."""
    path = tmp_path / "servo_arm.xml"
    path.write_text(SERVO_ARM)
    return path


FLOATING = """
<mujoco model="floating">
  <option timestep="0.01" gravity="0 0 0"/>
  <worldbody>
    <body name="hull" quat="0.9 0.1 -0.3 0.2">
      <freejoint name="hull"/>
      <geom type="box" size="0.1 0.2 0.3" mass="1"/>
      <body name="wing" pos="0.4 0 0">
        <joint name="shoulder" type="ball" damping="0.02"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="0.5"/>
        <body name="tip" pos="0.3 0 0">
          <joint name="elbow" type="hinge" axis="0 1 0" damping="0.02"/>
          <geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.02" mass="0.3"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="roll" joint="shoulder" gear="0.3 0 0" ctrllimited="true" ctrlrange="-1 1"/>
    <motor name="flap" joint="shoulder" gear="0 0.3 0" ctrllimited="true" ctrlrange="-1 1"/>
    <motor name="bend" joint="elbow" gear="0.2" ctrllimited="true" ctrlrange="-1 1"/>
  </actuator>
</mujoco>
"""
"""A hull that floats freely, with a wing on a ball joint: two quaternions, S = 12 + 10 entries."""


@pytest.fixture
def floating_path(tmp_path: Path) -> Path:
    """Return the path of a free-floating robot's model file."""
    path = tmp_path / "floating.xml"
    path.write_text(FLOATING)
    return path
