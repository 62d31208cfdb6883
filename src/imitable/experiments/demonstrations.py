# SPDX-License-Identifier: MIT
"""Demonstrations and weights of the experiments: recorded and scored once, shared by the cases that need them."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from imitable.demos.collect import collect
from imitable.demos.store import read, write
from imitable.demos.waypoints import mode_counts, waypoint_demonstrations
from imitable.experiments.cases import DEMO_SEED, LearningCase, Recording
from imitable.feasibility.score import score, subset, weigh
from imitable.feasibility.score_files import read_scores
from imitable.files import Output
from imitable.policies.shipped import folder, policy_for
from imitable.robots.parse import parse_robot
from imitable.sim.babble import babble
from imitable.sim.task import Locomotion
from imitable.types import Demonstrations, Policy, Weights

BABBLED = 500
"""Control steps of a babbled demonstration."""


def demos_folder(runs: Path, recording: Recording) -> Path:
    """Return where demonstrations lie: named by body, number, seed and policy, so that two policies never share a folder."""
    body = recording.body.replace(":", "_").replace("=", "").replace("/", "_")
    seed = "" if recording.seed == DEMO_SEED else f"-seed{recording.seed}"
    policy = _policy_hash(recording.body, recording.setting, recording.policies, folder())
    return runs / "demos" / f"{body}-{recording.count}-{policy}{seed}"


@cache
def _policy_hash(body: str, setting: str, policies: str, shipped: Path) -> str:
    """Return a short hash of the policy that demonstrates; `shipped` is where policies lie.

    Without one, `babble`; an arm is led by way points, whose paths are part of the code.
    """
    del shipped  # of two places, the same name may be two policies
    if parse_robot(body).tool is not None:
        return "waypoints"
    policy = _policy(Recording(body, 1, setting, policies=policies))
    return policy.hash[:8] if policy else "babble"


def record_demonstrations(runs: Path, recording: Recording) -> None:
    """Record demonstrations, unless they are there: of the shipped demonstrator, or, of a robot without one, of babble.

    An arm is led by way points.
    """
    out, robot, policy = demos_folder(runs, recording), parse_robot(recording.body), _policy(recording)
    if out.exists():
        return
    if robot.tool is not None:
        counts = mode_counts(robot, recording.count)
        write(out, robot.layout, waypoint_demonstrations(robot, counts, recording.seed), arm=robot)
    elif policy is None:
        write(out, robot.layout, babble(robot, recording.count, BABBLED, recording.seed))
    else:
        write(out, robot.layout, collect(Locomotion(robot), policy, recording.count, recording.seed))


def distinct(runs: Path, recordings: Iterable[Recording]) -> list[Recording]:
    """Return one recording a folder: two settings may share a body's demonstrator."""
    return list({demos_folder(runs, recording): recording for recording in sorted(recordings)}.values())


def recorded(runs: Path, recordings: Iterable[Recording]) -> Demonstrations:
    """Return the recorded demonstrations of some bodies as one set."""
    return read(*(demos_folder(runs, recording) for recording in recordings))


def _policy(recording: Recording) -> Policy | None:
    robot = parse_robot(recording.body)
    return policy_for(robot, recording.setting, recording.policies) if robot.family.rules else None


def scores_file(runs: Path, case: LearningCase) -> Path:
    """Return the score file of a case's demonstrations: one a setting."""
    return runs / "scores" / f"{case.name.split('.')[0]}.parquet"


def score_demonstrations(runs: Path, case: LearningCase) -> None:
    """Score a case's demonstrations by `direct`, unless that is done."""
    out = Output(scores_file(runs, case), resume=True)
    score(recorded(runs, case.recordings), case.imitator, "direct", DEMO_SEED, out=out)


def weights_of(runs: Path, case: LearningCase, demos: Demonstrations) -> Weights | None:
    """Return the weights of a case's demonstrations by its score file; None if they are not weighted."""
    if not case.weighted:
        return None
    scores = read_scores(scores_file(runs, case))
    return weigh(subset(scores, [episode.hash for episode in demos.episodes]), keep="all").weights
