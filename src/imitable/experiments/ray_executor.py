# SPDX-License-Identifier: MIT
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUntypedFunctionDecorator=false, reportUnknownParameterType=false
"""The executor `ray`: pieces as tasks of a Ray cluster, whose nodes need not share a disk.

A task is given the files that it needs and gives back those that it made; the driver keeps them in one store. Files travel
through Ray's object store, from node to node where that is shorter. A node that is lost costs what it was at: its tasks
are given to others, and what they had been given is made again where it is lost with it. A node that stays keeps its
unfinished work, so that a task that comes back to it goes on from its checkpoint. An adapter file: Ray's types are partial.
"""

import os
import socket
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import ray
import ray.exceptions

from imitable.errors import BadOption
from imitable.experiments.executors import Failure, Made, Queue, with_traceback_kept
from imitable.experiments.packing import Files, files_at, keep, local_workshop, made_and_taken, unpack
from imitable.experiments.store import Store
from imitable.experiments.work import Piece, Workshop
from imitable.user_code import allow_same, allowed
from imitable.workers import cores

RETRIES = 20
"""So many lost nodes or killed processes a task survives."""

PATIENCE = 5.0
"""Seconds that a cluster has to answer."""


@dataclass(frozen=True)
class Ray:
    """A Ray cluster."""

    address: str | None = None
    """Where it is; None: RAY_ADDRESS, else one is started here."""
    at_once: int = 0
    """Pieces at once; 0: as many as the cluster has cores."""

    def make(self, pieces: Sequence[Piece], workshop: Workshop) -> Iterator[Made]:
        """Make pieces as tasks of one core each; yield those whose files are in the store."""
        if not pieces:
            return
        began = _joined(self.address)
        try:
            yield from _scheduled(pieces, workshop, self.at_once)
        finally:
            if began:
                ray.shutdown()


def _joined(address: str | None) -> bool:
    """Join a cluster, or start one; return whether this process was not in one before."""
    if ray.is_initialized():
        return False
    where = address or os.environ.get("RAY_ADDRESS")
    # local: without it Ray joins whatever head runs on this machine, and refuses to be told its cores
    begun: dict[str, Any] = {"address": "local", "num_cpus": cores(), "include_dashboard": False}
    options = {"address": where} if where else begun
    try:
        if where:
            _knock(where)
        # one thread a worker, before it loads any numeric library
        hook = {"worker_process_setup_hook": "imitable.runtime.one_thread"}
        with chdir(Path(__file__).parents[2]):  # Ray lets workers import from the folder that it is begun in: never one of data
            ray.init(runtime_env=hook, log_to_driver=False, **options)
    except (OSError, ValueError, RuntimeError) as error:
        if not where:
            raise
        right = "give the HOST:PORT of its head, or leave it out, and one is started here"
        name = "--address" if address else "RAY_ADDRESS"
        raise BadOption(name, where, f"no Ray cluster answers there ({error}); {right}") from None
    return True


def _knock(address: str) -> None:
    """Raise OSError if nothing listens at HOST:PORT or ray://HOST:PORT: Ray itself tries for minutes before it says so."""
    place = urlsplit(address if "://" in address else f"//{address}")
    if place.hostname and place.port:
        socket.create_connection((place.hostname, place.port), timeout=PATIENCE).close()


def _scheduled(pieces: Sequence[Piece], workshop: Workshop, at_once: int) -> Iterator[Made]:
    workshop = replace(workshop, store=Store(workshop.store.path.absolute()))
    queue, running, shared = Queue(pieces), dict[Any, Piece](), Shared(pieces, workshop.store.path)
    while True:
        most = at_once or max(1, int(ray.cluster_resources().get("CPU", 1)))
        while len(running) < most and (piece := queue.next_ready()) is not None:
            begun = files_at(workshop.store.path, piece.key)
            running[cast(Any, _task).remote(piece, workshop, shared.needs_of(piece), begun, allowed())] = piece
        if not running:
            return
        ended, _ = ray.wait(list(running), num_returns=1)
        for reference in ended:
            piece = running.pop(reference)
            failure, files = _result(reference)
            keep(piece, files, workshop)
            for made in queue.note(Made(piece, with_traceback_kept(failure, piece, workshop))):
                shared.forget(made.piece)
                yield made


def _result(reference: Any) -> tuple[Failure | None, Files]:
    """Return what a task came to; one that Ray gave up on made nothing."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayError as error:
        return Failure(f"Ray gave it up ({error})", fault=True), {}


class Shared:
    """Files in Ray's object store that several tasks need. The driver's node holds them: the loss of another does no harm."""

    def __init__(self, pieces: Sequence[Piece], store: Path) -> None:
        """Count who needs what."""
        self._store, self._left = store, Counter(key for piece in pieces for key in piece.needs)
        self._references: dict[str, Any] = {}

    def needs_of(self, piece: Piece) -> list[tuple[str, Any]]:
        """Return keys of all that a piece needs, and references to their files, put there once."""
        for key in piece.needs:
            if key not in self._references:
                self._references[key] = ray.put(files_at(self._store, key))
        return [(key, self._references[key]) for key in piece.needs]

    def forget(self, piece: Piece) -> None:
        """Let go of what nobody needs any more."""
        self._left.subtract(piece.needs)
        for key in piece.needs:
            if not self._left[key]:
                self._references.pop(key, None)


@ray.remote(num_cpus=1, max_retries=RETRIES)
def _task(
    piece: Piece, workshop: Workshop, needs: list[tuple[str, Any]], begun: Files, typed: Mapping[str, str | None]
) -> tuple[Failure | None, Files]:
    """Make a piece on a node: unpack what it needs, go on with what was begun, give back what there is."""
    allow_same(typed)
    here = local_workshop(workshop)
    for key, reference in needs:
        if not (here.store.path / key).exists():
            unpack(ray.get(reference), here.store.path, key)
    if begun and not (here.store.path / piece.key).exists():
        unpack(begun, here.store.path, piece.key)
    return made_and_taken(piece, here)
