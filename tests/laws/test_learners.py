# SPDX-License-Identifier: MIT
"""Laws that hold for every learner, on a body that falls and on one without a task."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from imitable.demos.store import write
from imitable.imitation.learner import LearningJob
from imitable.imitation.methods import METHODS, parse_learner
from imitable.policies.shipped import policy_for
from imitable.robots.parse import parse_robot
from imitable.sim.babble import babble
from imitable.sim.kinematics import quaternions
from imitable.sim.rollout import episodes
from imitable.sim.task import Locomotion
from imitable.testing import check_learner
from imitable.types import InMemory, Trajectory

SMALL = "environments=8,length=16,minibatch=64,hidden=8x8,averaged=0.7"
"""Most policies of a run are averaged, and a run that is interrupted is interrupted in the middle of it, too."""
INSIDE = ",".join(f"gaifo.{key}" for key in f"{SMALL},discriminator_steps=2,discriminator_hidden=16".split(","))
WARM = f"{INSIDE},gaifo.critic_steps=128"
QUICK = {
    "gaifo": f"gaifo:{SMALL},discriminator_steps=2,discriminator_minibatch=32,discriminator_hidden=16x16",
    "gaifo, trpo": f"gaifo:preset=trpo,{SMALL},discriminator_steps=2,discriminator_minibatch=32,discriminator_hidden=16x16",
    "gaifo, paper": f"gaifo:preset=paper,{SMALL},discriminator_minibatch=32,discriminator_hidden=16x16",
    "gaifo, loss": f"gaifo:weighting=loss,{SMALL},discriminator_steps=2,discriminator_minibatch=32,discriminator_hidden=16x16",
    "sail": f"sail:{SMALL},critic_steps=0,goal_hidden=16,goal_steps=20,babbled=200,inverse_hidden=8,inverse_steps=20"
    ",pretrained=10,inverse_updates=2,discriminator_steps=2,discriminator_hidden=16,discriminator_minibatch=32",
    "warm-start": f"warm-start:pieces=20,gradient_steps=40,{WARM}",
    "warm-start, original": f"warm-start:pieces=20,piece_length=3,gradient_steps=40,demonstrated=original,{WARM}",
    "cloning": "cloning:gradient_steps=40,minibatch=32,hidden=8x8",
    "state-vae": "state-vae:gradient_steps=40,minibatch=32,hidden=8x8,latent=4",
    "dcc": f"dcc:transitions=400,forward_steps=20,map_steps=20,minibatch=16,{INSIDE}",
}
"""Every learner at a budget that suits a test."""

STEPS = {"dcc": 1600, "warm-start": 4096, "warm-start, original": 4096}
"""Control steps of a training, if not three small batches."""


def test_every_learner_is_tested() -> None:
    assert {name.split(",")[0] for name in QUICK} == set(METHODS)


@pytest.fixture(scope="module")
def hops() -> InMemory:
    """Three short hops of a Hopper, one of which falls; with its own actions, for those who want them."""
    body = parse_robot("hopper:gravity=15")
    played = [trajectory for trajectory, _ in episodes(Locomotion(body), policy_for(body), [1, 2, 3])]
    cut = [Trajectory(t.states[:41], str(body), t.actions[:40], i == 1) for i, t in enumerate(played) if t.actions is not None]
    return InMemory(body.layout, cut)


@pytest.mark.parametrize("name", QUICK)
def test_laws_on_a_body_that_falls(name: str, hops: InMemory) -> None:
    check_learner(QUICK[name], hops, "hopper:gravity=15", steps=STEPS.get(name, 3 * 8 * 16))


@pytest.mark.parametrize("name", QUICK)
def test_laws_on_a_body_without_a_task(name: str, slider_path: Path) -> None:
    body = parse_robot(str(slider_path))
    check_learner(QUICK[name], InMemory(body.layout, babble(body, 3, 30, 0)), body, steps=STEPS.get(name, 3 * 8 * 16))


@pytest.mark.parametrize("name", QUICK)
def test_the_signs_of_quaternions_have_no_influence(name: str, floating_path: Path) -> None:
    body, rng = parse_robot(str(floating_path)), np.random.default_rng(0)
    plain = babble(body, 2, 30, 0)
    flipped = list[Trajectory]()
    for trajectory in plain:
        states = trajectory.states.copy()
        for first in quaternions(body):
            states[:, first : first + 4] *= rng.choice([-1.0, 1.0], (len(states), 1))
        flipped.append(replace(trajectory, states=states))
    steps, policies = STEPS.get(name, 3 * 8 * 16) // 3, set[str]()
    for trajectories in (plain, flipped):
        training = parse_learner(QUICK[name]).begin(LearningJob(InMemory(body.layout, trajectories), body, None, steps, 0))
        while not training.done:
            training.iterate()
        policies.add(training.policy.hash)
    assert len(policies) == 1


LONG = {
    "sail": (QUICK["sail"], 12_800),
    "cloning": ("cloning:gradient_steps=20000,minibatch=32,hidden=8x8", 0),
    # steps that just suffice: pieces are followed in blocks that surely fit
    "warm-start": ("warm-start:pieces=100,gradient_steps=1000,gaifo.critic_steps=512,gaifo.length=8", 16_000),
    "dcc": (QUICK["dcc"], 12_800),
}
"""Learners, and steps long enough to be killed on the way; gaifo is killed in the tests of the command line."""


@pytest.mark.parametrize("name", LONG)
def test_killed_in_every_stage_on_two_cores_it_ends_as_uninterrupted_on_one(name: str, hops: InMemory, tmp_path: Path) -> None:
    write(tmp_path / "demos", hops.layout, hops)
    method, steps = LONG[name]
    cores = sorted(os.sched_getaffinity(0))
    arguments = ["imitate", str(tmp_path / "demos"), "--imitator", "hopper:gravity=15", "--method", method, "--episodes", "1"]
    arguments += ["--steps", str(steps), "--checkpoint-every", "0"]

    def command(cores: list[int], *words: str) -> list[str]:
        start = f"import os; os.sched_setaffinity(0, {set(cores)}); from imitable.cli.main import main; main()"
        return [sys.executable, "-c", start, *arguments, *words]

    subprocess.run(command(cores[:1], "--out", str(tmp_path / "whole")), check=True, capture_output=True)
    cut = ("--out", str(tmp_path / "cut"), "--threads", "2", "--resume")
    whole, broken = (tmp_path / part / "seed-0" for part in ("whole", "cut"))
    for rows in first_rows(whole):
        process = subprocess.Popen(command(cores[:2], *cut), stderr=subprocess.DEVNULL)
        while not (any(broken.glob("checkpoint-*/standing.json")) and len(metrics(broken)) >= rows):
            assert process.poll() is None, "it was done before it could be killed"
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert not (broken / "evaluation.json").exists()
    subprocess.run(command(cores[:2], *cut), check=True, capture_output=True)
    assert contents(broken) == contents(whole)


def contents(run: Path) -> dict[str, bytes]:
    """Return the files of a run by name; a kill leaves what it was writing, under a hidden name."""
    return {path.name: path.read_bytes() for path in run.iterdir() if not path.name.startswith(".")}


def first_rows(run: Path) -> list[int]:
    """Return which row of the metrics is the first of every stage: stages report different things."""
    kinds = [tuple(json.loads(line)) for line in metrics(run)]
    return sorted({kinds.index(kind) + 1 for kind in kinds})


def metrics(run: Path) -> list[str]:
    path = run / "metrics.jsonl"
    return path.read_text().splitlines() if path.exists() else []
