# SPDX-License-Identifier: MIT
"""`imitable robots`: the robots, or every knob of one."""

from imitable.cli.console import document, say, table, tell
from imitable.cli.verbs import Robots
from imitable.command_text import command
from imitable.policies.shipped import has_policy, shipped
from imitable.robots.knob_text import short_text, value_text
from imitable.robots.parse import ROBOTS, parse_robot
from imitable.robots.robot import Robot
from imitable.robots.servos import servo_advice


def run(verb: Robots) -> None:
    """Carry out the verb."""
    if verb.spec is None:
        _list(verb)
    else:
        _show(verb, parse_robot(verb.spec))


def _list(verb: Robots) -> None:
    robots = [parse_robot(name) for name in ROBOTS]
    rows = [
        (
            robot.family.name,
            len(robot.start),
            len(robot.layout.actuators),
            robot.layout.period_s,
            ", ".join(f"{knob.name}={value_text(knob.default)}" for knob in robot.family.knobs),
            sum(text.partition(":")[0] == robot.family.name for text in shipped()),
        )
        for robot in robots
    ]
    columns = ("robot", "state", "actions", "period_s", "knobs", "demonstrators")
    table(verb.common, "Robots", columns, rows)
    say(verb.common, "next: imitable robots hopper:gravity=15, or a path of an MJCF file instead of a name")
    document(verb.common, {"robots": [dict(zip(columns, row, strict=True)) for row in rows], "demonstrators": shipped()})


def _show(verb: Robots, robot: Robot) -> None:
    columns = ("knob", "value", "default", "unit", "low", "high", "about")
    rows = [
        (knob.name, value_text(robot.value(knob.name)), value_text(knob.default), knob.unit, knob.low, knob.high, knob.about)
        for knob in robot.family.knobs
    ]
    shown = [
        (knob.name, short_text(robot.value(knob.name)), short_text(knob.default), knob.unit, knob.low, knob.high, knob.about)
        for knob in robot.family.knobs
    ]
    table(verb.common, str(robot), columns, shown)
    layout = robot.layout
    tell(verb.common, f"state ({len(layout.state)}): {', '.join(layout.state)}")
    tell(verb.common, f"actions ({len(layout.actuators)}): {', '.join(layout.actuators)}; period {layout.period_s:g} s")
    mine = [text for text in shipped() if text.partition(":")[0] == robot.family.name]
    tell(verb.common, f"shipped demonstrators: {', '.join(mine) or 'none'}")
    if others := [text for text in shipped("b") if text in mine]:
        tell(verb.common, f"in set b, too (collect --set b): {', '.join(others)}")
    if (advice := servo_advice(robot)) and robot.root_entries:
        say(verb.common, advice)
    say(verb.common, f"next: {_next(robot)}")
    document(
        verb.common,
        {
            "robot": str(robot),
            "hash": robot.hash,
            "knobs": [dict(zip(columns, row, strict=True)) for row in rows],
            "state": layout.state,
            "actions": layout.actuators,
            "period_s": layout.period_s,
            "demonstrators": mine,
        },
    )


def _next(robot: Robot) -> str:
    if has_policy(robot):
        return command("collect", [robot])
    if robot.family.has_task:
        return command("train", [robot])
    return command("convert", ["SRC", "demos"], {"imitator": robot})  # it has no task to train for: data must come
