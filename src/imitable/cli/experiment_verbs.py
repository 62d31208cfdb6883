# SPDX-License-Identifier: MIT
"""The verbs of experiments and clusters, and their options. Nothing heavy is imported here, as in `verbs.py`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from imitable.cli.options import Common, CommonOptions


@dataclass(frozen=True)
class Merge:
    """Join the score files of all shards of one job (score --shard I/N) into one.

    Example: imitable merge scores.1.parquet scores.2.parquet --out scores.parquet
    """

    scores: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="SCORES…")]
    """Score files, one a shard, in any order."""
    out: Path = Path("scores.parquet")
    """Score file to write; its steps go beside it."""
    overwrite: bool = False
    """Replace an existing output."""
    common: CommonOptions = Common()


@dataclass(frozen=True)
class Reproduce:
    """Run the paper's experiments and our own; alone, list them. What is done is skipped, what was interrupted goes on.

    Example: imitable reproduce mujoco/swimmer/ours --seeds 3 --out runs
    """

    experiments: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="EXPERIMENT[/SETTING[/ROW]]…")] = ()
    """What to run; * stands for all settings, `all` for every experiment of the paper."""
    methods: tuple[str, ...] = ()
    """Scorers of yours, each a further row: NAME[:KEY=VALUE…] or a dotted name."""
    learners: tuple[str, ...] = ()
    """Learners that development and related compare: NAME[:KEY=VALUE…]. Default: those of the protocol."""
    seeds: int = 5
    """Seeds of the rows that claims are about, at most five; all others have two fewer, and one at least."""
    scale: float = 1.0
    """Part of the demonstrations, steps and episodes, for trials."""
    workers: int = 0
    """Processes of one thread each, or, on a cluster, pieces at once. Default: one a core."""
    executor: Literal["local", "ray"] = "local"
    """Who runs them: processes here, or a Ray cluster."""
    address: str | None = None
    """Of the Ray cluster. Default: RAY_ADDRESS, else one is started here."""
    dry_run: bool = False
    """Say what is done, what is left and how long it takes, and run nothing."""
    protocol: Path = Path("results/protocol.json")
    """What is fixed: learners, weight rule, steps, seeds, evaluation. Default, if there is none: this version's."""
    records: Path | None = None
    """Folder of the cells' small records. Default: OUT/records."""
    out: Path = Path("runs")
    """Folder of demonstrations, scores and runs, shared by all experiments."""
    common: CommonOptions = Common()
