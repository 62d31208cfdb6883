# SPDX-License-Identifier: MIT
"""HalfCheetah: a running torso with two legs; the knobs scale the motors of the front and the back leg."""

from imitable.files import content_hash
from imitable.robots.edits import Edit, GearFactor
from imitable.robots.family import NOISE, Knob, RobotFamily, Rules, Value
from imitable.robots.gymnasium_models import model_file


def _gears_of(leg: str, name: str) -> Knob:
    actuators = (f"{leg}thigh", f"{leg}shin", f"{leg}foot")

    def edits(value: Value) -> tuple[Edit, ...]:
        assert isinstance(value, float)
        return (GearFactor(actuators, value),)

    return Knob(name, "× the base gears", 1.0, 0.0, 10.0, f"motor gear factor of the three {name} joints", edits)


def half_cheetah() -> RobotFamily:
    """Return the family of HalfCheetahs."""
    path = model_file("half_cheetah.xml")
    return RobotFamily(
        name="half_cheetah",
        model_file=path,
        source_hash=content_hash(path),
        frame_skip=5,
        knobs=(_gears_of("f", "front"), _gears_of("b", "back"), NOISE),
        rules=Rules(control_cost=0.1, start_noise=0.1, normal_velocity=True),
    )
