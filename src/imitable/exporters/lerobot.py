# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""LeRobot: a copy of the dataset whose episode rows have `feasibility`, `weight` and `verdict`, and a list of episodes.

An adapter file: pyarrow ships no types.
"""

import json
import math
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from imitable.demos.lerobot import read_info
from imitable.demos.store import check_replaceable, write
from imitable.errors import BadOption, CannotWrite
from imitable.exporters.job import ExportJob, source_folder
from imitable.exporters.written import Written
from imitable.files import new_folder

FEASIBILITY = "meta/feasibility.json"


def write_lerobot(job: ExportJob) -> Written:
    """Write the copy; a set of several folders, or of another format, becomes one dataset."""
    original = job.dataset or source_folder(job)
    check_replaceable(job.out)
    if original is not None and read_info(original).old:
        raise BadOption("--to", "lerobot", f"{original} is of LeRobot v2, which has no rows to add to; use lerobot-weights")
    count = len(job.demos) if original is None else read_info(original).total_episodes
    places = dict(enumerate(range(count))) if original is None else job.target_places(count)
    with new_folder(job.out) as folder:
        if original is None:
            write(folder, job.demos.layout, job.demos, overwrite=True)
        else:
            # a first error is enough: copytree alone would gather those of all files
            shutil.copytree(original, folder, dirs_exist_ok=True, copy_function=partial(_copy, job.out))
        _add_rows(folder, job, places)
    lines = episode_lines(job, original)
    return Written((job.out, job.out / FEASIBILITY), lines)


def _copy(out: Path, source: str, target: str) -> None:
    try:
        shutil.copy2(source, target)
    except OSError as error:
        raise CannotWrite(str(out), error.strerror or str(error)) from None


def episode_lines(job: ExportJob, original: Path | None) -> tuple[str, ...]:
    """Return the episodes that a trainer should draw from, as LeRobot is told."""
    kept = kept_episodes(job, original)
    return (f"--dataset.episodes={json.dumps(kept, separators=(',', ':'))}",)


def kept_episodes(job: ExportJob, original: Path | None) -> list[int]:
    """Return the indices of episodes with a weight, in the dataset that a trainer opens."""
    if original is None:
        return [place for place in range(len(job.demos)) if job.kept[place] > 0]
    places = job.target_places(read_info(original).total_episodes)
    return sorted(index for index, place in places.items() if job.kept[place] > 0)


def _add_rows(folder: Path, job: ExportJob, places: dict[int, int]) -> None:
    """Add the columns to every file of `meta/episodes`; an episode that was not scored weighs nothing."""
    for path in sorted((folder / "meta" / "episodes").glob("*/*.parquet")):
        table = pq.ParquetFile(path).read(use_threads=False)
        held = [places.get(index) for index in table["episode_index"].to_pylist()]
        table = _with(table, "feasibility", [math.nan if p is None else float(job.feasibility[p]) for p in held], pa.float64())
        table = _with(table, "weight", [0.0 if p is None else float(job.kept[p]) for p in held], pa.float64())
        table = _with(table, "verdict", ["" if p is None else job.verdicts[p] for p in held], pa.string())
        pq.write_table(table, path)
    about = {
        "imitator": job.scores.imitator,
        "method": job.scores.measurement.key.method,
        "floor": job.floor,
        "episodes": sorted(index for index, place in places.items() if job.kept[place] > 0),
    }
    (folder / FEASIBILITY).write_text(json.dumps(about, indent=1), encoding="utf-8")


def _with(table: Any, name: str, values: list[Any], kind: Any) -> Any:
    """Return the table with a column, in the place of one of that name."""
    bare = table.drop_columns([name]) if name in table.column_names else table
    return bare.append_column(pa.field(name, kind), pa.array(values, kind))
