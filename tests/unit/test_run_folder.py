# SPDX-License-Identifier: MIT
"""Run folders that other people hand over or that a disk has damaged; locks; many seeds; one pass over the demonstrations."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import imitable as im
from imitable.cli.main import parse
from imitable.cli.verbs import Imitate
from imitable.errors import BadOption, Busy, CannotResume, ImitableError, NoRun, OutputExists
from imitable.evaluation import result
from imitable.evaluation.result import Performance, PolicyEvaluation, RunEvaluation
from imitable.files import Output
from imitable.imitation import hashed_json
from imitable.imitation.learner import LearningJob
from imitable.imitation.methods import learner_text, parse_learner
from imitable.imitation.methods.dcc import Dcc
from imitable.imitation.methods.gaifo import Gaifo
from imitable.imitation.run_folder import RunFolder
from imitable.imitation.transitions import reference_of, weighted_transitions
from imitable.report.content import content
from imitable.robots.parse import parse_robot
from imitable.sim.babble import babble
from imitable.types import Demonstrations, Episode, InMemory, Layout, Trajectory
from tests.conftest import SLIDER
from tests.unit.test_cli import imitable, refused

SMALL = Gaifo(
    environments=8,
    length=16,
    minibatch=64,
    hidden=(8, 8),
    discriminator_hidden=(16, 16),
    discriminator_minibatch=32,
    discriminator_steps=2,
)
QUICK = im.Run(steps=256, episodes=1)
FLIPS = 300


class Counted(Demonstrations):
    """Demonstrations that count how often each is read."""

    def __init__(self, demos: Demonstrations) -> None:
        self._demos, self.reads = demos, 0

    @property
    def layout(self) -> Layout:
        return self._demos.layout

    def _rows(self) -> tuple[Episode, ...]:
        return self._demos.episodes

    def __getitem__(self, position: int) -> Trajectory:
        self.reads += 1
        return self._demos[position]

    def __iter__(self) -> Iterator[Trajectory]:
        return (self[position] for position in range(len(self._demos)))


@pytest.fixture(scope="module")
def slider(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("slider") / "slider.xml"
    path.write_text(SLIDER)
    return str(path)


@pytest.fixture(scope="module")
def demos(slider: str) -> InMemory:
    body = parse_robot(slider)
    return InMemory(body.layout, babble(body, 3, 30, 0))


@pytest.fixture(scope="module")
def run(slider: str, demos: InMemory, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run") / "run"
    im.imitate(demos, slider, SMALL, run=QUICK, out=out)
    return out


def copied(run: Path, target: Path) -> Path:
    target.mkdir()
    for file in run.iterdir():
        (target / file.name).write_bytes(file.read_bytes())
    return target


def stated(folder: Path, **changes: object) -> None:
    """Write other words into the setting, with a hash that belongs to them: a folder from elsewhere, not a damaged one."""
    content = hashed_json.read_json(folder / "setting.json")
    hashed_json.write_json(folder / "setting.json", content | changes)


# the demonstrations are read once


def test_the_set_is_read_once_and_the_reference_is_that_of_the_training(slider: str, demos: InMemory, tmp_path: Path) -> None:
    counted = Counted(demos)
    im.imitate(counted, slider, SMALL, run=QUICK, out=tmp_path / "run")
    assert counted.reads == len(demos)
    written = RunFolder(tmp_path / "run").reference
    assert written is not None
    np.testing.assert_array_equal(written.states, np.concatenate([one.states[:-1] for one in demos]))


def test_dcc_is_compared_with_the_demonstrations_it_learned_from(slider: str, demos: InMemory, tmp_path: Path) -> None:
    method, body = Dcc(transitions=400, forward_steps=10, map_steps=10, minibatch=16), parse_robot(slider)
    im.imitate(demos, slider, method, run=im.Run(steps=method.least_steps, episodes=1), out=tmp_path / "run")
    written = RunFolder(tmp_path / "run").reference
    assert written is not None
    job = method.translated(LearningJob(demos, body, None, method.least_steps, 0))
    expected = reference_of(body, weighted_transitions(job.demos, None, 0), 0)
    assert expected is not None
    np.testing.assert_array_equal(written.states, expected.states)
    np.testing.assert_array_equal(written.starts, expected.starts)
    assert not np.isclose(written.states, np.concatenate([one.states[:-1] for one in demos])).all()


# settings


def test_the_method_is_stored_as_the_text_that_makes_it_again(run: Path) -> None:
    content = json.loads((run / "setting.json").read_text())
    assert "settings" not in content
    assert parse_learner(content["method"]) == SMALL
    paper = parse_learner("gaifo:preset=paper,environments=4,length=10,minibatch=20")
    assert parse_learner(learner_text(paper)) == paper


def test_a_folder_of_another_schema_is_refused_in_one_line(run: Path, tmp_path: Path) -> None:
    old = copied(run, tmp_path / "old")
    content = json.loads((old / "setting.json").read_text())
    del content["hash"]
    (old / "setting.json").write_text(json.dumps(content | {"schema": 1, "settings": {}}))
    with pytest.raises(NoRun, match="earlier version"):
        im.evaluate_run(old)
    new = copied(run, tmp_path / "new")
    stated(new, schema=3)
    with pytest.raises(NoRun, match="schema 3"):
        im.evaluate_run(new)


# code from data


def test_no_code_that_a_folder_names_is_run(run: Path, tmp_path: Path) -> None:
    wicked = copied(run, tmp_path / "wicked")
    (tmp_path / "evil.py").write_text(
        "open('touched', 'w')\ndef f(states, actions, after): return after[:, 0]\nclass M: pass\n"
    )
    stated(wicked, reward="evil.f", method="evil.M:k=3")

    def said(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "imitable", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    bare = said("evaluate", "wicked", "--episodes", "1")
    assert bare.returncode == 2
    assert len(bare.stderr.strip().splitlines()) == 1
    for words in ("reward=evil.f", "never run", "--reward evil.f", "--reward none"):
        assert words in bare.stderr
    page = said("report", "wicked", "--out", "page.html")
    assert page.returncode == 0, page.stderr
    assert "evil.M:k=3" in (tmp_path / "page.html").read_text()
    without = said("evaluate", "wicked", "--episodes", "1", "--reward", "none")
    assert without.returncode == 0, without.stderr
    with pytest.raises(BadOption, match="never run"):
        im.evaluate_run(wicked)
    assert not (tmp_path / "touched").exists()
    trusted = said("evaluate", "wicked", "--episodes", "1", "--reward", "evil.f", "--json")
    assert json.loads(trusted.stdout)["runs"][0]["last"]["mean_actions"]["return_mean"] is not None
    assert (tmp_path / "touched").exists()


def test_a_run_is_resumed_without_running_what_its_folder_names(
    run: Path, slider: str, demos: InMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wicked = copied(run, tmp_path / "wicked")
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'touched')!r}, 'w')\n")
    stated(wicked, reward="evil.f")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(CannotResume, match="reward"):
        im.imitate(demos, slider, SMALL, run=QUICK, out=Output(wicked, resume=True))
    assert not (tmp_path / "touched").exists()


def test_a_run_is_not_taken_for_done_if_the_defaults_of_its_learner_were_others(
    run: Path, slider: str, demos: InMemory, tmp_path: Path
) -> None:
    older = copied(run, tmp_path / "older")
    stated(older, method_hash="0" * 32)
    with pytest.raises(CannotResume, match="method_hash"):
        im.imitate(demos, slider, SMALL, run=QUICK, out=Output(older, resume=True))


# the report's command


def test_the_reports_command_makes_the_run_again(slider: str, demos: InMemory, tmp_path: Path) -> None:
    im.write(tmp_path / "demos", demos.layout, demos)
    settings = im.Run(steps=256, episodes=1, seed=5, horizon=7)
    im.imitate(im.read(tmp_path / "demos"), slider, SMALL, run=settings, out=tmp_path / "run" / "seed-5")
    [entry] = content([tmp_path / "run"], explain=0)["policies"]
    verb = parse(shlex.split(dict(entry["provenance"])["command"])[1:])
    assert isinstance(verb, Imitate)
    assert (verb.horizon, verb.steps, verb.episodes, verb.common.seed) == (7, 256, 1, 5)
    assert (verb.demos, verb.imitator, verb.out) == ((tmp_path / "demos",), slider, tmp_path / "run")
    assert parse_learner(verb.method) == SMALL


# damage


def flipped(data: bytes, rng: np.random.Generator) -> bytes:
    place, bit = int(rng.integers(len(data))), int(rng.integers(8))
    return data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]


def parts(folder: RunFolder) -> dict[str, object]:
    reference = folder.reference
    assert reference is not None
    return {
        "setting.json": folder.setting,
        "evaluation.json": folder.evaluation,
        "metrics.jsonl": folder.metrics(),
        "policy.safetensors": folder.policy.hash,
        "reference.safetensors": (
            reference.horizon,
            [a.tobytes() for a in (reference.states, reference.density, reference.starts)],
        ),
    }


@pytest.mark.parametrize(
    "name", ["setting.json", "evaluation.json", "metrics.jsonl", "policy.safetensors", "reference.safetensors"]
)
def test_a_flipped_bit_is_refused_or_changes_nothing(name: str, run: Path, tmp_path: Path) -> None:
    damaged, rng = RunFolder(copied(run, tmp_path / "damaged")), np.random.default_rng(0)
    whole, expected = (run / name).read_bytes(), parts(RunFolder(run))[name]
    refusals = 0
    for _ in range(FLIPS):
        (damaged.path / name).write_bytes(flipped(whole, rng))
        try:
            assert parts(damaged)[name] == expected
        except ImitableError:
            refusals += 1
    assert refusals > FLIPS / 2


@pytest.fixture(scope="module")
def interrupted(slider: str, demos: InMemory, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a checkpoint."""

    class Impatient:
        def progress(self, done: int, total: int, note: str = "") -> None:
            if done > 0.6 * total:
                raise KeyboardInterrupt

        def say(self, line: str) -> None:
            del line

    out = tmp_path_factory.mktemp("interrupted") / "run"
    with pytest.raises(KeyboardInterrupt):
        im.imitate(
            demos, slider, SMALL, run=im.Run(steps=512, episodes=1, checkpoint_s=-1), out=Output(out, observer=Impatient())
        )
    return out


