# SPDX-License-Identifier: MIT
"""Manners of the command line: one JSON document from every verb, completion in a real shell, help without a wait."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from rich.table import Table
from rich.text import Text

import imitable as im
from imitable.cli.flags import flags
from imitable.cli.main import main, parse
from imitable.cli.tables import fitted
from imitable.cli.verbs import VERBS
from imitable.sim.babble import babble
from tests.conftest import SLIDER
from tests.unit.hostile import hostile_modules
from tests.unit.over_policy import over_policy

SCRIPT = Path(sys.executable).parent / "imitable"
"""The command as a user has it."""

TINY = {
    "robots": "robots slider.xml",
    "train": "train hopper --method ppo:environments=8,length=16,minibatch=64,hidden=8x8 --steps 128 --episodes 1",
    "collect": "collect hopper --episodes 1 --out hops",
    "convert": "convert clip.npz converted --imitator slider.xml --overwrite",
    "inspect": "inspect demos",
    "check": "check demos --imitator slider.xml",
    "merge": "merge shard.parquet --out merged.parquet --overwrite",
    "score": "score demos --imitator slider.xml --overwrite",
    "weigh": "weigh scores.parquet --keep top:1",
    "acquire": "acquire --scores scores.parquet --budget 2",
    "imitate": "imitate demos --imitator slider.xml --method cloning:gradient_steps=2 --episodes 1 --out other",
    "evaluate": "evaluate run --episodes 1",
    "play": "play over.safetensors --overwrite",
    "export": "export demos scores.parquet --to csv --out weights.csv --overwrite",
    "project": "project demos --imitator slider.xml",
    "reproduce": "reproduce mujoco-a/swimmer/gail --seeds 1 --dry-run",
    "report": "report scores.parquet",
    "completion": "completion bash",
}
"""Every verb at its smallest."""

NO_OUT = ("robots", "inspect", "check", "acquire", "evaluate", "completion")
"""Verbs that write nothing."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a robot, its demonstrations, their scores and a run."""
    place = tmp_path_factory.mktemp("manners")
    (place / "slider.xml").write_text(SLIDER)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        body = im.robot("slider.xml")
        im.write("demos", body.layout, babble(body, 2, 20, seed=0))
        np.savez("clip.npz", qpos=im.read("demos")[0].states[:, :1], fps=50)
        im.score(im.read("demos"), body, out="scores.parquet")
        im.score(im.read("demos"), body, measuring=im.Measuring(shard=im.Shard(1, 1)), out="shard.parquet")
        im.save_policy(over_policy(im.robot("panda:dof=3")), "over.safetensors")
        im.imitate(im.read("demos"), body, "cloning:gradient_steps=2", run=im.Run(episodes=1), out="run/seed-0")
    return place


def test_every_verb_is_tested() -> None:
    assert set(TINY) == set(VERBS) - {"quickstart"}, "quickstart takes minutes; it prints what its last line names"


