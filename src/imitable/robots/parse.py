# SPDX-License-Identifier: MIT
"""Robots as text: `ROBOT[:KEY=VALUE[,KEY=VALUE…]]` or `PATH.xml[:KEY=VALUE…]`."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

from imitable.errors import UnknownKnob, UnknownRobot
from imitable.robots.family import RobotFamily, Value
from imitable.robots.half_cheetah import half_cheetah
from imitable.robots.hopper import hopper
from imitable.robots.mjcf import load
from imitable.robots.robot import Robot
from imitable.robots.swimmer import swimmer
from imitable.robots.walker2d import walker2d
from imitable.spec_text import MODEL_SUFFIXES, split

ROBOTS: dict[str, Callable[[], RobotFamily]] = {
    "swimmer": swimmer,
    "walker2d": walker2d,
    "half_cheetah": half_cheetah,
    "hopper": hopper,
}
"""The built-in families."""


def parse_robot(text: str) -> Robot:
    """Return the robot that `text` names, such as `hopper:gravity=15`.

    A knob at its default is dropped, so `hopper:gravity=9.81` equals `hopper`.
    """
    robot = _parsed(text)
    _ = robot.frame_skip, robot.model  # a body that does not compile is refused here, not at its first step
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
    name, settings = split(text)
    if name in ROBOTS:
        family = _built_in(name)
    elif name.endswith(MODEL_SUFFIXES) or Path(name).is_file():
        family = load(name)
    else:
        raise UnknownRobot(name, ROBOTS)
    values: dict[str, Value] = {}
    for key, value in settings.items():
        knob = family.knob(key)
        if knob is None:
            raise UnknownKnob(family.name, key, (knob.name for knob in family.knobs))
        values[key] = knob.parse(family.name, value)
    return with_knobs(family, values)
