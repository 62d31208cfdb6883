# SPDX-License-Identifier: MIT
"""Trackers: one learned policy a demonstrator that follows its demonstrations on the imitator, and what it measures."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from imitable import seeding
from imitable.errors import BadOption, BadPolicy, one_of
from imitable.feasibility.fmdp import INPUTS, Fmdp, fmdp, play, ruler_text
from imitable.feasibility.scorer import Job, Measured, Trace, discounted_share
from imitable.policies.files import load_policy, save_policy
from imitable.rl.settings import Trpo
from imitable.sim.rollout import actuation_noise
from imitable.spec_text import check_ranges
from imitable.tracking.solver import Lanes
from imitable.types import Floats, Policy, Trajectory

LEARNER = Trpo(length=32, gae_lambda=0.9, log_std=0.0, epochs=8, max_kl=0.05, fisher_share=0.5)
"""How trackers learn; the discount is the ruler's. Many small, wide steps that begin loud: at 100 000 steps they follow
HalfCheetah's nearest demonstrator to a share of 0.42, the defaults to 0.71 (measured)."""

LOOK_STEPS = 16_384
"""Control steps of learning between two looks at the mean policy."""


RANGES = {
    "steps": (LEARNER.batch, 10**10),
    "begin_anywhere": (0, 1),
    "trained": (1, 10**6),
    "horizon": (1, 10**6),
    "patience": (1, 10**4),
    "tolerance": (0, 1),
}
"""Lowest and highest value of every number."""


@dataclass(frozen=True)
class Tracker:
    """The settings that both forms of the f-MDP share."""

    rule: ClassVar[str] = "share"
    one_step: ClassVar[bool] = False

    tracker_input: str = "target"
    """What the policy sees: target (the next demonstrated state) or initial-state (as in the paper)."""
    steps: int = 500_000
    """Control steps that it learns from, a demonstrator, at most."""
    begin_anywhere: float = 0.5
    """Part of the practice episodes that begin in any demonstrated state; with initial-state input, as in the paper, none."""
    trained: int = 25
    """Demonstrations of each demonstrator that it learns from."""
    horizon: int = 100
    """Steps of a demonstration that count, at most; fewer if the discount forgets sooner."""
    patience: int = 4
    """Learning has converged when the mean distance of so many looks is that of as many looks before them."""
    tolerance: float = 0.01
    """Part of the distance by which those two may differ."""

    def __post_init__(self) -> None:
        """Check every value."""
        if self.tracker_input not in INPUTS:
            raise BadOption("tracker_input", self.tracker_input, one_of(self.tracker_input, INPUTS))
        check_ranges(self, RANGES)

    def prepared(self, job: Job) -> "TrackerMeasurer":
        """Learn one policy a demonstrator, or take those that an earlier job left in `job.models`."""
        names = sorted({episode.demonstrator for episode in job.demos.episodes})
        return TrackerMeasurer(job, self, {name: _tracker(job, self, name) for name in names})

    def task(self, job: Job, trajectories: Sequence[Trajectory]) -> Fmdp:
        """Return the f-MDP of some demonstrations."""
        return fmdp(trajectories, job.imitator, job.ruler, job.ruler.horizon(self.horizon), self.tracker_input, self.one_step)

    def practice(self, task: Fmdp) -> Fmdp:
        """Return the same task with the starts that are good to learn from.

        A policy that sees its target can begin anywhere; from the first states alone it meets the later ones only once it no
        longer falls (Walker2d at 150,000 steps: mean share 0.61 instead of 0.93).
        """
        return replace(task, begin_anywhere=self.begin_anywhere if self.tracker_input == "target" else 0.0)


def _tracker(job: Job, settings: Tracker, demonstrator: str) -> Policy:
    """Return the policy of a demonstrator: learned before, or now."""
    path = job.models / f"{_key(job, settings, demonstrator)}.safetensors" if job.models is not None else None
    policy = _kept(path)
    source = " in an earlier job" if policy is not None else ""
    policy = policy or _learned(job, settings, demonstrator, path)
    verdict = "converged" if policy.about["converged"] == "yes" else "not converged"
    job.say(f"{demonstrator}: {verdict} after {int(policy.about['steps']):,} steps{source}")
    return policy


