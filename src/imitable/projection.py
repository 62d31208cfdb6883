# SPDX-License-Identifier: MIT
"""Feasible projection: demonstrations re-rolled on the imitator, which then carry its own states and its own actions.

A piece of a demonstration begins in a demonstrated state; the tracker follows it from there, s_{t+1} = f(s_t, a_t) with the
imitator's f, so that every projected transition is one of the imitator. A piece ends early

* where it is lost: its error ‖(s_t − g_t) / scale‖ / √E, over all E entries but the root's position and in deviations of the
  imitator's own babbling, is above `LOST` for `PATIENCE` steps on end, or up to the piece's end;
* where the imitator falls, by its task's own rule, or MuJoCo gives up.

What is left of a piece is kept if it has at least two transitions; otherwise it is left out, and counted.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from imitable import seeding
from imitable.demos.fit import check_set
from imitable.errors import BadOption, BadScores
from imitable.feasibility.checks import check_episode
from imitable.feasibility.score_files import read_scores, read_steps
from imitable.feasibility.scorer import Trace
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.babble import scales
from imitable.sim.kinematics import state_space
from imitable.sim.task import Locomotion, Moment
from imitable.tracking.follow import follow
from imitable.tracking.solver import Lanes, Solver
from imitable.types import Bools, Demonstrations, Episode, Floats, InMemory, Scores, Trajectory

LOST, PATIENCE = 0.5, 10
"""A piece is lost when its error is above this for so many steps on end."""

SHORTEST = 2
"""Transitions that a piece needs to be kept: what scores and learners need of a demonstration."""

CHUNK = 64
"""Demonstrations that are read and followed together."""

BLOCK = 256
"""Pieces that are simulated side by side, each with about ten candidates: more would only take memory."""

SEGMENT, RESTART_BUDGET = 20, 90
"""Steps between two looks at who is lost, and the solver's restart budget for so many."""


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
    states: Floats
    """(H + 1, S) of the imitator, from the demonstrated state on."""
    actions: Floats
    """(H, A) that it took."""
    meant: int


