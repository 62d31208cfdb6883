# SPDX-License-Identifier: MIT
"""Swimmer: three links in a viscous fluid; the knobs are the two joint ranges."""

from imitable.files import content_hash
from imitable.robots.edits import Edit, JointRange
from imitable.robots.family import NOISE, Knob, RobotFamily, Rules, Value
from imitable.robots.gymnasium_models import model_file


def _range_of(joint: str, name: str, about: str) -> Knob:
    def edits(value: Value) -> tuple[Edit, ...]:
        assert isinstance(value, float)
        return (JointRange(joint, -value, value),)

    return Knob(name, "degrees", 100.0, 0.1, 179.0, about, edits)


def swimmer() -> RobotFamily:
    """Return the family of Swimmers."""
    path = model_file("swimmer.xml")
    return RobotFamily(
        name="swimmer",
        model_file=path,
        source_hash=content_hash(path),
        frame_skip=4,
        knobs=(
            _range_of("motor1_rot", "front", "half-width of the front joint's range (torso to middle link)"),
            _range_of("motor2_rot", "back", "half-width of the back joint's range (middle to back link)"),
            NOISE,
        ),
        rules=Rules(control_cost=1e-4, start_noise=0.1, root_entries=2, heading_entry=2),
    )
