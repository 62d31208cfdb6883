# SPDX-License-Identifier: MIT
"""A pool of warm worker processes: one seed = one process = one thread, and the libraries are loaded once, not once a run."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from importlib import import_module
from threading import Thread, current_thread, main_thread
from types import FrameType
from typing import TypeVar

from imitable.runtime import one_thread
from imitable.user_code import allow_same, allowed

Result = TypeVar("Result")


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Workers:
    """Worker processes that stay between calls, so that compiled functions stay with them."""

    def __init__(self, processes: int = 0, preload: Iterable[str] = ()) -> None:
        """Start no process yet; `preload` names what every worker imports before its first job (0 processes: one a core)."""
        self._pool = ProcessPoolExecutor(
            processes or cores(),
            # not fork: JAX and MuJoCo keep threads, which a fork would lose
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_warm,
            initargs=(tuple(preload), allowed()),
        )

    def submit(self, job: Callable[..., Result], *call: object) -> "Future[Result]":
        """Let a worker run `job(*call)` as soon as one is free."""
        with _interrupts_wait(), _environment_of_workers():
            return self._pool.submit(job, *call)

    def run(self, job: Callable[..., Result], calls: Iterable[tuple[object, ...]]) -> Iterator[tuple[int, Result]]:
        """Run `job(*call)` for every call; yield (index of the call, result) as they finish."""
        futures = {self.submit(job, *call): index for index, call in enumerate(calls)}
        for future in as_completed(futures):
            yield futures[future], future.result()

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is not None:
            # an interrupted parent does not wait for hours of work that nobody wants any more
            # the pool's own children: the executor has no public way to end them before Python 3.14
            for child in list(getattr(self._pool, "_processes", {}).values()):
                child.terminate()
        self._pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_wait() -> Generator[None]:
    """Let ctrl-C wait until a child has begun: its start would be cut off, and it would print a traceback.

    Blocking the signal in this thread does not do that, because another one of this process may receive it.
    """
    if current_thread() is not main_thread():
        yield
        return
    waiting: list[tuple[int, FrameType | None]] = []

    def wait(number: int, frame: FrameType | None) -> None:
        waiting.append((number, frame))

    before = signal.signal(signal.SIGINT, wait)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if waiting and callable(before):
            before(*waiting[0])


@contextmanager
def _environment_of_workers() -> Generator[None]:
    """Let child processes inherit the variables of one thread, and put the parent's back: BLAS reads them when it loads.

    They inherit a blocked ctrl-C, too, because their owner ends them.
    """
    before = dict(os.environ)
    one_thread()
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if hasattr(signal, "pthread_sigmask") else None
    try:
        yield
    finally:
        if blocked is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        for name in set(os.environ) - set(before):
            del os.environ[name]
        os.environ.update(before)


def _warm(modules: tuple[str, ...], typed: Mapping[str, str | None]) -> None:
    Thread(target=_leave_with_parent, daemon=True).start()
    one_thread()
    allow_same(typed)
    for name in modules:
        import_module(name)


def _leave_with_parent() -> None:
    """End this process when the one that started it does, however that came: work without an owner only takes cores."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
