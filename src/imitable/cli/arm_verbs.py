# SPDX-License-Identifier: MIT
"""The verb of arms, and its options. Nothing heavy is imported here, as in `verbs.py`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from imitable.cli.options import Common, CommonOptions


@dataclass(frozen=True)
class Play:
    """Play a policy on an arm, simulated or real, within safety limits; everything that happens becomes a demonstration.

    Example: imitable play run --driver franky:address=172.16.0.2 --dry-run
    """

    policy: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="POLICY")]
    """Policy file, or the folder of one run."""
    robot: str | None = None
    """The arm, ROBOT[:KEY=VALUE[,KEY=VALUE…]]. Default: the one that the policy is of."""
    driver: str = "sim"
    """sim, franky[:KEY=VALUE…], or the dotted name of a driver of yours; franky:help lists the keys."""
    remote: bool = False
    """Let the driver franky connect to an address outside private networks."""
    episodes: int = 1
    """How many."""
    dry_run: bool = False
    """Connect to nothing: print every command that would leave, and take it as carried out."""
    slowdown: float = 1.0
    """Times the robot's control period that the arm is given for an action."""
    speed: float = 1.0
    """Part of the arm's own joint speeds that commands may use."""
    tool_speed: float = 0.5
    """Highest speed of the tool, in m/s."""
    box: tuple[float, float, float, float, float, float] = (0.1, -0.4, 0.0, 1.0, 0.4, 0.9)
    """Where the tool may be, in metres from the base: lowest x y z, highest x y z."""
    clearance: float = 0.01
    """Metres to everything that the robot's model knows of."""
    out: Path = Path("log")
    """Folder to write, a LeRobot v3 dataset; LOG.journal.jsonl beside it grows with every command and reading."""
    resume: bool = False
    """Play what is missing of an interrupted log, with the same settings."""
    overwrite: bool = False
    """Replace an existing output."""
    common: CommonOptions = Common()
