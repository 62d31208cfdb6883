# SPDX-License-Identifier: MIT
"""Outputs of every verb: never inside an input, one writer at a time, and nothing left of jobs that failed or were killed."""

import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import imitable as im
from imitable.cli.main import main
from imitable.files import locked
from tests.conftest import SLIDER

BRIEF = "cloning:gradient_steps=2 --episodes 1"

VERBS = {
    "collect": ("collect hopper --episodes 2 --out out", ["out"]),
    "convert": ("convert clip.npz out --imitator slider.xml", ["out"]),
    "score": ("score demos --imitator slider.xml --out out.parquet", ["out.parquet", "out.steps.parquet"]),
    "merge": ("merge shard.parquet --out out.parquet", ["out.parquet", "out.steps.parquet"]),
    "weigh": ("weigh shard.parquet --keep top:1 --out out.parquet", ["out.parquet"]),
    "imitate": (f"imitate demos --imitator slider.xml --method {BRIEF} --out out", ["out"]),
    "project": ("project demos --imitator slider.xml --scores shard.parquet --out out", ["out", "out.scores.parquet"]),
    "export": ("export demos shard.parquet --to lerobot --out out", ["out"]),
    "report": ("report shard.parquet --explain 0 --out out", ["out"]),
    "train": ("train hopper --method ppo:environments=8,length=16,minibatch=64 --steps 128 --episodes 1 --out out", ["out"]),
}
"""Every verb that writes, at its smallest, and what it leaves."""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a robot, its demonstrations, a clip and the scores of a shard."""
    place = tmp_path_factory.mktemp("inputs")
    (place / "slider.xml").write_text(SLIDER)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        slider = im.robot("slider.xml")
        swings = [np.sin(np.arange(60) / 9 + k)[:, None] * 0.3 for k in range(4)]
        pairs = [np.hstack([x, np.gradient(x[:, 0], slider.layout.period_s)[:, None]]) for x in swings]
        im.write("demos", slider.layout, [im.Trajectory(states, "slider.xml", np.zeros((59, 1))) for states in pairs])
        np.savez("clip.npz", qpos=swings[0], qpos_names=["slide"], period_s=0.02)
        main(["score", "demos", "--imitator", "slider.xml", "--shard", "1/1", "--out", "shard.parquet", "--quiet"])
    return place


@pytest.fixture
def here(inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a copy of it."""
    place = shutil.copytree(inputs, tmp_path / "here")
    monkeypatch.chdir(place)
    return place


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def leaves(command: str, capsys: pytest.CaptureFixture[str]) -> tuple[object, str]:
    """Carry a command out; return its exit code and what it printed on stderr."""
    try:
        main([*command.split(), "--quiet"])
    except SystemExit as left:
        return left.code, capsys.readouterr().err
    return 0, capsys.readouterr().err


