# SPDX-License-Identifier: MIT
"""Trackers: one learned policy a demonstrator that follows its demonstrations on the imitator, and what it measures.

Both forms of the f-MDP (`methods/trajectory.py`, `methods/one_step.py`) hand their settings to `prepared`.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Protocol

import numpy as np

from imitable import seeding
from imitable.errors import BadPolicy
from imitable.feasibility.fmdp import INPUTS, Fmdp, play, ruler_text
from imitable.feasibility.model_cache import check_may_learn
from imitable.feasibility.scorer import Measured, ScoringJob
from imitable.feasibility.spread import as_distance, spread_steps
from imitable.policies.files import load_policy, save_policy
from imitable.rl.settings import Trpo
from imitable.rl.train import Trainer
from imitable.spec_text import OneOf, Range
from imitable.tracking.attempts import Attempts, Pieces, compare_attempts, discounted_share, whole_pieces
from imitable.tracking.follow import Followed
from imitable.tracking.solver import Lanes
from imitable.types import Floats, Ints, Policy, Trajectory

LEARNER = Trpo(length=32, gae_lambda=0.9, log_std=0.0, epochs=8, max_kl=0.05, fisher_fraction=0.5)
"""How trackers learn; the discount is the ruler's. Many small, wide steps that begin loud: at 100 000 steps they follow
HalfCheetah's nearest demonstrator to a share of 0.42, the defaults to 0.71 (measured)."""

LOOK_STEPS = 16_384
"""Control steps of learning between two looks at the mean policy."""

LEAST_GAIN = 0.05
"""Part of the distance before learning that must be gone before a plateau counts: of the recorded trackers that stopped early,
twelve stood at shares of 0.97 and more, where they had begun, and all others at 0.94 and less."""

TrackerInput = Annotated[str, OneOf(*INPUTS)]
LearningSteps = Annotated[int, Range(LEARNER.batch, 10**10)]
Part = Annotated[float, Range(0, 1)]
Count = Annotated[int, Range(1, 10**6)]
Patience = Annotated[int, Range(1, 10**4)]


class TrackerSettings(Protocol):
    """What both forms of the f-MDP say of their trackers."""

    @property
    def tracker_input(self) -> str:
        """What the policy sees: target (the next demonstrated state) or initial-state (as in the paper)."""
        ...

    @property
    def steps(self) -> int:
        """Control steps that it learns from, a demonstrator, at most."""
        ...

    @property
    def begin_anywhere(self) -> float:
        """Part of the training episodes that begin in any demonstrated state; with initial-state input none do."""
        ...

    @property
    def trained(self) -> int:
        """Demonstrations of each demonstrator that it learns from."""
        ...

    @property
    def horizon(self) -> int:
        """Steps of a demonstration that count, at most; fewer if the discount forgets sooner."""
        ...

    @property
    def patience(self) -> int:
        """Learning has converged when the mean distance of so many looks is that of as many before, and below the first."""
        ...

    @property
    def tolerance(self) -> float:
        """Part of the distance by which those two may differ."""
        ...


@dataclass(frozen=True, eq=False)
class Tracking:
    """One job of one form of the f-MDP."""

    job: ScoringJob
    settings: TrackerSettings
    one_step: bool
    """Whether every step begins in a demonstrated state."""

    def pieces(self, trajectories: Sequence[Trajectory], attempts: int = 1) -> Pieces:
        """Return what is followed: every demonstration from its first state, or single transitions spread over all of it."""
        if not self.one_step:
            lengths = np.array([min(len(trajectory), self.horizon) for trajectory in trajectories], np.int64)
            return whole_pieces(lengths, attempts)
        begins = [np.repeat(spread_steps(trajectory, self.horizon), attempts) for trajectory in trajectories]
        owners = np.repeat(np.arange(len(begins)), [len(one) for one in begins])
        numbers = np.concatenate([np.arange(len(one)) for one in begins])
        return Pieces(owners, numbers, np.concatenate(begins), np.ones_like(owners))

    def task(self, trajectories: Sequence[Trajectory]) -> Fmdp:
        """Return the f-MDP of some demonstrations, as pieces."""
        pieces, job = self.pieces(trajectories), self.job
        states = pieces.states(trajectories, 1 if self.one_step else self.horizon)
        return Fmdp(job.imitator, job.ruler, states, pieces.lengths, self.settings.tracker_input)

    @property
    def horizon(self) -> int:
        """Steps of a demonstration that count, at most."""
        return self.settings.horizon if self.one_step else self.job.ruler.horizon(self.settings.horizon)

    def training_task(self, task: Fmdp) -> Fmdp:
        """Return the same task with the starts that are good to learn from.

        A policy that sees its target can begin anywhere; from the first states alone it meets the later ones only once it no
        longer falls (Walker2d at 150,000 steps: mean share 0.61 instead of 0.93).
        """
        begin_anywhere = self.settings.begin_anywhere if self.settings.tracker_input == "target" else 0.0
        return replace(task, begin_anywhere=begin_anywhere)

    def played(self, task: Fmdp, trajectories: Sequence[Trajectory], lanes: Lanes, policy: Policy | None) -> Followed:
        """Follow the task's K pieces with a policy or passively: states (K · R, H, S) of R rollouts each."""
        job, pieces = self.job, self.pieces(trajectories, self.rollouts)
        if not job.imitator.noise:
            return play(task, lanes, policy)
        steps = task.states.shape[1] - 1
        noise = pieces.disturbances(trajectories, job.imitator, steps, job.seed)
        noise = noise.reshape(len(task.lengths), self.rollouts, steps, -1)
        rollouts = [play(task, lanes, policy, noise[:, rollout]) for rollout in range(self.rollouts)]
        arrays = ([one.states for one in rollouts], [one.actions for one in rollouts])
        return Followed(*(np.stack(array, axis=1).reshape(len(pieces.owners), steps, -1) for array in arrays))

    @property
    def rollouts(self) -> int:
        """Rollouts a piece."""
        return self.job.rollouts if self.job.imitator.noise else 1

    def distance(self, errors: Floats) -> float:
        """(n, H) errors of attempts → their mean distance: discounted, or of single transitions the mean error's."""
        if self.one_step:
            return as_distance(self.job.ruler, float(errors.mean()), self.settings.horizon)
        return float(self.job.ruler.discounted(errors).mean())


