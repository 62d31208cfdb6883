# SPDX-License-Identifier: MIT
"""Files of a piece between machines that share no disk: whatever is lost on its way is made again, and nothing else."""

from pathlib import Path

from imitable.experiments.executors import attempt
from imitable.experiments.packing import RECORDS, keep, local_workshop, taken
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


def test_demonstrations_are_given_back_without_a_record(tmp_path: Path) -> None:
    node = workshop(tmp_path)
    [recording, _] = pieces_of([cells(CELL)[0].job], node)
    assert attempt(recording, node) is None
    files = taken(recording, node)
    assert files
    assert not any(name.startswith(RECORDS) for name in files)


def test_a_node_has_one_store_for_all_tasks_of_a_driver_s(tmp_path: Path) -> None:
    one, other = workshop(tmp_path / "one"), workshop(tmp_path / "other")
    assert local_workshop(one).store == local_workshop(one).store != local_workshop(other).store
