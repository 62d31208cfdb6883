# SPDX-License-Identifier: MIT
"""The verb `imitate`: a policy of the imitator from weighted demonstrations."""

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import numpy as np

from imitable.demos.fit import check_set
from imitable.errors import BadOption
from imitable.evaluation.evaluate import worth
from imitable.evaluation.reference import Reference
from imitable.evaluation.reward_function import Reward, reward_function
from imitable.files import check_modes
from imitable.imitation.learner import Job, Learner, Training
from imitable.imitation.run_folder import SCHEMA, RunFolder, Standing, row_of
from imitable.imitation.transitions import reference, weighted_transitions
from imitable.rl.progress import Progress
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.spec_text import find_method, parse_method, split
from imitable.types import Demonstrations, Episode, Policy, Weights

METHODS = {
    "gaifo": "imitable.imitation.methods.gaifo:Gaifo",
    "sail": "imitable.imitation.methods.sail:Sail",
    "cloning": "imitable.imitation.methods.cloning:Cloning",
    "dcc": "imitable.imitation.methods.dcc:Dcc",
}
"""Names on the command line, and where each learner lives."""

STEPS = 1_000_000
"""Control steps of a run, unless it says otherwise."""

CHECKPOINT_S = 60.0
"""Seconds between two checkpoints."""


@dataclass(frozen=True)
class Imitated:
    """What a run came to."""

    policy: Policy
    """The last policy: the result."""
    best: Policy | None
    """The policy with the best return on the way; None without a task reward."""
    evaluation: dict[str, Any]
    """What they are worth, and what they cost."""


def method(text: str) -> Learner:
    """Return the learner that `text` names: a built-in one, or a class of yours (`my_lab.learners.Mine:k=3`)."""
    return cast(Learner, parse_method(text, {split(text)[0]: find_method(text, METHODS, ("begin", "least_steps"))}))


_method = method


def imitate(
    demos: Demonstrations,
    imitator: Robot | str,
    method: Learner | str = "gaifo",
    weights: Weights | None = None,
    seed: int = 0,
    *,
    steps: int = STEPS,
    episodes: int = 100,
    horizon: int | None = None,
    reward: str | None = None,
    threads: int = 1,
    out: str | Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    checkpoint_s: float = CHECKPOINT_S,
    on_progress: Callable[[Progress, float], None] = lambda progress, share: None,
    say: Callable[[str], None] = lambda line: None,
) -> Imitated:
    """Learn a policy of the imitator from the states of demonstrations.

    Args:
        demos: the set; its actions are never looked at, except by `cloning`, which wants the imitator's own.
        imitator: the robot that shall imitate, or its text.
        method: a learner, or its text; `METHODS` lists the built-in ones.
        weights: probability mass of every demonstration (`scores.weights`); None: every transition counts the same.
        seed: seed of everything random.
        steps: control steps that it may learn from.
        episodes: episodes of the evaluation.
        horizon: steps of an episode of a robot without a task; None: those of the longest demonstration.
        reward: dotted name of a function that the evaluation counts returns by, see `imitable.evaluation.reward_function`.
        threads: threads of the simulator; results do not depend on it.
        out: run folder to write.
        resume: go on with an interrupted run; a complete one is read.
        overwrite: replace an existing run.
        checkpoint_s: seconds between two checkpoints.
        on_progress: told of every iteration, and which part of the work is done.
        say: told single lines for a person.
    """
    robot = parse_robot(imitator) if isinstance(imitator, str) else imitator
    learner = _method(method) if isinstance(method, str) else method
    paid = None if reward is None else reward_function(reward)
    check_input(demos, robot, learner, weights, steps, episodes, horizon)
    check_modes(resume=resume, overwrite=overwrite)
    setting = setting_of(demos, robot, learner, weights, seed, steps, episodes, reward, horizon)
    folder = None if out is None else RunFolder(Path(out))
    if folder is not None:
        folder.check(setting, resume=resume, overwrite=overwrite)
        if resume and folder.complete:
            return Imitated(folder.policy, folder.best, folder.evaluation)
    training, standing = learner.begin(Job(demos, robot, weights, steps, seed, threads, say, horizon)), Standing()
    if folder is not None:
        folder.open(setting, resume=resume)
        if folder.load(training, standing):
            say(f"going on at {training.share:.0%}")
            if folder.setting["versions"] != setting["versions"]:
                begun = ", ".join(f"{name} {number}" for name, number in folder.setting["versions"].items())
                say(f"! it was begun with {begun}: what comes out need not be the same to the last bit")
    _learn(training, standing, folder, checkpoint_s, on_progress)
    known = reference(robot, weighted_transitions(demos, weights, seed), seed, horizon) if robot.family.rules is None else None
    return _finished(training, standing, folder, known, _Judged(robot, episodes, paid, threads))


