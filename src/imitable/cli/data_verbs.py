# SPDX-License-Identifier: MIT
"""The verbs that meet other people's files, and their options. Nothing heavy is imported here, as in `verbs.py`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from imitable.cli.options import Common, CommonOptions


@dataclass(frozen=True)
class Convert:
    """Turn data of another format, rate, unit or joint order into demonstrations of a robot.

    Example: imitable convert clips demos --imitator g1.xml --label file
    """

    source: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SRC")]
    """LeRobot v3/v2.1/v2.0 or Minari folder (or local Minari id), robomimic HDF5, .npz, .csv or .parquet files, the paper's
    pickles, motion clips (LAFAN1 CSV, GMR pickles, BeyondMimic, mjlab or holosoma .npz); it is never changed."""
    out: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DST")]
    """Folder to write, a LeRobot v3 dataset with mapping.json in it."""
    imitator: str | None = None
    """Robot whose states they shall be: ROBOT[:KEY=VALUE…], or an MJCF file. Not needed for data that are whole states."""
    format: str | None = None
    """lerobot, minari, robomimic, npz, csv, parquet, lafan1, gmr, beyondmimic, holosoma, paper. Default: by the files."""
    map: Path | None = None
    """mapping.json of an earlier conversion, or its folder, to use again."""
    state: str = ""
    """Columns of the whole state, positions first, or of the positions alone: observation.state[0:18]."""
    qpos: str = ""
    """Columns of the positions in the robot's order: arm[0:7],gripper[0]."""
    qvel: str = ""
    """Columns of the velocities, likewise. Default: differentiated."""
    action: str = ""
    """Columns of the controls in the order of the actuators. Default: a column with their names, else none."""
    pose: str = ""
    """Columns of a tool's pose, for data without joints: x, y, z and perhaps a quaternion. The imitator's --site goes there."""
    names: str = ""
    """Joints by their names in the data: THEIRS=OURS,…; what is not named is proposed."""
    fixed: str = ""
    """Joints that the data lack, NAME,…: they stay at the robot's start."""
    unit: str = "rad"
    """Unit of angles: rad, deg, range_m100_100 or range_0_100 (LeRobot's); deg,gripper=range_0_100 for single joints. Of the
    places of --pose: m, cm or mm."""
    quaternion: Literal["auto", "wxyz", "xyzw"] = "auto"
    """Order of rotations; auto: that of the format, else tried on the robot."""
    angular: Literal["auto", "local", "world"] = "auto"
    """Frame of a root's angular velocity; auto: that of the format, else the one that agrees with the rotations."""
    differentiate: Literal["auto", "never", "always"] = "auto"
    """Whether velocities come from positions; auto: where the data's are missing or do not agree."""
    fps: float | None = None
    """Frames a second, where the data do not say or are wrong."""
    beyond_range: bool = False
    """Take joints that leave the robot's range by far as they are; approach poses that are far out of reach."""
    label: str | None = None
    """Name of the demonstrator; file: every recording its own. Default: what the data say, else the robot type or folder."""
    demonstrator: str | None = None
    """The arm that the data are of, if it is not the imitator (ROBOT or MJCF file): its hand, --site, is followed."""
    site: str | None = None
    """Site that stands for the hand: with --demonstrator in both models, with --pose in the imitator's."""
    base: str = "0,0,0,0"
    """Where the other arm's base, or the frame of --pose, stands in the imitator's world: x,y,z,yaw in metres and radians."""
    resume: bool = False
    """Go on with an interrupted conversion."""
    overwrite: bool = False
    """Replace an existing output."""
    common: CommonOptions = Common()


@dataclass(frozen=True)
class Export:
    """Write scores and weights in the form that a trainer opens; demonstrations and score file stay as they are.

    Example: imitable export demos scores.parquet --to lerobot-weights --out weights
    """

    demos: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DEMOS")]
    """Folder of the scored demonstrations."""
    scores: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="SCORES")]
    """Score file."""
    to: Literal["csv", "lerobot", "lerobot-weights", "motions-yaml", "minari", "robomimic", "lafan1", "gmr", "holosoma"]
    """Form to write; the last three are movements alone, as motion clips."""
    out: Path
    """File (csv, motions-yaml, robomimic) or folder (the others) to write."""
    dataset: Path | None = None
    """For lerobot and lerobot-weights: the dataset that the trainer opens, if DEMOS was converted from it."""
    floor: float = 0.01
    """Frames that weigh less than this part of the heaviest weigh exactly nothing."""
    chunk_size: int = 50
    """For lerobot-weights: frames ahead that LeRobot's weighter looks, the policy's chunk size."""
    bins: int = 10
    """For robomimic: bins of weights."""
    leave_out: str = ""
    """Places of demonstrations that are left out: 3,17,40-45."""
    overwrite: bool = False
    """Replace an existing output."""
    common: CommonOptions = Common()
