# SPDX-License-Identifier: MIT
"""CSV: a line per demonstration, for whatever reads tables."""

import csv
import io
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from imitable.exporters.job import ExportJob
from imitable.exporters.written import Written
from imitable.feasibility.episode_score import COLUMNS, document_of
from imitable.files import write_bytes


def write_table(job: ExportJob) -> Written:
    """Write every column of a score file and the origin of converted episodes; numbers read back to the same bits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*COLUMNS, "feasible_part", "origin"))
    for episode, row, mass in zip(job.demos.episodes, job.rows, job.masses.tolist(), strict=True):
        origin = job.origin(episode)
        record = replace(job.scores[row], episode=episode, weight=mass)
        writer.writerow((*map(_text, document_of(record).values()), origin.name if origin else ""))
    write_bytes(job.out, text.getvalue().encode())
    return Written((job.out,))


def _text(value: Any) -> str:
    """Return a value as text: nothing for None, several joined by spaces."""
    if value is None or isinstance(value, str):
        return value or ""
    return " ".join(map(_text, value)) if isinstance(value, Iterable) else repr(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