def _kept(path: Path | None) -> Policy | None:
    """Return what an earlier job learned; a damaged file is learned again."""
    try:
        return load_policy(path) if path is not None else None
    except BadPolicy:
        return None


def _key(job: Job, settings: Tracker, demonstrator: str) -> str:
    """Return a name for what is learned of a demonstrator.

    It does not name the demonstrations: what was learned from some serves for those that join the set later.
    """
    told = (
        type(settings).__name__,
        settings,
        LEARNER,
        ruler_text(job.ruler),
        job.imitator.hash,
        job.rollouts,
        job.seed,
        demonstrator,
    )
    return hashlib.sha256(repr(told).encode()).hexdigest()[:32]


def _lessons(job: Job, settings: Tracker, demonstrator: str) -> list[Trajectory]:
    """Return the demonstrations to learn from: those with the smallest hashes, so that their order in the set is nothing."""
    places = {row.hash: place for place, row in enumerate(job.demos.episodes) if row.demonstrator == demonstrator}
    return [job.demos[places[name]] for name in sorted(places)[: settings.trained]]


def _learned(job: Job, settings: Tracker, demonstrator: str, path: Path | None) -> Policy:
    """Learn until the distance of mean actions converges or the budget is spent; return the best policy seen."""
    from imitable.rl.train import Trainer  # brings JAX

    lessons = _lessons(job, settings, demonstrator)
    task, lanes = settings.task(job, lessons), Lanes(job.imitator, job.ruler.scale, job.threads)
    seed = int(seeding.generator(job.seed, "tracker", demonstrator).integers(2**53))
    trainer = Trainer(
        settings.practice(task), replace(LEARNER, discount=job.ruler.discount), settings.steps, seed, threads=job.threads
    )
    best, looks, converged = trainer.policy, [_look(job, task, lessons, lanes, trainer.policy)], False
    while not (trainer.done or converged):
        trainer.iterate()
        if trainer.steps // LOOK_STEPS == (trainer.steps - LEARNER.batch) // LOOK_STEPS and not trainer.done:
            continue
        looks.append(_look(job, task, lessons, lanes, trainer.policy))
        best = trainer.policy if looks[-1] < min(looks[:-1]) else best
        converged = has_converged(looks, settings.patience, settings.tolerance)
    about = {
        "robot": str(job.imitator),
        "demonstrator": demonstrator,
        "learned_from": " ".join(lesson.hash for lesson in lessons),
        "steps": str(trainer.steps),
        "spent": str(trainer.steps + lanes.spent),
        "converged": "yes" if converged else "no",
    }
    policy = replace(best, about=about)
    if path is not None:
        save_policy(policy, path)
    return policy


def _look(job: Job, task: Fmdp, lessons: Sequence[Trajectory], lanes: Lanes, policy: Policy) -> float:
    """Return the mean distance over the demonstrations that the policy learns from."""
    return float(_attempted(job, task, lessons, lanes, policy).distances.mean())


def has_converged(looks: Sequence[float], patience: int, tolerance: float) -> bool:
    """Return whether the last looks are as far as those before: |mean − mean before| ≤ tolerance · mean before.

    Changes for the worse count too: a body that falls is often followed worse before it is followed better.
    """
    if len(looks) < 2 * patience:
        return False
    before, last = np.mean(looks[-2 * patience : -patience]), np.mean(looks[-patience:])
    return bool(abs(last - before) <= tolerance * before)


@dataclass(frozen=True, eq=False)
class Attempted:
    """K demonstrations, each attempted in R rollouts of at most H steps; NaN beyond their ends."""

    states: Floats
    """(K, R, H, S)."""
    actions: Floats
    """(K, R, H, A)."""
    errors: Floats
    """(K, R, H)."""
    distances: Floats
    """(K) expected discounted distances."""


