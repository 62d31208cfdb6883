# SPDX-License-Identifier: MIT
"""The verbs and their options. Nothing heavy is imported here, so that `imitable --help` answers at once."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from imitable.cli.arm_verbs import Play
from imitable.cli.data_verbs import Convert, Export
from imitable.cli.experiment_verbs import Merge, Reproduce
from imitable.cli.options import Common, CommonOptions


@dataclass(frozen=True)
class Robots:
    """List the robots, or every knob of one.

    Example: imitable robots hopper:gravity=15
    """

    spec: Annotated[str | None, tyro.conf.Positional, tyro.conf.arg(metavar="SPEC")] = None
    """Robot, path of an MJCF or URDF file, Gymnasium MuJoCo environment (Ant-v5) or menagerie:NAME (in $MENAGERIE_ROOT), with
    knobs: ROBOT[:KEY=VALUE[,KEY=VALUE…]]. A * in KEY means all knobs that fit,
    strength.*=0.3; a % in VALUE is of the default, mass.*=90%; what follows wins over it."""
    common: CommonOptions = Common()


@dataclass(frozen=True)
class Train:
    """Train an expert for a robot.

    Example: imitable train hopper:gravity=15 --steps 2000000 --out policy.safetensors
    """

    spec: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SPEC")]
    """Robot to train: ROBOT[:KEY=VALUE[,KEY=VALUE…]]."""
    out: Path = Path("policy.safetensors")
    """Policy file to write."""
    method: str = "ppo"
    """Learner and its settings: ppo or trpo[:KEY=VALUE…]; ppo:help lists the keys."""
    steps: int = 1_000_000
    """Control steps to learn from, at most."""
    goal: float | None = None
    """Stop early when 20 episodes with mean actions return this much on average, and none below 80 % of it."""
    headings: tuple[float, float] | None = None
    """Practise from headings between these two, in degrees (swimmer): some bodies must turn before they can swim forward."""
    look_every: int = 20_000
    """Steps between two looks whether the goal is reached."""
    practice_noise: float = 0.0
    """Practise with actuation noise of this deviation, in half control ranges."""
    practice_pushes: tuple[float, float] | None = None
    """Practise under pushes of 0.1 s: how many an episode, and up to how many newtons."""
    practice_pace: float | None = None
    """Practise for this speed, in metres a second: what is faster is taken off the pay, so the gait grows safer, not faster."""
    practice_effort: float = 0.0
    """Practise at this cost for each unit of squared actions, beside the task's own: with a pace, the gait that spares its
    motors wins, and shuffling and trembling do not pay."""
    practice_length: int | None = None
    """Practise in episodes of this many steps, so that starts, where most falls happen, are practised more often."""
    practice_staggered: bool = False
    """Cut the first episodes at random steps, so that every batch shows all parts of an episode (swimmer, half_cheetah)."""
    begin: str | None = None
    """Go on from this policy file, or from the shipped demonstrator of this robot; ROBOT@b means that of set b."""
    tolerance: float = 0.05
    """Reduce the exploration at the end until sampled and mean return agree within this fraction."""
    deviation: float | None = None
    """And until no sampled episode falls, and their returns deviate by at most this fraction of their mean."""
    episodes: int = 100
    """Episodes of the final evaluation."""
    checkpoint_every: float = 60.0
    """Seconds between two checkpoints."""
    resume: bool = False
    """Continue an interrupted run from its checkpoint, to the same result."""
    overwrite: bool = False
    """Replace an existing output."""
    common: CommonOptions = Common()


@dataclass(frozen=True)
class Collect:
    """Record demonstrations with shipped demonstrators, or with a policy of yours.

    Example: imitable collect hopper:gravity=20 hopper --episodes 50,500 --out demos
    """

    specs: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="SPEC…")]
    """Robots to record: ROBOT[:KEY=VALUE[,KEY=VALUE…]] …"""
    episodes: str = "50"
    """How many of each: N, or N,N,… in the order of the robots. Of an arm: over, left and right of what is in its way."""
    out: Path = Path("demos")
    """Folder to write, a LeRobot v3 dataset."""
    policy: Path | None = None
    """Policy file to record with, instead of the shipped demonstrators."""
    setting: str | None = None
    """The paper's setting that they are for, such as walker2d-2: some bodies have a demonstrator of their own there."""
    set: Literal["a", "b"] = "a"
    """Set of demonstrators: a has one for every body of the paper, b another, of another seed, for Swimmer and Hopper."""
    sampled: bool = False
    """Sample actions instead of taking their mean."""
    overwrite: bool = False
    """Replace an existing output."""
    common: CommonOptions = Common()


