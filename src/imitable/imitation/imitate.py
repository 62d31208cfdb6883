# SPDX-License-Identifier: MIT
"""The verb `imitate`: a policy of the imitator from weighted demonstrations."""

from pathlib import Path
from typing import overload

from imitable.files import Output, check_apart
from imitable.imitation.gaits import gait_distances, gait_remark
from imitable.imitation.learner import Learner
from imitable.imitation.methods import parse_learner
from imitable.imitation.run import Imitated, Run, carry_out, check_input
from imitable.imitation.seeds import imitate_seeds, runs_of
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.types import Demonstrations, Weights
from imitable.user_code import allow

DEFAULT = Run()


@overload
def imitate(
    demos: Demonstrations,
    imitator: Robot | str,
    method: Learner | str = "gaifo",
    weights: Weights | None = None,
    *,
    seeds: None = None,
    run: Run = DEFAULT,
    out: str | Path | Output | None = None,
) -> Imitated: ...


@overload
def imitate(
    demos: Demonstrations,
    imitator: Robot | str,
    method: Learner | str = "gaifo",
    weights: Weights | None = None,
    *,
    seeds: int,
    run: Run = DEFAULT,
    out: str | Path | Output | None = None,
) -> tuple[Imitated, ...]: ...


def imitate(
    demos: Demonstrations,
    imitator: Robot | str,
    method: Learner | str = "gaifo",
    weights: Weights | None = None,
    *,
    seeds: int | None = None,
    run: Run = DEFAULT,
    out: str | Path | Output | None = None,
) -> Imitated | tuple[Imitated, ...]:
    """Learn a policy of the imitator from the states of demonstrations.

    Args:
        demos: the set; its actions are never looked at, except by `cloning`, which wants the imitator's own.
        imitator: the robot that shall imitate, or its text.
        method: a learner, or its text: gaifo, warm-start, sail, cloning, dcc, or the dotted name of a class of yours.
        weights: probability mass of every demonstration (`scores.weights`); None: every transition counts the same.
        seeds: so many runs, of seeds from `run.seed` on, in worker processes; their results come in a tuple.
        run: steps, seed, evaluation, threads.
        out: run folder to write; of several seeds, the folder of their folders `seed-0`, `seed-1`, … An `Output` may go on
            with an interrupted run (a complete one is read) or replace it, and names who is told how far it is.
    """
    robot = parse_robot(imitator) if isinstance(imitator, str) else imitator
    allow(method, run.reward)
    learner = parse_learner(method) if isinstance(method, str) else method
    check_input(demos, robot, learner, weights, run)
    output = Output.of(out)
    if output.path is not None:
        check_apart(output.path, (episode.source for episode in demos.episodes))
    if remark := gait_remark(gait_distances(demos, robot, weights), weights):
        output.observer.say(f"! {remark}")
    if seeds is None:
        return carry_out(demos, robot, learner, weights, run, output)
    return imitate_seeds(demos, robot, learner, weights, runs_of(run, seeds), output)
