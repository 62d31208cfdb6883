# SPDX-License-Identifier: MIT
"""The nouns of the house: frozen, checked when built, NumPy only, arrays read-only.

Shapes: T transitions, S = nq + nv state entries, A actuators, O observed entries.
"""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from imitable.errors import BadPolicy, BadTrajectory, BadWeights
from imitable.sampling import WeightedSampler, drawn_batch

Floats: TypeAlias = npt.NDArray[np.float64]
Singles: TypeAlias = npt.NDArray[np.float32]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]


def frozen(array: npt.ArrayLike, dtype: npt.DTypeLike = np.float64) -> npt.NDArray[Any]:
    """Return a read-only, C-contiguous copy of `array`."""
    copy = np.array(array, dtype=dtype, order="C")
    copy.flags.writeable = False
    return copy


@dataclass(frozen=True)
class Layout:
    """What the columns of states and actions mean, and how far apart two states are in time."""

    qpos: tuple[str, ...]
    """Names of the position entries, (nq)."""
    qvel: tuple[str, ...]
    """Names of the velocity entries, (nv)."""
    actuators: tuple[str, ...]
    """Names of the action entries, (A)."""
    period_s: float
    """Seconds between two states of a trajectory: the control period."""

    @property
    def nq(self) -> int:
        """Number of position entries."""
        return len(self.qpos)

    @property
    def state(self) -> tuple[str, ...]:
        """Names of all S state entries, positions first."""
        return self.qpos + self.qvel

    @property
    def hash(self) -> str:
        """Hash of all names and of the period."""
        parts = (self.qpos, self.qvel, self.actuators, float(self.period_s).hex())
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


@dataclass(frozen=True, eq=False)
class Trajectory:
    """One demonstration: T + 1 states, the T actions between them if known, and where it came from."""

    states: Floats
    """(T + 1, S) full states (qpos, qvel), float64, never clipped."""
    demonstrator: str
    """The body it was recorded on, as robot text or any name."""
    actions: Floats | None = None
    """(T, A) actions, or None for state-only data."""
    terminated: bool = False
    """Whether the last state ended the task (a fall), rather than the clock."""
    total_return: float = float("nan")
    """Undiscounted sum of task rewards; NaN when unknown."""
    seed: int | None = None
    """Seed of the start state, when known."""

    def __post_init__(self) -> None:
        """Copy, freeze and check the arrays."""
        states = frozen(self.states)
        if states.ndim != 2 or len(states) < 2 or states.shape[1] < 1:
            raise BadTrajectory(f"states must have shape (T + 1, S) with T ≥ 1, got {states.shape}")
        if not np.isfinite(states).all():
            row = int(np.flatnonzero(~np.isfinite(states).all(axis=1))[0])
            raise BadTrajectory(f"state {row} is not finite")
        object.__setattr__(self, "states", states)
        if self.actions is None:
            return
        actions = frozen(self.actions)
        if actions.ndim != 2 or len(actions) != len(states) - 1:
            raise BadTrajectory(f"{len(states)} states need actions of shape ({len(states) - 1}, A), got {actions.shape}")
        if not np.isfinite(actions).all():
            raise BadTrajectory("an action is not finite")
        object.__setattr__(self, "actions", actions)

    def __len__(self) -> int:
        """Return T, the number of transitions."""
        return len(self.states) - 1

    @cached_property
    def hash(self) -> str:
        """Hash of the array contents alone: the same episode has the same hash in any file."""
        digest = hashlib.sha256()
        for name, array in (("states", self.states), ("actions", self.actions)):
            if array is not None:
                digest.update(f"{name}{array.shape}".encode())
                digest.update(array.tobytes())
        return digest.hexdigest()[:32]


