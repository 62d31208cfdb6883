# SPDX-License-Identifier: MIT
"""The user's own code runs if its name was typed; what a file names, and what lies in the working folder, does not."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import imitable as im
from imitable import user_code
from imitable.cli.main import main
from imitable.errors import BadOption
from imitable.experiments.catalogue import catalogue
from imitable.experiments.cell_records import read_cell
from imitable.experiments.cells import Terms, cells_of, chosen
from imitable.experiments.protocol import PLAIN, default_protocol
from imitable.experiments.records import write_record
from imitable.feasibility.methods import parse_scorer
from imitable.imitation.methods import parse_learner
from imitable.sim.babble import babble
from imitable.workers import Workers
from tests.conftest import SLIDER
from tests.unit.hostile import hostile_modules, write_my_lab

SCRIPT = Path(sys.executable).parent / "imitable"

EVIL = "open(__file__ + '.ran', 'w').close()\n"

CLONING = """
from dataclasses import dataclass

from imitable.imitation.methods.cloning import Cloning

@dataclass(frozen=True)
class Mine(Cloning):
    pass

def one(states, actions, next_states):
    return [1.0] * len(states)
"""


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Forget what a test typed."""
    known, modules = dict(user_code._typed), set(sys.modules)
    yield
    user_code._typed.clear()
    user_code._typed.update(known)
    for name in set(sys.modules) - modules:
        if name.startswith(("my_", "evil")):
            del sys.modules[name]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a robot, demonstrations, and a user's modules."""
    monkeypatch.chdir(tmp_path)
    Path("slider.xml").write_text(SLIDER)
    body = im.robot("slider.xml")
    im.write("demos", body.layout, babble(body, 2, 20, seed=0))
    write_my_lab(tmp_path)
    Path("my_learners.py").write_text(CLONING)
    Path("evilmod.py").write_text(EVIL + CLONING)
    return tmp_path


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCRIPT, *words], capture_output=True, text=True, check=False)


