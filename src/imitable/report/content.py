# SPDX-License-Identifier: MIT
"""What the page says, as plain data: score files, run folders and reproductions, told apart and read."""

import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from imitable.errors import BadOption
from imitable.feasibility.score_files import read_scores
from imitable.feasibility.scores import Scores
from imitable.imitation.run_folder import RunFolder, runs_in
from imitable.report.detail import DETAILED
from imitable.report.policies import policies
from imitable.report.reproduced import Reproduction, reproduced, reproduction_at
from imitable.report.scored import scored

SCHEMA = 1


def content(
    paths: Sequence[Path],
    *,
    explain: int,
    threads: int = 1,
    command: str = "",
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Any]:
    """Return everything on the page; `explain` demonstrations a score file are followed on other bodies, which simulates."""
    files, runs, reproductions = _read(paths)
    names = ("imitable", "mujoco", "numpy")
    detailed = max(1, DETAILED // max(1, len(files)))
    return {
        "schema": SCHEMA,
        "scores": [
            scored(path, scores, detailed=detailed, explain=explain, threads=threads, on_progress=on_progress)
            for path, scores in files
        ],
        "policies": policies(runs, [scores for _, scores in files]),
        "reproductions": [reproduced(one) for one in reproductions],
        "provenance": [
            ("page", command or "imitable.write_report"),
            ("versions", ", ".join([*(f"{name} {version(name)}" for name in names), f"Python {sys.version.split()[0]}"])),
        ],
    }


def _read(paths: Sequence[Path]) -> tuple[list[tuple[Path, Scores]], list[tuple[Path, list[RunFolder]]], list[Reproduction]]:
    """Read all paths before anything is computed, so that a bad one is refused at once."""
    if not paths:
        raise BadOption("PATH", "(none)", "name score files (scores.parquet) or run folders, one is enough")
    files: list[tuple[Path, Scores]] = []
    runs: list[tuple[Path, list[RunFolder]]] = []
    reproductions: list[Reproduction] = []
    for path in dict.fromkeys(paths):
        if not path.is_dir():
            files.append((path, read_scores(path)))
        elif (found := reproduction_at(path)) is not None:
            reproductions.append(found)
        else:
            runs.append((path, runs_in(path)))
    return files, runs, reproductions
