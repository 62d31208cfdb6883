# SPDX-License-Identifier: MIT
"""CSV: a line a demonstration, for whatever reads tables."""

import csv
import io

from imitable.exporters.job import ExportJob
from imitable.exporters.written import Written
from imitable.files import write_bytes

COLUMNS = ("source", "episode_index", "origin", "demonstrator", "length", "verdict", "score", "share", "followed", "weight")


def write_table(job: ExportJob) -> Written:
    """Write the file; numbers read back to the same bits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for place, (episode, row) in enumerate(zip(job.demos.episodes, job.rows, strict=True)):
        origin = job.origin(episode)
        numbers = (job.scores.score[row], job.scores.share[row], job.scores.followed[row], job.masses[place])
        writer.writerow(
            (
                episode.source,
                episode.index,
                origin.name if origin else "",
                episode.demonstrator,
                episode.length,
                job.scores.verdict[row],
                *(repr(float(number)) for number in numbers),
            )
        )
    write_bytes(job.out, text.getvalue().encode())
    return Written((job.out,))
