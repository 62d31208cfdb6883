# SPDX-License-Identifier: MIT
"""The verb `export`: scores and weights in the form that a trainer opens."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import cast

import numpy as np

from imitable.errors import BadOption, one_of
from imitable.exporters import FORMS
from imitable.exporters.job import ExportJob
from imitable.exporters.written import Written
from imitable.feasibility.score_files import read_scores
from imitable.feasibility.scores import Scores
from imitable.files import check_apart, check_free, locked
from imitable.types import Demonstrations


@dataclass(frozen=True)
class Exported:
    """What an export wrote."""

    out: Path
    files: tuple[Path, ...]
    """All files, the most important first."""
    kept: tuple[int, ...]
    """Places of the demonstrations that have a weight."""
    lines: tuple[str, ...]
    """How a trainer is told, and what to know of it."""


def export(demos: Demonstrations, scores: str | Path | Scores, to: str, out: str | Path, **options: object) -> Exported:
    """Write scores and weights for a trainer; neither the demonstrations nor the score file are changed.

    Args:
        demos: the scored demonstrations, or a part of them.
        scores: a score file, or what `im.score` returned.
        to: csv, lerobot, lerobot-weights, motions-yaml, minari, robomimic; lafan1, gmr, holosoma (movements alone).
        out: file or folder to write.
        options: `dataset`, `floor`, `chunk_size`, `bins` and `overwrite`, see `ExportJob`.
    """
    if to not in FORMS:
        raise BadOption("--to", to, one_of(to, FORMS))
    held = scores if isinstance(scores, Scores) else read_scores(scores)
    job = ExportJob(demos, held, Path(out), **options)  # pyright: ignore[reportArgumentType]
    if not len(demos):
        raise BadOption("DEMOS", "(empty)", "there is no demonstration in the set")
    kept = tuple(np.flatnonzero(job.kept).tolist())
    module, _, name = FORMS[to].partition(":")
    write = cast(Callable[[ExportJob], Written], getattr(import_module(module), name))
    check_apart(job.out, (episode.source for episode in demos.episodes))
    with locked(job.out):
        check_free(job.out, overwrite=job.overwrite)
        written = write(job)
    cut = sum(any(weight == 0 for _, weight in job.scores.weights.of_segments(demos)[place]) for place in kept)
    whole = f"{cut} episodes are partly impossible and written whole; lerobot-weights and csv have where"
    lines = (whole,) if cut and to not in ("csv", "lerobot-weights") else ()
    return Exported(job.out, written.files, kept, (*written.lines, *lines))
