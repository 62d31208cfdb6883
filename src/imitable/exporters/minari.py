# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Minari: a dataset folder whose episodes have `feasibility`, `weight` and `verdict` in their metadata.

Minari has no episodes without actions: state-only ones get zeros, and `has_actions` says so. An adapter file: h5py ships no
types.
"""

import json
import re
from pathlib import Path

import numpy as np

from imitable.demos.formats.hdf5 import OWN, layout_text, module
from imitable.demos.formats.minari import DATA, METADATA, OBSERVATIONS
from imitable.errors import BadOption
from imitable.exporters.job import ExportJob
from imitable.exporters.written import Written
from imitable.files import check_only, new_folder
from imitable.types import Episode, Trajectory

VERSION = "0.5.0"
"""Of Minari's layout."""


def write_minari(job: ExportJob) -> Written:
    """Write the folder, `(namespace/)name-vN`; under Minari's root it can be loaded by its id."""
    if not re.fullmatch(r"[-\w]+-v\d+", job.out.name):
        raise BadOption("--out", job.out, "a Minari dataset is called NAME-vN, such as my-arm-v0")
    check_only(job.out, f"data/{METADATA}", f"data/{DATA}")
    h5, layout = module(), job.demos.layout
    steps = 0
    with new_folder(job.out) as folder:
        (folder / "data").mkdir()
        with h5.File(folder / "data" / DATA, "w", track_order=True) as file:
            for place, (episode, trajectory) in enumerate(zip(job.demos.episodes, job.demos, strict=True)):
                steps += len(trajectory)
                _write_episode(file.create_group(f"episode_{place}"), job, place, episode, trajectory)
        spaces = {"observation_space": _box(len(layout.state)), "action_space": _box(len(layout.actuators))}
        about = {
            "total_episodes": len(job.demos),
            "total_steps": steps,
            "data_format": "hdf5",
            **spaces,
            "dataset_id": job.out.name,
            "minari_version": VERSION,
            "description": f"Scored for {job.scores.imitator}",
            "dataset_size": round((folder / "data" / DATA).stat().st_size / 1e6, 1),
            OWN: layout_text(layout),
        }
        (folder / "data" / METADATA).write_text(json.dumps(about), encoding="utf-8")
    return Written((job.out / "data" / METADATA, job.out / "data" / DATA), _lines(job.out))


def _write_episode(group: object, job: ExportJob, place: int, episode: Episode, trajectory: Trajectory) -> None:
    held, count = group, len(trajectory)
    actions = trajectory.actions if trajectory.actions is not None else np.zeros((count, len(job.demos.layout.actuators)))
    ends = np.arange(count) == count - 1
    for name, values in (
        (OBSERVATIONS, trajectory.states),
        ("actions", actions),
        ("rewards", np.zeros(count)),
        ("terminations", ends & episode.terminated),
        ("truncations", ends & (not episode.terminated)),
    ):
        held.create_dataset(name, data=values)  # pyright: ignore[reportAttributeAccessIssue]
    attributes = {
        "id": place,
        "total_steps": count,
        "demonstrator": episode.demonstrator,
        "return": episode.total_return,
        "has_actions": trajectory.actions is not None,
        "feasibility": float(job.feasibility[place]),
        "weight": float(job.kept[place]),
        "verdict": job.verdicts[place],
    }
    attributes |= {} if episode.seed is None else {"seed": episode.seed}
    held.attrs.update(attributes)  # pyright: ignore[reportAttributeAccessIssue]


def _box(size: int) -> str:
    """Return a space of any numbers as Minari writes it."""
    low, high = [-float("inf")] * size, [float("inf")] * size
    return json.dumps({"type": "Box", "dtype": "float64", "shape": [size], "low": low, "high": high})


def _lines(out: Path) -> tuple[str, ...]:
    load = f"minari.load_dataset({out.name!r}) with MINARI_DATASETS_PATH={out.resolve().parent}"
    return (load, "weights: [row['weight'] for row in dataset.storage.get_episode_metadata(range(len(dataset)))]")
