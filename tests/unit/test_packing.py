# SPDX-License-Identifier: MIT
"""Files of a piece between machines that share no disk: whatever is lost on its way is made again, and nothing else."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from imitable.experiments import executors, packing
from imitable.experiments.executors import attempt, with_traceback_kept
from imitable.experiments.packing import keep, local_workshop, made_and_taken, taken
from imitable.experiments.work import pieces_of
from tests.unit.small_cells import cells, workshop

CELL = "mujoco-a/half_cheetah-1/own-expert"


def test_a_cell_whose_files_are_lost_on_their_way_is_made_again_whole(tmp_path: Path) -> None:
    driver, node = workshop(tmp_path / "driver"), workshop(tmp_path / "node")
    *needed, run = pieces_of([cells(CELL)[0].job], driver)
    for piece in needed:
        assert attempt(piece, node) is None
    assert attempt(run, node) is None
    lost = taken(run, node)
    assert attempt(run, node) is None
    again = taken(run, node)
    assert lost.keys() == again.keys()
    assert {Path(name).name for name in again} >= {"policy.safetensors", "evaluation.json", f"{Path(run.key).name}.json"}
    policy = next(name for name in again if name.endswith("/policy.safetensors"))
    assert lost[policy] == again[policy]
    assert not driver.is_done(run)
    keep(run, again, driver)
    assert driver.is_done(run)
    assert (driver.store.path / policy).read_bytes() == again[policy]
    assert not list(node.records.glob("*.json")), "the node keeps nothing that passes for done"


def test_demonstrations_are_given_back_and_not_kept_twice(tmp_path: Path) -> None:
    node = workshop(tmp_path)
    [recording, _] = pieces_of([cells(CELL)[0].job], node)
    assert attempt(recording, node) is None
    there = sorted(path for path in (tmp_path / recording.key).rglob("*") if path.is_file())
    files = taken(recording, node)
    assert sorted(files) == [path.relative_to(tmp_path).as_posix() for path in there]
    assert not (tmp_path / recording.key).exists()


def test_two_tasks_of_one_cell_do_not_take_from_each_other(tmp_path: Path) -> None:
    node = workshop(tmp_path)
    *needed, run = pieces_of([cells(CELL)[0].job], node)
    for piece in needed:
        assert attempt(piece, node) is None
    with ThreadPoolExecutor(2) as threads:
        results = [task.result() for task in [threads.submit(made_and_taken, run, node) for _ in range(2)]]
    assert [failure for failure, _ in results] == [None, None]
    one, other = (files for _, files in results)
    assert one.keys() == other.keys()
    assert {Path(name).name for name in one} >= {"policy.safetensors", f"{Path(run.key).name}.json"}


def test_a_fault_on_a_node_comes_back_with_its_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("as if by a method of a user's")

    driver, node = workshop(tmp_path / "driver"), workshop(tmp_path / "node")
    recording, _ = pieces_of([cells(CELL)[0].job], driver)
    monkeypatch.setattr(executors, "make", broken)
    failure, files = made_and_taken(recording, node)
    assert failure is not None
    assert failure.fault
    assert files == {}
    told = with_traceback_kept(failure, recording, driver)
    path = tmp_path / "driver" / "failed" / f"{recording.key}.txt"
    assert told is not None
    assert told.reason == f"RuntimeError: as if by a method of a user's (traceback in {path})"
    assert "in broken" in path.read_text()


def test_a_node_has_one_store_for_all_tasks_of_a_driver_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = workshop(tmp_path / "one")
    mine = local_workshop(one).store
    assert local_workshop(workshop(tmp_path / "one")).store == mine
    assert local_workshop(workshop(tmp_path / "other")).store != mine
    assert local_workshop(replace(one, protocol="another")).store != mine
    monkeypatch.setattr(packing, "code_hash", lambda: "other code")
    assert local_workshop(one).store != mine