class Projection:
    """Projects demonstrations in a stream, in their order: iterate once, then read what was spent and left out."""

    def __init__(
        self,
        demos: Demonstrations,
        imitator: Robot,
        *,
        scores: str | Path | None = None,
        length: int | None = None,
        pieces: int = 1,
        seed: int = 0,
        threads: int = 1,
        on_progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> None:
        """Check everything that can be checked without a simulation; see `project` for the arguments."""
        check_set(demos, imitator)
        _check_sizes(length, pieces)
        for episode, trajectory in zip(demos.episodes, demos, strict=True):
            check_episode(episode, trajectory, imitator)
        self._demos, self._imitator, self._seed = demos, imitator, seed
        known = None if scores is None else _checked_scores(Path(scores), imitator)
        self._scores = known if length is None and pieces == 1 else None
        self._weighed = None if known is None else read_scores(known)
        if self._weighed is not None:
            self._weighed.weights.of(demos)  # refuses strangers
        self._length, self._pieces, self._on_progress = length, pieces, on_progress
        self._lanes = Lanes(imitator, scales(imitator).difference, threads)
        self._task = Locomotion(imitator) if imitator.family.rules else None
        self.origins: list[Origin] = []
        """One a kept piece, in the order of the trajectories."""
        self.left_out: list[Origin] = []
        """Pieces that cannot be followed."""

    @property
    def simulator_steps(self) -> int:
        """Simulated control steps so far."""
        return self._lanes.spent

    @property
    def simulates(self) -> bool:
        """Whether the rollouts are not those of a score file."""
        return self._scores is None

    def scores_of(self, pieces: Sequence[Episode]) -> Scores | None:
        """Return the scores of the kept pieces, in their order: each has those of its demonstration, if a score file was given.

        Every transition then weighs its demonstration's score, as in the file; what has no weight there has none here.
        """
        if self._weighed is None:
            return None
        source = self._weighed
        places = {episode.hash: i for i, episode in enumerate(source.episodes)}
        rows = [places[origin.episode.hash] for origin in self.origins]
        mass = np.where(source.weight[rows] > 0, source.score[rows], 0.0) * np.array([piece.length for piece in pieces])
        if not mass.sum() > 0:
            raise BadScores(str(source.about["imitator"]), "no demonstration that has a weight can be followed")
        begins = np.array([origin.begin for origin in self.origins])
        parted = source.first_divergence[rows]
        return Scores(
            episodes=tuple(pieces),
            distance=source.distance[rows],
            share=source.share[rows],
            score=source.score[rows],
            weight=mass / mass.sum(),
            verdict=tuple(source.verdict[row] for row in rows),
            first_divergence=np.where(parted >= 0, np.maximum(parted - begins, 0), -1),
            about=source.about | {"effective_size": float(mass.sum() ** 2 / np.square(mass).sum())},
        )

    @property
    def planned(self) -> int:
        """Steps that are to be followed."""
        return sum(count * steps for count, steps in (self._plan(e.length) for e in self._demos.episodes))

    def __iter__(self) -> Iterator[Trajectory]:
        """Give the projected trajectories as they come."""
        stream, place = iter(self._demos), 0
        while chunk := list(islice(stream, CHUNK)):
            for piece in self._followed(chunk, place) if self._scores is None else self._found(chunk, place):
                if (kept := self._kept(piece)) is not None:
                    yield kept
            place += len(chunk)
            self._on_progress(place, len(self._demos))
        if not self.origins:
            expected = f"{self._imitator} cannot follow a single one of them; see what imitable score says of each"
            raise BadOption("DEMOS", self._demos.episodes[0].source or "in memory", expected)

    def _plan(self, transitions: int) -> tuple[int, int]:
        """Return how many pieces a demonstration has, and their steps."""
        steps = min(self._length or max(transitions // self._pieces, 1), transitions)
        return min(self._pieces, transitions - steps + 1), steps

    def _begins(self, trajectory: Trajectory) -> tuple[list[int], int]:
        """Return where the pieces begin: the first with the demonstration, the others in equal parts of the rest, at random."""
        count, steps = self._plan(len(trajectory))
        last = len(trajectory) - steps
        bounds = np.linspace(1, last + 1, count).astype(np.int64)
        rng = seeding.generator(self._seed, "pieces", trajectory.hash)
        return [0, *rng.integers(bounds[:-1], bounds[1:]).tolist()], steps

    def _followed(self, chunk: Sequence[Trajectory], first: int) -> Iterator[_Piece]:
        plan = [(i, begin, steps) for i, (begins, steps) in enumerate(map(self._begins, chunk)) for begin in begins]
        for block in (plan[k : k + BLOCK] for k in range(0, len(plan), BLOCK)):
            targets = [chunk[i].states[begin : begin + steps + 1] for i, begin, steps in block]
            for (i, begin, steps), (states, actions) in zip(block, self._rolled_out(targets), strict=True):
                yield _Piece(chunk[i], first + i, begin, states, actions, steps)

    def _rolled_out(self, targets: Sequence[Floats]) -> list[tuple[Floats, Floats]]:
        """Follow n pieces, each (T + 1, S), side by side, segment by segment, until they end or are lost."""
        states: list[list[Floats]] = [[target[:1]] for target in targets]
        actions: list[list[Floats]] = [[np.empty((0, len(self._lanes.centre)))] for _ in targets]
        live, begin = [*range(len(targets))], 0
        while live := [
            i for i in live if begin < len(targets[i]) - 1 and not self._over(np.concatenate(states[i]), targets[i])
        ]:
            lengths = np.array([min(SEGMENT, len(targets[i]) - 1 - begin) for i in live])
            columns = np.arange(begin, begin + int(lengths.max()) + 1)
            wanted = np.stack([targets[i][np.minimum(columns, len(targets[i]) - 1)] for i in live])
            wanted[:, 0] = [states[i][-1][-1] for i in live]
            found = follow(self._lanes, Solver(restart_budget=RESTART_BUDGET), wanted, lengths, self._seed)
            for row, i in enumerate(live):
                states[i].append(found.states[row, : lengths[row]])
                actions[i].append(found.actions[row, : lengths[row]])
            begin += SEGMENT
        return [(np.concatenate(s), np.concatenate(a)) for s, a in zip(states, actions, strict=True)]

    def _over(self, states: Floats, targets: Floats) -> bool:
        lost = self._errors(states[1:], targets[1 : len(states)]) > LOST
        return _first_run(lost) < len(lost) or bool(self._fallen(states[1:]).any())

    def _found(self, chunk: Sequence[Trajectory], first: int) -> Iterator[_Piece]:
        """Take the attempts of a score file instead of simulating."""
        assert self._scores is not None
        for i, trajectory in enumerate(chunk):
            trace = _trace(self._scores, self._demos.episodes[first + i], trajectory.hash)
            for attempt in np.unique(trace.attempts):
                rows = trace.attempts == attempt
                begin = int(trace.steps[rows][0]) - 1
                states = np.concatenate([trajectory.states[begin : begin + 1], trace.states[rows]])
                yield _Piece(trajectory, first + i, begin, states, trace.actions[rows], int(rows.sum()))

    def _errors(self, states: Floats, targets: Floats) -> Floats:
        """(n, S), (n, S) → (n) errors."""
        gap = state_space(self._imitator).difference(states, targets) / scales(self._imitator).coordinates
        gap = gap[:, self._imitator.root_entries :]
        return np.sqrt(np.square(gap).mean(axis=1))

    def _fallen(self, states: Floats) -> Bools:
        if self._task is None:
            return np.zeros(len(states), bool)
        return self._task.end(_moment(states)).terminated

    def _kept(self, piece: _Piece) -> Trajectory | None:
        """Return what is worth keeping of a piece, and remember where it came from."""
        source, begin = piece.trajectory, piece.begin
        after = piece.states[1:]
        errors = self._errors(after, source.states[begin + 1 : begin + 1 + len(after)])
        # beyond the end everything is lost: a piece whose last steps are, ends before them
        good = _first_run(np.concatenate([~(errors <= LOST) | self._stuck(piece), np.ones(PATIENCE, bool)]))
        fallen = np.flatnonzero(self._fallen(after[:good]))
        length = int(fallen[0]) + 1 if len(fallen) else good
        length = length if length >= SHORTEST else 0
        error = float(errors[:length].mean()) if length else float("nan")
        origin = Origin(self._demos.episodes[piece.place], piece.place, begin, piece.meant, length, error)
        (self.origins if length else self.left_out).append(origin)
        if not length:
            return None
        states, actions = piece.states[: length + 1], np.clip(piece.actions[:length], *self._imitator.control_range)
        ended = bool(len(fallen)) if self._task else source.terminated and begin + length == len(source)
        seed = source.seed if begin == 0 else None
        return Trajectory(states, str(self._imitator), actions, ended, self._paid(states, actions), seed)

    def _stuck(self, piece: _Piece) -> Bools:
        """(H) from where on MuJoCo gave up on every action: the state stands still there, though the imitator would not."""
        still = np.flatnonzero((piece.states[1:] == piece.states[:-1]).all(axis=1))
        units = (piece.actions[still] - self._lanes.centre) / self._lanes.half
        gone = np.zeros(len(piece.actions), bool)
        if len(still):
            gone[still] = np.isnan(self._lanes.reach(piece.states[still], units[:, None])).any(axis=(1, 2))
        return np.logical_or.accumulate(gone)

    def _paid(self, states: Floats, actions: Floats) -> float:
        if self._task is None:
            return float("nan")
        return float(self._task.reward(_moment(states[:-1]), actions, _moment(states[1:])).sum())


class Projected(InMemory):
    """Projected demonstrations in memory, and how they came to be."""

    def __init__(self, projection: Projection, imitator: Robot) -> None:
        """Carry the projection out."""
        super().__init__(imitator.layout, projection)
        self.origins = tuple(projection.origins)
        self.left_out = tuple(projection.left_out)
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
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Projected:
    """Return the demonstrations as the imitator itself can do them, with its actions.

    What becomes of one demonstration depends on it, the imitator and the seed alone, not on the others.

    Args:
        demos: the set.
        imitator: the robot that shall imitate, or its text.
        scores: a score file of these demonstrations on this imitator: its weights go on to the pieces (`Projected.scores`), and
            without `length` and `pieces` its rollouts are taken, so that nothing is simulated.
        length: steps of a piece; None: the demonstration's, divided by `pieces`.
        pieces: pieces of a demonstration: the first begins with it, the others are spread over the rest at random.
        seed: seed of everything random.
        threads: threads of the simulator; results do not depend on it.
        on_progress: told how many demonstrations are done, and of how many.
    """
    robot = parse_robot(imitator) if isinstance(imitator, str) else imitator
    projection = Projection(
        demos,
        robot,
        scores=scores,
        length=length,
        pieces=pieces,
        seed=seed,
        threads=threads,
        on_progress=on_progress,
    )
    return Projected(projection, robot)


def _first_run(lost: Bools) -> int:
    """Return where the first `PATIENCE` true values on end begin; the length if there are none."""
    if len(lost) < PATIENCE:
        return len(lost)
    runs = np.lib.stride_tricks.sliding_window_view(lost, PATIENCE).all(axis=1)
    return int(runs.argmax()) if runs.any() else len(lost)


def _moment(states: Floats) -> Moment:
    return Moment(states, np.zeros(len(states), np.int64), np.zeros((len(states), 0), np.int64))


def _check_sizes(length: int | None, pieces: int) -> None:
    if length is not None and length < SHORTEST:
        raise BadOption("length", length, f"give a whole number from {SHORTEST} on")
    if pieces < 1:
        raise BadOption("pieces", pieces, "give a whole number from 1 on")


def _checked_scores(path: Path, imitator: Robot) -> Path:
    about = read_scores(path).about
    if about["key"]["imitator_hash"] != imitator.hash:
        raise BadScores(
            str(path), f"it is of the imitator {about['imitator']}, not of {imitator}; score the demonstrations on it"
        )
    return path


def _trace(path: Path, episode: Episode, name: str) -> Trace:
    """Read the steps of one demonstration; refuse a file without them, or of a method that rolls nothing out."""
    where, trace = f"episode {episode.index} of {episode.source or 'the set'}", read_steps(path, name)
    if trace is None:
        raise BadScores(str(path), f"it has no steps of {where}; score the demonstrations at hand")
    if np.isnan(trace.states).all() or np.unique_counts(trace.attempts).counts.max() < SHORTEST:
        raise BadScores(str(path), f"it has no rollout of {where}; score with direct, or leave it out to simulate now")
    return trace