@pytest.mark.parametrize("name", TINY)
def test_every_verb_prints_one_json_document(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    verb = parse([*TINY[name].split(), "--json"])
    import_module(f"imitable.cli.{type(verb).__name__.lower()}").run(verb)
    said = capsys.readouterr()
    assert isinstance(json.loads(said.out), dict)
    assert "\x1b" not in said.err, "no colours and no bars where nobody looks"


@pytest.mark.parametrize("name", ["train", "weigh", "imitate"])
def test_the_next_command_can_be_copied_whatever_its_paths_are(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    out = f"my {name}"
    verb = parse([*TINY[name].split(), "--out", out])
    import_module(f"imitable.cli.{name}").run(verb)
    [line] = [line for line in capsys.readouterr().err.splitlines() if line.startswith("next: ")]
    following = vars(parse(shlex.split(line)[2:]))
    assert Path(out) in following.values()


def test_no_verb_runs_what_lies_in_the_working_folder(folder: Path) -> None:
    """All verbs, one after the other, among files that any import of Python or of a library would find first."""
    begin = """
import sys
from imitable.__main__ import start
for line in sys.argv.pop().splitlines():
    sys.argv[1:] = line.split()
    try:
        start()
    except SystemExit as leave:
        print(leave.code, line)
"""
    outs = {name: "" if name in NO_OUT else f" --out hostile-{name}" for name in TINY} | {"convert": ""}
    lines = [f"{TINY[name]}{outs[name]} --quiet" for name in TINY]
    lines.append(f"{TINY['imitate']} --quiet --seeds 2 --out hostile-seeds")
    with hostile_modules(folder):
        command = [sys.executable, "-P", "-c", begin, "\n".join(lines)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=True)
        alone = subprocess.run([SCRIPT, "inspect", "demos"], capture_output=True, text=True, cwd=folder)
        ran = [path.name for path in folder.rglob("*.ran")]
    assert ran == []
    assert alone.returncode == 0, alone.stderr
    for line in lines:
        assert f"0 {line}" in done.stdout.splitlines(), done.stderr


def completed(*words: str) -> list[str]:
    """Return what bash offers for the last of these words."""
    line = " ".join(f"'{word}'" for word in words)
    script = f'source <("{SCRIPT}" completion bash); COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _imitable'
    shown = subprocess.run(
        ["bash", "-c", f'{script}; printf "%s\\n" "${{COMPREPLY[@]}}"'], capture_output=True, text=True, check=True
    )
    assert shown.stderr == ""
    return shown.stdout.split()


def test_bash_completes_verbs_and_options_and_leaves_files_to_itself() -> None:
    assert completed("imitable", "") == list(VERBS)
    assert completed("imitable", "im") == ["imitate"]
    assert completed("imitable", "score", "demos", "--im") == ["--imitator"]
    assert completed("imitable", "score", "dem") == []


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish on this machine: run make parts")
def test_fish_completes_verbs_and_options() -> None:
    for line, offered in (("imitable imi", "imitate"), ("imitable score --im", "--imitator")):
        script = f"'{SCRIPT}' completion fish | source; complete -C '{line}'"
        shown = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, check=True)
        assert [one.split("\t")[0] for one in shown.stdout.splitlines()] == [offered]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh on this machine: run make parts")
def test_zsh_takes_the_function_that_completes(tmp_path: Path) -> None:
    script = f"source <('{SCRIPT}' completion zsh); print -r -- $_comps[imitable]; print $+functions[_imitable]"
    environment = os.environ | {"ZDOTDIR": str(tmp_path)}
    shown = subprocess.run(["zsh", "-f", "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert "_imitable" in shown.stdout.splitlines()[0], shown.stderr
    assert shown.stdout.splitlines()[1] == "1"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_is_told_every_verb_and_option(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    verb = parse(["completion", shell])
    import_module("imitable.cli.completion").run(verb)
    said = capsys.readouterr().out
    for name, kind in VERBS.items():
        assert name in said
        assert all(option.removeprefix("--") in said for option in flags(kind))


@pytest.mark.parametrize("name", VERBS)
def test_completion_offers_the_options_that_help_names(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse([name, "--help"])
    shown = {word.strip(",") for word in capsys.readouterr().out.split() if word.startswith("--")}
    assert set(flags(VERBS[name])) <= shown


def test_a_method_of_yours_is_found_where_you_stand(folder: Path) -> None:
    (folder / "my_rewards.py").write_text("def one(states, actions, next_states):\n    return [1.0] * len(states)\n")
    command = [SCRIPT, "evaluate", "run", "--episodes", "1", "--reward", "my_rewards.one", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runs"][0]["last"]["mean_actions"]["return_mean"] == 20


def seconds(*command: str | Path) -> float:
    before = time.perf_counter()
    subprocess.run(command, capture_output=True, check=True)
    return time.perf_counter() - before


def test_help_answers_before_jax_would_be_imported() -> None:
    """Best of several, in turns: a busy machine is as busy for both."""
    pairs = [(seconds(SCRIPT, "--help"), seconds(sys.executable, "-c", "import jax")) for _ in range(5)]
    shown, imported = (min(column) for column in zip(*pairs, strict=True))
    assert shown < 0.6 * imported, f"{shown:.2f} s against {imported:.2f} s"


TABLES = {
    "robots": "robots",
    "knobs": "robots slider.xml",
    "convert": "convert clip.npz converted --imitator slider.xml --overwrite",
    "inspect": "inspect demos",
    "merge": "merge shard.parquet --out merged.parquet --overwrite",
    "score": "score demos --imitator slider.xml --overwrite",
    "weigh": "weigh scores.parquet --overwrite --out weighted.parquet",
    "acquire": "acquire --scores scores.parquet --budget 2",
    "evaluate": "evaluate run --episodes 1",
    "export": "export demos scores.parquet --to csv --out weights.csv --overwrite",
    "project": "project demos --imitator slider.xml --overwrite --out projected",
    "help": "score demos --imitator slider.xml --method direct:help",
}
"""Every kind of table at its smallest."""


@pytest.mark.parametrize("room", [0, 20, 40, 60, 80, 120])
@pytest.mark.parametrize("name", TABLES)
def test_no_window_cuts_a_number_or_breaks_a_word(
    name: str, room: int, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tables go to stdout with every cell and heading whole, at any width; remarks go to stderr."""
    meant: list[str] = []

    def noted(heads: Sequence[str], rows: Sequence[Sequence[str]], room: int) -> Table | Text:
        meant.extend([*heads, *(cell for row in rows for cell in row)])
        return fitted(heads, rows, room)

    monkeypatch.setattr("imitable.cli.console.fitted", noted)
    monkeypatch.setenv("COLUMNS", str(room))
    monkeypatch.chdir(folder)
    verb = parse(TABLES[name].split())
    import_module(f"imitable.cli.{type(verb).__name__.lower()}").run(verb)
    shown, remarks = capsys.readouterr()
    words = shown.translate(str.maketrans("│┃┆", "   ")).split()
    assert meant
    assert {word for text in meant for word in text.split()} <= set(words)
    assert "─" not in remarks
    assert "━" not in remarks


WICKED = "\x1b[31m\x07\x9b2J\u202ex\u2066\r"
"""ESC, BEL, CSI of C1, bidirectional controls, carriage return."""


@pytest.fixture(scope="module")
def wicked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of `folder`, with control characters in the names of files, demonstrators and joints."""
    place = tmp_path_factory.mktemp("wicked")
    robot = f"slider{WICKED}.xml"
    (place / robot).write_text(re.sub('(name|joint)="slide"', '\\1="slide\u202e\x9b"', SLIDER))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        body = im.robot(robot)
        moves = [replace(one, demonstrator=f"arm {WICKED}") for one in babble(body, 2, 20, seed=0)]
        im.write(f"demos{WICKED}", body.layout, moves)
        demos = im.read(f"demos{WICKED}")
        np.savez(f"clip{WICKED}.npz", qpos=demos[0].states[:, :1], fps=50)
        im.score(demos, body, out=f"scores{WICKED}.parquet")
        im.score(demos, body, measuring=im.Measuring(shard=im.Shard(1, 1)), out=f"shard{WICKED}.parquet")
        im.save_policy(over_policy(im.robot("panda:dof=3")), f"over{WICKED}.safetensors")
        own = im.InMemory(body.layout, babble(body, 2, 20, seed=0))
        im.imitate(own, body, "cloning:gradient_steps=2", run=im.Run(episodes=1), out=f"run{WICKED}/seed-0")
    return place


FURTHER = (
    "check nothing --imitator slider.xml",
    "inspect nothing",
    "score demos --imitator slider.xml --explain 0",
    "score demos --imitator hopper",
    "score demos --imitator nothing.xml",
    "score demos --imitator slider.xml --method nothing",
    "score demos --imitator slider.xml --method no.such",
    "score demos --imitator slider.xml --leave-out nothing",
    "evaluate nothing",
    "report nothing",
    "nothing",
    "score --nothing",
)
"""Verbs that show other things, or refuse."""


@pytest.mark.parametrize("line", [*TINY.values(), *FURTHER])
def test_control_characters_in_names_never_reach_the_terminal(
    line: str, wicked: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(wicked)
    name = re.compile(r"\b(demos|slider|clip|scores|shard|over|run|nothing)\b")
    words = [name.sub(lambda found: found[0] + WICKED, word) for word in line.split()]
    with suppress(SystemExit):
        main(words)
    shown = "".join(capsys.readouterr())
    assert shown
    assert [one for one in shown if one != "\n" and unicodedata.category(one) in ("Cc", "Cf", "Zl", "Zp")] == []
