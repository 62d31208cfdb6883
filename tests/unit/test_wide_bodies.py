# SPDX-License-Identifier: MIT
"""A body with many joints, as a humanoid has: what is said of it still fits a screen."""

from pathlib import Path

import numpy as np
import pytest

from imitable.cli.console import LONG, shortened
from tests.unit.test_cli import imitable

JOINTS = 26

LINK = '<body pos="0.1 0 0"><joint name="j{0}" axis="0 0 1"/><geom type="capsule" fromto="0 0 0 0.1 0 0" size="0.02"/>'


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    """A chain of links in a plane, and a recording of it in `clips`."""
    links = "".join(LINK.format(number) for number in range(JOINTS)) + JOINTS * "</body>"
    motors = "".join(f'<motor joint="j{number}" ctrlrange="-1 1"/>' for number in range(JOINTS))
    option = '<option gravity="0 0 0"><flag contact="disable"/></option>'
    (tmp_path / "chain.xml").write_text(f"<mujoco>{option}<worldbody>{links}</worldbody><actuator>{motors}</actuator></mujoco>")
    (tmp_path / "clips").mkdir()
    angles = 0.1 * np.sin(np.arange(50)[:, None] / 50 + np.arange(JOINTS))
    np.savez(tmp_path / "clips" / "one.npz", angles=angles, angles_names=[f"j{k}" for k in range(JOINTS)], fps=50)
    return tmp_path


def test_a_large_mapping_is_told_in_runs_and_checks_show_no_entries(chain: Path) -> None:
    done = imitable("convert", "clips", "demos", "--imitator", "chain.xml", cwd=chain)
    assert done.returncode == 0, done.stderr
    assert f"j0 … j{JOINTS - 1}" in done.stdout
    assert f"angles[0:{JOINTS}]" in done.stdout
    assert "j7" not in done.stdout
    plain = imitable("inspect", "demos", cwd=chain)
    assert "j7_velocity" in plain.stdout
    examined = imitable("check", "demos", "--imitator", "chain.xml", cwd=chain)
    assert "chain.xml: " in examined.stdout
    assert "j7_velocity" not in examined.stdout


def test_a_long_text_of_a_robot_is_cut_in_headings() -> None:
    assert shortened("hopper:gravity=15") == "hopper:gravity=15"
    text = "g1.xml:" + ",".join(f"kp.j{number}=100" for number in range(JOINTS))
    assert text.startswith(shortened(text)[:-1])
    assert len(shortened(text)) == LONG + 1
