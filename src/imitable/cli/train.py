# SPDX-License-Identifier: MIT
"""`imitable train`: an expert for a robot."""

import math
import time
from dataclasses import replace
from pathlib import Path

from imitable.cli.console import bar, document, say, table
from imitable.cli.method_help import helped
from imitable.cli.verbs import Train
from imitable.command_text import command
from imitable.errors import BadOption, CannotResume, OutputExists
from imitable.files import check_free, check_modes, check_writable, keeping, locked
from imitable.policies.files import load_policy, save_policy
from imitable.policies.shipped import policy_for
from imitable.rl.expert import Execution, Expert, Goal, Start, Stopping, check_settings, train
from imitable.rl.progress import Progress
from imitable.rl.settings import Method, method
from imitable.robots.family import NOISE
from imitable.robots.parse import parse_robot, with_knobs
from imitable.robots.robot import Robot
from imitable.sim.disturbance import Pushes
from imitable.sim.own_task import own_task
from imitable.sim.task import Free, Locomotion, Task
from imitable.types import Policy


def run(verb: Train) -> None:
    """Carry out the verb."""
    if helped(verb.common, verb.method, method):
        return
    task, learner = _task(verb), method(verb.method)
    _check_numbers(verb)
    start = _start(verb, task)
    check_settings(task, learner, verb.steps, start.begin)
    check_writable(verb.out)
    checkpoint = verb.out.with_name(verb.out.name + ".checkpoint")
    with locked(verb.out):
        _check_output(verb, checkpoint)
        say(verb.common, f"{task.robot}: at most {verb.steps:,} steps of {verb.method}; checkpoints in {checkpoint}")
        with keeping(checkpoint):
            expert = _trained(verb, task, learner, start, checkpoint)
            save_policy(expert.policy, verb.out)
        checkpoint.unlink(missing_ok=True)
    _report(verb, expert)


def _trained(verb: Train, task: Task, learner: Method, start: Start, checkpoint: Path) -> Expert:
    """Train under a bar; an interruption says what is left to go on from."""
    stopping = Stopping(
        goal=None if verb.goal is None else Goal(verb.goal),
        look_steps=verb.look_every,
        tolerance=verb.tolerance,
        deviation=verb.deviation,
        episodes=verb.episodes,
    )
    started = time.monotonic()
    with bar(verb.common, verb.steps, "training") as shown:

        def on_progress(progress: Progress) -> None:
            rate = progress.steps / (time.monotonic() - started)
            shown.move_to(progress.steps, f"return {progress.mean_return:,.0f}  {rate:,.0f} steps/s")

        execution = Execution(
            checkpoint=checkpoint,
            checkpoint_every_s=verb.checkpoint_every,
            resume=verb.resume and checkpoint.exists(),
            threads=verb.common.threads,
            on_progress=on_progress,
        )
        try:
            return train(task, learner, verb.steps, verb.common.seed, start, stopping, execution)
        except KeyboardInterrupt:
            saved = f"The last checkpoint is kept: the same command with --resume goes on from {checkpoint}."
            raise KeyboardInterrupt(
                saved if checkpoint.exists() else "Nothing was kept: there was no checkpoint yet."
            ) from None


def _task(verb: Train) -> Task:
    task = own_task(parse_robot(verb.spec))
    # a body without a task is refused with what locomotion says of it
    return Locomotion(task.robot) if isinstance(task, Free) else task


def _start(verb: Train, task: Task) -> Start:
    """Return what training begins with: the same body from other starts, at a pace, with noisy actuators, pushed."""
    robot = task.robot
    if verb.practice_noise:
        noise = NOISE.parse(robot.family.name, str(verb.practice_noise))
        robot = with_knobs(robot.family, dict(robot.values) | {NOISE.name: noise})
    return Start(
        _practice(verb, task, robot),
        _begin(verb.begin),
        None if verb.practice_pushes is None else Pushes(*verb.practice_pushes),
        verb.practice_staggered,
    )


def _practice(verb: Train, task: Task, robot: Robot) -> Task:
    """Return the task that it learns on."""
    asked = (verb.headings, verb.practice_pace, verb.practice_effort, verb.practice_length)
    if isinstance(task, Locomotion):
        headings, pace, effort, length = asked
        return replace(task, robot=robot, headings=headings, pace=pace, effort=effort, length=length)
    if asked != (None, None, 0.0, None):
        raise BadOption("--headings or --practice-…", asked, "they are for bodies that run; leave them out for an arm")
    return own_task(robot)


def _check_numbers(verb: Train) -> None:
    if verb.look_every < 1:
        raise BadOption("--look-every", verb.look_every, "give a number above 0")
    if verb.deviation is not None and not verb.deviation > 0:
        raise BadOption("--deviation", verb.deviation, "give a fraction above 0, such as 0.05")
    if verb.episodes < 1:
        raise BadOption("--episodes", verb.episodes, "give a number above 0")
    if not verb.tolerance > 0:
        raise BadOption("--tolerance", verb.tolerance, "give a fraction above 0, such as 0.05")
    if verb.goal is not None and not math.isfinite(verb.goal):
        raise BadOption("--goal", verb.goal, "give a number")


def _check_output(verb: Train, checkpoint: Path) -> None:
    check_modes(resume=verb.resume, overwrite=verb.overwrite)
    check_free(verb.out, overwrite=verb.overwrite or verb.resume, resume=True)
    if verb.resume and not checkpoint.exists():
        if verb.out.exists():
            raise CannotResume(str(verb.out), "it is complete")
        say(verb.common, "no checkpoint yet: starting from the beginning")
    if checkpoint.exists() and not (verb.resume or verb.overwrite):
        raise OutputExists(str(checkpoint), resume=True)


def _begin(text: str | None) -> Policy | None:
    if text is None:
        return None
    robot, _, set_name = text.partition("@")
    return load_policy(text) if Path(text).is_file() else policy_for(parse_robot(robot), set_name=set_name or "a")


def _report(verb: Train, expert: Expert) -> None:
    mean, sampled = expert.mean.summary(), expert.sampled.summary()
    table(
        verb.common,
        f"{verb.spec} after {expert.steps:,} steps ({'goal reached' if expert.reached_goal else 'budget spent'})",
        ("actions", *mean),
        [("mean", *mean.values()), ("sampled", *sampled.values())],
    )
    say(verb.common, f"next: {command('collect', [verb.spec], {'policy': verb.out, 'out': 'demos'})}")
    document(
        verb.common,
        {
            "robot": str(parse_robot(verb.spec)),
            "policy": str(verb.out),
            "steps": expert.steps,
            "reached_goal": expert.reached_goal,
            "mean_actions": mean,
            "sampled_actions": sampled,
            "log_std": [round(float(x), 3) for x in expert.policy.log_std],
        },
    )