@dataclass(frozen=True)
class Episode:
    """What is known of a demonstration without reading its states."""

    source: str
    """Folder it was read from; empty for data in memory."""
    index: int
    """Its index there."""
    hash: str
    """Content hash, see `Trajectory.hash`."""
    demonstrator: str
    """The body it was recorded on."""
    length: int
    """T, the number of transitions."""
    total_return: float
    """Undiscounted return; NaN when unknown."""
    terminated: bool
    """Whether it ended by the task's own end."""
    seed: int | None = None
    """Seed of the start state, when known."""

    @cached_property
    def row_hash(self) -> str:
        """Hash of what the content hash leaves out, and of that: demonstrator, return, end and seed."""
        row = (self.hash, self.demonstrator, float(self.total_return).hex(), bool(self.terminated), self.seed)
        return hashlib.sha256(json.dumps(row).encode()).hexdigest()[:32]


def by_demonstrator(episodes: Iterable[Episode]) -> dict[str, list[int]]:
    """Return the places of every demonstrator's episodes, in order; demonstrators as they first appear."""
    places: dict[str, list[int]] = {}
    for place, episode in enumerate(episodes):
        places.setdefault(episode.demonstrator, []).append(place)
    return places


class Demonstrations(ABC):
    """A reader of trajectories: knows the rows, reads states only when asked."""

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """Names and period shared by all trajectories."""

    @cached_property
    def episodes(self) -> tuple[Episode, ...]:
        """One row a demonstration, without its states; made when first asked for."""
        return tuple(self._rows())

    @abstractmethod
    def _rows(self) -> Iterable[Episode]:
        """Make the rows."""

    @abstractmethod
    def __getitem__(self, position: int) -> Trajectory:
        """Read one trajectory by its position in `episodes`."""

    @abstractmethod
    def __iter__(self) -> Iterator[Trajectory]:
        """Read all trajectories in order, holding a bounded part of the set in memory."""

    def __len__(self) -> int:
        """Return the number of demonstrations."""
        return len(self.episodes)


def episode_of(trajectory: Trajectory, index: int, source: str = "") -> Episode:
    """Return the row of a trajectory."""
    return Episode(
        source=source,
        index=index,
        hash=trajectory.hash,
        demonstrator=trajectory.demonstrator,
        length=len(trajectory),
        total_return=trajectory.total_return,
        terminated=trajectory.terminated,
        seed=trajectory.seed,
    )


def check_layout(layout: Layout, trajectory: Trajectory, index: int) -> None:
    """Refuse a trajectory whose states or actions are not those of the layout."""
    width, actions = trajectory.states.shape[1], trajectory.actions
    if width != len(layout.state):
        raise BadTrajectory(f"trajectory {index} has {width} state entries, the layout {len(layout.state)}")
    if actions is not None and actions.shape[1] != len(layout.actuators):
        raise BadTrajectory(f"trajectory {index} has {actions.shape[1]} action entries, the layout {len(layout.actuators)}")


class InMemory(Demonstrations):
    """Demonstrations that are already arrays: tests, small sets, notebooks."""

    def __init__(self, layout: Layout, trajectories: Iterable[Trajectory]) -> None:
        """Check that every trajectory fits the layout."""
        self._layout = layout
        self._trajectories = tuple(trajectories)
        for index, trajectory in enumerate(self._trajectories):
            check_layout(layout, trajectory, index)

    @property
    def layout(self) -> Layout:
        """Names and period shared by all trajectories."""
        return self._layout

    def _rows(self) -> Iterable[Episode]:
        return (episode_of(trajectory, index) for index, trajectory in enumerate(self._trajectories))

    def __getitem__(self, position: int) -> Trajectory:
        """Return one trajectory."""
        return self._trajectories[position]

    def __iter__(self) -> Iterator[Trajectory]:
        """Iterate over all trajectories."""
        return iter(self._trajectories)


WHOLE = ((0, 1.0),)
"""Segments of a demonstration whose transitions all weigh the same."""


