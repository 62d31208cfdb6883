# SPDX-License-Identifier: MIT
"""DCC (dynamics cycle-consistency; Zhang et al., 2021) as the paper compares with it: translate, then imitate.

A map Φ from demonstrated states to the imitator's is learned from demonstrations on one side, whose transitions are drawn
from p_w, and the imitator's random movements on the other; `nn/translator.py` has the losses. Demonstrated actions are
never read. Φ does not see where in the world the body is: translated states keep the demonstrated root position. GAIfO then
imitates the translated demonstrations with the weights of the originals.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from imitable import seeding
from imitable.demos.part import Part
from imitable.imitation.features import FLOOR
from imitable.imitation.learner import LearningJob
from imitable.imitation.methods.gaifo import Gaifo
from imitable.imitation.training import PolicyTraining
from imitable.imitation.transitions import Sampler, densities, transitions_of
from imitable.nn.translator import Balance, Own, Scale, Theirs, fit
from imitable.rl.settings import LearningRate, Weight
from imitable.robots.robot import Robot
from imitable.sim.babble import babble, scales
from imitable.sim.kinematics import one_sign, quaternions, signed_like, state_space
from imitable.sim.own_task import own_task
from imitable.sim.task import Moment
from imitable.spec_text import Range, check_fields
from imitable.types import Demonstrations, Episode, Floats, Layout, Singles, Trajectory, Weights, episode_of

GAIFO = Gaifo()
"""Its defaults."""

EPISODE = 200
"""Steps of one random movement; it is over sooner if the imitator falls."""


@dataclass(frozen=True)
class Dcc:
    """Settings of the translator, and those of GAIfO, by which the policy learns."""

    transitions: Annotated[int, Range(EPISODE, 10**8)] = 50_000
    """Random control steps of the imitator, part of the steps, a quarter of them at most; those after a fall are left out."""
    forward_steps: Annotated[int, Range(1, 10**8)] = 4000
    """Gradient steps of the imitator's forward model."""
    forward_rate: LearningRate = 1e-3
    """Adam's rate there, at the start."""
    map_steps: Annotated[int, Range(1, 10**8)] = 4000
    """Gradient steps of the maps."""
    map_rate: LearningRate = 3e-4
    """Adam's rate there, at the start."""
    minibatch: Annotated[int, Range(1, 10**6)] = 64
    """Rows of one gradient step."""
    adversarial: Weight = 10.0
    """Weight of looking like the imitator's states."""
    cycle: Weight = 30.0
    """Weight of coming back to the demonstrated state."""
    dynamics: Weight = 100.0
    """Weight of the dynamics cycle: an action of the imitator leads from one translated state to the next."""
    gaifo: Gaifo = GAIFO
    """Settings of GAIfO."""

    def __post_init__(self) -> None:
        """Check every value."""
        check_fields(self)

    @property
    def least_steps(self) -> int:
        """One batch of GAIfO after the random movements, all or a quarter, one at least."""
        batch = self.gaifo.least_steps
        return batch + min(self.transitions, max(EPISODE, -(-batch // 3)))

    def babbled(self, steps: int) -> int:
        """Return how many random control steps a job of so many has: whole movements."""
        return max(1, min(self.transitions, steps // 4) // EPISODE) * EPISODE

    def begin(self, job: LearningJob) -> PolicyTraining:
        """Learn to translate, and begin to imitate the translated demonstrations with the steps that are left."""
        spent = self.babbled(job.steps)
        training = self.gaifo.begin(replace(self.translated(job), steps=job.steps - spent))
        return PolicyTraining(training.trainer, training.reference, spent)

    def translated(self, job: LearningJob) -> LearningJob:
        """Return the job with translated demonstrations, those of weight zero left out, and weights that belong to them."""
        places = np.flatnonzero(densities(job.demos, job.weights))
        demos = Translated(Part(job.demos, places.tolist()), self._translator(job), job.imitator)
        if job.weights is None:
            return replace(job, demos=demos)
        values = job.weights.of(job.demos)[places]
        names, segments = tuple(row.hash for row in demos.episodes), job.weights.of_segments(job.demos)
        kept = tuple(segments[place] for place in places.tolist())
        return replace(job, demos=demos, weights=Weights(names, values / values.sum(), segments=kept))

    def _translator(self, job: LearningJob) -> Callable[[Floats], Floats]:
        """Learn Φ."""
        fitted = fit(
            _own(job, self.babbled(job.steps)),
            _theirs(job),
            job.seed,
            forward_steps=self.forward_steps,
            forward_rate=self.forward_rate,
            map_steps=self.map_steps,
            map_rate=self.map_rate,
            minibatch=self.minibatch,
            balance=Balance(self.adversarial, self.cycle, self.dynamics),
        )
        forward, first, last = (_mean(part) for part in (fitted.forward[::-1], fitted.dynamics, fitted.dynamics[::-1]))
        job.say(f"translator: forward error {forward:.3f}, dynamics cycle {first:.3f} → {last:.3f}")
        return fitted.translator


class Translated(Demonstrations):
    """Demonstrations of a set, translated when read."""

    def __init__(self, demos: Demonstrations, translator: Callable[[Floats], Floats], imitator: Robot) -> None:
        """Translate all but where in the world the body is."""
        self._demos, self._translator = demos, translator
        self._root, self._space = imitator.root_entries, state_space(imitator)

    @property
    def layout(self) -> Layout:
        """That of the originals."""
        return self._demos.layout

    def _rows(self) -> Iterable[Episode]:
        # a hash is of contents: every demonstration is read and translated once to know it
        for row, trajectory in zip(self._demos.episodes, self, strict=True):
            yield episode_of(trajectory, row.index, row.source)

    def __getitem__(self, position: int) -> Trajectory:
        """Read and translate one demonstration."""
        return self._translated(self._demos[position])

    def __iter__(self) -> Iterator[Trajectory]:
        """Read and translate all demonstrations in order."""
        return map(self._translated, self._demos)

    def _translated(self, trajectory: Trajectory) -> Trajectory:
        """Return the translated states alone: actions and return belong to the original."""
        states = self._space.one_sign(trajectory.states)
        states[:, self._root :] = self._translator(states[:, self._root :])
        return Trajectory(states, trajectory.demonstrator, terminated=trajectory.terminated)


def _own(job: LearningJob, transitions: int) -> Own:
    """Return the imitator's random transitions, up to its falls."""
    seed = int(seeding.generator(job.seed, "dcc").integers(2**53))
    root = job.imitator.root_entries
    moves = [
        _upright(job.imitator, move)
        for move in babble(job.imitator, transitions // EPISODE, EPISODE, seed, threads=job.threads)
    ]
    places = quaternions(job.imitator)
    starts = [one_sign(places, states[:-1]) for states, _ in moves]
    ends = [signed_like(places, start, states[1:]) for start, (states, _) in zip(starts, moves, strict=True)]
    before = np.concatenate(starts)[:, root:]
    actions = np.concatenate([actions for _, actions in moves])
    return Own(
        before=before,
        units=job.imitator.to_units(actions),
        after=np.concatenate(ends)[:, root:],
        scale=Scale(before.mean(axis=0), np.maximum(before.std(axis=0), _least(job))),
    )


def _theirs(job: LearningJob) -> Theirs:
    """Return the demonstrated transitions and how to draw them from p_w."""
    transitions, root = transitions_of(job), job.imitator.root_entries
    mean, std = (moment[root:] for moment in transitions.moments(transitions.before))
    return Theirs(
        before=transitions.before[:, root:],
        after=transitions.after[:, root:],
        scale=Scale(mean, np.maximum(std, _least(job))),
        # an absorbing pair has no coordinates, so that there is nothing to translate
        draw=Sampler(np.where(transitions.absorbing, 0.0, transitions.density)).draw,
    )


def _least(job: LearningJob) -> Floats:
    """(E) the smallest deviation that an entry is standardised by."""
    return FLOOR * scales(job.imitator).state[job.imitator.root_entries :]


def _upright(imitator: Robot, move: Trajectory) -> tuple[Floats, Floats]:
    """Return states and actions of a movement up to its first fall."""
    assert move.actions is not None
    if not imitator.family.has_task:
        return move.states, move.actions
    steps = np.arange(1, len(move) + 1)
    fallen = own_task(imitator).end(Moment(move.states[1:], steps, np.zeros((len(move), 0), np.int64))).terminated
    length = int(np.argmax(fallen)) + 1 if fallen.any() else len(move)
    return move.states[: length + 1], move.actions[:length]


def _mean(losses: Singles) -> float:
    """Return the mean of the first tenth."""
    return float(losses[: max(1, len(losses) // 10)].mean())
