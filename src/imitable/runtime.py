# SPDX-License-Identifier: MIT
"""One seed = one process = one thread: what must be set before the numeric libraries start.

A run's bits must not depend on the number of cores, and two one-thread processes learn faster than one with two threads.
The command line and the worker processes ask for it by themselves, and a trainer starts JAX with one thread. A program that
has started JAX itself, and wants the bits that they would give, calls `one_thread` at its top; importing imitable changes
nothing in a user's process.
"""

import os
from collections.abc import MutableMapping
from pathlib import Path

THREAD_VARIABLES = {
    "NPROC": "1",  # the size of XLA's thread pool
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
}


def cache_folder() -> Path:
    """Return the user's cache folder for compiled functions."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "imitable"


def one_thread(environment: MutableMapping[str, str] | None = None) -> None:
    """Ask every numeric library that is not yet loaded for one thread, and JAX for its compilation cache.

    Variables that the user has set stay as they are.
    """
    target = os.environ if environment is None else environment
    for name, value in THREAD_VARIABLES.items():
        target.setdefault(name, value)
    target.setdefault("JAX_COMPILATION_CACHE_DIR", str(cache_folder() / "xla"))
    target.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    target.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "0")
