# SPDX-License-Identifier: MIT
"""The real Minari, in its own environment, opens what we export, and we convert what it writes."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.interop.environments import environment, run
from tests.unit.datasets import LAYOUT, trajectory
from tests.unit.scored import scores_of

from imitable.demos.conversion.convert import convert
from imitable.demos.conversion.proposal import MappingOptions
from imitable.demos.formats import open_source
from imitable.demos.store import read
from imitable.exporters.export import export
from imitable.robots.parse import parse_robot
from imitable.types import InMemory

pytestmark = pytest.mark.interop


@pytest.fixture(scope="session")
def minari_python() -> Path:
    return environment("minari", "minari[arrow,hdf5]==0.5.4", "pillow")  # its storage imports pillow without asking for it


def test_minari_opens_what_we_export(minari_python: Path, tmp_path: Path) -> None:
    made = [trajectory(length, k, actions=k != 1, terminated=k == 2) for k, length in enumerate((9, 4, 12))]
    demos = InMemory(LAYOUT, made)
    export(demos, scores_of(demos, [1, 2, 5]), "minari", tmp_path / "scored-v0")
    seen = json.loads(run(minari_python, "minari_opens.py", "open", "scored-v0", MINARI_DATASETS_PATH=str(tmp_path)))
    assert (seen["id"], seen["steps"]) == ("scored-v0", 25)
    assert seen["weights"] == pytest.approx([1 / 8, 2 / 8, 5 / 8])
    assert seen["feasibility"] == pytest.approx([0.2, 0.4, 1])
    for one, episode in zip(made, seen["episodes"], strict=True):
        np.testing.assert_array_equal(episode["observations"], one.states)
        np.testing.assert_array_equal(episode["actions"], np.zeros((4, 3)) if one.actions is None else one.actions)
        assert (episode["terminated"], episode["truncated"]) == (one.terminated, not one.terminated)


@pytest.mark.parametrize("storage", ["hdf5", "arrow", "parquet"])
def test_we_convert_what_minari_records(minari_python: Path, servo_arm_path: Path, tmp_path: Path, storage: str) -> None:
    run(minari_python, "minari_opens.py", "record", "arm/servo-v0", storage, MINARI_DATASETS_PATH=str(tmp_path / "root"))
    source = open_source(tmp_path / "root" / "arm" / "servo-v0")
    assert {name: column.width for name, column in source.columns.items()} == {
        "action": 3,
        "infos/qpos": 3,
        "infos/qvel": 3,
        "observations/joints": 3,
        "observations/touch": 1,
    }
    np.testing.assert_array_equal(source[1].columns["action"], np.full((7, 3), [1, 0.1, 0.2]))
    robot = parse_robot(str(servo_arm_path))
    options = MappingOptions(qpos="infos/qpos", qvel="infos/qvel", fps=50, beyond_range=True, differentiate="never")
    convert(tmp_path / "root" / "arm" / "servo-v0", tmp_path / "demos", robot, options=options)
    demos = read(tmp_path / "demos")
    assert [(one.length, one.seed, one.terminated, one.total_return) for one in demos.episodes] == [
        (5 + k, 10 + k, True, 5.0 + k) for k in range(3)
    ]
    for k, one in enumerate(demos):
        np.testing.assert_array_equal(one.states[:, :3], np.arange(3 * (6 + k)).reshape(-1, 3) / 100 + k)
