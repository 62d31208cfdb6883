# SPDX-License-Identifier: MIT
"""Writing that fails or may not replace what is there leaves nothing behind."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from imitable import errors
from imitable.demos.store import read, write
from imitable.types import Trajectory
from tests.unit.datasets import LAYOUT, files_in, refusal, trajectory


def test_an_existing_output_is_refused(demos: Path) -> None:
    before = {path: path.read_bytes() for path in files_in(demos)}
    with pytest.raises(errors.OutputExists, match=r"exists: give --overwrite to replace it"):
        write(demos, LAYOUT, [trajectory(3)])
    assert {path: path.read_bytes() for path in files_in(demos)} == before
    write(demos, LAYOUT, [trajectory(3)], overwrite=True)
    assert [episode.length for episode in read(demos).episodes] == [3]
    assert os.listdir(demos.parent) == ["demos"]


def test_overwriting_a_set_with_a_part_of_itself(demos: Path) -> None:
    old = read(demos)
    hashes = [episode.hash for episode in old.episodes]
    write(demos, old.layout, (old[k] for k in (4, 1)), overwrite=True)
    assert [t.hash for t in read(demos)] == [hashes[4], hashes[1]]


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_nothing_but_a_dataset_is_ever_replaced(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "thesis"
    if kind == "folder":
        target.mkdir()
    (target / "text" if kind == "folder" else target).write_text("years of work")
    with pytest.raises(errors.CannotWrite, match="no set of demonstrations"):
        write(target, LAYOUT, [trajectory(3)], overwrite=True)
    assert [path.read_text() for path in files_in(tmp_path)] == ["years of work"]


def wrong_states() -> Iterator[Trajectory]:
    yield trajectory(1200)
    yield Trajectory(np.zeros((3, 5)), "toy")


def wrong_actions() -> Iterator[Trajectory]:
    yield trajectory(1200)
    yield Trajectory(np.zeros((3, 4)), "toy", np.zeros((2, 1)))


def wrong_seed() -> Iterator[Trajectory]:
    yield Trajectory(np.zeros((3, 4)), "toy", seed=2**63)


def interrupted() -> Iterator[Trajectory]:
    yield trajectory(1200)
    raise KeyboardInterrupt


def broken() -> Iterator[Trajectory]:
    yield trajectory(1200)
    raise ZeroDivisionError


@pytest.mark.parametrize(
    ("source", "error", "reason"),
    [
        (wrong_states, errors.BadTrajectory, "trajectory 1 has 5 state entries, the layout 4"),
        (wrong_actions, errors.BadTrajectory, "trajectory 1 has 1 action entries, the layout 3"),
        (wrong_seed, errors.BadTrajectory, "does not fit 64 bits"),
        (lambda: iter(()), errors.CannotWrite, "no demonstration to write"),
        (interrupted, KeyboardInterrupt, ""),
        (broken, ZeroDivisionError, ""),
    ],
)
def test_an_error_leaves_nothing_behind(
    tmp_path: Path, source: Callable[[], Iterator[Trajectory]], error: type[BaseException], reason: str
) -> None:
    with pytest.raises(error) as caught:
        write(tmp_path / "demos", LAYOUT, source())
    assert reason in str(caught.value)
    assert not os.listdir(tmp_path)
    write(tmp_path / "demos", LAYOUT, [trajectory(3)])
    with pytest.raises(error):
        write(tmp_path / "demos", LAYOUT, source(), overwrite=True)
    assert os.listdir(tmp_path) == ["demos"]
    assert len(read(tmp_path / "demos")) == 1


def test_a_parent_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(errors.CannotWrite) as caught:
        write(tmp_path / "file" / "demos", LAYOUT, [trajectory(3)])
    assert "\n" not in str(caught.value)
    assert os.listdir(tmp_path) == ["file"]


FULL_DISK = """
import resource, signal, sys
import numpy as np
from imitable.demos.store import write
from imitable.errors import CannotWrite
from imitable.types import Layout, Trajectory

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), -1))
try:
    made = (Trajectory(np.full((2000, 2), float(k)), "toy") for k in range(20))
    write(sys.argv[1] + "/demos", Layout(("x",), ("v",), ("a",), 0.1), made)
except CannotWrite as error:
    print(error)
"""


@pytest.mark.parametrize("limit", [0, 700, 3000, 20_000, 200_000])
def test_a_disk_that_refuses_leaves_nothing_behind(tmp_path: Path, limit: int) -> None:
    command = [sys.executable, "-W", "error", "-c", FULL_DISK, str(tmp_path), str(limit)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout == f"cannot write {tmp_path}/demos: File too large; nothing was left behind\n"
    assert not result.stderr
    assert not os.listdir(tmp_path)


KILLED = """
import os, signal, sys
import numpy as np
from imitable.demos.store import write
from imitable.types import Layout, Trajectory

def made():
    for k in range(20):
        yield Trajectory(np.ones((2000, 2)) * k, "toy")
    os.kill(os.getpid(), signal.SIGKILL)

write(sys.argv[1] + "/demos", Layout(("x",), ("v",), ("a",), 0.1), made(), shard_mb=0.1)
"""


def test_what_a_killed_process_leaves_is_no_dataset(tmp_path: Path) -> None:
    result = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert result.returncode < 0
    (leftover,) = tmp_path.glob(".demos.*.imitable")
    assert files_in(leftover)
    assert "half-written" in refusal(leftover)
    assert "no such folder" in refusal(tmp_path / "demos")
    write(tmp_path / "demos", LAYOUT, [trajectory(3)])
    assert len(read(tmp_path / "demos")) == 1
