# SPDX-License-Identifier: MIT
"""Walker2d: two legs in a plane; the knob is the friction of both feet."""

from imitable.files import content_hash
from imitable.robots.edits import Edit, SlidingFriction
from imitable.robots.family import NOISE, Knob, RobotFamily, Rules, Value
from imitable.robots.gymnasium_models import model_file


def _both_feet(value: Value) -> tuple[Edit, ...]:
    assert isinstance(value, float)
    return (SlidingFriction(("foot_geom", "foot_left_geom"), value),)


BASE_FRICTION = 0.9
"""Under both feet of the paper's base body; the model file, Gymnasium's v5, has 1.9."""


def walker2d() -> RobotFamily:
    """Return the family of Walker2ds."""
    path = model_file("walker2d_v5.xml")
    return RobotFamily(
        name="walker2d",
        model_file=path,
        source_hash=content_hash(path),
        frame_skip=4,
        knobs=(
            Knob(
                "friction",
                "sliding friction coefficient",
                BASE_FRICTION,
                0.0,
                100.0,
                "friction of both feet; below the floor's own 0.7 it has no further effect",
                _both_feet,
            ),
            NOISE,
        ),
        rules=Rules(
            control_cost=1e-3,
            alive_bonus=1.0,
            height=(0.8, 2.0),
            pitch=(-1.0, 1.0),
            start_noise=5e-3,
            velocity_limit=10.0,
        ),
        base_edits=_both_feet(BASE_FRICTION),
    )
