# SPDX-License-Identifier: MIT
"""Neighbours: a score within seconds. Transitions that resemble what the imitator does of its own accord are feasible.

The bank holds the imitator's own transitions: random movements from its start, and `tries` random actions from every judged
state of the demonstration itself, because random movements alone never run. The error of a demonstrated transition is its
mean distance to the k nearest ones of the bank, in the features φ of `features`. Of n transitions, spread over the whole
demonstration:

e_t = (1/k) Σ_{j ≤ k} ‖φ(s_t, s_{t+1}) − φ_j‖₂,   share = Σ e_t / Σ ‖(s_{t+1} − s_t) / σ_Δ‖₂.

No error leads to the next one, so that no step counts more than another; distance = (1/n) Σ e_t · Σ_{t<H} γ^t, as of a
rollout that misses so much at each of the H steps that its discount holds.

The share's reference is an imitator that stays where it is: ‖φ(s, s′) − φ(s, s)‖. A passive imitator restarted in every
demonstrated state is no reference: a body that is put into a state it cannot have (a joint beyond its stop) is thrown out of
it, so that the worst demonstrations get the largest reference (AUROC 0.38 on Swimmer; this one has 0.99).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from imitable import seeding
from imitable.feasibility.features import features
from imitable.feasibility.scorer import Measured, ScoringJob
from imitable.feasibility.spread import as_distance, spread_steps
from imitable.sim.babble import babble
from imitable.spec_text import Range, check_fields
from imitable.tracking.attempts import discounted_share, trace_without_rollout
from imitable.tracking.solver import Lanes
from imitable.types import Floats, Trajectory

EPISODE = 200
"""Steps of one random movement."""


@dataclass(frozen=True)
class Neighbours:
    """Settings of the nearest-neighbour scorer."""

    rule: ClassVar[str] = "share"
    learns_from_set: ClassVar[bool] = False
    measure: ClassVar[str] = "distance of its transitions to the imitator's own"
    transitions: Annotated[int, Range(EPISODE, 10**7)] = 20_000
    """Random transitions from the imitator's start."""
    tries: Annotated[int, Range(0, 10**4)] = 16
    """Random actions from each judged state of the demonstration."""
    neighbours: Annotated[int, Range(1, EPISODE)] = 1
    """k, transitions of the bank that a demonstrated one is compared with."""
    horizon: Annotated[int, Range(1, 10**6)] = 100
    """n, transitions of a demonstration that are judged, at most."""

    def __post_init__(self) -> None:
        """Check every value."""
        check_fields(self)

    def prepared(self, job: ScoringJob) -> "_Bank":
        """Record the random movements."""
        return _Bank(self, job)


class _Bank:
    """The imitator's own transitions, and what they say of demonstrations."""

    def __init__(self, method: Neighbours, job: ScoringJob) -> None:
        self._method, self._job, self._features = method, job, features(job.imitator)
        own = babble(job.imitator, method.transitions // EPISODE, EPISODE, job.seed, threads=job.threads)
        self._points = self._features.of(own)
        self._lanes = Lanes(job.imitator, self._features.scales.difference, job.threads)
        self.horizon = method.horizon
        self.about: dict[str, object] = {"bank": len(self._points)}

    @property
    def spent(self) -> int:
        """Simulated control steps so far."""
        return len(self._points) + self._lanes.spent

    def __call__(self, trajectories: Sequence[Trajectory]) -> list[Measured]:
        """Measure demonstrations one by one."""
        return [self._measured(trajectory) for trajectory in trajectories]

    def _measured(self, trajectory: Trajectory) -> Measured:
        steps = spread_steps(trajectory, self.horizon)
        before, after = trajectory.states[steps], trajectory.states[steps + 1]
        bank = np.concatenate([self._points, self._tried(trajectory, before)])
        errors = nearest(self._features(before, after), bank, self._method.neighbours)
        still = np.linalg.norm(self._features.changes(before, after), axis=1)
        error, reference = float(errors.mean()), float(still.mean())
        trace = trace_without_rollout(trajectory, steps + 1, errors, self._job.imitator)
        distance = as_distance(self._job.ruler, error, self.horizon)
        return Measured(distance, discounted_share(error, reference), trace)

    def _tried(self, trajectory: Trajectory, states: Floats) -> Floats:
        """(n · tries, F) transitions under random actions from the demonstration's own states (n, S)."""
        tries = self._method.tries
        if not tries:
            return np.empty((0, self._points.shape[1]))
        rng = seeding.generator(self._job.seed, "tries", trajectory.hash)
        reached = self._lanes.reach(states, rng.uniform(-1, 1, (len(states), tries, len(self._lanes.centre))))
        before, after = np.repeat(states, tries, axis=0), reached.reshape(-1, states.shape[1])
        good = np.isfinite(after).all(axis=1)  # MuJoCo did not give up
        return self._features(before[good], after[good])


def nearest(points: Floats, bank: Floats, count: int) -> Floats:
    """(n, F), (m, F) → (n) mean Euclidean distance to the `count` nearest points of the bank.

    All pairs are compared: in tens of dimensions a tree visits nearly all of them too, and takes longer.
    """
    distances = cdist(points, bank)
    if count == 1:
        return distances.min(axis=1)
    return np.partition(distances, count - 1, axis=1)[:, :count].mean(axis=1)
