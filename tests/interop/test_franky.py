# SPDX-License-Identifier: MIT
"""The real driver over the real protocol: franky-control and libfranka here, franky-sim behind a socket in its own process.

The environment is made on the first run, in `.venv-franky` or where IMITABLE_FRANKY_VENV says: imitable with its extra
`franka-sim`. No hardware is there; what a server cannot show is in docs/how-to/real-arm.md.
"""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.over_policy import over_policy

import imitable as im
from imitable.drivers.journal import read_journal
from imitable.drivers.recording import journal_path
from imitable.experiments.arm_real_records import read_arm_real
from imitable.sim.own_task import own_task
from imitable.sim.reach import Reach

pytestmark = pytest.mark.interop

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ADDRESS, ROBOT = "127.0.0.1", "panda:dof=3"
DRIVER = f"franky:address={ADDRESS},realtime=0,dynamics=1"
PATIENCE_S = 120.0
"""A busy machine is slow."""

Serve = Callable[..., subprocess.Popen[str]]


@pytest.fixture(scope="session")
def franky_python() -> Path:
    folder = Path(os.environ.get("IMITABLE_FRANKY_VENV") or ROOT / ".venv-franky")
    python, mark = folder / "bin" / "python", folder / "installed"
    digest = hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + (ROOT / "constraints.txt").read_bytes()).hexdigest()
    if not mark.is_file() or mark.read_text() != digest:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--constraint", str(ROOT / "constraints.txt")]
        subprocess.run([*install, "--editable", f"{ROOT}[franka-sim]"], check=True)
        mark.write_text(digest)
    return python


@pytest.fixture
def serve(franky_python: Path) -> Iterator[Serve]:
    """Start a server that differs from the model as its options say; it ends with the test."""
    servers: list[subprocess.Popen[str]] = []

    def start(*options: str) -> subprocess.Popen[str]:
        command = [str(franky_python), "-m", "imitable.experiments.franky_server", "--robot", ROBOT, *options]
        servers.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        output = servers[-1].stdout
        assert output is not None
        while "serving" not in (line := output.readline()):
            assert line, "the server ended"
        return servers[-1]

    yield start
    for server in servers:
        server.kill()
        server.communicate()


