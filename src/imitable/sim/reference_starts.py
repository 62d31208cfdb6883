# SPDX-License-Identifier: MIT
"""Reference state initialisation (Peng et al., 2018): episodes that begin in the middle of a movement that is to be learned."""

import hashlib
from dataclasses import dataclass

import numpy as np

from imitable.robots.robot import Robot
from imitable.sim.task import End, Moment, Task
from imitable.types import Bools, Floats


@dataclass(frozen=True, eq=False)
class ReferenceStarts:
    """A task of whose episodes a part begins in given states; the others begin as the task says.

    A body that always begins at rest sees the movement only once it can do all that comes before. What such an episode is worth
    by the task cannot be compared with a whole one, so it is paid NaN: whoever learns from it has rewards of another kind.
    """

    task: Task
    fraction: float
    """Probability that an episode begins in one of the states."""
    states: Floats
    """(K, S) each as likely as the other."""

    @property
    def robot(self) -> Robot:
        """The body."""
        return self.task.robot

    @property
    def horizon(self) -> int:
        """Steps after which a rollout truncates an episode."""
        return self.task.horizon

    @property
    def observation_size(self) -> int:
        """O, the number of observed entries."""
        return self.task.observation_size

    @property
    def settings(self) -> str:
        """Those of the task, the part, and a hash of the states."""
        digest = hashlib.sha256(np.ascontiguousarray(self.states).tobytes()).hexdigest()[:16]
        return repr((type(self).__name__, self.task.settings, self.fraction, digest))

    def start(self, rng: np.random.Generator, n: int) -> Moment:
        """Draw n start moments; the last column of their context says which began in one of the states."""
        usual, inside = self.task.start(rng, n), rng.random(n) < self.fraction
        drawn = self.states[rng.integers(len(self.states), size=n)]
        states = np.where(inside[:, None], drawn, usual.states)
        return Moment(states, usual.steps, np.column_stack([usual.context, inside.astype(np.int64)]))

    def observe(self, moment: Moment) -> Floats:
        """(N, O) what a policy sees."""
        return self.task.observe(_without_mark(moment))

    def reward(self, moment: Moment, actions: Floats, after: Moment) -> Floats:
        """(N) what the task pays, NaN in episodes that began inside."""
        paid = self.task.reward(_without_mark(moment), actions, _without_mark(after))
        return np.where(_mark(moment), np.nan, paid)

    def end(self, after: Moment) -> End:
        """Whether the episodes are over in these moments."""
        return self.task.end(_without_mark(after))


def _mark(moment: Moment) -> Bools:
    return moment.context[:, -1] == 1


def _without_mark(moment: Moment) -> Moment:
    return Moment(moment.states, moment.steps, moment.context[:, :-1])
