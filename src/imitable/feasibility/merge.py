# SPDX-License-Identifier: MIT
"""The verb `merge`: score files of all shards of one job as one."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from imitable.errors import BadOption
from imitable.feasibility.score import weigh
from imitable.feasibility.score_files import write_with_steps
from imitable.feasibility.scores import Scores
from imitable.feasibility.shards import merged
from imitable.feasibility.step_files import steps_path
from imitable.files import check_free, check_writable, locked


def merge(paths: Sequence[str | Path], out: str | Path, *, overwrite: bool = False) -> Scores:
    """Join the score files of all shards of one job, weigh them together, and write them as one, with their steps.

    Args:
        paths: one score file a shard, in any order.
        out: score file to write.
        overwrite: replace an existing one.
    """
    target, parts = Path(out), [Path(path) for path in paths]
    if not parts:
        raise BadOption("SCORES", "(none)", "name the score files of all shards")
    if target.resolve() in (part.resolve() for part in parts):
        raise BadOption("out", target, "name another file: the shards stay as they are")
    check_writable(target)
    with locked(target):
        check_free(target, overwrite=overwrite)
        scores = weigh(merged(parts))
        write_with_steps(target, scores, [steps_path(part) for part in parts if steps_path(part).exists()])
    return replace(scores, path=target)
