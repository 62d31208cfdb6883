# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""LeRobot's sample weighting: a weight for every frame of a dataset, in two forms.

`weights.parquet` (`index`, `weight`) is what the weighting by file reads. `rabc.parquet` carries the same numbers through the
weighter of released versions, which knows progress alone: a frame weighs what progress it makes in `chunk_size` frames,
between μ − 2σ (nothing) and μ + 2σ (all) over all rows. With p_i = p_{i + chunk} − w_i, progress is the weight; ballast rows
behind the last frame make μ = 2σ and 4σ the largest weight, so that the weighter gives w / max w.

Weights are normalised in every batch there, so that they only act within one: frames below the floor weigh exactly nothing,
and the list of episodes leaves out those that never do.

An adapter file: pyarrow ships no types.
"""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from imitable.demos.formats.lerobot import LeRobot
from imitable.errors import BadOption
from imitable.exporters.job import ExportJob, source_folder
from imitable.exporters.lerobot import episode_lines
from imitable.exporters.written import Written
from imitable.files import check_only, new_folder
from imitable.types import Floats, Ints

WEIGHTS, PROGRESS, ARGUMENTS = "weights.parquet", "rabc.parquet", "arguments.txt"


def write_weights(job: ExportJob) -> Written:
    """Write the folder; the dataset is the one that the demonstrations were read from, or `dataset`."""
    target = job.dataset or source_folder(job)
    if target is None:
        raise BadOption("--to", "lerobot-weights", "it is for one LeRobot dataset: give --dataset, or one folder of them")
    if job.chunk_size < 1:
        raise BadOption("--chunk-size", job.chunk_size, "give the policy's chunk size, from 1 on")
    check_only(job.out, WEIGHTS, PROGRESS, ARGUMENTS)
    weights, episodes = _frame_weights(job, LeRobot(target))
    with new_folder(job.out) as folder:
        _write(folder / WEIGHTS, {"index": np.arange(len(weights)), "weight": weights})
        _write(folder / PROGRESS, _progress(weights, episodes, job.chunk_size))
        lines = _lines(job, target)
        (folder / ARGUMENTS).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Written(tuple(job.out / name for name in (WEIGHTS, PROGRESS, ARGUMENTS)), lines)


def _lines(job: ExportJob, target: Path) -> tuple[str, ...]:
    by_file = f"--sample_weighting.type=static --sample_weighting.weights_path={job.out / WEIGHTS}"
    by_progress = f"--sample_weighting.type=rabc --sample_weighting.progress_path={job.out / PROGRESS}"
    settings = f"--sample_weighting.kappa=1e9 (chunk_size {job.chunk_size})"
    return (*episode_lines(job, target), by_file, f"or, in released versions: {by_progress} {settings}")


def _frame_weights(job: ExportJob, target: LeRobot) -> tuple[Floats, Ints]:
    """Return the weight of every frame, mean one over all, and its episode; what was not scored weighs nothing."""
    rows = [(int(row["index"]), int(row["frames"])) for row in target.origins()]
    places = job.target_places(len(rows))
    parts = [job.frame_weights(places[index], frames) if index in places else np.zeros(frames) for index, frames in rows]
    weights = np.concatenate(parts)
    return weights * len(weights) / weights.sum(), np.repeat([index for index, _ in rows], [frames for _, frames in rows])


def _progress(weights: Floats, episodes: Ints, chunk: int) -> dict[str, Floats | Ints]:
    """Return the rows of `rabc.parquet`: real frames, then the ballast."""
    wanted = weights.copy()
    last = np.flatnonzero(np.diff(episodes, append=episodes[-1] + 1))
    wanted[last] = 0.0  # the last frame of an episode makes no progress
    ballast = np.append(_ballast(wanted), 0.0)
    every = np.concatenate([wanted, ballast])
    owner = np.concatenate([episodes, np.full(len(ballast), episodes[-1] + 1)])
    ends = np.append(last, len(every) - 1)
    progress, begin = np.zeros(len(every)), 0
    for end in ends.tolist():
        for place in range(end - 1, begin - 1, -1):
            progress[place] = progress[min(place + chunk, end)] - every[place]
        begin = end + 1
    return {"index": np.arange(len(every)), "episode_index": owner, "progress_sparse": progress}


def _ballast(deltas: Floats) -> Floats:
    """Return as few deltas, μ ± σ in turn, as make the mean of all half, and the deviation a quarter, of the largest.

    One more row of delta zero ends them.
    """
    top, count = float(deltas.max()), len(deltas)
    size = 2
    while True:
        total = count + size + 1
        mean = (total * top / 2 - float(deltas.sum())) / size
        variance = (total * 5 * top**2 / 16 - float(np.square(deltas).sum())) / size - mean**2
        if variance >= 0:
            deviation = np.sqrt(variance)
            return mean + np.resize([deviation, -deviation], size)
        size = size + 2 if size < 64 else 2 * (size * 5 // 8)


def _write(path: Path, columns: dict[str, Floats | Ints]) -> None:
    with path.open("wb") as file:
        pq.write_table(pa.table({name: pa.array(values) for name, values in columns.items()}), file)