@pytest.mark.parametrize("name", ["checkpoint-*/standing.json", "checkpoint-*/training.safetensors", "metrics.jsonl"])
def test_a_damaged_checkpoint_is_not_resumed(
    name: str, interrupted: Path, slider: str, demos: InMemory, tmp_path: Path
) -> None:
    out = copied_tree(interrupted, tmp_path / "run")
    [path] = out.glob(name)
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])
    with pytest.raises((CannotResume, NoRun), match=r"damaged|cannot be read"):
        im.imitate(demos, slider, SMALL, run=im.Run(steps=512, episodes=1), out=Output(out, resume=True))


def copied_tree(source: Path, target: Path) -> Path:
    for file in source.rglob("*"):
        if file.is_file():
            (target / file.relative_to(source)).parent.mkdir(parents=True, exist_ok=True)
            (target / file.relative_to(source)).write_bytes(file.read_bytes())
    return target


def test_killed_between_two_checkpoints_the_newer_is_gone_on_from(
    interrupted: Path, slider: str, demos: InMemory, tmp_path: Path
) -> None:
    """A kill may leave the older one, and a draft of the next."""
    out, settings = copied_tree(interrupted, tmp_path / "run"), im.Run(steps=512, episodes=1)
    newest = RunFolder(out).checkpoint
    assert newest is not None
    shutil.copytree(newest, out / "checkpoint-1")
    (out / "checkpoint-1" / "standing.json").write_text("damaged")
    (out / ".checkpoint-3.abcd1234.imitable").mkdir()
    resumed = im.imitate(demos, slider, SMALL, run=settings, out=Output(out, resume=True))
    assert resumed.policy.hash == im.imitate(demos, slider, SMALL, run=settings).policy.hash
    assert not [path for path in out.iterdir() if "checkpoint" in path.name]


