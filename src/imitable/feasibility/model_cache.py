# SPDX-License-Identifier: MIT
"""What a scorer learned, kept as a file, so that an interrupted or extended job need not learn it again."""

import hashlib
from collections.abc import Callable

from imitable.feasibility.scorer import Job
from imitable.files import write_bytes
from imitable.tensors import Arrays, DamagedFile, read, to_bytes


def learned(job: Job, told: object, learn: Callable[[], Arrays]) -> Arrays:
    """Return the arrays that `learn` gives, from the file of an earlier job if there is one.

    `told` is everything they depend on but the body and the seed. It need not name the demonstrations: what was learned from
    some serves for those that join the set later.
    """
    if job.models is None:
        return learn()
    path = job.models / f"{_key(job, told)}.safetensors"
    try:
        return read(path)[0]
    except (FileNotFoundError, DamagedFile):
        arrays = learn()
        write_bytes(path, to_bytes(arrays, {"imitator": str(job.imitator), "told": repr(told)}))
        return arrays


def _key(job: Job, told: object) -> str:
    return hashlib.sha256(repr((job.imitator.hash, job.seed, told)).encode()).hexdigest()[:32]
