# SPDX-License-Identifier: MIT
"""The list of motions that TWIST, MimicKit and ProtoMotions draw clips from: YAML of file, weight and description.

A motion's weight is the probability of its clip, up to a factor. Clips that weigh nothing are left out.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from imitable.exporters.clips import body_of, clip_names, gmr_bytes
from imitable.exporters.job import ExportJob
from imitable.exporters.written import Written
from imitable.files import check_only, new_files, new_folder


def write_motions(job: ExportJob) -> Written:
    """Write the YAML. It names the clips that the demonstrations were converted from; others are written beside it."""
    origins = [job.origin(episode) for episode in job.demos.episodes]
    files = [origin.file if origin is not None else None for origin in origins]
    names = () if all(files) else clip_names(job, ".pkl")
    clips = [job.out.with_name(f"{job.out.name}.clips") / name for name in names]
    home = job.out.resolve().parent
    lines = [f"root_path: {json.dumps(str(home))}", "motions:"]
    for place, file in enumerate(clips or files):
        if file is None or not job.kept[place] > 0:
            continue
        name = os.path.relpath(file.resolve(), home)
        about = f"{job.verdicts[place]}, score {job.feasibility[place]:.3g} on {job.scores.imitator}"
        lines += [
            f"  - file: {json.dumps(name, ensure_ascii=False)}",
            f"    weight: {float(job.kept[place])!r}",
            f"    description: {json.dumps(about, ensure_ascii=False)}",
        ]
    with new_files(job.out) as (draft,):
        draft.write_text("\n".join(lines) + "\n", encoding="utf-8")
        if clips:
            _write_clips(job, clips)
    left = sum(weight == 0 for weight in job.kept.tolist())
    said = (f"{left} of {len(job.demos)} motions weigh nothing and are left out",) if left else ()
    return Written((job.out, *clips), said)


def _write_clips(job: ExportJob, clips: Sequence[Path]) -> None:
    """Write the movements themselves as GMR's pickles, in a folder beside the YAML."""
    robot, home = body_of(job), clips[0].parent
    check_only(home, "*.pkl")
    with new_folder(home) as folder:
        for clip, trajectory in zip(clips, job.demos, strict=True):
            (folder / clip.name).write_bytes(gmr_bytes(robot, trajectory))