def test_lost_metrics_are_noticed(interrupted: Path, slider: str, demos: InMemory, tmp_path: Path) -> None:
    out = copied_tree(interrupted, tmp_path / "run")
    (out / "metrics.jsonl").write_bytes((out / "metrics.jsonl").read_bytes().splitlines(keepends=True)[0])
    with pytest.raises(CannotResume, match="fewer lines"):
        im.imitate(demos, slider, SMALL, run=im.Run(steps=512, episodes=1), out=Output(out, resume=True))


def test_an_evaluation_comes_back_from_its_file_as_it_was() -> None:
    numbers = Performance(2, 1000.0, 1, (1000, 1000), (False, True), 3.5, 0.5, 3.0, (3.0, 4.0))
    without = Performance(1, 5.0, 0, (5,), (False,), occupancy=0.25, length=5.0)
    evaluation = RunEvaluation("hopper", PolicyEvaluation(numbers, without), None)
    content = json.loads(json.dumps(result.to_json(evaluation)))
    assert result.from_json(content) == evaluation
    assert "return_mean" not in content["last"]["sampled_actions"]
    assert content["last"]["mean_actions"]["returns"] == [3.0, 4.0]


# locks


def test_the_second_of_two_processes_is_refused_and_a_kill_blocks_nobody(slider: str, demos: InMemory, tmp_path: Path) -> None:
    im.write(tmp_path / "demos", demos.layout, demos)
    words = ["imitate", str(tmp_path / "demos"), "--imitator", slider, "--method", learner_text(SMALL), "--steps", "51200"]
    words += ["--episodes", "1", "--out", str(tmp_path / "run")]
    command = [sys.executable, "-m", "imitable", *words, "--checkpoint-every", "0"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True) as first:
        while not any((tmp_path / "run" / "seed-0").glob("checkpoint-*/standing.json")):
            assert first.poll() is None, "it was done before the second began"
            time.sleep(0.02)
        os.killpg(first.pid, signal.SIGSTOP)  # on a busy machine it would be done before the second looks
        for mode in ("--resume", "--overwrite"):
            assert "another process is writing" in refused(*words, mode)
        os.kill(first.pid, signal.SIGKILL)
        first.wait()
        with suppress(ProcessLookupError):
            os.killpg(first.pid, signal.SIGCONT)  # a worker of it ends with it
    rows = RunFolder(tmp_path / "run" / "seed-0").metrics()
    steps = [row["steps"] for row in rows]
    assert steps == sorted(set(steps))
    done = imitable(*words, "--resume")
    assert done.returncode == 0, done.stderr
    assert not list((tmp_path / "run").glob(".*lock"))


