# SPDX-License-Identifier: MIT
"""Paths of the arm's tool, for pictures: demonstrated ones, and what the policies of the experiment `arm` do.

python -m imitable.experiments.arm_paths --runs runs writes results/arm_paths.json from the run folders that are there.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from imitable.evaluation.returns import EVALUATION_SEED, play
from imitable.experiments.catalogue import PAPER
from imitable.experiments.cells import Terms, cells_of
from imitable.experiments.protocol import read_protocol
from imitable.experiments.records import write_record
from imitable.experiments.store import Store
from imitable.imitation.run_folder import RunFolder
from imitable.sim.reach import Reach
from imitable.types import Trajectory

EPISODES = 10
"""Evaluated episodes of every row that are drawn, of the first seed."""

Path3 = tuple[tuple[int, int, int], ...]
"""Places of a tool, millimetres."""


@dataclass(frozen=True)
class ArmPaths:
    """Paths by who went them."""

    demonstrated: dict[str, tuple[Path3, ...]]
    """By demonstrator."""
    imitated: dict[str, tuple[Path3, ...]]
    """By row."""


def arm_paths(runs: Path, protocol: Path) -> ArmPaths:
    """Play the first episodes of the evaluation again, with the policies that are there."""
    [experiment] = [one for one in PAPER if one.name == "arm"]
    store, demonstrated, imitated = Store(runs), dict[str, list[Path3]](), dict[str, tuple[Path3, ...]]()
    for cell in cells_of([experiment], Terms(read_protocol(protocol), seeds=1)):
        folder = RunFolder(store.run(cell.job))
        if not folder.path.exists() or not folder.complete:
            continue
        task = Reach(folder.imitator)
        played = play(task, folder.policy, EPISODES, EVALUATION_SEED)
        imitated[cell.row] = tuple(_path(task, one) for one in played)
        if not demonstrated:
            for one in store.read(cell.job.demos, cell.job.imitator, cell.job.seed):
                demonstrated.setdefault(one.demonstrator, []).append(_path(task, one))
    return ArmPaths({name: tuple(paths) for name, paths in demonstrated.items()}, imitated)


def _path(task: Reach, trajectory: Trajectory) -> Path3:
    places = np.round(1000 * task.tools(trajectory.states)).astype(int).tolist()
    return tuple((x, y, z) for x, y, z in places)


def main() -> None:
    """Write the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("--results", type=Path, default=Path("results"))
    options = parser.parse_args()
    write_record(options.results / "arm_paths.json", arm_paths(options.runs, options.results / "protocol.json"))


if __name__ == "__main__":
    main()
