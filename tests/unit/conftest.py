# SPDX-License-Identifier: MIT
"""A tiny robot and a small dataset that several files here use; a fixture of the same name in a file goes first."""

from pathlib import Path

import pytest

from imitable.demos.store import write
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from tests.unit.datasets import LAYOUT, trajectory


@pytest.fixture
def slider(slider_path: Path) -> Robot:
    """Return the one-joint robot."""
    return parse_robot(str(slider_path))


@pytest.fixture
def demos(tmp_path: Path) -> Path:
    """Write five episodes in two data files; short ones lie in one row group."""
    lengths = (30, 1200, 20, 10, 1500)
    write(tmp_path / "demos", LAYOUT, [trajectory(length, k) for k, length in enumerate(lengths)], shard_mb=0.05)
    return tmp_path / "demos"