def test_a_folder_that_is_written_is_refused_in_python_too(slider: str, demos: InMemory, tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    with folder.locked(), pytest.raises(Busy):
        im.imitate(demos, slider, SMALL, run=QUICK, out=folder.path)
    im.imitate(demos, slider, SMALL, run=QUICK, out=folder.path)


# many seeds


def test_many_seeds_come_back_in_order_and_are_those_of_single_runs(slider: str, demos: InMemory, tmp_path: Path) -> None:
    several = im.imitate(demos, slider, SMALL, seeds=2, run=im.Run(steps=256, episodes=1, seed=3), out=tmp_path / "runs")
    [alone] = im.imitate(demos, slider, SMALL, seeds=1, run=im.Run(steps=256, episodes=1, seed=4))
    assert several[1].policy.hash == alone.policy.hash != several[0].policy.hash
    assert several[1].evaluation == alone.evaluation == RunFolder(tmp_path / "runs" / "seed-4").evaluation
    with pytest.raises(OutputExists):
        im.imitate(demos, slider, SMALL, seeds=3, run=im.Run(steps=256, episodes=1, seed=2), out=tmp_path / "runs")
    assert not (tmp_path / "runs" / "seed-2").exists()
    with pytest.raises(BadOption, match="seeds"):
        im.imitate(demos, slider, SMALL, seeds=0, run=QUICK)


# evaluation in Python


def test_a_policy_and_a_run_can_be_evaluated(run: Path, slider: str) -> None:
    folder = RunFolder(run)
    again = im.evaluate_run(run, episodes=1)
    assert again == folder.evaluation
    alone = im.evaluate(slider, folder.policy, folder.reference, episodes=1)
    assert alone == again.last
    assert alone.mean_actions.return_mean is None
    assert alone.mean_actions.occupancy is not None
    assert im.evaluate_run(run, episodes=1, seed=1) != again
    hopper = im.evaluate("hopper", im.policy_for(parse_robot("hopper")), episodes=1)
    assert hopper.mean_actions.return_mean is not None
    assert hopper.mean_actions.occupancy is None
    with pytest.raises(BadOption, match="episodes"):
        im.evaluate("hopper", im.policy_for(parse_robot("hopper")), episodes=0)