def test_a_typed_package_is_found_with_what_is_inside_it_and_nothing_else(folder: Path) -> None:
    with hostile_modules(folder):
        done = run("score", "demos", "--imitator", "slider.xml", "--method", "my_lab.scorers.Calm:horizon=3", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["method"] == "my_lab.scorers.Calm:horizon=3"
    assert list(folder.rglob("*.ran")) == []


def test_a_module_beside_a_typed_one_is_not_found_and_the_error_names_it(folder: Path) -> None:
    Path("my_scorers.py").write_text("import my_learners\n")
    done = run("score", "demos", "--imitator", "slider.xml", "--method", "my_scorers.Calm")
    assert done.returncode == 2
    assert "my_lab.my_scorers, my_lab.my_learners" in done.stderr


def test_workers_find_typed_names_among_hostile_modules(folder: Path) -> None:
    words = ["imitate", "demos", "--imitator", "slider.xml", "--method", "my_learners.Mine:gradient_steps=2", "--episodes", "1"]
    with hostile_modules(folder):
        done = run(*words, "--seeds", "2", "--reward", "my_learners.one", "--json")
    assert done.returncode == 0, done.stderr
    assert [one["last"]["mean_actions"]["return_mean"] for one in json.loads(done.stdout)["runs"]] == [20, 20]
    assert list(folder.rglob("*.ran")) == []


def _found(name: str) -> bool:
    try:
        __import__(name)
    except ImportError:
        return False
    return True


def test_a_worker_finds_only_what_was_typed(folder: Path) -> None:
    user_code.allow("my_learners.Mine", folder=folder)
    with Workers(1) as workers:
        found = dict(workers.run(_found, [("my_learners",), ("my_lab",), ("evilmod",)]))
    assert found == {0: True, 1: False, 2: False}


def test_a_learner_that_a_protocol_names_is_not_imported(folder: Path) -> None:
    plain = default_protocol()
    write_record(Path("p.json"), replace(plain, learners=plain.learners | {PLAIN: "evilmod.Mine"}))
    words = ["reproduce", "mujoco-a/swimmer/gail", "--seeds", "1", "--protocol", "p.json", "--dry-run"]
    for command in (words, [sys.executable, "-m", "imitable", *words][3:]):
        done = run(*command)
        assert done.returncode == 2
        assert "evilmod.Mine" in done.stderr
    with pytest.raises(SystemExit):
        main(words)
    assert not Path("evilmod.py.ran").exists()
    typed = run(*words, "--learners", "evilmod.Mine")
    assert typed.returncode == 0, typed.stderr
    assert Path("evilmod.py.ran").exists()


def test_a_protocol_in_a_folder_of_records_is_not_imported_from_either(folder: Path) -> None:
    plain = default_protocol()
    [cell, *_] = cells_of(chosen(catalogue(tuple(plain.learners)), ["mujoco-a/swimmer/gail"]), Terms(plain, 1))
    source = Path(__file__).parents[2] / "results" / "cells"
    record = read_cell(source, cell.job)
    assert record is not None
    Path("runs/records").mkdir(parents=True)
    write_record(
        Path("runs/records") / f"{record.job.name}.json", replace(record, job=replace(record.job, learner="evilmod.Mine"))
    )
    write_record(Path("runs/protocol.json"), replace(plain, learners=plain.learners | {PLAIN: "evilmod.Mine"}))
    assert run("report", "runs").returncode == 2
    assert run("reproduce", "mujoco-a/swimmer/gail", "--seeds", "1", "--dry-run").returncode in (0, 2)
    assert not Path("evilmod.py.ran").exists()


def test_what_score_files_and_runs_name_is_not_imported(folder: Path) -> None:
    demos, body = im.read("demos"), im.robot("slider.xml")
    user_code.allow("evilmod.Mine", "my_lab.scorers.Calm", folder=folder)
    im.score(demos, body, "my_lab.scorers.Calm", out="scores.parquet")
    im.imitate(demos, body, "evilmod.Mine:gradient_steps=2", run=im.Run(episodes=1, reward="evilmod.one"), out="run/seed-0")
    Path("evilmod.py.ran").unlink()
    Path("my_lab/scorers.py").write_text(EVIL)
    for words in (
        ["report", "scores.parquet", "run"],
        ["evaluate", "run", "--reward", "none", "--episodes", "1"],
        ["evaluate", "run", "--episodes", "1"],
        ["weigh", "scores.parquet"],
        ["acquire", "--scores", "scores.parquet", "--budget", "1"],
        ["project", "demos", "--imitator", "slider.xml", "--scores", "scores.parquet"],
        ["export", "demos", "scores.parquet", "--to", "csv", "--out", "weights.csv"],
        ["play", "run/seed-0", "--dry-run"],
    ):
        done = run(*words)
        assert done.returncode in (0, 2), done.stderr
        assert "Traceback" not in done.stderr
    assert list(folder.rglob("*.ran")) == []


@pytest.mark.parametrize("parse", [parse_scorer, parse_learner])
def test_text_that_nobody_typed_is_not_imported(
    parse: Callable[[str], object], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(folder)
    with pytest.raises(BadOption, match=r"evilmod\.Mine"):
        parse("evilmod.Mine")
    assert not Path("evilmod.py.ran").exists()


def test_python_m_does_not_import_from_the_working_folder_either(folder: Path) -> None:
    Path("pandas.py").write_text(EVIL)
    ros = os.environ | {"PYTHONPATH": os.pathsep.join([os.environ.get("PYTHONPATH", ""), ""])}
    for command, environment in (([sys.executable, "-m", "imitable"], None), ([str(SCRIPT)], ros)):
        done = subprocess.run([*command, "inspect", "demos"], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
    assert not Path("pandas.py.ran").exists()
