# SPDX-License-Identifier: MIT
"""Robots as text: `ROBOT[:KEY=VALUE[,KEY=VALUE…]]`, `PATH.xml[:KEY=VALUE…]`, `Ant-v5[:…]`, `menagerie:NAME[:…]`."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

from imitable.errors import UnknownKnob, UnknownRobot
from imitable.robots.elsewhere import ENVIRONMENT_ID, MENAGERIE, environment_family, menagerie_family, split_menagerie
from imitable.robots.family import RobotFamily, Value
from imitable.robots.half_cheetah import half_cheetah
from imitable.robots.hopper import hopper
from imitable.robots.knob_text import read_settings
from imitable.robots.mjcf import check_controls, load
from imitable.robots.panda import panda
from imitable.robots.robot import Robot
from imitable.robots.servo_file import with_servo_file
from imitable.robots.swimmer import swimmer
from imitable.robots.walker2d import walker2d
from imitable.spec_text import MODEL_SUFFIXES, split

ROBOTS: dict[str, Callable[[], RobotFamily]] = {
    "swimmer": swimmer,
    "walker2d": walker2d,
    "half_cheetah": half_cheetah,
    "hopper": hopper,
    "panda": panda,
}
"""The built-in families."""


def parse_robot(text: str) -> Robot:
    """Return the robot that `text` names, such as `hopper:gravity=15`.

    A knob at its default is dropped, so `hopper:gravity=9.81` equals `hopper`. `*` in a name stands for any characters,
    `strength.*=0.3`, and a number with % is a part of the default, `mass.*=90%`; settings that follow win over wildcards.
    """
    robot = _parsed(text)
    check_controls(robot)  # a body that does not compile or obey is refused here, not at its first step
    _ = robot.frame_skip
    return robot


def with_knobs(family: RobotFamily, settings: dict[str, Value]) -> Robot:
    """Return the robot of a family with these knobs set."""
    knobs = {knob.name: knob for knob in family.knobs}
    for name in settings:
        if name not in knobs:
            raise UnknownKnob(family.name, name, knobs)
    values = ((name, settings[name]) for name, knob in knobs.items() if name in settings and settings[name] != knob.default)
    return Robot(family, tuple(values))


@cache
def _built_in(name: str) -> RobotFamily:
    return ROBOTS[name]()


def _parsed(text: str) -> Robot:
    if text.startswith(MENAGERIE):
        name, rest = split_menagerie(text)
        settings = split(f"{MENAGERIE}{rest}")[1]
    else:
        name, settings = split(text)
    return with_knobs(family := _family(name), read_settings(family, with_servo_file(settings)))


def _family(name: str) -> RobotFamily:
    if name in ROBOTS:
        return _built_in(name)
    if name.startswith(MENAGERIE):
        return menagerie_family(name)
    if name.endswith(MODEL_SUFFIXES) or Path(name).is_file():
        return load(name)
    if ENVIRONMENT_ID.fullmatch(name):
        return environment_family(name)
    raise UnknownRobot(name, ROBOTS)
