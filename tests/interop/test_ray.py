# SPDX-License-Identifier: MIT
"""A real Ray cluster of two nodes on this machine, in an environment of its own; a node is killed while it works.

The environment is made on the first run, in `.venv-ray` or where IMITABLE_RAY_VENV says: imitable with its extra `ray`.
"""

import hashlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.hostile import hostile_modules, write_my_lab
from tests.unit.small_cells import PROTOCOL, cells, made, workshop

from imitable.experiments.cell_records import CellRecord
from imitable.experiments.executors import Local
from imitable.experiments.records import to_json, write_record
from imitable.experiments.reproduction import records_of

pytestmark = pytest.mark.interop

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NAMES = ("mujoco-a/half_cheetah-1/gail", "mujoco-a/half_cheetah-1/id-feas", "mujoco-a/half_cheetah-1/neighbours")


@pytest.fixture(scope="session")
def ray_python() -> Path:
    folder = Path(os.environ.get("IMITABLE_RAY_VENV") or ROOT / ".venv-ray")
    python, mark = folder / "bin" / "python", folder / "installed"
    digest = hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + (ROOT / "constraints.txt").read_bytes()).hexdigest()
    if not mark.is_file() or mark.read_text() != digest:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--constraint", str(ROOT / "constraints.txt")]
        subprocess.run([*install, "--editable", f"{ROOT}[ray]"], check=True)
        mark.write_text(digest)
    return python


@pytest.fixture
def environment() -> dict[str, str]:
    """Ray on 127.0.0.1 alone; workers that are not nice, which would wait for ever on a machine that is busy."""
    outer = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    return outer | {"RAY_worker_niceness": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "PYTHONPATH": str(ROOT / "src")}


def bits(folder: Path) -> list[tuple[object, ...]]:
    found: list[CellRecord | None] = records_of(cells(*NAMES), workshop(folder).records)
    assert all(found)
    return [(one.provenance.policy, one.provenance.setting, one.mean_actions, one.curve) for one in found if one]


def test_a_lost_node_changes_no_bit(ray_python: Path, environment: dict[str, str], tmp_path: Path) -> None:
    write_record(tmp_path / "protocol.json", PROTOCOL)
    (tmp_path / "cells.json").write_text(json.dumps([to_json(cell.job) for cell in cells(*NAMES)]))
    command = [str(ray_python), str(HERE / "ray_cluster.py"), str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["nodes"] == 1
    lost_at = next(place for place, key in enumerate(said["ended"]) if key.startswith("scores/"))
    assert len(said["ended"]) > lost_at + 1, "there was work left"
    assert not [one for one in made(cells(*NAMES), tmp_path / "local", Local(1)) if one.failure]
    assert bits(tmp_path / "cluster") == bits(tmp_path / "local")
    folders = [sorted(path.name for path in (tmp_path / name / "runs").iterdir()) for name in ("cluster", "local")]
    assert folders[0] == folders[1]


@pytest.fixture
def head(ray_python: Path, environment: dict[str, str]) -> Iterator[None]:
    """A Ray head that somebody else runs on this machine; it alone is stopped in the end, no other one."""
    command = [str(ray_python.with_name("ray")), "start", "--head", "--port", "0", "--num-cpus", "0", "--block"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
        assert running.stdout is not None
        assert any("Ray runtime started" in line for line in running.stdout)
        yield
        running.terminate()
        running.stdout.read()


@pytest.mark.usefixtures("head")
def test_the_command_starts_a_cluster_of_its_own(ray_python: Path, environment: dict[str, str], tmp_path: Path) -> None:
    command = [str(ray_python.with_name("imitable")), "reproduce", NAMES[0], "--seeds", "1", "--scale", "0.0001"]
    for executor in ("ray", "local"):
        options = ["--executor", executor, "--workers", "1", "--out", str(tmp_path / executor)]
        subprocess.run([*command, *options], env=environment, check=True, capture_output=True, cwd=tmp_path)
    policies = [
        [json.loads(path.read_text())["provenance"]["policy"] for path in sorted((tmp_path / name / "records").iterdir())]
        for name in ("ray", "local")
    ]
    assert policies[0]
    assert policies[0] == policies[1]


def test_nodes_find_what_was_typed_in_the_working_folder_and_nothing_else(
    ray_python: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    write_my_lab(tmp_path)
    options = ["--methods", "my_lab.scorers.Calm", "--executor", "ray", "--workers", "1", "--out", str(tmp_path / "out")]
    command = [str(ray_python.with_name("imitable")), "reproduce", NAMES[0], "--seeds", "1", "--scale", "0.0001"]
    with hostile_modules(tmp_path):
        done = subprocess.run([*command, *options], env=environment, capture_output=True, text=True, cwd=tmp_path)
        assert list(tmp_path.rglob("*.ran")) == []
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "out" / "records").glob("*calm*.json"))) == 1


@pytest.mark.parametrize("source", ["--address", "RAY_ADDRESS"])
def test_an_address_where_nobody_listens_gets_one_line_at_once(
    ray_python: Path, environment: dict[str, str], tmp_path: Path, source: str
) -> None:
    command = [str(ray_python.with_name("imitable")), "reproduce", NAMES[0], "--scale", "0.0001", "--executor", "ray"]
    with socket.socket() as bound:  # and nobody listens
        bound.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{bound.getsockname()[1]}"
        flag, variable = ([source, address], {}) if source == "--address" else ([], {source: address})
        done = subprocess.run(
            [*command, *flag, "--out", str(tmp_path / "out")],
            env=environment | variable,
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            timeout=120,  # far less than the minutes that Ray itself tries for
        )
    assert done.returncode == 2
    assert f"{source}={address} is not allowed: no Ray cluster answers there" in done.stderr.splitlines()[-1]
    assert not (tmp_path / "out" / "records").exists()
