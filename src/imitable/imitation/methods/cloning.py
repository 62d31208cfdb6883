# SPDX-License-Identifier: MIT
"""Behaviour cloning of weighted transitions that carry the imitator's own actions, such as projected demonstrations.

minimise over μ:  E_{(s, a) ~ p_w} ‖μ(o(s)) − a‖² / A,  actions in half control ranges, by the steps of `regression.py`. The
regression takes no simulator step.
"""

from dataclasses import dataclass
from typing import Annotated, NoReturn

import numpy as np
from jaxtyping import Array, Float

from imitable.errors import BadOption, ImitableError
from imitable.evaluation.reference import Reference
from imitable.imitation.learner import LearningJob
from imitable.imitation.regression import Minibatches, Regression
from imitable.imitation.training import imitation_task
from imitable.imitation.transitions import WeightedTransitions, densities, transitions_of
from imitable.nn import cloner
from imitable.nn.cloner import Cloner
from imitable.nn.networks import Mlp
from imitable.rl.settings import LearningRate, Widths
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.task import Task
from imitable.spec_text import Range, check_fields
from imitable.types import Demonstrations, Episode, Weights

GradientSteps = Annotated[int, Range(1, 10**8)]
"""Of the regression."""


@dataclass(frozen=True)
class Cloning:
    """Settings of the regression."""

    gradient_steps: GradientSteps = 20_000
    """Gradient steps of the regression."""
    minibatch: Annotated[int, Range(1, 10**7)] = 256
    """Transitions of one gradient step, drawn by weight."""
    learning_rate: LearningRate = 1e-3
    """Adam's rate; falls along a cosine to zero."""
    hidden: Widths = (64, 64)
    """Layer widths of the policy."""

    def __post_init__(self) -> None:
        """Check every value."""
        check_fields(self)

    @property
    def least_steps(self) -> int:
        """None."""
        return 0

    def begin(self, job: LearningJob) -> Regression[Cloner]:
        """Read the transitions and start the policy; refuse demonstrations without the imitator's own actions."""
        check_own_actions(job.demos, job.weights, job.imitator)
        transitions = transitions_of(job, actions=True)
        return self.begin_on(job, transitions, *imitation_task(job, transitions))

    def begin_on(
        self, job: LearningJob, transitions: WeightedTransitions, task: Task, reference: Reference | None
    ) -> Regression[Cloner]:
        """Start the policy on transitions that have the imitator's own actions."""
        assert transitions.actions is not None
        actions = job.imitator.to_units(transitions.actions[~transitions.absorbing])
        # what lies outside the range is clipped by the simulator: it moves the body like the bound
        units = np.clip(actions, -1, 1).astype(np.float32)
        return Regression(self, _Actions(self.hidden), job, transitions, units, (task, reference))


@dataclass(frozen=True)
class _Actions:
    """Regresses a policy's mean."""

    hidden: Widths
    name: str = "cloning"
    part: str = "cloner"
    residuals: int = 20_000

    def fresh(self, seed: int, observed: int, actions: int) -> Cloner:
        return cloner.fresh(seed, (observed, *self.hidden, actions))

    def fit(self, model: Cloner, batches: Minibatches, rng: np.random.Generator) -> tuple[Cloner, Float[Array, ""]]:
        del rng  # nothing is random but the minibatches
        return cloner.fit(model, batches.inputs, batches.units, batches.order, batches.rates)

    def network(self, model: Cloner) -> Mlp:
        return model.network


def check_own_actions(demos: Demonstrations, weights: Weights | None, imitator: Robot) -> None:
    """Refuse demonstrations with a weight that do not carry the imitator's own actions."""
    weighted, own = densities(demos, weights) > 0, dict[str, bool]()
    for place, episode in enumerate(demos.episodes):
        if not weighted[place]:
            continue
        if episode.demonstrator not in own:
            own[episode.demonstrator] = _is(imitator, episode.demonstrator)
        if not own[episode.demonstrator]:
            _refuse(episode, f"was recorded on {episode.demonstrator}", imitator)
        if demos[place].actions is None:
            _refuse(episode, "has no actions", imitator)


def _is(imitator: Robot, name: str) -> bool:
    try:
        return parse_robot(name).hash == imitator.hash
    except ImitableError:
        return False  # the name of no robot at all


def _refuse(episode: Episode, what: str, imitator: Robot) -> NoReturn:
    source = episode.source or "in memory"
    raise BadOption(
        "DEMOS",
        source,
        f"cloning needs actions of {imitator}, and episode {episode.index} {what}; "
        f"run imitable project {episode.source or 'DEMOS'} --imitator {imitator} --out DEMOS2 first, or choose warm-start",
    )
