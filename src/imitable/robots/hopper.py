# SPDX-License-Identifier: MIT
"""Hopper: one leg in a plane; the knob is gravity."""

from imitable.files import content_hash
from imitable.robots.edits import Edit, Gravity
from imitable.robots.family import NOISE, Knob, RobotFamily, Rules, Value
from imitable.robots.gymnasium_models import model_file


def _gravity(value: Value) -> tuple[Edit, ...]:
    assert isinstance(value, float)
    return (Gravity(value),)


def hopper() -> RobotFamily:
    """Return the family of Hoppers."""
    path = model_file("hopper.xml")
    return RobotFamily(
        name="hopper",
        model_file=path,
        source_hash=content_hash(path),
        frame_skip=4,
        knobs=(Knob("gravity", "m/s² downwards", 9.81, 0.0, 100.0, "gravity", _gravity), NOISE),
        rules=Rules(
            control_cost=1e-3,
            alive_bonus=1.0,
            height=(0.7, float("inf")),
            pitch=(-0.2, 0.2),
            entries=100.0,
            start_noise=5e-3,
            velocity_limit=10.0,
        ),
    )
