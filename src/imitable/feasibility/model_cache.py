# SPDX-License-Identifier: MIT
"""What a scorer learned, on disk, so that an interrupted or extended job need not learn it again."""

import hashlib
from collections.abc import Callable

from imitable.errors import BadOption
from imitable.feasibility.scorer import ScoringJob
from imitable.files import write_bytes
from imitable.tensors import Arrays, DamagedFile, read, to_bytes


def check_may_learn(job: ScoringJob, what: str) -> None:
    """Refuse to learn in a job that must take what was learned before."""
    if not job.learns:
        raise BadOption("models", job.models, f"they lack {what}; give those of a job with the same settings and seed")


def cached(job: ScoringJob, key: object, learn: Callable[[], Arrays]) -> Arrays:
    """Return the arrays that `learn` gives, from the file of an earlier job if there is one; a damaged one is learned again.

    `key` is everything they depend on but the body and the seed. It need not name the demonstrations: what was learned from
    some serves for those that join the set later.
    """
    if job.models is None:
        return learn()
    name = hashlib.sha256(repr((job.imitator.hash, job.seed, key)).encode()).hexdigest()[:32]
    path = job.models / f"{name}.safetensors"
    try:
        return read(path)[0]
    except (FileNotFoundError, DamagedFile):
        check_may_learn(job, repr(key))
        arrays = learn()
    write_bytes(path, to_bytes(arrays, {"imitator": str(job.imitator), "key": repr(key)}))
    return arrays
