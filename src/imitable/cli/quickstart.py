# SPDX-License-Identifier: MIT
"""`imitable quickstart`: the main job, end to end, on a small scale."""

import dataclasses
from pathlib import Path

from imitable.cli import collect, inspect, score, train
from imitable.cli.console import document, say
from imitable.cli.verbs import Collect, Inspect, Quickstart, Score, Train
from imitable.files import check_free

ROBOTS = ("half_cheetah:front=0.05", "half_cheetah:front=0.5", "half_cheetah:back=0.5", "half_cheetah:back=0.05")
"""The demonstrators of the paper's first HalfCheetah setting."""

IMITATOR = "half_cheetah:front=0.01"
"""And its imitator."""

STEPS = 200_000
"""Control steps of the small training run."""


def run(verb: Quickstart) -> None:
    """Carry out the verb."""
    demos, scores = verb.out / "demos", verb.out / "scores.parquet"
    policy, own = verb.out / "policy.safetensors", verb.out / "own"
    for path in (demos, scores, policy, own):
        check_free(path, overwrite=verb.overwrite)
    try:
        _run_steps(verb, demos, scores, policy, own)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"What is complete stays in {verb.out}; start again with --overwrite.") from None


def _run_steps(verb: Quickstart, demos: Path, scores: Path, policy: Path, own: Path) -> None:
    common = verb.common
    steps = dataclasses.replace(common, json=False)  # one document on stdout: ours
    say(common, f"1/5  record demonstrations of four bodies: imitable collect {' '.join(ROBOTS)} --episodes 5 --out {demos}")
    collect.run(Collect(ROBOTS, episodes="5", out=demos, overwrite=verb.overwrite, common=steps))
    say(common, f"2/5  look at them: imitable inspect {demos}")
    inspect.run(Inspect((demos,), common=steps))
    say(common, f"3/5  which of them can the imitator follow? imitable score {demos} --imitator {IMITATOR} --out {scores}")
    score.run(Score((demos,), IMITATOR, out=scores, overwrite=verb.overwrite, common=steps))
    say(common, f"4/5  train the imitator a little: imitable train {IMITATOR} --method trpo --steps {STEPS} --out {policy}")
    train.run(Train(IMITATOR, out=policy, method="trpo", steps=STEPS, episodes=20, overwrite=verb.overwrite, common=steps))
    say(common, f"5/5  record it: imitable collect {IMITATOR} --policy {policy} --episodes 5 --out {own}")
    collect.run(Collect((IMITATOR,), episodes="5", out=own, policy=policy, overwrite=verb.overwrite, common=steps))
    say(common, f"done: everything is in {verb.out}")
    document(common, {"demos": str(demos), "scores": str(scores), "policy": str(policy), "own": str(own)})