@pytest.mark.parametrize("verb", VERBS)
def test_one_writer_at_a_time(verb: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command, outputs = VERBS[verb]
    before = names(here)
    with locked(Path(outputs[-1] if verb == "project" else "out/seed-0" if verb == "imitate" else outputs[0])):
        code, said = leaves(f"{command} --overwrite", capsys)
    assert (code, said.count("\n"), "another process is writing" in said) == (2, 1, True), said
    assert names(here) == before
    assert leaves(command, capsys)[0] == 0
    assert {name.split("/")[0] for name in names(here) - before} == {*outputs}, "no lock and no draft stays"


@pytest.mark.parametrize(
    "command",
    [
        "score demos --imitator slider.xml --out demos/scores.parquet",
        "score demos --imitator slider.xml --out slider.xml --overwrite",
        "imitate demos --imitator slider.xml --out demos --seeds 2",
        "imitate demos --imitator slider.xml --out demos/../demos/run",
        "project demos --imitator slider.xml --out demos --overwrite",
        "convert demos demos --overwrite",
        "convert demos demos/converted",
        "check demos --imitator slider.xml --repair demos --overwrite",
        "export demos shard.parquet --to csv --out demos/weights.csv",
        "export demos shard.parquet --to csv --out shard.parquet --overwrite",
        "merge shard.parquet --out shard.parquet --overwrite",
        "weigh shard.parquet --out shard.parquet --overwrite",
        "report shard.parquet --out shard.parquet --overwrite",
    ],
)
def test_an_input_is_never_written_to(command: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    code, said = leaves(command, capsys)
    assert (code, said.count("\n"), "only read" in said) == (2, 1, True), said
    assert {path: path.read_bytes() for path in here.rglob("*") if path.is_file()} == before


def test_a_robots_name_and_a_reports_folder_are_no_inputs(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "hopper").mkdir()
    run = f"imitate demos --imitator slider.xml --method {BRIEF} --out run"
    for command in ("collect hopper --episodes 2 --out hopper/demos", run, "report run --explain 0 --out run/page.html"):
        code, said = leaves(command, capsys)
        assert code == 0, said


def test_neither_does_the_library_write_to_an_input(here: Path) -> None:
    before, demos = names(here), im.read("demos")
    for job in (
        lambda: im.imitate(demos, "slider.xml", "cloning", seeds=2, out="demos"),
        lambda: im.score(demos, "slider.xml", out="demos/scores.parquet"),
        lambda: im.export(demos, "shard.parquet", "csv", "demos/weights.csv"),
        lambda: im.convert("demos", "demos/converted"),
    ):
        with pytest.raises(im.errors.BadOption, match="only read"):
            job()
    assert names(here) == before


@contextmanager
def files_up_to(size: int) -> Generator[None]:
    """Let writes beyond `size` bytes of a file fail, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [0, 600, 3_000, 12_000])
@pytest.mark.parametrize("verb", VERBS)
def test_a_full_disk_leaves_what_the_message_names(
    verb: str, size: int, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command, outputs = VERBS[verb]
    before = names(here)
    with files_up_to(size):
        code, said = leaves(command, capsys)
    if code == 0:  # its files are smaller
        assert size > 600
        return
    left = {name.split("/")[0] for name in names(here) - before}
    assert (code, said.count("\n"), said.count("File too large"), said.count(".imitable")) == (2, 1, 1, 0), said
    if "nothing was left behind" in said:
        assert left == set()
        again = command
    else:
        kept = said.partition("kept: ")[2].partition(";")[0]
        assert {name.split("/")[0] for name in kept.split(", ")} == left, said
        again = f"{command} {'--resume' if '--resume' in said else '--overwrite'}"
    assert leaves(again, capsys)[0] == 0
    assert {name.split("/")[0] for name in names(here) - before} == {*outputs}


KILLED = """
import os, signal, sys
from imitable.cli.main import main

last, count = int(sys.argv[1]), 0

def watch(event, arguments):
    global count
    if event in ("os.rename", "os.mkdir", "os.remove", "os.rmdir") and "here" in os.path.abspath(str(arguments[0])):
        count += 1
        if count == last:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(watch)
main(sys.argv[2:])
print(count)
"""


@pytest.mark.parametrize("verb", ["score", "imitate", "convert", "project", "collect", "merge"])
def test_nothing_is_left_of_a_killed_job_when_the_next_one_ends(
    verb: str, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is killed just before one of its changes of the folder: a few from the first to the last."""
    command, outputs = VERBS[verb]

    def killed(at: int) -> tuple[Path, subprocess.CompletedProcess[str]]:
        here = shutil.copytree(inputs, tmp_path / str(at) / "here")
        run = [sys.executable, "-c", KILLED, str(at), *command.split(), "--quiet"]
        return here, subprocess.run(run, cwd=here, capture_output=True, text=True, check=False)

    whole, done = killed(0)
    total = int(done.stdout)
    for at in sorted({3, total // 2, total - 3, total}):
        here, done = killed(at)
        assert done.returncode == -signal.SIGKILL, done.stderr
        monkeypatch.chdir(here)
        code, said = leaves(f"{command} {'--resume' if verb in ('score', 'imitate', 'convert') else '--overwrite'}", capsys)
        assert code == 0, said
        assert names(here) == names(whole), at
        for output in outputs if verb in ("score", "merge") else ():
            assert (here / output).read_bytes() == (whole / output).read_bytes()


def test_files_do_not_depend_on_the_order_of_sets(inputs: Path, tmp_path: Path) -> None:
    """Python draws another order for every process, unless it is told one."""
    written: list[dict[str, bytes]] = []
    for seed in ("1", "2"):
        here = shutil.copytree(inputs, tmp_path / seed)
        command = [sys.executable, "-m", "imitable", *VERBS["score"][0].split(), "--quiet"]
        subprocess.run(command, cwd=here, check=True, env=os.environ | {"PYTHONHASHSEED": seed})
        written.append({name: (here / name).read_bytes() for name in names(here) if (here / name).is_file()})
    assert written[0] == written[1]
