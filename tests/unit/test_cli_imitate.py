# SPDX-License-Identifier: MIT
"""`imitable imitate | evaluate` as a person meets them."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import imitable as im
from imitable.demos.collect import collect
from imitable.policies.shipped import policy_for
from imitable.sim.babble import babble
from imitable.sim.task import Locomotion
from tests.unit.test_cli import imitable, refused

COMMAND = [sys.executable, "-m", "imitable"]
BODY = "half_cheetah:front=0.01"
SMALL = (
    "gaifo:environments=8,length=16,minibatch=64,hidden=8x8,"
    "discriminator_hidden=16x16,discriminator_minibatch=32,discriminator_steps=2"
)
QUICK = ("--method", SMALL, "--steps", "512", "--episodes", "1")


@pytest.fixture(scope="module")
def demos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("imitate") / "demos"
    task = Locomotion(im.robot(BODY))
    im.write(folder, task.robot.layout, collect(task, policy_for(task.robot), 2, 0))
    return folder


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory, demos: Path) -> Path:
    out = tmp_path_factory.mktemp("scores") / "scores.parquet"
    im.score(im.read(demos), BODY, "neighbours:horizon=20", out=out)
    return out


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, demos: Path, scores: Path) -> Path:
    out = tmp_path_factory.mktemp("runs") / "run"
    done = imitable("imitate", demos, "--imitator", BODY, "--scores", scores, *QUICK, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "reports the task's return" in done.stderr
    assert f"next: imitable evaluate {out}" in done.stderr
    assert json.loads((out / "seed-0" / "setting.json").read_text())["scores"] == str(scores)
    return out


def test_a_run_can_be_evaluated_and_gives_the_same_numbers(run: Path) -> None:
    document = json.loads(imitable("evaluate", run, "--episodes", "1", "--json").stdout)
    written = json.loads((run / "seed-0" / "evaluation.json").read_text())
    assert document["runs"][0]["last"] == written["last"]
    done = imitable("evaluate", run / "seed-0", "--episodes", "2")
    assert "sampled" in done.stdout


def test_its_policy_acts_without_jax(run: Path) -> None:
    policy = im.load_policy(run / "seed-0" / "policy.safetensors")
    assert policy.about["robot"] == BODY


def test_several_seeds_run_in_processes_and_only_what_is_missing_is_done(run: Path, demos: Path, scores: Path) -> None:
    before = (run / "seed-0" / "policy.safetensors").stat().st_mtime_ns
    arguments = ("imitate", demos, "--imitator", BODY, "--scores", scores, *QUICK, "--out", run, "--seeds", "2")
    assert "give --resume" in refused(*arguments)
    done = imitable(*arguments, "--resume", "--json")
    assert [row["seed"] for row in json.loads(done.stdout)["runs"]] == [0, 1]
    assert (run / "seed-0" / "policy.safetensors").stat().st_mtime_ns == before
    hashes = [im.load_policy(run / f"seed-{seed}" / "policy.safetensors").hash for seed in (0, 1)]
    assert hashes[0] != hashes[1]


def test_a_seed_of_the_pool_is_the_seed_alone_on_one_core_or_two(demos: Path, tmp_path: Path) -> None:
    """One core and the pool's processes on two, one simulator thread and two: the same bits."""
    arguments = ["imitate", str(demos), "--imitator", BODY, *QUICK]
    cores = sorted(os.sched_getaffinity(0))
    alone = [
        sys.executable,
        "-c",
        f"import os; os.sched_setaffinity(0, {{{cores[0]}}}); from imitable.cli.main import main; main()",
    ]
    subprocess.run([*alone, *arguments, "--out", str(tmp_path / "alone"), "--seed", "1"], check=True, capture_output=True)
    assert imitable(*arguments, "--out", tmp_path / "pool", "--seeds", "2", "--threads", "2").returncode == 0
    found, expected = (tmp_path / name / "seed-1" / "policy.safetensors" for name in ("pool", "alone"))
    assert found.read_bytes() == expected.read_bytes()


