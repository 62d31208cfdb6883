# SPDX-License-Identifier: MIT
"""A tiny robot and a small dataset that several files here use; a fixture of the same name in a file goes first."""

import json
import shutil
from pathlib import Path

import pytest

from imitable.demos.store import write
from imitable.policies import shipped
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


@pytest.fixture
def two_hoppers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Ship two more policies of `hopper`: one for the setting hopper alone, which is gravity 20's, and set b's, gravity 5's."""
    home = shutil.copytree(shipped.folder(), tmp_path / "shipped" / "demonstrators", ignore=shutil.ignore_patterns("b"))
    for other, folder, setting in (("hopper:gravity=20", home, "hopper"), ("hopper:gravity=5", home / "b", "")):
        folder.mkdir(exist_ok=True)
        name = shipped.file_name("hopper", setting)
        card = json.loads((home / f"{shipped.file_name(other)}.json").read_text()) | {"robot": "hopper", "setting": setting}
        (folder / f"{name}.json").write_text(json.dumps(card))
        shutil.copy(home / f"{shipped.file_name(other)}.safetensors", folder / f"{name}.safetensors")
    monkeypatch.setattr(shipped, "HOME", home)
    return home
