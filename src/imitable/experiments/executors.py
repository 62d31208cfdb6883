# SPDX-License-Identifier: MIT
"""Executors: who makes the pieces of an experiment. `Local`: a pool of warm one-thread processes on this machine."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Protocol

from imitable.errors import BadOption, ImitableError
from imitable.experiments.work import Piece, Workshop, make
from imitable.workers import Workers, cores

PRELOADED = ("imitable.imitation.training", "imitable.experiments.work")
"""What every worker imports before its first piece."""


@dataclass(frozen=True)
class Made:
    """A piece that has ended."""

    piece: Piece
    error: str = ""
    """Why it could not be made; empty if it was."""


class Executor(Protocol):
    """Makes pieces, each after those that it needs, the first ones first."""

    def make(self, pieces: Sequence[Piece], workshop: Workshop) -> Iterator[Made]:
        """Make all pieces that can be made; yield each as it ends. What needs a piece that failed fails with it."""
        ...


def attempt(piece: Piece, workshop: Workshop) -> str:
    """Make a piece in a worker; return why it cannot be made, if bad input is the reason."""
    try:
        make(piece.job, workshop)
    except ImitableError as error:
        return str(error)
    return ""


class Queue:
    """Pieces that wait for others, in their order."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        """Let all of them wait; what they need and is not among them is there."""
        self._waiting = list(pieces)
        self._missing = {piece.key for piece in pieces}

    def next_ready(self) -> Piece | None:
        """Take the first piece whose needs are there; None if there is none for now."""
        for place, piece in enumerate(self._waiting):
            if not self._missing.intersection(piece.needs):
                return self._waiting.pop(place)
        return None

    def note(self, made: Made) -> list[Made]:
        """Hear that a piece has ended; return it, and all that never can be made because of it."""
        if not made.error:
            self._missing.discard(made.piece.key)
            return [made]
        lost = [piece for piece in self._waiting if made.piece.key in piece.needs]
        self._waiting = [piece for piece in self._waiting if piece not in lost]
        return [made, *(more for piece in lost for more in self.note(Made(piece, made.error)))]


@dataclass(frozen=True)
class Local:
    """Processes of one thread each."""

    processes: int = 0
    """How many; 0: one a core."""

    def make(self, pieces: Sequence[Piece], workshop: Workshop) -> Iterator[Made]:
        """Make pieces, as many at once as there are processes: no more, so that the first ones stay first."""
        count = min(self.processes or cores(), len(pieces))
        if not count:
            return
        try:
            with Workers(count, PRELOADED) as workers:
                yield from _scheduled(pieces, count, lambda piece: workers.submit(attempt, piece, workshop))
        except BrokenProcessPool:
            reason = "a worker was killed, perhaps for lack of memory: what is done is kept, try fewer"
            raise BadOption("workers", count, reason) from None


@dataclass(frozen=True)
class Here:
    """This very process, one piece after the other: for tests, and for a notebook."""

    def make(self, pieces: Sequence[Piece], workshop: Workshop) -> Iterator[Made]:
        """Make pieces in their order."""

        def begun(piece: Piece) -> "Future[str]":
            future: Future[str] = Future()
            future.set_result(attempt(piece, workshop))
            return future

        yield from _scheduled(pieces, 1, begun)


def _scheduled(pieces: Sequence[Piece], at_once: int, begin: Callable[[Piece], "Future[str]"]) -> Iterator[Made]:
    """Begin pieces that are ready, some at once; yield those that have ended."""
    queue, running = Queue(pieces), dict["Future[str]", Piece]()
    while True:
        while len(running) < at_once and (piece := queue.next_ready()) is not None:
            running[begin(piece)] = piece
        if not running:
            return
        ended, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in ended:
            yield from queue.note(Made(running.pop(future), future.result()))