def test_a_killed_run_resumes_to_the_same_files(demos: Path, tmp_path: Path) -> None:
    arguments = ["imitate", str(demos), "--imitator", BODY, "--method", SMALL, "--steps", "12800", "--episodes", "1"]
    assert imitable(*arguments, "--out", tmp_path / "whole").returncode == 0
    cut = tmp_path / "cut" / "seed-0"
    process = subprocess.Popen([*COMMAND, *arguments, "--out", str(tmp_path / "cut"), "--checkpoint-every", "0"])
    while not any(cut.glob("checkpoint-*/standing.json")):
        assert process.poll() is None, "it was done before it could be killed"
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (cut / "evaluation.json").exists()
    done = imitable(*arguments, "--out", tmp_path / "cut", "--resume")
    assert done.returncode == 0, done.stderr
    whole = tmp_path / "whole" / "seed-0"
    names = sorted(path.name for path in whole.iterdir())
    assert names == sorted(path.name for path in cut.iterdir() if not path.name.startswith("."))
    for name in names:
        assert (cut / name).read_bytes() == (whole / name).read_bytes(), name


def test_a_robot_without_a_task_is_judged_by_how_it_follows(tmp_path: Path, slider_path: Path) -> None:
    body = im.robot(str(slider_path))
    im.write(tmp_path / "demos", body.layout, babble(body, 3, 30, 0))
    (tmp_path / "my_rewards.py").write_text("def forward(states, actions, after):\n    return after[:, 0] - states[:, 0]\n")
    arguments = ["imitate", str(tmp_path / "demos"), "--imitator", str(slider_path), *QUICK, "--out", str(tmp_path / "run")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))}
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "no task reward" in done.stderr
    assert "occupancy" in done.stdout
    numbers = json.loads((tmp_path / "run" / "seed-0" / "evaluation.json").read_text())["last"]["mean_actions"]
    assert numbers["occupancy"] >= 0
    assert "return_mean" not in numbers
    again = [*COMMAND, "evaluate", str(tmp_path / "run"), "--reward", "my_rewards.forward", "--episodes", "2", "--json"]
    paid = json.loads(subprocess.run(again, capture_output=True, text=True, env=environment, check=True).stdout)
    assert np.isfinite(paid["runs"][0]["last"]["mean_actions"]["return_mean"])


def test_help_lists_keys_and_presets() -> None:
    done = imitable("imitate", "x", "--imitator", "hopper", "--method", "gaifo:help")
    assert "discriminator_hidden" in done.stdout.replace(" ", "_")
    assert "paper" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--method", "gaif"), "gaifo"),
        (("--method", "gaifo:turn=3"), "discriminator_steps"),
        (("--steps", "10"), "at least 2048"),
        (("--seeds", "0"), "seeds"),
        (("--reward", "nothing.here"), "cannot be imported"),
        (("--imitator", "hopper"), "states"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(
    arguments: tuple[str, ...], expected: str, demos: Path, tmp_path: Path
) -> None:
    imitator = () if "--imitator" in arguments else ("--imitator", BODY)
    assert expected in refused("imitate", demos, *imitator, *arguments, "--out", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_scores_of_others_are_refused(run: Path, scores: Path, demos: Path, tmp_path: Path) -> None:
    task = Locomotion(im.robot(BODY))
    im.write(tmp_path / "others", task.robot.layout, collect(task, policy_for(task.robot), 1, 9))
    line = refused("imitate", tmp_path / "others", "--imitator", BODY, "--scores", scores, *QUICK, "--out", tmp_path / "run")
    assert "other demonstrations" in line
    assert "was made for" in refused(
        "imitate", demos, "--imitator", "half_cheetah", "--scores", scores, "--out", tmp_path / "run"
    )
    other = refused("imitate", demos, "--imitator", BODY, *QUICK, "--out", run, "--resume")
    assert "other settings (weights)" in other
    assert not (tmp_path / "run").exists()


def test_evaluate_wants_a_complete_run(tmp_path: Path) -> None:
    assert "no run folder" in refused("evaluate", tmp_path)
