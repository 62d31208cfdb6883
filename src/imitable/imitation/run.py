# SPDX-License-Identifier: MIT
"""One run of one seed: learn, evaluate, keep the folder."""

import math
import time
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from imitable.demos.fit import check_set
from imitable.errors import BadOption
from imitable.evaluation.evaluate import Episodes, episode_counts, evaluate
from imitable.evaluation.result import PolicyEvaluation, RunEvaluation
from imitable.evaluation.reward_function import RewardFunction, import_reward
from imitable.files import Output, keeping
from imitable.imitation.learner import Learner, LearningJob, Projects, Training
from imitable.imitation.methods import learner_text
from imitable.imitation.run_folder import RunFolder, Standing, row_of
from imitable.imitation.setting import Setting, episodes_hash, installed_versions, weights_hash
from imitable.observer import Observer
from imitable.robots.robot import Robot
from imitable.spec_text import settings_hash
from imitable.types import Demonstrations, Policy, Weights

STEPS = 1_000_000
"""Control steps of a run, unless it says otherwise."""

CHECKPOINT_S = 60.0
"""Seconds between two checkpoints."""

PARTS = 1000
"""Parts of a run's work that observers hear of."""


@dataclass(frozen=True)
class Run:
    """How a run is made, beside what it learns from."""

    steps: int = STEPS
    """Control steps that it may learn from."""
    seed: int = 0
    """Seed of everything random; of several runs, that of the first."""
    episodes: Episodes = 100
    """Episodes of the evaluation with each kind of actions; a pair: with mean, and with sampled actions."""
    evaluate_best: bool = True
    """Whether the best policy on the way is evaluated beside the last one."""
    horizon: int | None = None
    """Steps of an episode of a robot without a task; None: those of the longest demonstration."""
    reward: str | None = None
    """Dotted name of a function that the evaluation counts returns by, see `imitable.evaluation.reward_function`."""
    threads: int = 1
    """Threads of the simulator; results do not depend on it."""
    checkpoint_s: float = CHECKPOINT_S
    """Seconds between two checkpoints."""
    projections: Path | None = None
    """Folder of projections that runs with the same pieces share; results do not depend on it."""


@dataclass(frozen=True)
class Imitated:
    """What a run came to."""

    policy: Policy
    """The final policy: the result."""
    best: Policy | None
    """The policy with the best return on the way; None without a task reward."""
    evaluation: RunEvaluation
    """What they are worth."""


def check_input(demos: Demonstrations, imitator: Robot, learner: Learner, weights: Weights | None, run: Run) -> None:
    """Refuse what no run can be made of, before anything is said or written."""
    episode_counts(run.episodes)  # refuses what is no number of episodes
    has_task = imitator.family.has_task
    if run.horizon is not None and (run.horizon < 1 or has_task):
        expected = "its task has a horizon of its own; leave it out, or give another robot"
        raise BadOption("horizon", run.horizon, expected if has_task else "give a number above 0")
    if run.steps < learner.least_steps:
        raise BadOption("steps", run.steps, f"give at least {learner.least_steps}")
    check_set(demos, imitator)
    if weights is not None:
        weights.of(demos)  # refuses strangers


def setting_of(demos: Demonstrations, imitator: Robot, learner: Learner, weights: Weights | None, run: Run) -> Setting:
    """Return everything that a run's result depends on."""
    return Setting(
        imitator=str(imitator),
        imitator_hash=imitator.hash,
        method=learner_text(learner),
        method_hash=settings_hash(learner),
        steps=run.steps,
        seed=run.seed,
        episodes=run.episodes,
        evaluate_best=run.evaluate_best,
        reward=run.reward,
        horizon=run.horizon,
        demonstrations=len(demos),
        demonstrations_hash=episodes_hash(demos.episodes),
        weights=None if weights is None else weights_hash(weights, demos),
        scores=None if weights is None else weights.source,
        sources=tuple(dict.fromkeys(episode.source for episode in demos.episodes)),
        versions=installed_versions(),
    )