@dataclass(frozen=True)
class Inspect:
    """Show what is in a set of demonstrations.

    Example: imitable inspect demos
    """

    demos: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="DEMOS…")]
    """Folders, read as one set."""
    common: CommonOptions = Common()


@dataclass(frozen=True)
class Check:
    """Check demonstrations on your robot without simulating: torque, speed, range, contact, balance, jumps.

    Example: imitable check demos --imitator hopper:gravity=15
    """

    demos: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="DEMOS…")]
    """Folders, read as one set."""
    imitator: str
    """Your robot: ROBOT[:KEY=VALUE[,KEY=VALUE…]], or an MJCF file."""
    repair: Path | None = None
    """Folder to write the set to with joints inside their limits and starts on the ground."""
    overwrite: bool = False
    """Replace an existing folder of --repair."""
    common: CommonOptions = Common()


@dataclass(frozen=True)
class Score:
    """Score every demonstration: how closely can the imitator follow it?

    Example: imitable score demos --imitator half_cheetah:front=0.01
    """

    demos: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="DEMOS…")]
    """Folders, read as one set."""
    imitator: str
    """The robot that shall imitate: ROBOT[:KEY=VALUE[,KEY=VALUE…]], or an MJCF file."""
    method: str = "direct"
    """direct, trajectory, one-step, inverse-dynamics, transferability, neighbours[:KEY=VALUE…]; direct:help lists the keys."""
    effort: Literal["quick", "standard", "thorough", "whole"] | None = None
    """Of the method direct: quick (no plans), standard (plans where they may help) or thorough (for all). Of
    verdicts: whole (attempts at all of every demonstration, however long it is and whatever has failed)."""
    verdicts: Literal["motion", "share"] = "share"
    """motion: about the whole motion; share: thresholds on the share of a few windows, which is faster."""
    tolerance: str = ""
    """How far the robot may be from a demonstration: 2cm,0.1rad or position=25cm,tilt=0.8. Default: by the kind of robot."""
    distance: str = "standardised"
    """How two states are compared: standardised, l2, l1 or cosine."""
    entries: str = "all"
    """State entries that are compared: all (of the robot, without objects in its scene), rootless (no root position),
    everything (objects, too), or names joined by commas, with * for any characters."""
    discount: float | None = None
    """γ of the distance. Default: by time, exp(−period / 0.6 s)."""
    temperature: str = "auto"
    """How distances become scores and weights: auto, paper, arm, a number on the distance, share:NUMBER, or score:NUMBER."""
    rollouts: int = 1
    """Rollouts a demonstration on a robot with noise: the expected distance is their mean."""
    explain: int | None = None
    """Explain this one demonstration (its place in the set, from 0 on) instead of scoring all."""
    leave_out: str = ""
    """Places of demonstrations that are left out: 3,17,40-45."""
    skip_unfit: bool = False
    """Leave out demonstrations that cannot be judged, and name them, instead of refusing the set."""
    uncertain: str | None = None
    """Follow each demonstration on 16 plausible bodies, too, whose knobs are off by up to these parts, all that one name means
    together: mass.*=10%,friction.*=30%,strength.*=20%. Says on how many it is feasible, and which knob matters most."""
    shard: str | None = None
    """Score only the I-th of N parts of the set, I/N; imitable merge joins them."""
    models: Path | None = None
    """With --shard: what the method learned from the whole set, scores.parquet.models of a job without --shard."""
    fail_on: str = ""
    """Leave with exit code 3 if a rule holds: infeasible>0.2,score<0.5 (feasible, borderline, infeasible and
    unknown are fractions of the set)."""
    out: Path = Path("scores.parquet")
    """Score file to write; its steps go beside it. With --shard I/N the default is scores.I.parquet."""
    resume: bool = False
    """Go on with an interrupted job, or score only what is new in a grown set."""
    overwrite: bool = False
    """Replace an existing output."""
    common: CommonOptions = Common()


