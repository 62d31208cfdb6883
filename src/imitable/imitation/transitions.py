# SPDX-License-Identifier: MIT
"""Transitions drawn from the weighted distribution p_w (paper, Algorithm 1): all that a learner sees of demonstrations.

p_w(transition) = w(demonstration) / T(demonstration), or that times what its segment says (`Weights.segments`). Where a
demonstration ended in a fall, one pair of the absorbing state with itself follows its transitions;
`WeightedTransitions.discriminator_density` says how often a discriminator meets it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from imitable import seeding
from imitable.evaluation.reference import Reference
from imitable.imitation.learner import LearningJob
from imitable.robots.robot import Robot
from imitable.sim.kinematics import one_sign, quaternions, signed_like
from imitable.types import WHOLE, Bools, Demonstrations, Floats, Ints, Trajectory, Weights

STARTS = 1000
"""First states in a reference, drawn by weight."""

STATES = 50_000
"""Demonstrated states in a reference, drawn by weight if there are more."""

MOST = 2_000_000
"""Transitions in memory: of a larger set, so many are drawn by weight beforehand."""

HELD_OUT = 5
"""Of so many demonstrations one starts evaluations only."""

DIGITS = 12
"""Relative densities are rounded to so many digits: equal weights then are equal in bits, however they were divided."""


@dataclass(frozen=True, eq=False)
class WeightedTransitions:
    """M transitions and how likely each is."""

    before: Floats
    """(M, S) states."""
    after: Floats
    """(M, S) the states one control step later; of an absorbing pair, like `before`, without meaning."""
    absorbing: Bools
    """(M) whether the pair is (absorbing, absorbing)."""
    density: Floats
    """(M) relative probability, above 0, at most 1."""
    starts: Floats
    """(K, S) first states of the demonstrations."""
    start_density: Floats
    """(K) and how likely each demonstration is."""
    held_out: Bools
    """(K) whether its first state is kept for evaluation, on a robot without a task (`held_out`)."""
    owners: Ints
    """(M) which of the K demonstrations each is of."""
    longest: int
    """Transitions of the longest demonstration."""
    actions: Floats | None = None
    """(M, A) the actions between the states, if they were asked for; of an absorbing pair without meaning."""

    def __len__(self) -> int:
        """Return M."""
        return len(self.density)

    @property
    def begins(self) -> Floats:
        """(R, S) states in which a body can begin: `before`, absorbing pairs left out."""
        return self.before[~self.absorbing]

    def moments(self, values: Floats) -> tuple[Floats, Floats]:
        """(M, E) → (E) mean and (E) deviation under p_w, absorbing pairs left out."""
        real = ~self.absorbing
        mean = np.average(values[real], axis=0, weights=self.density[real])
        return mean, np.sqrt(np.average(np.square(values[real] - mean), axis=0, weights=self.density[real]))

    def discriminator_density(self, discount: float, *, absorbing: bool) -> Floats:
        """(M) densities by which a discriminator is shown the pairs: an absorbing one 1 / (1 − γ) times as often, or never.

        A body that has fallen stays so for ever, which discounted counts 1 / (1 − γ) steps; the imitator's own falls are shown
        as often (`absorbing_steps`), so that who falls like the demonstrations cannot be told from them.
        """
        return np.where(self.absorbing, self.density / (1 - discount) if absorbing else 0.0, self.density)


class Sampler:
    """Draws rows by density: cumulative sum and search, in float64."""

    def __init__(self, density: Floats) -> None:
        """Sum up (M) densities."""
        self._sums = np.cumsum(density)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Ints:
        """Return row numbers of a shape, drawn with replacement."""
        points: Floats = rng.random(shape) * self._sums[-1]
        # the last sum itself can be met by rounding; it belongs to the last row
        return np.minimum(self._sums.searchsorted(points, side="right"), len(self._sums) - 1)


def densities(demos: Demonstrations, weights: Weights | None) -> Floats:
    """(N) relative probability of one transition of each demonstration; without weights, 1."""
    if weights is None:
        return np.ones(len(demos))
    lengths = np.array([episode.length for episode in demos.episodes])
    each: Floats = weights.of(demos) / lengths
    return np.asarray(np.round(each / each.max(), DIGITS), np.float64)


def segments_of(demos: Demonstrations, weights: Weights | None) -> list[tuple[tuple[int, float], ...]]:
    """Return the segments of every demonstration (`Weights.segments`); without weights, one for each."""
    return [WHOLE] * len(demos) if weights is None else weights.of_segments(demos)


def relative_densities(segments: Sequence[tuple[int, float]], transitions: int) -> Floats:
    """(T) what each transition of a demonstration weighs by its segment, relative to their mean (`Weights.segments`)."""
    begins, parts = zip(*segments, strict=True)
    return np.repeat(parts, np.diff([*begins, transitions]))


def held_out(hashes: Sequence[str]) -> Bools:
    """(K) → (K) a fifth of the demonstrations, at least one: those with the smallest hashes, whatever their order.

    One alone cannot be divided: it is not held out.
    """
    count = max(1, round(len(hashes) / HELD_OUT)) if len(hashes) > 1 else 0
    smallest = set(sorted(range(len(hashes)), key=lambda place: (hashes[place], place))[:count])
    return np.array([place in smallest for place in range(len(hashes))], bool)


def transitions_of(job: LearningJob, *, actions: bool = False) -> WeightedTransitions:
    """Return the transitions of a job, whatever the signs that recorders gave to quaternions."""
    transitions = weighted_transitions(job.demos, job.weights, job.seed, actions=actions)
    places = quaternions(job.imitator)
    if not places:
        return transitions
    before = one_sign(places, transitions.before)
    after = signed_like(places, before, transitions.after)
    return replace(transitions, before=before, after=after, starts=one_sign(places, transitions.starts))


class _Part(NamedTuple):
    """The transitions of one demonstration."""

    before: Floats
    after: Floats
    absorbing: Bools
    density: Floats
    start: Floats
    actions: Floats


def weighted_transitions(
    demos: Demonstrations, weights: Weights | None, seed: int, most: int = MOST, *, actions: bool = False
) -> WeightedTransitions:
    """Read all demonstrations that have a weight; with `actions`, which all of them must have then."""
    density = densities(demos, weights)
    lengths = np.array([episode.length for episode in demos.episodes])
    sizes = lengths + np.array([episode.terminated for episode in demos.episodes])
    weighted = density > 0
    chosen = None if sizes[weighted].sum() <= most else _drawn_beforehand(density, sizes, seed, most)
    segments = segments_of(demos, weights)
    parts = [
        _part(
            trajectory,
            float(density[place]),
            None if chosen is None else chosen[place],
            segments[place],
            actions=actions,
        )
        for place, trajectory in enumerate(demos)
        if weighted[place]
    ]
    return WeightedTransitions(
        before=np.concatenate([part.before for part in parts]),
        after=np.concatenate([part.after for part in parts]),
        absorbing=np.concatenate([part.absorbing for part in parts]),
        density=np.concatenate([part.density for part in parts]),
        starts=np.stack([part.start for part in parts]),
        start_density=(density * lengths)[weighted],
        held_out=held_out([episode.hash for episode, counts in zip(demos.episodes, weighted, strict=True) if counts]),
        owners=np.repeat(np.arange(len(parts)), [len(part.density) for part in parts]),
        longest=int(lengths[weighted].max()),
        actions=np.concatenate([part.actions for part in parts]) if actions else None,
    )


def _part(
    trajectory: Trajectory, density: float, rows: Ints | None, segments: Sequence[tuple[int, float]], *, actions: bool
) -> _Part:
    """Return the pairs of one demonstration: all of them, or the rows that were drawn, each as likely as its segment says."""
    before, after = trajectory.states[:-1], trajectory.states[1:]
    taken = trajectory.actions if actions and trajectory.actions is not None else np.empty((len(before), 0))
    absorbing = np.zeros(len(before), bool)
    if trajectory.terminated:
        # the absorbing state has no coordinates: the last state stands in for shape
        before, after = np.concatenate([before, after[-1:]]), np.concatenate([after, after[-1:]])
        absorbing, taken = np.append(absorbing, True), np.concatenate([taken, taken[-1:]])
    relative = relative_densities(segments, len(before))
    if rows is None:
        return _Part(before, after, absorbing, density * relative, trajectory.states[0], taken)
    return _Part(before[rows], after[rows], absorbing[rows], relative[rows], trajectory.states[0], taken[rows])


def _drawn_beforehand(density: Floats, sizes: Ints, seed: int, most: int) -> list[Ints]:
    """Draw `most` pairs by weight; return the rows of each demonstration, ascending."""
    masses = density * sizes
    rng = seeding.generator(seed, "lessons")  # a name of the stream alone: another one would move numbers
    owners = np.bincount(Sampler(masses).draw(rng, (most,)), minlength=len(masses))
    drawn: list[Ints] = [rng.integers(size, size=count) for size, count in zip(sizes.tolist(), owners.tolist(), strict=True)]
    return [np.sort(rows) for rows in drawn]


def reference_of(imitator: Robot, transitions: WeightedTransitions, seed: int, horizon: int | None = None) -> Reference | None:
    """Return the reference for episodes of `horizon` steps; a robot with a task of its own needs none.

    Training starts in first states of four fifths of the demonstrations, evaluation in those of the rest: a policy is judged
    where it has not practised. All their transitions are learned from.
    """
    if imitator.family.has_task:
        return None
    rng = seeding.generator(seed, "starts")
    kept = transitions.held_out if transitions.held_out.any() else np.ones(len(transitions.starts), bool)
    starts = _drawn_starts(transitions, ~transitions.held_out, rng)
    held_out_starts = _drawn_starts(transitions, kept, seeding.generator(seed, "held-out starts"))
    rows, density = np.flatnonzero(~transitions.absorbing), transitions.density[~transitions.absorbing]
    if len(rows) > STATES:
        rows, density = np.sort(rows[Sampler(density).draw(rng, (STATES,))]), np.ones(STATES)
    owners, steps = transitions.owners[rows], horizon or transitions.longest
    return Reference(transitions.before[rows], density, owners, starts, held_out_starts, steps)


def _drawn_starts(transitions: WeightedTransitions, rows: Bools, rng: np.random.Generator) -> Floats:
    """(STARTS, S) first states of some demonstrations, drawn by weight."""
    return transitions.starts[rows][Sampler(transitions.start_density[rows]).draw(rng, (STARTS,))]