def carry_out(
    demos: Demonstrations, imitator: Robot, learner: Learner, weights: Weights | None, run: Run, out: Output
) -> Imitated:
    """Learn and evaluate; with an output, keep the run folder, which no other process may write meanwhile."""
    reward = None if run.reward is None else import_reward(run.reward)
    setting = setting_of(demos, imitator, learner, weights, run)
    folder = None if out.path is None else RunFolder(out.path)
    with nullcontext() if folder is None else folder.locked():
        if folder is not None:
            folder.check(setting, out)
            if out.resume and folder.complete:
                folder.tidy()
                return Imitated(folder.policy, folder.best, folder.evaluation)
        job = LearningJob(
            demos,
            imitator,
            weights,
            run.steps,
            run.seed,
            run.threads,
            out.observer.say,
            horizon=run.horizon,
            projections=run.projections,
        )
        training, standing = learner.begin(job), Standing()
        with nullcontext() if folder is None else keeping(folder.path):
            if folder is not None:
                _open(folder, setting, training, standing, out)
            _learn(training, standing, folder, run.checkpoint_s, out.observer)
            return _finish(training, standing, folder, imitator, run, reward)


def _open(folder: RunFolder, setting: Setting, training: Training, standing: Standing, out: Output) -> None:
    """Begin the folder, or go on from its checkpoint."""
    folder.open(setting, resume=out.resume)
    if not folder.load(training, standing):
        return
    out.observer.say(f"going on at {training.progress:.0%}")
    if folder.setting.versions != setting.versions:
        begun = ", ".join(f"{name} {number}" for name, number in folder.setting.versions.items())
        out.observer.say(f"! it was begun with {begun}: what comes out need not be the same to the last bit")


def _learn(training: Training, standing: Standing, folder: RunFolder | None, checkpoint_s: float, observer: Observer) -> None:
    """Iterate to the end, writing metrics and checkpoints."""
    saved_at, pace = time.monotonic(), Pace()
    while not training.done:
        reported = training.iterate()
        standing.note(reported, training)
        if folder is not None:
            folder.append(row_of(reported, training.progress))
            if time.monotonic() - saved_at > checkpoint_s:
                folder.save(training, standing)
                saved_at = time.monotonic()
        observer.progress(round(PARTS * training.progress), PARTS, pace.note(reported.steps, reported.mean_return))


class Pace:
    """How fast a run is in this session: a resumed one begins with the steps of earlier ones."""

    def __init__(self) -> None:
        """Wait for the first steps."""
        self._begun: tuple[float, float] | None = None

    def note(self, steps: float, mean_return: float) -> str:
        """Return return and steps a second in a few words."""
        now = time.monotonic()
        self._begun = self._begun or (steps, now)
        rate = (steps - self._begun[0]) / max(now - self._begun[1], 1e-9)
        returned = "" if math.isnan(mean_return) else f"return {mean_return:,.0f}  "
        return f"{returned}{rate:,.0f} steps/s"


def _finish(
    training: Training,
    standing: Standing,
    folder: RunFolder | None,
    imitator: Robot,
    run: Run,
    reward: RewardFunction | None,
) -> Imitated:
    """Evaluate the final policy, and beside it the best, if that is wanted."""
    about = {"robot": str(imitator), "body": imitator.hash}
    policy = replace(training.policy, about=about)
    best = None if standing.best is None else replace(standing.best, about=about)

    def evaluated(one: Policy) -> PolicyEvaluation:
        return evaluate(imitator, one, training.reference, episodes=run.episodes, reward=reward, threads=run.threads)

    looked_at = best if run.evaluate_best else None
    projection = training.projection if isinstance(training, Projects) else None
    evaluation = RunEvaluation(
        str(imitator), evaluated(policy), None if looked_at is None else evaluated(looked_at), projection
    )
    if folder is not None:
        folder.finish(policy, best, training.reference, evaluation)
    return Imitated(policy, best, evaluation)