@dataclass(frozen=True)
class Weigh:
    """Turn distances into other scores and weights; nothing is simulated.

    Example: imitable weigh scores.parquet --temperature 5 --out scores2.parquet
    """

    scores: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="SCORES")]
    """Score file."""
    temperature: str | None = None
    """auto, paper, arm, a number, share:NUMBER, or score:NUMBER; default: as it was."""
    keep: str | None = None
    """What keeps a weight: all, feasible (demonstrations), feasible-segments (all but confirmed impossible spans), auto (the
    latter where there are spans), top:K, or the demonstrations of a demonstrator, by its name; default: as it was."""
    balance: Literal["auto", "none", "demonstrator"] | None = None
    """demonstrator: each weighs as its mean says, however many demonstrations it gave; none: as many as it gave; auto:
    demonstrator for the temperatures auto, share:NUMBER and score:NUMBER, none for published rules; default: as it was."""
    segments: bool = False
    """Let every segment of a demonstration weigh its own score; default: as it was."""
    out: Path = Path("weighted.parquet")
    """Score file to write."""
    overwrite: bool = False
    """Replace an existing output."""
    common: CommonOptions = Common()


@dataclass(frozen=True)
class Acquire:
    """Whom to ask for the next demonstrations, how many, and when to stop.

    Example: imitable acquire demos --imitator hopper:gravity=15 --budget 20 --cost hopper=2
    """

    demos: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="DEMOS…")] = ()
    """Folders, read as one set; not needed with --scores."""
    imitator: str | None = None
    """The robot that shall imitate; not needed with --scores."""
    scores: Path | None = None
    """Score file to read instead of scoring with direct."""
    budget: int = 10
    """Demonstrations that can be asked for."""
    cost: str = ""
    """Price of a demonstration, NAME=X,…; 1 for those not named."""
    by: str = "demonstrator"
    """Episode column that groups demonstrations."""
    draw: int | None = None
    """Draw every query independently with this seed, as the paper does. Default: divided in proportion."""
    common: CommonOptions = Common()


@dataclass(frozen=True)
class Imitate:
    """Learn a policy of the imitator from weighted demonstrations; their actions are not needed.

    Example: imitable imitate demos --imitator half_cheetah:front=0.01 --scores scores.parquet --seeds 3
    """

    demos: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="DEMOS…")]
    """Folders, read as one set."""
    imitator: str
    """The robot that shall imitate: ROBOT[:KEY=VALUE[,KEY=VALUE…]], or an MJCF file."""
    scores: Path | None = None
    """Score file whose weights are used; without one, every transition counts the same."""
    method: str = "gaifo"
    """gaifo, warm-start, sail, cloning, dcc[:KEY=VALUE…]; gaifo:help lists the keys, gaifo:preset=paper|trpo takes a preset."""
    steps: int = 1_000_000
    """Control steps to learn from."""
    seeds: int = 1
    """So many runs, of seeds from --seed on, one process each; RUN/seed-0, RUN/seed-1, …"""
    episodes: int = 100
    """Episodes of the evaluation at the end."""
    horizon: int | None = None
    """Steps of an episode of a robot without a task. Default: those of the longest demonstration."""
    reward: str | None = None
    """Count returns in the evaluation by this function, module.function; see imitable.evaluation.reward_function."""
    leave_out: str = ""
    """Places of demonstrations that are left out: 3,17,40-45."""
    out: Path = Path("run")
    """Folder of the runs to write."""
    checkpoint_every: float = 60.0
    """Seconds between two checkpoints."""
    resume: bool = False
    """Go on with interrupted runs, do only what is missing."""
    overwrite: bool = False
    """Replace existing runs."""
    common: CommonOptions = Common()


