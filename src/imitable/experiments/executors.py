# SPDX-License-Identifier: MIT
"""Executors: who makes the pieces of an experiment. `Local`: a pool of warm one-thread processes on this machine."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, replace
from traceback import format_exc
from typing import Protocol

from imitable.errors import BadOption, CannotWrite, ImitableError
from imitable.experiments.work import Piece, Workshop, make
from imitable.files import write_bytes
from imitable.workers import Workers, cores

PRELOADED = ("imitable.imitation.training", "imitable.experiments.work")
"""What every worker imports before its first piece."""


FAILED = "failed"
"""Folder of a store with a traceback of every fault."""


@dataclass(frozen=True)
class Failure:
    """Why a piece could not be made."""

    reason: str
    fault: bool = False
    """Whether it is the program's, or a method's: no input that can be set right."""
    traceback: str = ""
    """Of a fault, as text: an exception itself need not survive the way between processes."""


@dataclass(frozen=True)
class Made:
    """A piece that has ended."""

    piece: Piece
    failure: Failure | None = None
    """Why it could not be made; None if it was."""


class Executor(Protocol):
    """Makes pieces, each after those that it needs, the first ones first."""

    def make(self, pieces: Sequence[Piece], workshop: Workshop) -> Iterator[Made]:
        """Make all pieces that can be made; yield each as it ends. What needs a piece that failed fails with it."""
        ...


def attempt(piece: Piece, workshop: Workshop) -> Failure | None:
    """Make a piece in a worker; return why it cannot be made, if it cannot: all others can be, whatever ends this one."""
    return with_traceback_kept(tried(piece, workshop), piece, workshop)


def tried(piece: Piece, workshop: Workshop) -> Failure | None:
    """Make a piece; return why it cannot be made, if it cannot."""
    try:
        make(piece, workshop)
    except ImitableError as error:
        return Failure(str(error))
    except Exception as error:
        return Failure(f"{type(error).__name__}: {error}", fault=True, traceback=format_exc())
    return None


def with_traceback_kept(failure: Failure | None, piece: Piece, workshop: Workshop) -> Failure | None:
    """Write the traceback of a fault into the store, and return the failure with a word on where it is."""
    if failure is None or not failure.traceback:
        return failure
    path = workshop.store.path / FAILED / f"{piece.key}.txt"
    with suppress(CannotWrite):
        write_bytes(path, failure.traceback.encode())
    return replace(failure, reason=f"{failure.reason} (traceback in {path})")


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
        if made.failure is None:
            self._missing.discard(made.piece.key)
            return [made]
        lost = [piece for piece in self._waiting if made.piece.key in piece.needs]
        self._waiting = [piece for piece in self._waiting if piece not in lost]
        return [made, *(more for piece in lost for more in self.note(Made(piece, made.failure)))]


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

        def begun(piece: Piece) -> "Future[Failure | None]":
            future: Future[Failure | None] = Future()
            future.set_result(attempt(piece, workshop))
            return future

        yield from _scheduled(pieces, 1, begun)


def _scheduled(pieces: Sequence[Piece], at_once: int, begin: Callable[[Piece], "Future[Failure | None]"]) -> Iterator[Made]:
    """Begin pieces that are ready, some at once; yield those that have ended."""
    queue, running = Queue(pieces), dict["Future[Failure | None]", Piece]()
    while True:
        while len(running) < at_once and (piece := queue.next_ready()) is not None:
            running[begin(piece)] = piece
        if not running:
            return
        ended, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in ended:
            yield from queue.note(Made(running.pop(future), future.result()))
