# SPDX-License-Identifier: MIT
"""Pieces of demonstrations, begun in states drawn from p_w, re-rolled on the imitator block by block.

What is kept of them are transitions of the imitator, with its own actions. They need no weights: pieces of what weighs more
were drawn more often. Runs that draw the same pieces may share what became of them: the first one leaves it in a file.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path

import numpy as np

from imitable import seeding
from imitable.errors import BadOption
from imitable.evaluation.result import ProjectionCount
from imitable.files import write_bytes
from imitable.imitation.learner import LearningJob
from imitable.imitation.setting import installed_versions
from imitable.imitation.transitions import Sampler, densities, relative_densities, segments_of
from imitable.sim.kinematics import state_space, within_limits
from imitable.tensors import Arrays, DamagedFile, read, to_bytes
from imitable.tracking.reroll import BLOCK, Kept, Reroller, nothing_kept
from imitable.tracking.restorable import check_restorable
from imitable.types import Floats, InMemory, Trajectory


@dataclass(frozen=True, eq=False)
class Piece:
    """A piece of a demonstration that is to be followed."""

    targets: Floats
    """(T + 1, S) demonstrated states; the first is put at the joint stops of the imitator if it lies beyond them."""
    times: int
    """How often it was drawn: it is followed once, and counts so often."""
    falls: bool
    """Whether the demonstration ends with it, in a fall."""


def drawn_pieces(job: LearningJob, count: int, length: int) -> list[Piece]:
    """Draw so many pieces of so many steps, or of a whole shorter demonstration; return each once, in random order.

    They begin in transitions drawn from p_w, of those that enough others follow. Nothing without a weight is read.
    """
    density, segments = densities(job.demos, job.weights), segments_of(job.demos, job.weights)
    places = np.flatnonzero(density)
    each = [
        density[place] * relative_densities(segments[place], steps)[: max(steps - length, 0) + 1]
        for place, steps in ((place, job.demos.episodes[place].length) for place in places)
    ]
    sizes = [len(one) for one in each]
    owners, begins = np.repeat(places, sizes), np.concatenate([np.arange(size) for size in sizes])
    rng = seeding.generator(job.seed, "pieces")
    rows, times = np.unique(Sampler(np.concatenate(each)).draw(rng, (count,)), return_counts=True)
    drawn = zip(owners[rows].tolist(), begins[rows].tolist(), times.tolist(), strict=True)
    pieces = [piece for place, mine in groupby(drawn, itemgetter(0)) for piece in _cut(job, place, mine, length)]
    return [pieces[int(place)] for place in rng.permutation(len(pieces))]


def _cut(job: LearningJob, place: int, drawn: Iterable[tuple[int, int, int]], length: int) -> Iterator[Piece]:
    """Read a demonstration and cut pieces out of it: `drawn` are its place, their beginnings, and how often."""
    trajectory, space = job.demos[place], state_space(job.imitator)
    check_restorable(job.demos.episodes[place], trajectory.states, job.imitator)
    for _, begin, times in drawn:
        targets = space.one_sign(trajectory.states[begin : begin + length + 1])
        # a stop would throw the body out of the state at once, and teach it nothing else
        targets[:1] = within_limits(job.imitator, targets[:1])
        yield Piece(targets, times, trajectory.terminated and begin + len(targets) == len(trajectory.states))


@dataclass(frozen=True, eq=False)
class _Block:
    """What became of pieces that were followed side by side."""

    found: list[Trajectory | None]
    """None: dropped."""
    steps: int
    """Simulated steps that it took."""


class Projecting:
    """Follows pieces, a block an iteration, for as long as there is room for the steps that this may take."""

    def __init__(self, job: LearningJob, pieces: Sequence[Piece], room: int) -> None:
        """Refuse if `room`, the simulated steps that it may take, is not enough for a single piece."""
        self._job, self._pieces, self._room = job, pieces, room
        self._reroller = Reroller(job.imitator, job.seed, job.threads)
        self._most = self._reroller.most_steps(max(len(piece.targets) for piece in pieces) - 1)
        self._blocks: list[_Block] = []
        if not self._fitting:
            raise BadOption("steps", job.steps, f"give at least {job.steps - room + self._most}")
        self._known = self._shared()

    @property
    def _found(self) -> list[Trajectory | None]:
        """What became of the first pieces; None: dropped."""
        return [one for block in self._blocks for one in block.found]

    @property
    def _ended(self) -> int:
        """How many of the pieces are followed."""
        return sum(len(block.found) for block in self._blocks)

    @property
    def _fitting(self) -> int:
        """How many of the pieces that are left fit into a block, and surely into the room."""
        return max(0, min(BLOCK, len(self._pieces) - self._ended, (self._room - self.steps) // self._most))

    @property
    def done(self) -> bool:
        """Whether all pieces are followed, or there is no room for more."""
        return not self._fitting

    @property
    def progress(self) -> float:
        """Part of the pieces that are followed."""
        return 1.0 if self.done else self._ended / len(self._pieces)

    @property
    def steps(self) -> int:
        """Simulated steps that it took so far; those that an earlier run took for it count, too."""
        return sum(block.steps for block in self._blocks)

    @property
    def count(self) -> ProjectionCount:
        """What it took so far; pieces count as often as they were drawn."""
        kept = sum(piece.times for piece, found in self._followed if found is not None)
        return ProjectionCount(self.steps, kept, sum(piece.times for piece, _ in self._followed) - kept)

    @property
    def demos(self) -> InMemory:
        """What was kept, as often as it was drawn; refused if that is nothing."""
        kept = [found for piece, found in self._followed if found is not None for _ in range(piece.times)]
        if not kept:
            raise nothing_kept(self._job.demos, self._job.imitator)
        return InMemory(self._job.imitator.layout, kept)

    @property
    def _followed(self) -> list[tuple[Piece, Trajectory | None]]:
        return list(zip(self._pieces, self._found, strict=False))

    def iterate(self) -> None:
        """Follow a block of pieces, or take it from the run that did."""
        begin, size = self._ended, self._fitting
        known = self._known.get((begin, size))
        self._blocks.append(self._follow(self._pieces[begin : begin + size]) if known is None else known)
        if self._file is not None and begin + size == len(self._pieces) and not self._known:
            write_bytes(self._file, to_bytes(self.snapshot(), {"imitator": str(self._job.imitator)}))

    def _follow(self, block: Sequence[Piece]) -> _Block:
        before = self._reroller.spent
        followed = self._reroller.follow([piece.targets for piece in block])
        pairs = zip(block, followed, strict=True)
        found = [self._worth(piece, self._reroller.kept(one, piece.targets)) for piece, one in pairs]
        return _Block(found, self._reroller.spent - before)

    @cached_property
    def _file(self) -> Path | None:
        """File of what runs share. By its name an imitator has a rule of falling, which its dynamics' hash knows nothing of."""
        folder, job = self._job.projections, self._job
        if folder is None:
            return None
        key = (str(job.imitator), job.imitator.hash, self.hash, job.seed, sorted(installed_versions().items()))
        return folder / f"{hashlib.sha256(repr(key).encode()).hexdigest()[:32]}.safetensors"

    def _shared(self) -> dict[tuple[int, int], _Block]:
        """Return the blocks of an earlier run by where they begin and how many pieces they have; a damaged file is no help."""
        try:
            blocks = [] if self._file is None else self._blocks_of(read(self._file)[0])
        except (FileNotFoundError, DamagedFile):
            blocks = []
        begins = np.cumsum([0, *(len(block.found) for block in blocks)]).tolist()
        return {(begin, len(block.found)): block for begin, block in zip(begins, blocks, strict=False)}

    def _worth(self, piece: Piece, kept: Kept | None) -> Trajectory | None:
        """Return what is learned from a piece; a fall that was not demonstrated is nothing to imitate."""
        if kept is None:
            return None
        ends = piece.falls and len(kept.actions) == len(piece.targets) - 1
        if kept.fell and not ends:
            return None
        imitator = self._job.imitator
        return Trajectory(kept.states, str(imitator), kept.actions, kept.fell if imitator.family.has_task else ends)

    @property
    def hash(self) -> str:
        """Hash of the pieces."""
        digest = hashlib.sha256()
        for piece in self._pieces:
            digest.update(repr((piece.targets.shape, piece.times, piece.falls)).encode() + piece.targets.tobytes())
        return digest.hexdigest()[:32]

    def snapshot(self) -> Arrays:
        """Return what was found so far, one piece after the other, and (B, 2) pieces and steps of every block."""
        kept = [one for one in self._found if one is not None]
        layout = self._job.imitator.layout
        return {
            "lengths": np.array([0 if one is None else len(one) for one in self._found], np.int64),
            "terminated": np.array([one.terminated for one in kept], bool),
            "states": np.concatenate([np.empty((0, len(layout.state))), *(one.states for one in kept)]),
            "actions": np.concatenate([np.empty((0, len(layout.actuators))), *(_actions(one) for one in kept)]),
            "blocks": np.array([(len(block.found), block.steps) for block in self._blocks], np.int64).reshape(-1, 2),
        }

    def restore(self, arrays: Arrays) -> None:
        """Go back to a snapshot."""
        self._blocks = self._blocks_of(arrays)

    def _blocks_of(self, arrays: Arrays) -> list[_Block]:
        """Return the blocks of a snapshot."""
        lengths, whom = arrays["lengths"], str(self._job.imitator)
        kept = lengths[lengths > 0]
        states, actions = np.split(arrays["states"], np.cumsum(kept + 1)), np.split(arrays["actions"], np.cumsum(kept))
        made = zip(states[:-1], actions[:-1], arrays["terminated"].tolist(), strict=True)
        found = (Trajectory(rows, whom, taken, ended) for rows, taken, ended in made)
        each = iter([next(found) if length else None for length in lengths.tolist()])
        # checkpoints of earlier versions have the steps of all blocks together
        blocks = arrays["blocks"].tolist() if "blocks" in arrays else [(len(lengths), int(arrays["spent"]))]
        return [_Block(list(islice(each, size)), steps) for size, steps in blocks]


def _actions(trajectory: Trajectory) -> Floats:
    assert trajectory.actions is not None
    return trajectory.actions
