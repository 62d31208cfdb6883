# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""Score files: `scores.parquet`, one row a demonstration, and `scores.steps.parquet`, one row a judged step.

While a job runs, finished chunks lie in `scores.parquet.parts/`; the two files appear when all are there.
An adapter file: pyarrow ships no types.
"""

import json
import math
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from imitable.errors import BadScores, CannotResume, CannotWrite
from imitable.feasibility.scorer import Measured, Trace
from imitable.files import write_bytes
from imitable.types import Episode, Scores

SCHEMA = 1
KEY = b"imitable"
"""Metadata key that holds everything but the rows, as JSON."""

COLUMNS = {
    "source": pa.string(),
    "episode_index": pa.int64(),
    "episode_hash": pa.string(),
    "demonstrator": pa.string(),
    "length": pa.int64(),
    "return": pa.float64(),
    "terminated": pa.bool_(),
    "seed": pa.int64(),
    "distance": pa.float64(),
    "share": pa.float64(),
    "verdict": pa.string(),
    "score": pa.float64(),
    "weight": pa.float64(),
    "first_divergence": pa.int64(),
}
_PART = {"episode_hash": pa.string(), "distance": pa.float64(), "share": pa.float64(), "first_divergence": pa.int64()}


@dataclass(frozen=True)
class Row:
    """What is kept of a demonstration's measure without its trace."""

    distance: float
    share: float
    first_divergence: int
    """−1 if there is none."""


def steps_path(path: Path) -> Path:
    """`scores.parquet` → `scores.steps.parquet`."""
    return path.with_suffix(f".steps{path.suffix}")


def parts_path(path: Path) -> Path:
    """Folder of finished chunks."""
    return path.with_name(f"{path.name}.parts")


def models_path(path: Path) -> Path:
    """Folder of what a method learned, kept beside the scores so that a grown set needs no new learning."""
    return path.with_name(f"{path.name}.models")


class Ledger:
    """The finished chunks of one job: a killed job goes on after the last of them."""

    def __init__(self, path: Path, key: dict[str, Any], *, resume: bool) -> None:
        """Open the parts of the score file `path`; `key` is what the measures depend on."""
        self.path, self.parts, self.key = path, parts_path(path), json.loads(json.dumps(key))
        self.rows: dict[str, Row] = {}
        self.spent = 0
        self._old_steps: list[Path] = []
        self._count = 0
        if not resume:
            for stale in (self.parts, models_path(path)):  # what was learned from other demonstrations judges none of these
                shutil.rmtree(stale, ignore_errors=True)
        if resume and path.exists():
            self._take_finished()
        if (self.parts / "key.json").exists():
            self._take_parts()
        try:
            self.parts.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CannotWrite(str(self.parts), error.strerror or str(error)) from None
        write_bytes(self.parts / "key.json", json.dumps(self.key, indent=2).encode())

    def _take_finished(self) -> None:
        scores = read_scores(self.path)
        if scores.about.get("key") != self.key:
            raise CannotResume(str(self.path), _difference(scores.about.get("key", {}), self.key))
        for episode, distance, share, step in zip(
            scores.episodes, scores.distance, scores.share, scores.first_divergence, strict=True
        ):
            self.rows[episode.hash] = Row(float(distance), float(share), int(step))
        self.spent += int(scores.about["measured_steps"])
        if steps_path(self.path).exists():
            self._old_steps.append(steps_path(self.path))

    def _take_parts(self) -> None:
        key = json.loads((self.parts / "key.json").read_text())
        if key != self.key:
            raise CannotResume(str(self.parts), _difference(key, self.key))
        for part in sorted(self.parts.glob("part-*.parquet")):
            table = pq.read_table(part)
            self.spent += int(json.loads(table.schema.metadata[KEY])["spent"])
            for row in table.to_pylist():
                self.rows[row["episode_hash"]] = Row(row["distance"], row["share"], row["first_divergence"])
            self._count += 1

    def add(self, hashes: Sequence[str], measured: Sequence[Measured], rows: Sequence[Row], spent: int) -> None:
        """Keep a finished chunk: its steps first, so that a part with rows is whole."""
        table = pa.Table.from_pylist(
            [
                {"episode_hash": h, "distance": r.distance, "share": r.share, "first_divergence": r.first_divergence}
                for h, r in zip(hashes, rows, strict=True)
            ],
            schema=pa.schema(list(_PART.items()), {KEY: json.dumps({"spent": spent})}),
        )
        steps = pa.concat_tables([_steps_table(h, m.trace) for h, m in zip(hashes, measured, strict=True)])
        _write(self.parts / f"steps-{self._count:06d}.parquet", steps)
        _write(self.parts / f"part-{self._count:06d}.parquet", table)
        self._count += 1
        self.spent += spent
        self.rows |= dict(zip(hashes, rows, strict=True))

    def finish(self, scores: Scores) -> None:
        """Write both files and let go of the parts."""
        write_steps(steps_path(self.path), [*self._old_steps, *sorted(self.parts.glob("steps-*.parquet"))], scores.episodes)
        write_scores(self.path, scores)
        shutil.rmtree(self.parts, ignore_errors=True)


