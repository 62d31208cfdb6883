# SPDX-License-Identifier: MIT
"""Make the motions of a robot: one dataset per imitator, and a sidecar with what is known of each motion."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np

import imitable as im
from imitable.seeding import generator
from studies.truth.arms import Arm, Made, made_impossible
from studies.truth.body import Body
from studies.truth.floating import SPLICES, Floating
from studies.truth.motion import Label, Motion, Truth, read_truths, write_truths
from studies.truth.recorder import RECORDERS, recorded
from studies.truth.robots import Entry
from studies.truth.scenes import data, robot_text
from studies.truth.tool_arm import PLANAR, ToolArm

EACH = 66
"""Feasible and impossible motions per robot."""

KNOBBED = 0.09
"""Part of the feasible motions that each knobbed imitator makes itself."""

ARM_PARTS = {"torque": 0.4, "strength": 0.16, "mass": 0.16, "speed": 0.12, "range": 0.16}
"""How an arm's impossible motions are divided; what one way cannot make, those after it make instead."""

HOPELESS, TRIES = 25, 10
"""Tries without any impossible motion, and tries per motion, after which a way is given up."""

WEAK = 0.25
"""Weak motions that are kept, as a part of the impossible ones."""


def folder(robot: Entry) -> Path:
    """Return where a robot's motions are."""
    return data() / "motions" / robot.name


def make(robot: Entry, each: int = EACH, seed: int = 0) -> list[Truth]:
    """Make a robot's motions, or read those that are there."""
    target = folder(robot)
    if (target / "truth.json").is_file():
        return read_truths(target / "truth.json")[0]
    notes: list[str] = []
    ways = _tool_motions if robot.drive == "tool paths" else _floating_motions if robot.kind == "legged" else _arm_motions
    motions = list(ways(robot, each, seed, notes))
    part = target.with_name(f".{robot.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    truths: list[Truth] = []
    for group in dict.fromkeys(motion.truth.group for motion in motions):
        members = [motion for motion in motions if motion.truth.group == group]
        layout = im.robot(robot_text(robot)).layout
        trajectories = (im.Trajectory(motion.states, motion.truth.name) for motion in members)
        im.write(part / group, layout, trajectories, task=f"truth suite: {robot.name}, {group}")
        truths += [replace(motion.truth, index=index) for index, motion in enumerate(members)]
    write_truths(part / "truth.json", truths, notes)
    shutil.rmtree(target, ignore_errors=True)
    part.rename(target)
    return truths


def _arm_motions(robot: Entry, each: int, seed: int, notes: list[str]) -> Iterator[Motion]:
    arm = Arm(robot, seed)
    knobbed = max(1, round(KNOBBED * each))
    kinds = [kind for kind in ARM_PARTS if kind != "torque"]
    yield from _feasible(robot, "", arm.body, lambda i: arm.own(i), each - knobbed * len(kinds), seed)
    for kind in kinds:
        knob = arm.knobs[kind]
        yield from _feasible(robot, knob, arm.body, lambda i, knob=knob: arm.own(i, knob), knobbed, seed, group=kind)
    missing = 0
    for kind, part in ARM_PARTS.items():
        knob, group = (arm.knobs[kind], kind) if kind in arm.knobs else ("", "base")
        count = max(1, round(part * each)) + missing
        made = list(_impossible(robot, group, knob, kind, made_impossible(arm, kind), count, notes))
        missing = count - sum(motion.truth.label == "impossible" for motion in made)
        yield from made


def _floating_motions(robot: Entry, each: int, seed: int, notes: list[str]) -> Iterator[Motion]:
    body = Floating(robot, seed)
    yield from _feasible(robot, "", body.body, body.own, each, seed)
    kinds, missing = [*body.knobs, *(kind for kind in SPLICES if body.can(kind))], 0
    for kind in sorted(kinds, key=lambda kind: kind == "jump"):  # every body can
        group, knob = (kind, body.knobs[kind]) if kind in body.knobs else ("base", "")
        count = -(-each // len(kinds)) + missing
        made = list(_impossible(robot, group, knob, kind, body.spliced(kind), count, notes))
        missing = count - sum(motion.truth.label == "impossible" for motion in made)
        yield from made


def _tool_motions(robot: Entry, each: int, seed: int, notes: list[str]) -> Iterator[Motion]:
    arm = ToolArm(robot, seed)
    knobbed = max(1, round(KNOBBED * each))
    yield from _feasible(robot, "", arm.body, arm.own, each - knobbed, seed)
    yield from _feasible(robot, PLANAR, arm.body, lambda i: arm.own(i, PLANAR), knobbed, seed, group="plane")
    for kind in ("plane", "hurry", "cut"):
        knob, group = (PLANAR, kind) if kind == "plane" else ("", "base")
        yield from _impossible(robot, group, knob, kind, arm.impossible(kind), -(-each // 3), notes)


def _feasible(
    robot: Entry, knob: str, body: Body, own: Callable[[int], Made], count: int, seed: int, group: str = "base"
) -> Iterator[Motion]:
    """Give the motions that a body makes itself; every other one as a recorder delivers it."""
    for index in range(count):
        made, made_as, recorder = own(index), "own", ""
        states, rng = made.states, generator(seed, "truth", robot.name, "recorder", group, index)
        if index % 2 and made.fine is not None:
            for one in RECORDERS[(index // 2) % len(RECORDERS) :] + RECORDERS:
                delivered = recorded(body, made.fine, one, rng)
                if delivered is not None:
                    states, made_as, recorder = delivered, "recorded", str(one)
                    break
        name = f"{robot.name}/{group}-own/{index:03d}"
        yield Motion(Truth(name, robot.name, group, knob, 0, "feasible", made_as, recorder=recorder, use=made.use), states)


def _impossible(
    robot: Entry, group: str, knob: str, kind: str, source: Iterator[Made | None], count: int, notes: list[str]
) -> Iterator[Motion]:
    """Give motions of one kind, until there are enough that are impossible by at least the tolerance."""
    enough, weak, tried = 0, 0, 0
    for made in islice(source, TRIES * count):
        tried += 1
        if tried > HOPELESS and not enough:
            break
        if made is None:
            continue
        label: Label = "impossible" if made.magnitude >= 1 else "weak"
        if label == "weak" and weak >= WEAK * count:
            continue
        enough, weak = enough + (label == "impossible"), weak + (label == "weak")
        name = f"{robot.name}/{kind}/{enough + weak - 1:03d}"
        assert np.isfinite(made.states).all(), name
        known = Truth(
            name, robot.name, group, knob, 0, label, kind, made.part, made.span, made.magnitude, made.amount, made.unit
        )
        yield Motion(known, made.states)
        if enough == count:
            return
    notes.append(f"{kind}: {enough} of {count} motions that are impossible by the tolerance, of {tried} made")