def prepared(job: ScoringJob, settings: TrackerSettings, *, one_step: bool) -> "TrackerMeasurer":
    """Learn one policy a demonstrator, or take those that an earlier job left in `job.models`."""
    tracking, names = Tracking(job, settings, one_step), sorted({episode.demonstrator for episode in job.demos.episodes})
    return TrackerMeasurer(tracking, {name: _tracker(tracking, name) for name in names})


def _tracker(tracking: Tracking, demonstrator: str) -> Policy:
    """Return the policy of a demonstrator: learned before, or now."""
    job, key = tracking.job, _key(tracking, demonstrator)
    path = None if job.models is None else job.models / f"{key}.safetensors"
    policy = _loaded(path)
    source = " in an earlier job" if policy is not None else ""
    if policy is None:
        check_may_learn(job, f"the tracker of {demonstrator}")
        policy = _learned(tracking, demonstrator, path)
    verdict = "converged" if policy.about["converged"] == "yes" else "not converged"
    job.observer.say(f"{demonstrator}: {verdict} after {int(policy.about['steps']):,} steps{source}")
    return policy


def _loaded(path: Path | None) -> Policy | None:
    """Return what an earlier job learned; a damaged file is learned again."""
    try:
        return None if path is None else load_policy(path)
    except BadPolicy:
        return None


def _key(tracking: Tracking, demonstrator: str) -> str:
    """Return a name for what is learned of a demonstrator.

    It does not name the demonstrations: what was learned from some serves for those that join the set later.
    """
    job = tracking.job
    key = (
        tracking.one_step,
        tracking.settings,
        LEARNER,
        LEAST_GAIN,
        ruler_text(job.ruler),
        job.imitator.hash,
        job.rollouts,
        job.seed,
        demonstrator,
    )
    return hashlib.sha256(repr(key).encode()).hexdigest()[:32]


def _training_set(tracking: Tracking, demonstrator: str) -> list[Trajectory]:
    """Return the demonstrations to learn from: those with the smallest hashes, so that their order in the set is nothing."""
    demos = tracking.job.demos
    places = {row.hash: place for place, row in enumerate(demos.episodes) if row.demonstrator == demonstrator}
    return [demos[places[name]] for name in sorted(places)[: tracking.settings.trained]]


def _learned(tracking: Tracking, demonstrator: str, path: Path | None) -> Policy:
    """Learn until the distance of mean actions converges or the budget is spent; return the best policy seen."""
    job, settings, demonstrations = tracking.job, tracking.settings, _training_set(tracking, demonstrator)
    task, lanes = tracking.task(demonstrations), Lanes(job.imitator, job.ruler.scale, job.threads)
    seed = int(seeding.generator(job.seed, "tracker", demonstrator).integers(2**53))
    learner = replace(LEARNER, discount=job.ruler.discount)
    trainer = Trainer(tracking.training_task(task), learner, settings.steps, seed, threads=job.threads)

    def look(policy: Policy | None) -> float:
        """Return the mean distance over the demonstrations that the policy learns from."""
        states = tracking.played(task, demonstrations, lanes, policy).states
        return tracking.distance(job.ruler.errors(states, np.repeat(task.states[:, 1:], tracking.rollouts, axis=0)))

    best, looks, converged = trainer.policy, [look(trainer.policy)], False
    # what an untrained policy tells a servo can be worse than doing nothing: getting that far is no gain
    untrained = min(looks[0], look(None))
    while not (trainer.done or converged):
        trainer.iterate()
        if trainer.steps // LOOK_STEPS == (trainer.steps - LEARNER.batch) // LOOK_STEPS and not trainer.done:
            continue
        looks.append(look(trainer.policy))
        best = trainer.policy if looks[-1] < min(looks[:-1]) else best
        converged = has_converged(looks, untrained, settings.patience, settings.tolerance)
    about = {
        "robot": str(job.imitator),
        "demonstrator": demonstrator,
        "learned_from": " ".join(one.hash for one in demonstrations),
        "steps": str(trainer.steps),
        "spent": str(trainer.steps + lanes.spent),
        "converged": "yes" if converged else "no",
    }
    policy = replace(best, about=about)
    if path is not None:
        save_policy(policy, path)
    return policy