@dataclass(frozen=True, eq=False)
class Weights:
    """Probability mass of every demonstration; each transition of a demonstration has an equal part of it."""

    hashes: tuple[str, ...]
    """Episode hashes: what the weights belong to."""
    values: Floats
    """(N) from 0 on, summing to one."""
    source: str = ""
    """The score file that they were read from: provenance, nothing depends on it."""
    terminated: tuple[bool, ...] = ()
    """Whether each ended by the task's own end when it was weighed, which hashes do not cover; empty if not known."""
    segments: tuple[tuple[tuple[int, float], ...], ...] = ()
    """Of each, first transitions of segments and what a transition there weighs, relative to its mean; empty: all alike."""

    def __post_init__(self) -> None:
        """Freeze and check."""
        object.__setattr__(self, "values", frozen(self.values))
        if self.values.shape != (len(self.hashes),) or not len(self.hashes):
            raise BadWeights(f"{len(self.hashes)} demonstrations, but weights of shape {self.values.shape}")
        if not (self.values >= 0).all() or not abs(float(self.values.sum()) - 1) < 1e-9:
            raise BadWeights(f"they must be from 0 on and sum to one, but sum to {float(self.values.sum()):g}")
        if self.segments and len(self.segments) != len(self.hashes):
            raise BadWeights(f"{len(self.hashes)} demonstrations, but segments of {len(self.segments)}")
        if self.terminated and len(self.terminated) != len(self.hashes):
            raise BadWeights(f"{len(self.hashes)} demonstrations, but the ends of {len(self.terminated)}")

    @property
    def effective_size(self) -> float:
        """Return 1 / Σ w²: so many demonstrations of equal weight would carry as much."""
        return float(1 / np.square(self.values).sum())

    def of_segments(self, demos: Demonstrations) -> list[tuple[tuple[int, float], ...]]:
        """Return the segments of these demonstrations, in their order; without any, one for each."""
        known = dict(zip(self.hashes, self.segments, strict=True)) if self.segments else {}
        return [known.get(episode.hash, WHOLE) for episode in demos.episodes]

    def of(self, demos: Demonstrations) -> Floats:
        """Return the weights (N) of these demonstrations, in their order, summing to one; refuse strangers.

        A part of the weighted set is allowed; a demonstration that never got a weight is not, nor one that ended otherwise
        when it was weighed.
        """
        masses = dict(zip(self.hashes, self.values.tolist(), strict=True))
        ends = set(zip(self.hashes, self.terminated, strict=True)) if self.terminated else None
        for episode in demos.episodes:
            where = f"episode {episode.index} of {episode.source or 'the set'}"
            if episode.hash not in masses:
                raise BadWeights(f"they are of other demonstrations: {where} has none")
            if ends is not None and (episode.hash, episode.terminated) not in ends:
                change = "ended by itself" if episode.terminated else "did not end by itself"
                raise BadWeights(f"{where} {change}, which was otherwise when it was weighed")
        hashes = tuple(episode.hash for episode in demos.episodes)
        if hashes == self.hashes:
            return self.values
        values = np.array([masses[name] for name in hashes])
        if not values.sum() > 0:
            raise BadWeights("all demonstrations at hand have the weight zero")
        return values / values.sum()

    def of_transitions(self, demos: Demonstrations) -> Floats:
        """Return the probability (Σ T) of every transition of these demonstrations, one after the other."""
        parts: list[Floats] = []
        for mass, episode, segments in zip(self.of(demos), demos.episodes, self.of_segments(demos), strict=True):
            begins, relative = zip(*segments, strict=True)
            each = np.repeat(relative, np.diff((*begins, episode.length)))
            parts.append(mass * each / max(each.sum(), np.finfo(float).tiny))
        return np.concatenate(parts)

    def sampler(self, demos: Demonstrations, samples: int | None = None, seed: int = 0) -> WeightedSampler:
        """Return a sampler of transitions for a torch `DataLoader`, or any loop: places in all of them, one after the other.

        Args:
            demos: demonstrations whose transitions the trainer's dataset lists in this order.
            samples: how many an epoch; default: as many as there are.
            seed: of the draws; every epoch draws anew.
        """
        return WeightedSampler(self.of_transitions(demos), samples, seed)

    def batches(self, demos: Demonstrations, size: int, seed: int = 0) -> Iterator[dict[str, npt.NDArray[Any]]]:
        """Draw batches for ever: `obs`, `next_obs` (size, S), `dones` (size), and `acts` (size, A) if all have actions."""
        draws, lengths = WeightedSampler(self.of_transitions(demos), size, seed), [one.length for one in demos.episodes]
        while True:
            yield drawn_batch(demos.__getitem__, lengths, np.array(list(draws)))