def _difference(old: dict[str, Any], new: dict[str, Any]) -> str:
    """Say which setting differs first."""
    name = next((name for name in new if old.get(name) != new[name]), "method")
    return f"its {name} was {old.get(name)}, now it is {new.get(name)}"


def _steps_table(name: str, trace: Trace) -> Any:
    n = len(trace.steps)
    return pa.table(
        {
            "episode_hash": pa.array([name] * n, pa.string()),
            "attempt": pa.array(trace.attempts, pa.int64()),
            "step": pa.array(trace.steps, pa.int64()),
            "error": pa.array(trace.errors, pa.float64()),
            "state": _lists(trace.states),
            "action": _lists(trace.actions),
        }
    )


def _lists(array: Any) -> Any:
    return pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(array).reshape(-1)), array.shape[1])


def _write(path: Path, table: Any) -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    write_bytes(path, sink.getvalue().to_pybytes())


def write_steps(path: Path, sources: Sequence[Path], episodes: Iterable[Episode]) -> None:
    """Copy the steps of these episodes from all sources into one file, a row group at a time, each episode once."""
    wanted = {episode.hash for episode in episodes}
    temporary = path.with_name(f".{path.name}.new")
    writer: Any = None
    try:
        for source in sources:
            file, copied = pq.ParquetFile(source), set[str]()
            asked = pa.array(sorted(wanted), pa.string())
            for group in range(file.metadata.num_row_groups):
                table = file.read_row_group(group, use_threads=False)
                table = table.filter(pc.is_in(table["episode_hash"], asked))
                copied |= set(pc.unique(table["episode_hash"]).to_pylist())
                writer = writer or pq.ParquetWriter(temporary, table.schema)
                writer.write_table(table)
            wanted -= copied  # only now: an episode may go on in the next row group
        if writer is not None:
            writer.close()
            temporary.replace(path)
    except OSError as error:
        raise CannotWrite(str(path), error.strerror or str(error)) from None
    finally:
        if writer is not None:
            writer.close()
        temporary.unlink(missing_ok=True)


def write_scores(path: Path, scores: Scores) -> None:
    """Write `scores.parquet`, whole or not at all."""
    episodes = scores.episodes
    columns: dict[str, Any] = {
        "source": [e.source for e in episodes],
        "episode_index": [e.index for e in episodes],
        "episode_hash": [e.hash for e in episodes],
        "demonstrator": [e.demonstrator for e in episodes],
        "length": [e.length for e in episodes],
        "return": [e.total_return for e in episodes],
        "terminated": [e.terminated for e in episodes],
        "seed": [e.seed for e in episodes],
        "distance": scores.distance,
        "share": scores.share,
        "verdict": list(scores.verdict),
        "score": scores.score,
        "weight": scores.weight,
        "first_divergence": [None if step < 0 else step for step in scores.first_divergence.tolist()],
    }
    schema = pa.schema(list(COLUMNS.items()), {KEY: json.dumps({"schema": SCHEMA, **scores.about})})
    _write(path, pa.table([pa.array(columns[name], kind) for name, kind in COLUMNS.items()], schema=schema))


def read_scores(path: str | Path) -> Scores:
    """Read `scores.parquet`."""
    path = Path(path)
    if not path.is_file():
        raise BadScores(str(path), "there is no such file; make one with imitable score DEMOS --imitator SPEC")
    try:
        table = pq.read_table(path)
        about = json.loads((table.schema.metadata or {})[KEY])
        if about.pop("schema") > SCHEMA:
            raise BadScores(str(path), "it was written by a newer imitable; update this one")
        table = table.select(list(COLUMNS)).cast(pa.schema(list(COLUMNS.items())))
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        raise BadScores(str(path), str(error).splitlines()[0] if str(error) else type(error).__name__) from None
    rows = table.to_pydict()
    episodes = tuple(
        Episode(source, index, name, demonstrator, length, math.nan if total is None else total, bool(terminated), seed)
        for source, index, name, demonstrator, length, total, terminated, seed in zip(
            *(rows[column] for column in list(COLUMNS)[:8]), strict=True
        )
    )
    return Scores(
        episodes=episodes,
        distance=np.array(rows["distance"], float),
        share=np.array(rows["share"], float),
        score=np.array(rows["score"], float),
        weight=np.array(rows["weight"], float),
        verdict=tuple(rows["verdict"]),
        first_divergence=np.array([-1 if step is None else step for step in rows["first_divergence"]], np.int64),
        about=about,
    )


def read_steps(path: str | Path, episode_hash: str) -> Trace | None:
    """Read the trace of one episode from `scores.steps.parquet`; None if it is not there."""
    steps = steps_path(Path(path))
    if not steps.exists():
        return None
    table = pq.read_table(steps, filters=[("episode_hash", "=", episode_hash)])
    if not len(table):
        return None
    states, actions = (
        np.asarray(table[name].combine_chunks().flatten()).reshape(len(table), -1) for name in ("state", "action")
    )
    return Trace(
        steps=table["step"].to_numpy(),
        attempts=table["attempt"].to_numpy(),
        errors=table["error"].to_numpy(),
        states=states,
        actions=actions,
    )
