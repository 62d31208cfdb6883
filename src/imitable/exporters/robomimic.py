# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""robomimic: one HDF5 file with a filter key for every bin of weights, and the part of a config that draws from them.

robomimic weighs datasets, not demonstrations: with `normalize_weights_by_ds_size` a dataset is drawn with its weight and
its frames uniformly. Demonstrations whose frames weigh about the same share a bin, which weighs what they weigh together.

An adapter file: h5py ships no types.
"""

import json

import numpy as np

from imitable.demos.formats.hdf5 import OWN, layout_text, module
from imitable.errors import BadOption
from imitable.exporters.job import ExportJob
from imitable.exporters.written import Written
from imitable.files import new_files
from imitable.types import Episode, Trajectory

KEY = "feasibility_bin_{}"


def write_robomimic(job: ExportJob) -> Written:
    """Write the file, and `OUT.config.json` beside it."""
    h5, layout = module(), job.demos.layout
    if job.out.suffix not in (".hdf5", ".h5"):
        raise BadOption("--out", job.out, "name a .hdf5 file")
    if not layout.actuators:
        raise BadOption("--to", "robomimic", "it clones actions, and these demonstrations have none (see imitable project)")
    groups = weight_bins(job)
    config = job.out.with_name(f"{job.out.name}.config.json")
    with new_files(job.out, config) as (hdf5, settings), h5.File(hdf5, "w") as file:
        settings.write_text(json.dumps(_config(job, groups), indent=2), encoding="utf-8")
        data = file.create_group("data")
        for place, (episode, trajectory) in enumerate(zip(job.demos.episodes, job.demos, strict=True)):
            _write_demo(data.create_group(f"demo_{place}"), job, place, episode, trajectory)
        data.attrs["total"] = sum(episode.length for episode in job.demos.episodes)
        data.attrs["env_args"] = json.dumps({"env_name": job.scores.imitator, "env_type": 1, "env_kwargs": {}})
        data.attrs[OWN] = layout_text(layout)
        for number, places in enumerate(groups):
            file[f"mask/{KEY.format(number)}"] = np.array([f"demo_{place}" for place in places], dtype="S")
    worst = max(_unevenness(job, places) for places in groups)
    return Written((job.out, config), (f"{len(groups)} bins; within one, frames' weights differ by a factor of {worst:.3g}",))


def weight_bins(job: ExportJob) -> list[list[int]]:
    """Return the places of demonstrations in each bin, the lightest first: equal steps of the logarithm of a frame's weight."""
    if job.bins < 1:
        raise BadOption("--bins", job.bins, "give the number of weight bins, from 1 on")
    lengths = np.array([episode.length for episode in job.demos.episodes])
    held = np.flatnonzero(job.kept)
    logs = np.log(job.kept[held] / lengths[held])
    single = np.unique(np.round(logs, 9))
    if len(single) <= job.bins:
        numbers = np.searchsorted(single, np.round(logs, 9))
    else:
        span = float(logs.max() - logs.min())
        numbers = np.minimum((job.bins * (logs - logs.min()) / span).astype(int), job.bins - 1)
    return [held[numbers == number].tolist() for number in np.unique(numbers)]


def _unevenness(job: ExportJob, places: list[int]) -> float:
    density = [job.kept[place] / job.demos.episodes[place].length for place in places]
    return float(max(density) / min(density))


def _config(job: ExportJob, groups: list[list[int]]) -> dict[str, object]:
    data = [
        {"path": str(job.out.resolve()), "filter_key": KEY.format(number), "weight": float(job.kept[places].sum())}
        for number, places in enumerate(groups)
    ]
    low_dim = {"modalities": {"obs": {"low_dim": ["state"]}}}
    return {"train": {"data": data, "normalize_weights_by_ds_size": True}, "observation": low_dim}


def _write_demo(group: object, job: ExportJob, place: int, episode: Episode, trajectory: Trajectory) -> None:
    count, states = len(trajectory), trajectory.states
    actions = trajectory.actions if trajectory.actions is not None else np.zeros((count, len(job.demos.layout.actuators)))
    for name, values in (
        ("obs/state", states[:-1]),
        ("next_obs/state", states[1:]),
        ("actions", actions),
        ("rewards", np.zeros(count)),
        ("dones", (np.arange(count) == count - 1).astype(np.int64)),
    ):
        group.create_dataset(name, data=values)  # pyright: ignore[reportAttributeAccessIssue]
    attributes = {
        "num_samples": count,
        "demonstrator": episode.demonstrator,
        "terminated": episode.terminated,
        "return": episode.total_return,
        "has_actions": trajectory.actions is not None,
        "feasibility": float(job.feasibility[place]),
        "weight": float(job.kept[place]),
        "verdict": job.verdicts[place],
    }
    attributes |= {} if episode.seed is None else {"seed": episode.seed}
    group.attrs.update(attributes)  # pyright: ignore[reportAttributeAccessIssue]