_POLICY_VECTORS = ("log_std", "observation_mean", "observation_std", "action_centre", "action_half_range")


@dataclass(frozen=True, eq=False)
class Policy:
    """A Gaussian policy as plain arrays: a = centre + half_range · (μ(o) + exp(log_std) · ξ), ξ ~ N(0, I).

    μ is a multilayer perceptron with tanh between its layers, fed with z = clip((o − mean) / std, ±limit).
    """

    weights: tuple[Singles, ...]
    """Layer matrices, each (inputs, outputs)."""
    biases: tuple[Singles, ...]
    """Layer offsets, each (outputs)."""
    log_std: Singles
    """(A) logarithm of the exploration noise, in units of the half range."""
    observation_mean: Singles
    """(O) centre of the observation normaliser."""
    observation_std: Singles
    """(O) scale of the observation normaliser."""
    action_centre: Singles
    """(A) middle of the control range."""
    action_half_range: Singles
    """(A) half of the control range."""
    observation_limit: float = 10.0
    """Normalised observations are clipped to ± this."""
    about: dict[str, str] = field(default_factory=dict[str, str])
    """Where it came from: robot, observation, steps, returns."""

    def __post_init__(self) -> None:
        """Freeze the arrays and check that they fit each other."""
        for name in ("weights", "biases"):
            object.__setattr__(self, name, tuple(frozen(a, np.float32) for a in getattr(self, name)))
        for name in _POLICY_VECTORS:
            object.__setattr__(self, name, frozen(getattr(self, name), np.float32))
        self._check_shapes()
        arrays = (*self.weights, *self.biases, *(getattr(self, name) for name in _POLICY_VECTORS))
        if not all(np.isfinite(a).all() for a in arrays):
            raise BadPolicy("arrays", "a number in it is not finite")
        if not (self.observation_std > 0).all():
            raise BadPolicy("arrays", "an observation scale is not positive")

    def _check_shapes(self) -> None:
        sizes = [self.observation_mean.size, *(w.shape[1] for w in self.weights if w.ndim == 2)]
        if not self.weights or [w.shape for w in self.weights] != list(pairwise(sizes)):
            raise BadPolicy("arrays", f"layers do not fit: {[w.shape for w in self.weights]} on {sizes[0]} observations")
        if [b.shape for b in self.biases] != [(n,) for n in sizes[1:]]:
            raise BadPolicy("arrays", f"biases {[b.shape for b in self.biases]} do not fit the layers {sizes[1:]}")
        for name in _POLICY_VECTORS:
            size, shape = sizes[0 if name.startswith("observation") else -1], getattr(self, name).shape
            if shape != (size,):
                raise BadPolicy("arrays", f"{name} has the shape {shape}, but the layers need {(size,)}")

    @cached_property
    def hash(self) -> str:
        """Hash of everything the policy's actions depend on."""
        arrays = (*self.weights, *self.biases, self.log_std, self.observation_mean, self.observation_std)
        digest = hashlib.sha256(repr((self.observation_limit, [a.shape for a in arrays])).encode())
        for array in (*arrays, self.action_centre, self.action_half_range):
            digest.update(array.tobytes())
        return digest.hexdigest()[:32]

    @property
    def observation_size(self) -> int:
        """O, the number of observed entries."""
        return len(self.observation_mean)

    @property
    def action_size(self) -> int:
        """A, the number of actuators."""
        return len(self.log_std)
