# SPDX-License-Identifier: MIT
"""Reaching: bring the tool to a goal without touching the scene; the paper's arm task."""

from dataclasses import dataclass, field

import numpy as np

from imitable.errors import BadModel
from imitable.robots.family import ReachRules
from imitable.robots.robot import Robot
from imitable.sim.contacts import Contact, nearest_contact, touches
from imitable.sim.inverse_kinematics import tool_chain
from imitable.sim.poses import positions
from imitable.sim.task import End, Moment, moment_of
from imitable.types import Bools, Floats


@dataclass(frozen=True)
class Reach:
    """Bring the tool to the goal: r = −50 an action, −10000 at a hit, +5000 at the goal, over at either (see `ReachRules`).

    A policy observes where the tool is, (3), as in the paper. A hit is any part of the arm, or what it holds, nearer to the
    scene than its clearance: nothing pushes yet.
    """

    robot: Robot
    rules: ReachRules = field(init=False)

    def __post_init__(self) -> None:
        """Refuse a robot without a goal."""
        if self.robot.family.reach is None:
            raise BadModel(str(self.robot), "it has no tool that could reach a goal; only panda has one")
        object.__setattr__(self, "rules", self.robot.family.reach)

    @property
    def horizon(self) -> int:
        """Actions after which an episode is cut."""
        return self.rules.horizon

    @property
    def observation_size(self) -> int:
        """O = 3."""
        return 3

    @property
    def settings(self) -> str:
        """The rules."""
        return repr((type(self).__name__, self.rules))

    def start(self, rng: np.random.Generator, n: int) -> Moment:
        """Draw the start pose plus noise on the joints that move, but the last, which only turns the hand; at rest."""
        states, chain = np.tile(self.robot.start, (n, 1)), tool_chain(self.robot)
        moving = chain.columns[chain.columns < self.robot.layout.nq - 1]
        low, high = chain.ranges[:, : len(moving)]
        noise = rng.uniform(-self.rules.start_noise, self.rules.start_noise, (n, len(moving)))
        states[:, moving] = np.clip(states[:, moving] + noise, low, high)
        return moment_of(states)

    def tools(self, states: Floats) -> Floats:
        """(N, S) → (N, 3) where the tools are, metres."""
        assert self.robot.tool is not None
        return positions(self.robot, states, (self.robot.tool.site,))[:, 0]

    def observe(self, moment: Moment) -> Floats:
        """(N, 3) where the tools are."""
        return self.tools(moment.states)

    def reward(self, moment: Moment, actions: Floats, after: Moment) -> Floats:
        """(N) the cost of an action, of a hit, and what the goal pays."""
        del moment, actions
        hit, there = self.hits(after.states), self.there(after.states)
        return self.rules.goal_reward * (there & ~hit) - self.rules.hit_cost * hit - self.rules.action_cost

    def end(self, after: Moment) -> End:
        """Over at the goal, and at a hit, which is absorbing like a fall."""
        hit = self.hits(after.states)
        return End(hit | self.there(after.states), hit)

    def hits(self, states: Floats) -> Bools:
        """(N, S) → (N) whether the arm has hit the scene."""
        return touches(self.robot, states)

    def there(self, states: Floats) -> Bools:
        """(N, S) → (N) whether the tool is at the goal."""
        return np.linalg.norm(self.tools(states) - self.rules.goal, axis=1) < self.rules.radius

    def hit_pair(self, state: Floats) -> Contact | None:
        """(S) → what hit what, if anything did."""
        return nearest_contact(self.robot, state)
