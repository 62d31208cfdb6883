# SPDX-License-Identifier: MIT
"""The program as a process: ctrl-C at any time, streams that cannot be written to, terminals that can show little."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import imitable as im
from imitable.sim.babble import babble
from tests.conftest import SLIDER

SCRIPT = Path(sys.executable).parent / "imitable"

INTERRUPTED_AT = """
import os, signal, sys
from imitable.__main__ import start
name = sys.argv.pop(1)
def hook(event, arguments):
    if event == "import" and arguments[0] == name:
        os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(hook)
start()
"""
"""Ctrl-C at the very moment at which a module is imported: no clock decides."""


@pytest.fixture(scope="module")
def demos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("program")
    (place / "slider.xml").write_text(SLIDER)
    body = im.robot(str(place / "slider.xml"))
    im.write(place / "demos", body.layout, babble(body, 2, 20, seed=0))
    return place / "demos"


@pytest.mark.parametrize("name", ["tyro", "imitable.cli.complaint", "numpy", "numpy.linalg", "pyarrow", "mujoco"])
def test_an_interrupt_during_an_import_ends_with_130_and_no_traceback(name: str, demos: Path) -> None:
    command = [sys.executable, "-c", INTERRUPTED_AT, name, "inspect", str(demos)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 130, done.stderr
    assert done.stderr.split() == ["imitable:", "interrupted."]


def test_an_interrupt_of_workers_shows_no_traceback(demos: Path, tmp_path: Path) -> None:
    """Ctrl-C reaches all processes of a terminal at once, those that only begin included."""
    method = ["--method", "cloning:gradient_steps=1000000"]
    words = ["imitate", str(demos), "--imitator", str(demos.with_name("slider.xml")), *method, "--seeds", "2", "--out", "run"]
    running = subprocess.Popen([SCRIPT, *words], stderr=subprocess.PIPE, text=True, cwd=tmp_path, start_new_session=True)
    children, deadline = Path(f"/proc/{running.pid}/task/{running.pid}/children"), time.monotonic() + 300
    while running.poll() is None and len(children.read_text().split()) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)  # until both workers and the tracker of semaphores are there
    os.killpg(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=300)
    assert running.returncode == 130, said
    assert "Traceback" not in said


def test_who_starts_it_may_have_interrupts_ignored(demos: Path) -> None:
    """As nohup and a shell's & do."""
    code = INTERRUPTED_AT.replace("name = ", "signal.signal(signal.SIGINT, signal.SIG_IGN); name = ")
    done = subprocess.run([sys.executable, "-c", code, "numpy", "inspect", str(demos)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "code"), [(["robots"], 2), (["robots", "--json"], 2), (["--help"], 2), (["robots", "nothing"], 2)]
)
def test_a_full_standard_output_is_one_line(words: list[str], code: int) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([SCRIPT, *words], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert ("No space left on device" in done.stderr) == (words != ["robots", "nothing"])


@pytest.mark.parametrize("closed", ["", ">&-", "2>&-", ">&- 2>&-", "2>/dev/full"])
def test_closed_and_full_streams_change_no_exit_code(closed: str, demos: Path) -> None:
    for words, code in ((f"inspect {demos}", 0), ("inspect nothing", 2)):
        done = subprocess.run(f"{SCRIPT} {words} --quiet {closed}", shell=True, capture_output=True, text=True)
        assert done.returncode == code
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [["score", "--help"], ["robots"], ["robots", "hopper"], ["robots", "nöthing"]])
def test_an_ascii_terminal_shows_what_it_can(words: list[str]) -> None:
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run([SCRIPT, *words], capture_output=True, env=environment)
    assert done.returncode == (2 if words[-1] == "nöthing" else 0)
    assert b"Traceback" not in done.stderr
    assert (done.stdout + done.stderr).isascii()


def test_files_of_ours_are_read_whatever_the_locale(tmp_path: Path) -> None:
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [SCRIPT, "collect", "hopper", "--episodes", "1", "--out", str(tmp_path / "demos"), "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | locale)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("columns", ["1", "2", "39", "0", "-5", "1000000"])
def test_help_ends_whatever_the_width(columns: str) -> None:
    done = subprocess.run(
        [SCRIPT, "score", "--help"], capture_output=True, text=True, timeout=60, env=os.environ | {"COLUMNS": columns}
    )
    assert done.returncode == 0
    assert "--imitator" in done.stdout
    if columns in ("1", "2", "39"):
        assert {len(line) for line in done.stdout.splitlines() if line.startswith("╭")} == {40}