@pytest.fixture
def begin(franky_python: Path, tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Begin `imitable play` in its own process."""

    def start(*options: str, height: float = 0.36) -> subprocess.Popen[str]:
        im.save_policy(over_policy(im.robot(ROBOT), height=height), tmp_path / "over.safetensors")
        command = [str(franky_python.parent / "imitable"), "play", "over.safetensors", "--driver", DRIVER, *options]
        return subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    return start


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    output, errors = process.communicate(timeout=PATIENCE_S)
    return process.returncode, output, errors


def wait_for_motion(log: Path, actions: int = 15) -> None:
    """Return when a policy has moved an arm for some steps."""
    deadline, path = time.monotonic() + PATIENCE_S, journal_path(log)
    while time.monotonic() < deadline:
        if path.exists() and path.read_text().count('"action"') >= actions:
            return
        time.sleep(0.05)
    raise AssertionError("the arm did not move")


def lines(log: Path) -> list[dict[str, Any]]:
    return read_journal(journal_path(log))[1]


def check_complete(log: Path, last: list[str]) -> None:
    """Check that a log ends as it should, and that what the arm did is a demonstration."""
    told = lines(log)
    assert [line["kind"] for line in told[-len(last) :]] == last
    [trajectory] = im.read(log)
    answered = [line["action"] for line in told if line["kind"] == "command" and "action" in line][: len(trajectory)]
    np.testing.assert_array_equal(trajectory.actions, answered)


def at_rest(python: Path) -> bool:
    read = subprocess.run([str(python), str(HERE / "franky_reads.py"), ADDRESS], capture_output=True, text=True, check=True)
    return max(map(abs, json.loads(read.stdout)["velocities"])) < 0.05


def test_a_policy_reaches_the_goal_through_the_real_protocol(serve: Serve, begin: Serve, tmp_path: Path) -> None:
    serve("--noise", "0.0005")
    code, output, errors = ended(begin("--slowdown", "2", "--json"))
    assert code == 0, errors
    [episode] = json.loads(output)["episodes"]
    assert episode["terminated"]
    assert episode["total_return"] == 5000 - 50 * episode["steps"]
    [trajectory] = im.read(tmp_path / "log")
    task = own_task(im.robot(ROBOT))
    assert isinstance(task, Reach)
    assert task.there(trajectory.states[-1:]).all()
    tools = task.tools(trajectory.states)
    assert np.abs(tools[:, 1]).max() < 0.005, "joints that are not commanded stay"
    # the arm goes as it was told: most of the way that the actions ask for, and not more
    assert trajectory.actions is not None
    assert 0.6 < (tools[-1, 0] - tools[0, 0]) / trajectory.actions[:, 0].sum() < 1.02


def test_a_command_beyond_a_limit_stops_the_arm(franky_python: Path, serve: Serve, begin: Serve, tmp_path: Path) -> None:
    serve()
    code, output, errors = ended(begin("--box", "0.1", "-0.4", "0", "1", "0.4", "0.25"))
    assert (code, output) == (2, "")
    assert errors.splitlines()[-1].startswith("imitable: the arm was stopped: the z of the tool in the command is 0.25")
    check_complete(tmp_path / "log", ["refused", "stopped"])
    assert at_rest(franky_python)


def test_a_server_that_is_killed_in_the_middle_of_a_motion(serve: Serve, begin: Serve, tmp_path: Path) -> None:
    server = serve()
    playing = begin()
    wait_for_motion(tmp_path / "log")
    server.kill()
    code, _, errors = ended(playing)
    assert code == 2
    assert "no connection to the arm at 127.0.0.1" in errors.splitlines()[-1]
    check_complete(tmp_path / "log", ["stopped", "unanswered"])
    assert "stale" in lines(tmp_path / "log")[-2]["reason"], "nobody waits for the network's own timeout"


def test_readings_that_come_late_stop_the_arm(franky_python: Path, serve: Serve, begin: Serve, tmp_path: Path) -> None:
    server = serve()
    playing = begin()
    wait_for_motion(tmp_path / "log")
    server.send_signal(signal.SIGSTOP)
    time.sleep(0.5)
    server.send_signal(signal.SIGCONT)
    code, _, errors = ended(playing)
    assert code == 2
    assert "stale: nothing new for 0.2 s" in errors.splitlines()[-1]
    check_complete(tmp_path / "log", ["stopped"])
    assert at_rest(franky_python)


def test_contact_that_the_model_does_not_know_of(franky_python: Path, serve: Serve, begin: Serve, tmp_path: Path) -> None:
    serve("--shift-z", "0.06")  # the shelf stands higher than the imitator believes
    code, _, errors = ended(begin(height=0.26))
    assert code == 2
    assert "because of contact: felt by the tool" in errors.splitlines()[-1]
    check_complete(tmp_path / "log", ["stopped"])
    assert at_rest(franky_python)


def test_nobody_is_there(begin: Serve, tmp_path: Path) -> None:
    code, output, errors = ended(begin())
    assert (code, output) == (2, "")
    assert errors.splitlines()[-1].startswith("imitable: no connection to the arm at 127.0.0.1")
    assert not journal_path(tmp_path / "log").exists()


def test_the_experiment_records_trials(franky_python: Path, tmp_path: Path) -> None:
    robot = im.robot(ROBOT)
    im.save_policy(over_policy(robot), tmp_path / "over.safetensors")
    im.save_policy(over_policy(robot, (1.0, 0.0, 0.0)), tmp_path / "push.safetensors")
    rows = ("--policy", "Ours=over.safetensors", "--policy", "GAIL=push.safetensors")
    command = [str(franky_python), "-m", "imitable.experiments.arm_real", *rows, "--trials", "1"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=2 * PATIENCE_S)
    record = read_arm_real(tmp_path / "results")
    assert record is not None
    assert "none" in record.hardware
    [ours], [gail] = record.rows["Ours"], record.rows["GAIL"]
    assert ours.goal
    assert ours.path is not None
    assert len(ours.path) == pytest.approx(ours.steps / 4 + 1, abs=1)
    assert ours.path[-1] == pytest.approx((800, 100), abs=55), "the goal is a ball of 5 cm"
    assert gail.hit
    assert "stand1" in gail.stopped
    assert gail.total_return == -10_000 - 50 * gail.steps