def has_converged(looks: Sequence[float], untrained: float, patience: int, tolerance: float) -> bool:
    """Return whether the last looks are as far as those before, and nearer than what learning began with.

    |mean − mean before| ≤ tolerance · mean before, and mean ≤ (1 − LEAST_GAIN) · untrained: a policy that has not begun to
    learn stands still, too. Changes for the worse count: a body that falls is often followed worse before it is followed
    better.
    """
    if len(looks) < 2 * patience:
        return False
    before, last = np.mean(looks[-2 * patience : -patience]), np.mean(looks[-patience:])
    return bool(abs(last - before) <= tolerance * before and last <= (1 - LEAST_GAIN) * untrained)


class TrackerMeasurer:
    """Follows every demonstration with the tracker of its demonstrator; one of an unknown demonstrator with the best of all."""

    def __init__(self, tracking: Tracking, trackers: dict[str, Policy]) -> None:
        """Remember the trackers by demonstrator."""
        self._tracking, self._trackers = tracking, trackers
        self._lanes = Lanes(tracking.job.imitator, tracking.job.ruler.scale, tracking.job.threads)
        self._learning = sum(int(policy.about["spent"]) for policy in trackers.values())

    @property
    def spent(self) -> int:
        """Simulated control steps: learning, whenever that was, and measuring."""
        return self._learning + self._lanes.spent

    @property
    def horizon(self) -> int:
        """Steps of a demonstration that count, at most."""
        return self._tracking.horizon

    @property
    def about(self) -> dict[str, object]:
        """Whether the trackers converged, and from how many steps they learned."""
        return {
            "converged": {name: policy.about["converged"] == "yes" for name, policy in self._trackers.items()},
            "trained_steps": {name: int(policy.about["steps"]) for name, policy in self._trackers.items()},
        }

    def __call__(self, trajectories: Sequence[Trajectory]) -> list[Measured]:
        """Measure some demonstrations."""
        if not trajectories:
            return []
        best: dict[int, Measured] = {}
        passive = self._played(trajectories, None).states
        owners = self._tracking.pieces(trajectories, self._tracking.rollouts).owners
        for policy in self._trackers.values():
            rows = [row for row, one in enumerate(trajectories) if self._trackers.get(one.demonstrator, policy) is policy]
            if not rows:
                continue
            chosen = [trajectories[row] for row in rows]
            attempts = self._attempts(chosen, policy, passive[np.isin(owners, rows)])
            for owner, row in enumerate(rows):
                measured = self._measured(attempts, owner)
                if row not in best or measured.distance < best[row].distance:
                    best[row] = measured
        return [best[row] for row in range(len(trajectories))]

    def _played(self, trajectories: Sequence[Trajectory], policy: Policy | None) -> Followed:
        return self._tracking.played(self._tracking.task(trajectories), trajectories, self._lanes, policy)

    def _attempts(self, trajectories: Sequence[Trajectory], policy: Policy, passive: Floats) -> Attempts:
        tracking, task = self._tracking, self._tracking.task(trajectories)
        followed = tracking.played(task, trajectories, self._lanes, policy)
        targets = np.repeat(task.states[:, 1:], tracking.rollouts, axis=0)
        return compare_attempts(
            tracking.job.ruler, tracking.pieces(trajectories, tracking.rollouts), targets, followed, passive
        )

    def _measured(self, attempts: Attempts, owner: int) -> Measured:
        """Average the attempts at one demonstration."""
        rows = np.flatnonzero(attempts.pieces.owners == owner)
        distance, passive = (self._tracking.distance(errors[rows]) for errors in (attempts.errors, attempts.passive_errors))
        return Measured(distance, discounted_share(distance, passive, self._floor(attempts, rows)), attempts.trace(rows))

    def _floor(self, attempts: Attempts, rows: Ints) -> float:
        """Return what the passive distance counts as at least, so that a demonstration that rests has a share, too."""
        ruler = self._tracking.job.ruler
        if self._tracking.one_step:
            return as_distance(ruler, ruler.step_floor, self._tracking.settings.horizon)
        return float(attempts.floors(ruler, rows).mean())
