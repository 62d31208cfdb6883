# SPDX-License-Identifier: MIT
"""Tiny robots that every test may use; one thread a test process, and no skips where a change is judged."""

import shutil
import signal
from pathlib import Path

import pytest

from imitable.runtime import one_thread
from tests.no_skips import pytest_make_collect_report, pytest_runtest_makereport

__all__ = ["pytest_make_collect_report", "pytest_runtest_makereport"]

# a shell that starts tests in the background lets them, and all that they start, ignore ctrl-C, which some tests send
signal.signal(signal.SIGINT, signal.default_int_handler)
one_thread()  # before any test imports NumPy and JAX: the bits of a run here are those of the command line

ROBOTS = Path(__file__).parents[1] / "examples" / "robots"

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


@pytest.fixture
def servo_arm_path(tmp_path: Path) -> Path:
    """Return the path of a servo arm's model file."""
    path = tmp_path / "servo_arm.xml"
    shutil.copy(ROBOTS / "servo_arm.xml", path)
    return path


@pytest.fixture
def floating_path(tmp_path: Path) -> Path:
    """Return the path of a free-floating robot's model file."""
    path = tmp_path / "floating.xml"
    shutil.copy(ROBOTS / "floating.xml", path)
    return path
