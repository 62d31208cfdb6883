# SPDX-License-Identifier: MIT
"""N episodes that a caller steps, ends and restarts one by one, in one batch: what an environment is a view of."""

from collections.abc import Sequence

import numpy as np

from imitable.errors import BadOption
from imitable.sim.batch import Batch
from imitable.sim.rollout import actuation_noise
from imitable.sim.task import Moment, Outcome, Task, outcome_after
from imitable.types import Bools, Floats, Ints


class Episodes:
    """N episodes of a task. Each draws start and actuation noise from a generator of its own, so none depends on another."""

    def __init__(self, task: Task, size: int, limit: int, threads: int = 1) -> None:
        """Build `size` bodies whose episodes are truncated after `limit` steps."""
        self.task = task
        self.states = np.tile(task.robot.start, (size, 1))
        self._limit = limit
        self._batch = Batch(task.robot, size, threads)
        self._steps = np.zeros(size, np.int64)

    @property
    def observations(self) -> Floats:
        """(N, O) copy of what is observed now."""
        return self.task.observe(self._moment(np.arange(len(self.states))))

    def restart(self, ids: Ints, generators: Sequence[np.random.Generator], states: Floats | None = None) -> None:
        """Begin new episodes in the rows `ids`, drawn from their generators unless `states` (N, S) are given."""
        if not len(ids):
            return
        drawn = [self.task.start(generators[int(i)], 1).states for i in ids] if states is None else [states[ids]]
        self.states[ids] = np.concatenate(drawn)
        self._steps[ids] = 0
        self._batch.set_state(self.states[ids], ids)

    def advance(self, ids: Ints, actions: Floats, generators: Sequence[np.random.Generator]) -> tuple[Floats, Outcome]:
        """Take one control step in the rows `ids` under actions (N, A); zero rewards and no end where no step was taken."""
        size, width = len(self.states), self.task.robot.control_range.shape[1]
        if actions.shape != (size, width):
            raise BadOption("action", f"array{actions.shape}", f"give {width} numbers for each of {size} bodies")
        rewards, flags = np.zeros(size), np.zeros((4, size), bool)
        if len(ids):
            rewards[ids], flags[:, ids] = self._advanced(ids, actions[ids], [generators[int(i)] for i in ids])
        return rewards, Outcome(*flags)

    def _advanced(self, ids: Ints, actions: Floats, generators: Sequence[np.random.Generator]) -> tuple[Floats, Bools]:
        before = self._moment(ids)
        unstable = self._batch.step(self._disturbed(actions, generators), ids)
        after, outcome = outcome_after(self.task, before, self._batch.states[ids], unstable, self._limit)
        self.states[ids], self._steps[ids] = after.states, after.steps
        flags = (outcome.terminated, outcome.truncated, outcome.absorbing, outcome.unstable)
        return self.task.reward(before, actions, after), np.stack(flags)

    def _disturbed(self, actions: Floats, generators: Sequence[np.random.Generator]) -> Floats:
        if not self.task.robot.noise:
            return actions
        return actions + np.stack([actuation_noise(self.task.robot, rng, actions.shape[1:]) for rng in generators])

    def _moment(self, ids: Ints) -> Moment:
        return Moment(self.states[ids], self._steps[ids], np.zeros((len(ids), 0), np.int64))
