# SPDX-License-Identifier: MIT
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from imitable.runtime import THREAD_VARIABLES, cache_folder, one_thread

CHANGES = """
import json, os, sys
before = dict(os.environ)
{program}
names = os.environ.keys() | before
print(json.dumps({{name: os.environ.get(name) for name in names if os.environ.get(name) != before.get(name)}}))
"""
COMMAND_LINE = """
import contextlib, io
from imitable.cli.main import main
with contextlib.redirect_stdout(io.StringIO()):
    main(["robots", "--json"])
"""


def changes(program: str) -> dict[str, str | None]:
    """Return what a program changes in the environment of a process that asks for nothing."""
    plain = {name: value for name, value in os.environ.items() if name not in THREAD_VARIABLES and not name.startswith("JAX_")}
    command = [sys.executable, "-c", CHANGES.format(program=program)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, env=plain).stdout)


def test_importing_changes_nothing_in_a_users_process() -> None:
    assert (
        changes("import imitable.rl.train, imitable.nn.networks, imitable.imitation.imitate, imitable.feasibility.score") == {}
    )


def test_the_command_line_asks_for_one_thread() -> None:
    assert changes(COMMAND_LINE).items() >= THREAD_VARIABLES.items()


def test_asks_for_one_thread() -> None:
    environment: dict[str, str] = {}
    one_thread(environment)
    assert environment.items() >= THREAD_VARIABLES.items()


def test_what_the_user_set_stays() -> None:
    environment = {"OMP_NUM_THREADS": "4", "JAX_PLATFORMS": "cuda"}
    one_thread(environment)
    assert (environment["OMP_NUM_THREADS"], environment["JAX_PLATFORMS"]) == ("4", "cuda")


def test_the_cache_goes_where_the_user_keeps_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "imitable"
