# SPDX-License-Identifier: MIT
"""The finished chunks of a job, `scores.parquet.parts/`: a killed job goes on after the last of them."""

import shutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from imitable.errors import BadScores, CannotResume, CannotWrite
from imitable.feasibility.episode_score import EpisodeScore
from imitable.feasibility.score_files import models_path, parts_path, read_rows, read_scores, write_rows, write_with_steps
from imitable.feasibility.scores import ScoreKey, Scores
from imitable.feasibility.sealed import damage
from imitable.feasibility.step_files import StepFile, steps_path, write_traces
from imitable.files import keeping, new_files
from imitable.tracking.attempts import Trace


class Ledger:
    """Rows that are measured already, and the files that hold them."""

    def __init__(self, path: Path, key: ScoreKey, *, resume: bool) -> None:
        """Open the parts of the score file `path`; `key` is what the measures depend on."""
        self.path, self.parts, self.key = path, parts_path(path), key
        self.rows: dict[str, EpisodeScore] = {}
        self.spent = 0
        self._old_steps: list[Path] = []
        self._count = 0
        if not resume:
            for stale in (self.parts, models_path(path)):  # what was learned from other demonstrations judges none of these
                shutil.rmtree(stale, ignore_errors=True)
        if resume and path.exists():
            self._take_finished()
        for part in sorted(self.parts.glob("part-*.parquet")):
            self._take_part(part)
        try:
            self.parts.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CannotWrite(str(self.parts), error.strerror or str(error)) from None

    def _take_finished(self) -> None:
        scores = read_scores(self.path)
        self._check(scores.measurement.key, self.path)
        self.rows |= {row.episode.hash: row for row in scores}
        self.spent += scores.measurement.measured_steps
        if steps_path(self.path).exists():
            StepFile(steps_path(self.path)).check()  # now, not after hours of measuring
            self._old_steps.append(steps_path(self.path))

    def _take_part(self, part: Path) -> None:
        """Take a chunk; one that is damaged is measured again."""
        steps = _steps_of(part)
        self._count = max(self._count, int(part.stem.removeprefix("part-")) + 1)
        try:
            rows, metadata = read_rows(part)
            with damage(part):
                key, spent = ScoreKey(**metadata["key"]), int(metadata["spent"])
            StepFile(steps).check()
        except BadScores:
            part.unlink(missing_ok=True)
            steps.unlink(missing_ok=True)
            return
        self._check(key, self.parts)
        found = {row.episode.hash: row for row in rows}
        if not self.rows.keys() >= found.keys():  # else a kill came between writing all and letting go of parts
            self.spent += spent
        self.rows |= found

    def _check(self, key: ScoreKey, where: Path) -> None:
        if key != self.key:
            raise CannotResume(str(where), key.difference(self.key))

    def add(self, rows: Sequence[EpisodeScore], traces: Sequence[Trace], spent: int) -> None:
        """Keep a finished chunk: its steps first, so that a part with rows is whole."""
        part = self.parts / f"part-{self._count:06d}.parquet"
        with new_files(part, _steps_of(part)) as (table, steps):
            write_traces(steps, {row.episode.hash: trace for row, trace in zip(rows, traces, strict=True)})
            write_rows(table, rows, {"key": asdict(self.key), "spent": spent})
        self._count += 1
        self.spent += spent
        self.rows |= {row.episode.hash: row for row in rows}

    @contextmanager
    def keeping(self) -> Generator[None]:
        """Keep what is measured in the block, and nothing else: a job that ends before its first chunk leaves no folder."""
        with keeping(self.parts, models_path(self.path)):
            try:
                yield
            finally:
                with suppress(OSError):
                    self.parts.rmdir()

    def finish(self, scores: Scores) -> None:
        """Write both files and let go of the parts."""
        write_with_steps(self.path, scores, [*self._old_steps, *sorted(self.parts.glob("steps-*.parquet"))])
        shutil.rmtree(self.parts, ignore_errors=True)


def _steps_of(part: Path) -> Path:
    """`part-000003.parquet` → `steps-000003.parquet`."""
    return part.with_name(part.name.replace("part-", "steps-"))
