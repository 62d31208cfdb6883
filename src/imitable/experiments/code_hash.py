# SPDX-License-Identifier: MIT
"""A hash of the code that computes: results of equal hashes were computed alike.

The rooms above it (experiments, report, command line) only say what is computed, which every job's own hash covers; but
some files of the experiments compute themselves.
"""

import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path

ABOVE = ("experiments", "testing.py", "report", "cli", "__init__.py")
"""Rooms and files of the package that compute nothing."""

COMPUTING = ("experiments/demonstrations.py", "experiments/store.py", "experiments/work.py")
"""Files in them that do: who demonstrates, weights, and what a run came to."""


@cache
def code_hash() -> str:
    """Return the hash of the package that is running."""
    return hash_of(Path(str(files("imitable"))))


def hash_of(package: Path) -> str:
    """Return the hash of a package's source: its files by name and content, whatever their dates and line ends."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package)
        if name.parts[0] not in ABOVE or name.as_posix() in COMPUTING:
            digest.update(f"{name.as_posix()}\0".encode() + path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()[:16]
