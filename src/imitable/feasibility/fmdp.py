# SPDX-License-Identifier: MIT
"""The f-MDP: the imitator's body, started in demonstrated states and paid for staying near a demonstration, as a `Task`.

Trajectory form (Eqn. 2 of the paper): an episode starts in a demonstration's first state and lasts as long as the
demonstration. One-step form (Eqn. 1): it starts in any demonstrated state, the Former Set, and lasts one step; that is the
same task of demonstrations of a single transition.

The published code multiplies rewards by discount^t and discounts them once more. Here the learner's own discount is the
ruler's, so that the return of a first state is minus the discounted distance itself, and a critic without a clock can learn it.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from imitable.feasibility.ruler import Ruler
from imitable.policies.acting import act
from imitable.robots.robot import Robot
from imitable.sim.kinematics import own_starts
from imitable.sim.task import End, Moment
from imitable.tracking.follow import Followed, carry_out
from imitable.tracking.solver import Lanes
from imitable.types import Bools, Floats, Ints, Policy

INPUTS = ("target", "initial-state")
"""What a tracker sees: its state, the way to the next demonstrated state and the clock; or, as in the paper, (s, s_0)."""


@dataclass(frozen=True, eq=False)
class Fmdp:
    """Follow one of K demonstrations: r = −d(s_{t+1}, s^d_{t+1}).

    A moment's context is (which demonstration, its step at the episode's start).
    """

    robot: Robot
    """The imitator."""
    ruler: Ruler
    states: Floats
    """(K, H + 1, S) demonstrated states, cut at the horizon; short demonstrations repeat their last state."""
    lengths: Ints
    """(K) transitions of each that count, from 1 to H."""
    tracker_input: str = "target"
    """One of `INPUTS`."""
    begin_anywhere: float = 0.0
    """Part of the episodes that begin in any demonstrated state rather than the first, to learn what comes late."""

    @property
    def horizon(self) -> int:
        """Steps of the longest episode."""
        return self.states.shape[1] - 1

    @property
    def observation_size(self) -> int:
        """O = 4 nv (initial-state), or 4 nv + 1 without the root position (target)."""
        size = 2 * self.ruler.space.size
        return size if self.tracker_input == "initial-state" else size + 1 - self._root

    @property
    def settings(self) -> str:
        """The options, the ruler and the demonstrations."""
        content = hashlib.sha256(self.states.tobytes() + self.lengths.tobytes()).hexdigest()[:32]
        options = (self.tracker_input, self.begin_anywhere)
        return repr((type(self).__name__, *options, ruler_text(self.ruler), content))

    @cached_property
    def _root(self) -> int:
        return self.robot.root_entries

    @cached_property
    def _starts(self) -> Floats:
        """(K, H + 1, S) the demonstrated states as the imitator begins in them."""
        return own_starts(self.robot, self.states.reshape(-1, self.states.shape[2])).reshape(self.states.shape)

    def start(self, rng: np.random.Generator, n: int) -> Moment:
        """Draw demonstrations uniformly, and one of their states uniformly where the episode may begin anywhere."""
        which = rng.integers(len(self.lengths), size=n)
        anywhere = rng.uniform(size=n) < self.begin_anywhere
        begin = np.where(anywhere, rng.integers(self.lengths[which]), 0)
        return self._begun(np.stack([which, begin], axis=1))

    def every_start(self) -> Moment:
        """Return one episode a demonstration, at its first state."""
        which = np.arange(len(self.lengths))
        return self._begun(np.stack([which, np.zeros_like(which)], axis=1))

    def _begun(self, context: Ints) -> Moment:
        return Moment(self._starts[context[:, 0], context[:, 1]], np.zeros(len(context), np.int64), context)

    def at(self, moment: Moment) -> tuple[Ints, Ints]:
        """(N), (N): which demonstration each simulation follows, and at which of its steps it is."""
        return moment.context[:, 0], moment.context[:, 1] + moment.steps

    def observe(self, moment: Moment) -> Floats:
        """(N, O): (s, s_0), or (s without the root position, s^d_{t+1} − s, t / H), in coordinates and differences."""
        which, step = self.at(moment)
        space = self.ruler.space
        seen = space.coordinates(moment.states)
        if self.tracker_input == "initial-state":
            return np.concatenate([seen, space.coordinates(self.states[which, moment.context[:, 1]])], axis=1)
        last = self.states.shape[1] - 1
        ahead = space.difference(self.states[which, np.minimum(step + 1, last)], moment.states)
        return np.concatenate([seen[:, self._root :], ahead, step[:, None] / last], axis=1)

    def reward(self, moment: Moment, actions: Floats, after: Moment) -> Floats:
        """(N) minus the distance to the demonstrated next state."""
        del moment, actions
        return -self.ruler.errors(after.states, self.states[self.at(after)])

    def end(self, after: Moment) -> End:
        """Over when the demonstration is used up; that is no state to stay in."""
        which, step = self.at(after)
        return End(step >= self.lengths[which], np.zeros(len(step), bool))


def ruler_text(ruler: Ruler) -> str:
    """Return everything that distances depend on, as text."""
    return repr((ruler.kind, ruler.compared.tolist(), ruler.scale.tolist(), ruler.discount))


def play(task: Fmdp, lanes: Lanes, policy: Policy | None, disturbances: Floats | None = None) -> Followed:
    """Play every episode of the task with mean actions, or, without a policy, with none.

    Returns (K, H, S) states and (K, H, A) actions, NaN beyond a demonstration's end: row (k, t) is where the imitator was when
    demonstration k was at step t + 1. `disturbances` (K, H, A) are added to the actions when they are carried out. Where MuJoCo
    gives up, the imitator stays where it was.
    """
    count, frames, size = task.states.shape
    states = np.full((count, frames - 1, size), np.nan)
    actions = np.full((count, frames - 1, len(lanes.centre)), np.nan)
    moment = task.every_start()
    while len(moment.states):
        where = task.at(moment)
        wanted = _wanted(task, lanes, policy, moment)
        carried = wanted if disturbances is None else wanted + disturbances[where]
        reached = carry_out(lanes, moment.states, carried)
        states[where], actions[where] = reached, wanted
        after = Moment(reached, moment.steps + 1, moment.context)
        moment = _part(after, ~task.end(after).terminated)
    return Followed(states, actions)


def _wanted(task: Fmdp, lanes: Lanes, policy: Policy | None, moment: Moment) -> Floats:
    """(N, A) actions inside the control range."""
    if policy is None:
        return lanes.centre + lanes.half * lanes.passive(moment.states)
    return np.clip(act(policy, task.observe(moment)), *task.robot.control_range)


def _part(moment: Moment, chosen: Bools) -> Moment:
    return Moment(moment.states[chosen], moment.steps[chosen], moment.context[chosen])
