# SPDX-License-Identifier: MIT
"""Feasible projection: demonstrations re-rolled on the imitator, which then carry its own states and its own actions.

`tracking/reroll.py` follows their pieces and says what is worth keeping of each; the others are left out, and counted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from imitable import seeding
from imitable.demos.fit import check_set
from imitable.errors import BadOption, BadScores
from imitable.feasibility.checks import check_episode
from imitable.feasibility.score_files import read_scores
from imitable.feasibility.scores import Scores
from imitable.feasibility.step_files import StepFile, steps_path
from imitable.observer import SILENT, Observer
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.own_task import own_task
from imitable.sim.task import moment_of
from imitable.tracking.attempts import Trace
from imitable.tracking.reroll import BLOCK, SHORTEST, FollowedPiece, Reroller, nothing_kept
from imitable.types import Demonstrations, Episode, Floats, InMemory, Trajectory

CHUNK = 64
"""Demonstrations that are read and followed together."""


@dataclass(frozen=True)
class Origin:
    """Where a piece came from, and what became of it."""

    episode: Episode
    """The demonstration."""
    place: int
    """Its position in the set."""
    begin: int
    """Step of the demonstration at which the piece begins."""
    meant: int
    """Steps that were to be followed."""
    length: int
    """Steps that were kept; 0: it is left out."""
    error: float
    """Mean error of the kept steps, in deviations of the imitator's own babbling; NaN if it is left out."""


@dataclass(frozen=True, eq=False)
class _Piece:
    """One piece after it was followed."""

    trajectory: Trajectory
    """The demonstration."""
    place: int
    begin: int
    followed: FollowedPiece
    meant: int


