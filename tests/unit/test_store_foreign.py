# SPDX-License-Identifier: MIT
"""Datasets that another program wrote, and our own first ones, are read as far as is sensible."""

import math
from pathlib import Path

import numpy as np
import pyarrow as pa

from imitable.demos.store import read, write
from imitable.types import Layout, Trajectory
from tests.unit.datasets import DATA, EPISODES, LAYOUT, edit_info, edit_table, foreign, older, trajectory


def test_a_foreign_dataset_is_read_as_far_as_sensible(tmp_path: Path) -> None:
    written = [trajectory(length, k) for k, length in enumerate((4, 8))]
    folder = tmp_path / "demos"
    write(folder, LAYOUT, [Trajectory(t.states.clip(-1, 1), "toy", t.actions) for t in written])
    edit_info(folder, lambda info: info.pop("imitable"))
    edit_info(folder, lambda info: info["features"]["observation.state"].update(names={"motors": ["a", "b", "c", "d"]}))
    edit_info(folder, lambda info: info["features"]["action"].update(names=None))
    edit_info(folder, lambda info: info.update(robot_type=None))
    edit_table(folder / EPISODES, foreign)
    singles = pa.list_(pa.float32())
    edit_table(folder / DATA, lambda t: t.set_column(0, "observation.state", t["observation.state"].cast(singles)))
    back = read(folder)
    assert back.layout == Layout(("a", "b", "c", "d"), (), ("action0", "action1", "action2"), 0.008)
    for episode, stored, original in zip(back.episodes, back, written, strict=True):
        assert (episode.demonstrator, episode.hash, episode.terminated) == ("demos", stored.hash, False)
        assert math.isnan(episode.total_return)
        np.testing.assert_array_equal(stored.states, original.states.clip(-1, 1).astype(np.float32))
        np.testing.assert_array_equal(stored.actions, original.actions)


def test_a_foreign_dataset_without_actions_is_state_only(tmp_path: Path) -> None:
    write(tmp_path / "demos", LAYOUT, [trajectory(4)])
    edit_info(tmp_path / "demos", lambda info: (info.pop("imitable"), info["features"].pop("action")))
    edit_table(tmp_path / "demos" / EPISODES, foreign)
    edit_table(tmp_path / "demos" / DATA, lambda table: table.drop_columns(["action"]))
    back = read(tmp_path / "demos")
    assert back.layout.actuators == ()
    assert back[0].actions is None


def test_our_first_datasets_stay_readable(demos: Path) -> None:
    before = [episode.row_hash for episode in read(demos).episodes]
    edit_table(demos / EPISODES, older)
    assert [episode.row_hash for episode in read(demos).episodes] == before
    assert [one.hash for one in read(demos)] == [episode.hash for episode in read(demos).episodes]
