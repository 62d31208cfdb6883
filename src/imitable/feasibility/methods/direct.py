# SPDX-License-Identifier: MIT
"""Direct: no learning. The tracker asks the simulator itself for the best action of every step.

Forms: `rollout` follows from its own state (as the trajectory f-MDP), `windows` does so from several points of the
demonstration, `restart` begins every step in the demonstrated state (as the one-step f-MDP).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np

from imitable.feasibility.scorer import Measured, ScoringJob
from imitable.sim.babble import scales
from imitable.spec_text import OneOf, Range, check_fields
from imitable.tracking.attempts import Attempts, Pieces, Trace, compare_attempts, discounted_share
from imitable.tracking.certificate import certificate
from imitable.tracking.follow import Followed, follow, passive_rollout
from imitable.tracking.solver import Lanes, Solver
from imitable.types import Floats, Ints, Trajectory

BLOCK = 256
"""Attempts that are simulated side by side, each with about ten candidates: more would only take memory."""


@dataclass(frozen=True)
class Direct:
    """Settings of the direct scorer."""

    rule: ClassVar[str] = "share"
    form: Annotated[str, OneOf("rollout", "windows", "restart")] = "rollout"
    """rollout, windows or restart."""
    horizon: Annotated[int, Range(1, 10**6)] = 100
    """Steps of a rollout, or transitions of a restart, at most; fewer if the discount ends earlier."""
    windows: Annotated[int, Range(1, 1000)] = 3
    """Windows of the form `windows`, spread evenly over the demonstration."""
    window: Annotated[int, Range(2, 10**6)] = 50
    """Their length in steps."""
    look_ahead: Annotated[int, Range(1, 50)] = 1
    """Steps that an action is held when it is judged: above 1 the tracker aims past the next state."""
    restart_budget: Annotated[int, Range(0, 10**6)] = 450
    """Simulated steps for new beginnings of the search, an attempt."""

    def __post_init__(self) -> None:
        """Check every value."""
        check_fields(self)

    def prepared(self, job: ScoringJob) -> "_Tracker":
        """Return the measurer: there is nothing to learn."""
        return _Tracker(self, job)


class _Tracker:
    """The direct scorer at work."""

    def __init__(self, method: Direct, job: ScoringJob) -> None:
        self._method, self._job = method, job
        self._lanes = Lanes(job.imitator, scales(job.imitator).difference, job.threads, ahead=method.look_ahead)
        self._solver = Solver(restart_budget=method.restart_budget)
        self.horizon = job.ruler.horizon(method.window if method.form == "windows" else method.horizon)

    @cached_property
    def about(self) -> dict[str, object]:
        """The certificate of the solver on this body, and how many pieces of a demonstration are judged."""
        solved = certificate(self._lanes, self._solver, self._job.demos, self._job.seed)
        return {"certificate": solved, "attempts": self._method.windows if self._method.form == "windows" else 1}

    @property
    def spent(self) -> int:
        """Simulated control steps so far."""
        return self._lanes.spent

    def __call__(self, trajectories: Sequence[Trajectory]) -> list[Measured]:
        """Follow all of them, a block of attempts side by side."""
        pieces = self._pieces(trajectories)
        blocks = [self._followed(trajectories, pieces.part(begin, BLOCK)) for begin in range(0, len(pieces.owners), BLOCK)]
        states, actions, passive = (_joined(arrays) for arrays in zip(*blocks, strict=True))
        targets = pieces.states(trajectories, states.shape[1])[:, 1:]
        attempts = compare_attempts(self._job.ruler, pieces, targets, Followed(states, actions), passive)
        summed = self._restarted if self._method.form == "restart" else self._rolled_out
        return [summed(np.flatnonzero(pieces.owners == i), attempts) for i in range(len(trajectories))]

    @property
    def _repeats(self) -> int:
        return self._job.rollouts if self._job.imitator.noise else 1

    def _pieces(self, trajectories: Sequence[Trajectory]) -> Pieces:
        rows: list[tuple[int, int, int, int]] = []
        for owner, trajectory in enumerate(trajectories):
            steps = min(self.horizon, len(trajectory))
            begins = [0]
            if self._method.form == "windows":
                begins = sorted(set(np.linspace(0, len(trajectory) - steps, self._method.windows).astype(int).tolist()))
            if self._method.form == "restart":
                begins, steps = list(range(steps)), 1
            pairs = ((k, begin, r) for k, begin in enumerate(begins) for r in range(self._repeats))
            rows += [(owner, k * self._repeats + r, begin, steps) for k, begin, r in pairs]
        return Pieces(*np.array(rows, np.int64).T)

    def _followed(self, trajectories: Sequence[Trajectory], pieces: Pieces) -> tuple[Floats, Floats, Floats]:
        """Return the imitator's states (n, H, S) and actions (n, H, A), and the passive imitator's states (n, H, S)."""
        job, steps = self._job, int(pieces.lengths.max())
        targets = pieces.states(trajectories, steps + self._method.look_ahead - 1)
        noise = pieces.disturbances(trajectories, job.imitator, steps, job.seed) if job.imitator.noise else None
        followed = follow(self._lanes, self._solver, targets, pieces.lengths, job.seed, disturbances=noise)
        passive = passive_rollout(self._lanes, targets[:, 0], steps, noise)
        return followed.states[:, :steps], followed.actions[:, :steps], passive

    def _rolled_out(self, rows: Ints, attempts: Attempts) -> Measured:
        """Average the attempts at one demonstration; E[distance] of a noisy body is the mean over its rollouts."""
        ruler = self._job.ruler
        distances, _ = attempts.distances(ruler, rows)
        return Measured(float(distances.mean()), float(attempts.shares(ruler, rows).mean()), attempts.trace(rows))

    def _restarted(self, rows: Ints, attempts: Attempts) -> Measured:
        """Sum the one-step errors of one demonstration; with several rollouts each step's error is their mean."""
        both = (attempts.errors, attempts.passive_errors)
        errors, passive_errors = (array[rows, 0].reshape(-1, self._repeats).mean(axis=1) for array in both)
        distance, passive = (float(self._job.ruler.discounted(array)) for array in (errors, passive_errors))
        steps, firsts = np.arange(len(errors)), rows[:: self._repeats]
        # every step is an attempt of its own: one that fails says nothing of the next
        trace = Trace(steps + 1, steps, errors, attempts.states[firsts, 0], attempts.actions[firsts, 0])
        return Measured(distance, discounted_share(distance, passive), trace)


def _joined(arrays: Sequence[Floats]) -> Floats:
    """Join blocks (n, H, …) whose longest attempts differ: shorter blocks are filled up with NaN."""
    steps = max(array.shape[1] for array in arrays)
    padded = [np.pad(a, ((0, 0), (0, steps - a.shape[1]), (0, 0)), constant_values=np.nan) for a in arrays]
    return np.concatenate(padded)