@dataclass(frozen=True)
class Cut:
    """How demonstrations are cut into pieces."""

    length: int | None = None
    """Steps of a piece; None: the demonstration's, divided by `pieces`."""
    pieces: int = 1
    """Pieces of a demonstration: the first begins with it, the others are spread over the rest at random."""

    def __post_init__(self) -> None:
        """Check both numbers."""
        if self.length is not None and self.length < SHORTEST:
            raise BadOption("length", self.length, f"give a whole number from {SHORTEST} on")
        if self.pieces < 1:
            raise BadOption("pieces", self.pieces, "give a whole number from 1 on")

    @property
    def whole(self) -> bool:
        """Whether demonstrations are followed as they are."""
        return self.length is None and self.pieces == 1

    def plan(self, transitions: int) -> tuple[int, int]:
        """Return how many pieces a demonstration has, and their steps."""
        steps = min(self.length or max(transitions // self.pieces, 1), transitions)
        return min(self.pieces, transitions - steps + 1), steps

    def begins(self, trajectory: Trajectory, seed: int) -> tuple[list[int], int]:
        """Return where the pieces begin, and their steps: all but the first in equal parts of the rest, at random."""
        count, steps = self.plan(len(trajectory))
        last = len(trajectory) - steps
        bounds = np.linspace(1, last + 1, count).astype(np.int64)
        rng = seeding.generator(seed, "pieces", trajectory.hash)
        return [0, *rng.integers(bounds[:-1], bounds[1:]).tolist()], steps


class _Scored:
    """Scores of the demonstrations, whose weights go on to the pieces, and the rollouts beside them."""

    def __init__(self, path: Path, demos: Demonstrations, imitator: Robot) -> None:
        """Read the score file; refuse one of another body or of other demonstrations."""
        self._path, self._demos, self.scores = path, demos, read_scores(path)
        if self.scores.measurement.key.imitator_hash != imitator.hash:
            reason = f"it is of the imitator {self.scores.imitator}, not of {imitator}; score the demonstrations on it"
            raise BadScores(str(path), reason)
        self.weighted = self.scores.weights.of(demos) > 0
        """(N) which demonstrations have a weight."""
        self._steps: StepFile | None = None

    def pieces(self, trajectory: Trajectory, place: int) -> Iterator[_Piece]:
        """Give the attempts at a demonstration that the file holds, so that nothing is simulated."""
        trace = self._trace(self._demos.episodes[place], trajectory.hash)
        for attempt in np.unique(trace.attempts):
            rows = trace.attempts == attempt
            begin = int(trace.steps[rows][0]) - 1
            states = np.concatenate([trajectory.states[begin : begin + 1], trace.states[rows]])
            yield _Piece(trajectory, place, begin, FollowedPiece(states, trace.actions[rows]), int(rows.sum()))

    def _trace(self, episode: Episode, name: str) -> Trace:
        """Read the steps of one demonstration; refuse a file without them, or of a method that rolls nothing out."""
        where, steps = f"episode {episode.index} of {episode.source or 'the set'}", steps_path(self._path)
        if self._steps is None and steps.exists():
            self._steps = StepFile(steps)
        trace = None if self._steps is None else self._steps.trace(name)
        if trace is None:
            raise BadScores(str(self._path), f"it has no steps of {where}; score the demonstrations at hand")
        if np.isnan(trace.states).all() or np.unique_counts(trace.attempts).counts.max() < SHORTEST:
            raise BadScores(
                str(self._path), f"it has no rollout of {where}; score with direct, or leave it out to simulate now"
            )
        return trace

    def of(self, origins: Sequence[Origin], pieces: Sequence[Episode]) -> Scores:
        """Return the scores of pieces: every transition weighs its demonstration's score."""
        places = {episode.hash: i for i, episode in enumerate(self.scores.episodes)}
        source = self.scores.at([places[origin.episode.hash] for origin in origins])
        mass = source.score * np.array([piece.length for piece in pieces])
        if not mass.sum() > 0:
            raise BadScores(source.imitator, "no demonstration that has a weight can be followed")
        rows = (
            replace(
                row,
                episode=piece,
                weight=weight,
                first_divergence=max(row.first_divergence - origin.begin, 0) if row.first_divergence >= 0 else -1,
                segment_begin=(0,),
                segment_share=(row.share,),
                duration_s=piece.length * self._demos.layout.period_s,
                infeasible_begin=(),
                infeasible_end=(),
            )
            for row, piece, weight, origin in zip(source, pieces, (mass / mass.sum()).tolist(), origins, strict=True)
        )
        return replace(source, rows=tuple(rows), weighing=replace(source.weighing, segments=False), path=None)


class Projection:
    """Projects demonstrations in a stream, in their order: iterate once, then read what was spent and left out."""

    def __init__(
        self,
        demos: Demonstrations,
        imitator: Robot,
        *,
        scores: str | Path | None = None,
        cut: Cut | None = None,
        seed: int = 0,
        threads: int = 1,
        observer: Observer = SILENT,
    ) -> None:
        """Check everything that can be checked without a simulation; see `project` for the arguments."""
        check_set(demos, imitator)
        self._demos, self._imitator, self._seed, self._observer = demos, imitator, seed, observer
        self._cut = cut or Cut()
        self._scored = None if scores is None else _Scored(Path(scores), demos, imitator)
        weighted = np.ones(len(demos), bool) if self._scored is None else self._scored.weighted
        self._places: list[int] = np.flatnonzero(weighted).tolist()
        for place in self._places:
            check_episode(demos.episodes[place], demos[place], imitator)
        self._reroller = Reroller(imitator, seed, threads)
        self._task = own_task(imitator) if imitator.family.has_task else None
        self.origins: list[Origin] = []
        """One a piece, in the order of the trajectories."""
        self.left_out: list[Origin] = []
        """Pieces that cannot be followed."""

    @property
    def skipped(self) -> int:
        """Demonstrations that have no weight, and are not looked at."""
        return len(self._demos) - len(self._places)

    @property
    def simulator_steps(self) -> int:
        """Simulated control steps so far."""
        return self._reroller.spent

    @property
    def simulates(self) -> bool:
        """Whether the rollouts are not those of a score file."""
        return self._scored is None or not self._cut.whole

    def scores_of(self, pieces: Sequence[Episode]) -> Scores | None:
        """Return the scores of the pieces, in their order: each has those of its demonstration, if a score file was given."""
        return None if self._scored is None else self._scored.of(self.origins, pieces)

    @property
    def planned(self) -> int:
        """Steps that are to be followed."""
        lengths = (self._demos.episodes[place].length for place in self._places)
        return sum(count * steps for count, steps in map(self._cut.plan, lengths))

    def __iter__(self) -> Iterator[Trajectory]:
        """Give the projected trajectories as they come."""
        for begin in range(0, len(self._places), CHUNK):
            places = self._places[begin : begin + CHUNK]
            for piece in self._pieces(places):
                if (projected := self._projected(piece)) is not None:
                    yield projected
            self._observer.progress(begin + len(places), len(self._places))
        if not self.origins:
            raise nothing_kept(self._demos, self._imitator)

    def _pieces(self, places: Sequence[int]) -> Iterator[_Piece]:
        """Follow the pieces of the demonstrations at some places of the set."""
        chunk = [self._demos[place] for place in places]
        if self._scored is not None and not self.simulates:
            for trajectory, place in zip(chunk, places, strict=True):
                yield from self._scored.pieces(trajectory, place)
            return
        cuts = (self._cut.begins(trajectory, self._seed) for trajectory in chunk)
        plan = [(i, begin, steps) for i, (begins, steps) in enumerate(cuts) for begin in begins]
        for block in (plan[k : k + BLOCK] for k in range(0, len(plan), BLOCK)):
            targets = [chunk[i].states[begin : begin + steps + 1] for i, begin, steps in block]
            for (i, begin, steps), followed in zip(block, self._reroller.follow(targets), strict=True):
                yield _Piece(chunk[i], places[i], begin, followed, steps)

    def _projected(self, piece: _Piece) -> Trajectory | None:
        """Return what is worth keeping of a piece, and remember where it came from."""
        source, begin = piece.trajectory, piece.begin
        kept = self._reroller.kept(piece.followed, source.states[begin : begin + len(piece.followed.states)])
        length, error = (0, float("nan")) if kept is None else (len(kept.actions), kept.error)
        origin = Origin(self._demos.episodes[piece.place], piece.place, begin, piece.meant, length, error)
        if kept is None:
            self.left_out.append(origin)
            return None
        self.origins.append(origin)
        ended = kept.fell if self._task else source.terminated and begin + length == len(source)
        seed = source.seed if begin == 0 else None
        returned = self._return_of(kept.states, kept.actions)
        return Trajectory(kept.states, str(self._imitator), kept.actions, ended, returned, seed)

    def _return_of(self, states: Floats, actions: Floats) -> float:
        if self._task is None:
            return float("nan")
        return float(self._task.reward(moment_of(states[:-1]), actions, moment_of(states[1:])).sum())


class Projected(InMemory):
    """Projected demonstrations in memory, and how they came to be."""

    def __init__(self, projection: Projection, imitator: Robot) -> None:
        """Carry the projection out."""
        super().__init__(imitator.layout, projection)
        self.origins = tuple(projection.origins)
        self.left_out = tuple(projection.left_out)
        self.skipped = projection.skipped
        self.simulator_steps = projection.simulator_steps
        self.scores = projection.scores_of(self.episodes)


def project(
    demos: Demonstrations,
    imitator: Robot | str,
    *,
    scores: str | Path | None = None,
    length: int | None = None,
    pieces: int = 1,
    seed: int = 0,
    threads: int = 1,
) -> Projected:
    """Return the demonstrations as the imitator itself can do them, with its actions.

    What becomes of one demonstration depends on it, the imitator and the seed alone, not on the others.

    Args:
        demos: the set.
        imitator: the robot that shall imitate, or its text.
        scores: a score file of these demonstrations on this imitator: its weights go on to the pieces (`Projected.scores`),
            demonstrations without a weight are skipped, and without `length` and `pieces` its rollouts are taken, so that
            nothing is simulated.
        length: steps of a piece; None: the demonstration's, divided by `pieces`.
        pieces: pieces of a demonstration: the first begins with it, the others are spread over the rest at random.
        seed: seed of everything random.
        threads: threads of the simulator; results do not depend on it.
    """
    robot = parse_robot(imitator) if isinstance(imitator, str) else imitator
    cut = Cut(length, pieces)
    return Projected(Projection(demos, robot, scores=scores, cut=cut, seed=seed, threads=threads), robot)