def check_input(
    demos: Demonstrations,
    imitator: Robot,
    learner: Learner,
    weights: Weights | None,
    steps: int,
    episodes: int,
    horizon: int | None = None,
) -> None:
    """Refuse what no run can be made of, before anything is said or written."""
    if episodes < 1:
        raise BadOption("episodes", episodes, "give a number above 0")
    if horizon is not None and (horizon < 1 or imitator.family.rules is not None):
        expected = "its task has a horizon of its own" if imitator.family.rules is not None else "give a number above 0"
        raise BadOption("horizon", horizon, expected)
    if steps < learner.least_steps:
        raise BadOption("steps", steps, f"give at least {learner.least_steps}")
    check_set(demos, imitator)
    if weights is not None:
        weights.of(demos)  # refuses strangers


def setting_of(
    demos: Demonstrations,
    imitator: Robot,
    learner: Learner,
    weights: Weights | None,
    seed: int,
    steps: int,
    episodes: int,
    reward: str | None = None,
    horizon: int | None = None,
) -> dict[str, Any]:
    """Return everything that a run's result depends on."""
    names = ("imitable", "mujoco", "jax", "numpy")
    return {
        "schema": SCHEMA,
        "imitator": str(imitator),
        "imitator_hash": imitator.hash,
        "method": f"{type(learner).__module__}.{type(learner).__qualname__}",
        "settings": json.loads(json.dumps(asdict(cast(Any, learner)))),  # tuples become lists, as in the file
        "steps": steps,
        "seed": seed,
        "episodes": episodes,
        "reward": reward,
        "horizon": horizon,
        "demonstrations": len(demos),
        "demonstrations_hash": episodes_hash(demos.episodes),
        "weights": None if weights is None else _hash(np.asarray(weights.of(demos)).tobytes()),
        "scores": None if weights is None else weights.source,
        "sources": list(dict.fromkeys(episode.source for episode in demos.episodes)),
        "versions": {name: version(name) for name in names},
    }


def episodes_hash(episodes: Sequence[Episode]) -> str:
    """Return what demonstrations a run was given, in which order."""
    return _hash(*(episode.hash.encode() for episode in episodes))


def _hash(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()[:32]


def _learn(
    training: Training,
    standing: Standing,
    folder: RunFolder | None,
    checkpoint_s: float,
    on_progress: Callable[[Progress, float], None],
) -> None:
    """Iterate to the end, keeping metrics and checkpoints."""
    saved_at = time.monotonic()
    while not training.done:
        progress = training.iterate()
        standing.note(progress, training)
        if folder is not None:
            folder.append(row_of(progress, training.share))
            if time.monotonic() - saved_at > checkpoint_s:
                folder.save(training, standing)
                saved_at = time.monotonic()
        on_progress(progress, training.share)


@dataclass(frozen=True)
class _Judged:
    """How policies are judged in the end."""

    imitator: Robot
    episodes: int
    reward: Reward | None
    threads: int

    def __call__(self, policy: Policy, known: Reference | None) -> dict[str, Any]:
        return worth(self.imitator, policy, known, self.episodes, reward=self.reward, threads=self.threads)


def _finished(
    training: Training, standing: Standing, folder: RunFolder | None, known: Reference | None, judged: _Judged
) -> Imitated:
    """Evaluate the last policy, and beside it the best."""
    about = {"robot": str(judged.imitator), "body": judged.imitator.hash}
    policy = replace(training.policy, about=about)
    best = None if standing.best is None else replace(standing.best, about=about)
    evaluation: dict[str, Any] = {
        "schema": SCHEMA,
        "imitator": str(judged.imitator),
        "last": judged(policy, known),
        "best": None if best is None else judged(best, known),
    }
    if folder is not None:
        folder.finish(policy, best, known, evaluation)
    return Imitated(policy, best, evaluation)