@dataclass(frozen=True)
class Evaluate:
    """Play episodes with the policies of a run, with mean and with sampled actions.

    Example: imitable evaluate run --episodes 100
    """

    run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """Folder that imitate wrote, of one seed or of all."""
    episodes: int = 100
    """Episodes of each policy."""
    reward: str | None = None
    """Count returns by this function, module.function. What a run's folder names is run only if it is given here, too; none
    leaves it out."""
    common: CommonOptions = Common()


@dataclass(frozen=True)
class Project:
    """Re-roll demonstrations on the imitator: a new set, with its own states and its own actions.

    Example: imitable project demos --imitator half_cheetah:front=0.01 --length 5 --pieces 27 --out projected
    """

    demos: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="DEMOS…")]
    """Folders, read as one set."""
    imitator: str
    """The robot that shall imitate: ROBOT[:KEY=VALUE[,KEY=VALUE…]], or an MJCF file."""
    scores: Path | None = None
    """Score file of these demonstrations: its weights go on to OUT.scores.parquet, and its rollouts are taken instead of
    simulating again, unless --length or --pieces asks for others."""
    length: int | None = None
    """Steps of a piece. Default: the whole demonstration, divided by --pieces."""
    pieces: int = 1
    """Pieces a demonstration: the first begins with it, the others are spread over the rest at random."""
    leave_out: str = ""
    """Places of demonstrations that are left out: 3,17,40-45."""
    out: Path = Path("projected")
    """Folder to write, a LeRobot v3 dataset."""
    overwrite: bool = False
    """Replace an existing output."""
    common: CommonOptions = Common()


@dataclass(frozen=True)
class Report:
    """Write one page of score files and runs: which demonstrations can be imitated, why the others fail, what was learned.

    Example: imitable report scores.parquet run --out report.html
    """

    paths: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="PATH…")]
    """Score files, run folders, and what `reproduce` left in OUT or in its folder of records; one is enough."""
    explain: int = 4
    """Demonstrations a score file that are followed on other bodies, too, which takes seconds each."""
    out: Path = Path("report.html")
    """HTML file to write; it needs no network."""
    overwrite: bool = False
    """Replace an existing output."""
    common: CommonOptions = Common()


@dataclass(frozen=True)
class Quickstart:
    """Run the main job end to end on a small scale: record demonstrations, score them, imitate them by weight, report.

    Example: imitable quickstart
    """

    out: Path = Path("quickstart")
    """Folder to write."""
    overwrite: bool = False
    """Replace an existing output."""
    common: CommonOptions = Common()


@dataclass(frozen=True)
class Completion:
    """Print a script that completes verbs and options in your shell.

    Example: imitable completion bash
    """

    shell: Annotated[Literal["bash", "zsh", "fish"], tyro.conf.Positional]
    """Your shell."""
    common: CommonOptions = Common()


_Data = Robots | Train | Collect | Convert | Inspect | Check | Score | Merge | Weigh
_Results = Acquire | Imitate | Evaluate | Play | Project | Export | Reproduce | Report | Quickstart | Completion
Verb = _Data | _Results

VERBS: dict[str, type[Verb]] = {
    "robots": Robots,
    "train": Train,
    "collect": Collect,
    "convert": Convert,
    "inspect": Inspect,
    "check": Check,
    "score": Score,
    "merge": Merge,
    "weigh": Weigh,
    "acquire": Acquire,
    "imitate": Imitate,
    "evaluate": Evaluate,
    "play": Play,
    "project": Project,
    "export": Export,
    "reproduce": Reproduce,
    "report": Report,
    "quickstart": Quickstart,
    "completion": Completion,
}
"""Verbs by their names on the command line; the module of the same name carries one out."""