def _attempted(job: Job, task: Fmdp, trajectories: Sequence[Trajectory], lanes: Lanes, policy: Policy | None) -> Attempted:
    """Follow the task's demonstrations, which are those of `trajectories`, with a policy or passively."""
    rollouts = [play(task, lanes, policy, noise) for noise in _disturbances(job, task, trajectories)]
    states = np.stack([rollout.states for rollout in rollouts], axis=1)
    errors = job.ruler.errors(states, task.states[:, None, 1:])
    actions = np.stack([rollout.actions for rollout in rollouts], axis=1)
    return Attempted(states, actions, errors, job.ruler.discounted(errors).mean(axis=1))


def _disturbances(job: Job, task: Fmdp, trajectories: Sequence[Trajectory]) -> list[Floats | None]:
    """Return the actuation noise (K, H, A) of every rollout, each demonstration's drawn by its own hash."""
    if not job.imitator.noise:
        return [None]
    shape = (task.states.shape[1] - 1, job.imitator.control_range.shape[1])

    def drawn(trajectory: Trajectory, rollout: int) -> Floats:
        return actuation_noise(job.imitator, seeding.generator(job.seed, "actuation", trajectory.hash, rollout), shape)

    return [np.stack([drawn(trajectory, rollout) for trajectory in trajectories]) for rollout in range(job.rollouts)]


class TrackerMeasurer:
    """Follows every demonstration with the tracker of its demonstrator; one of an unknown demonstrator with the best of all."""

    def __init__(self, job: Job, settings: Tracker, trackers: dict[str, Policy]) -> None:
        """Remember the trackers by demonstrator."""
        self._job, self._settings, self._trackers = job, settings, trackers
        self._lanes = Lanes(job.imitator, job.ruler.scale, job.threads)
        self._learning = sum(int(policy.about["spent"]) for policy in trackers.values())

    @property
    def spent(self) -> int:
        """Simulated control steps: learning, whenever that was, and measuring."""
        return self._learning + self._lanes.spent

    @property
    def horizon(self) -> int:
        """Steps of a demonstration that count, at most."""
        return self._job.ruler.horizon(self._settings.horizon)

    @property
    def about(self) -> dict[str, object]:
        """Whether the trackers converged, and from how many steps they learned."""
        return {
            "converged": {name: policy.about["converged"] == "yes" for name, policy in self._trackers.items()},
            "trained_steps": {name: int(policy.about["steps"]) for name, policy in self._trackers.items()},
        }

    def __call__(self, trajectories: Sequence[Trajectory]) -> list[Measured]:
        """Measure some demonstrations."""
        best: dict[int, Measured] = {}
        passive = self._follow(trajectories, None).distances if trajectories else np.zeros(0)
        for policy in self._trackers.values():
            rows = [row for row, one in enumerate(trajectories) if self._trackers.get(one.demonstrator, policy) is policy]
            if not rows:
                continue
            attempted = self._follow([trajectories[row] for row in rows], policy)
            for place, row in enumerate(rows):
                found = self._measured(attempted, place, float(passive[row]))
                if row not in best or found.distance < best[row].distance:
                    best[row] = found
        return [best[row] for row in range(len(trajectories))]

    def _follow(self, trajectories: Sequence[Trajectory], policy: Policy | None) -> Attempted:
        task = self._settings.task(self._job, trajectories)
        return _attempted(self._job, task, trajectories, self._lanes, policy)

    def _measured(self, attempted: Attempted, place: int, passive: float) -> Measured:
        distance = float(attempted.distances[place])
        errors = attempted.errors[place]
        rollouts, steps = np.nonzero(np.isfinite(errors))
        # in the one-step form every row starts anew
        attempts = np.arange(len(steps)) if self._settings.one_step else rollouts
        trace = Trace(
            steps=steps + 1,
            attempts=attempts,
            errors=errors[rollouts, steps],
            states=attempted.states[place, rollouts, steps],
            actions=attempted.actions[place, rollouts, steps],
        )
        return Measured(distance, discounted_share(distance, passive), trace)
