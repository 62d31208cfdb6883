# SPDX-License-Identifier: MIT
"""The tube around a demonstration: defaults by kind of body, text, and ratios."""

import math

import numpy as np
import pytest

from imitable.errors import BadOption
from imitable.feasibility.body_errors import body_errors
from imitable.feasibility.tolerance import Tolerance, default_tolerance, parse_tolerance
from imitable.robots.parse import parse_robot

ARM, HOPPER, PANDA = "examples/robots/servo_arm.xml", "hopper", "panda:dof=3"


def test_defaults_go_by_the_kind_of_body() -> None:
    """An arm has centimetres, a body that stands has a part of its size, a tool is compared by itself."""
    arm, hopper, panda = (default_tolerance(parse_robot(text)) for text in (ARM, HOPPER, PANDA))
    assert (arm.position_m, arm.joint_rad, arm.range_rad) == (0.02, 0.1, 0.1)
    assert math.isinf(arm.height_m)
    assert math.isinf(arm.tilt_rad)
    assert 0.1 < hopper.position_m == hopper.height_m <= 0.25
    assert (hopper.tilt_rad, hopper.joint_rad, hopper.range_rad) == (0.8, 0.5, 0.2)
    assert panda.position_m == 0.05
    assert math.isinf(panda.joint_rad)


def test_text() -> None:
    """Bare lengths and angles, named ones, mjlab's names; what is not named keeps its default; the text is read back."""
    arm, hopper = parse_robot(ARM), parse_robot(HOPPER)
    assert parse_tolerance("5mm,3deg", arm) == Tolerance(0.005, math.radians(3), math.inf, math.inf, math.radians(3))
    assert parse_tolerance("0.2rad,range=0.3rad", arm) == Tolerance(0.02, 0.2, math.inf, math.inf, 0.3)
    field = parse_tolerance("anchor_pos=0.25m,anchor_ori=0.8,ee_body_pos=25cm", hopper)
    assert (field.height_m, field.tilt_rad, field.position_m) == (0.25, 0.8, 0.25)
    assert parse_tolerance(str(field), hopper) == field
    assert parse_tolerance("", hopper) == default_tolerance(hopper)


@pytest.mark.parametrize("text", ["2", "2kg", "position=0.1rad", "tilt=2cm", "wrist=1rad", "-1cm", "0cm", "2cm;1rad", "1e999m"])
def test_wrong_text_is_refused(text: str) -> None:
    """Each in one line."""
    with pytest.raises(BadOption, match="tolerance"):
        parse_tolerance(text, parse_robot(ARM))


def test_ratio_is_the_largest_error_over_its_tolerance() -> None:
    """Of a joint that is off by 0.3 rad where 0.1 is allowed at least 3, and 1 where 0.3 is."""
    arm = parse_robot(ARM)
    wanted = np.repeat(arm.start[None, None], 3, axis=1)
    followed = wanted.copy()
    followed[0, 1, 0] += 0.3
    errors = body_errors(arm, followed, wanted)
    wide = Tolerance(math.inf, 0.3, math.inf, math.inf, math.inf)
    assert wide.ratios(arm, errors, followed, wanted)[0] == pytest.approx([0, 1, 0])
    assert default_tolerance(arm).ratios(arm, errors, followed, wanted)[0, 1] >= 3 - 1e-9
    gone = np.full_like(followed, np.nan)
    assert np.isinf(wide.ratios(arm, body_errors(arm, gone, wanted, lengths=np.array([2])), gone, wanted)[0, :2]).all()
