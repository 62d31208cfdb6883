# SPDX-License-Identifier: MIT
import math
import os
import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imitable.errors import BadKnobValue, BadModel, BadSpec, ImitableError, UnknownKnob, UnknownRobot
from imitable.robots.family import Knob
from imitable.robots.knob_text import value_text
from imitable.robots.parse import ROBOTS, parse_robot
from imitable.robots.robot import Robot

ARM = """
<mujoco model="arm">
  <compiler angle="{angle}"/>
  <option timestep="0.002"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 0.1" friction="0.6 0.02 0.003"/>
    <body name="upper">
      <joint name="shoulder" type="hinge" axis="0 1 0" range="{range}"/>
      <geom name="upper_geom" type="capsule" fromto="0 0 0 0.3 0 0" size="0.05" friction="1.5 0.01 0.002"/>
      <body name="lower" pos="0.3 0 0">
        <inertial pos="0.1 0 0" mass="0.5" diaginertia="0.01 0.02 0.03"/>
        <joint name="extension" type="slide" axis="1 0 0" range="-0.1 0.2"/>
        <joint name="wrist" type="hinge" axis="0 1 0"/>
        <geom type="sphere" size="0.05" mass="0.5"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="turn" joint="shoulder" gear="30" ctrlrange="-1 1"/>
    <position joint="extension" kp="50" inheritrange="1"/>
  </actuator>
</mujoco>
"""
DEGREES = ARM.format(angle="degree", range="-90 45")
RADIANS = ARM.format(angle="radian", range=f"{-math.pi / 2} {math.pi / 4}")


@pytest.fixture
def arm(tmp_path: Path) -> str:
    path = tmp_path / "arm.xml"
    path.write_text(DEGREES)
    return str(path)


def _values(knob: Knob) -> st.SearchStrategy[float | str]:
    return st.sampled_from(knob.choices) if knob.choices else st.floats(knob.low, knob.high)


def refused(text: str, kind: type[ImitableError]) -> str:
    """Return the one-line message with which `text` is refused."""
    with pytest.raises(kind) as caught:
        parse_robot(text)
    assert isinstance(caught.value, ImitableError)
    assert "\n" not in str(caught.value)
    return str(caught.value)


TEXTS = (
    "swimmer",
    "swimmer:front=100.5,back=10",
    "walker2d:friction=24.9",
    "half_cheetah:front=0.01,back=0.3333333333333333",
    "hopper:gravity=15",
    "hopper:gravity=0.1,noise=0.05",
)


class TestText:
    @pytest.mark.parametrize("text", TEXTS)
    def test_canonical_text_reads_back(self, text: str) -> None:
        assert str(parse_robot(text)) == text
        assert parse_robot(str(parse_robot(text))) == parse_robot(text)

    def test_order_spaces_and_notation_do_not_matter(self) -> None:
        assert str(parse_robot("hopper: noise = 5e-2 , gravity=15.0")) == "hopper:gravity=15,noise=0.05"
        assert parse_robot("swimmer:back=10,front=50") == parse_robot("swimmer:front=5e1,back=10.")

    def test_a_knob_at_its_default_is_dropped(self) -> None:
        for default, text in (("hopper", "hopper:gravity=9.81,noise=0"), ("walker2d", "walker2d:friction=0.9")):
            assert parse_robot(text) == parse_robot(default)
            assert hash(parse_robot(text)) == hash(parse_robot(default))
            assert str(parse_robot(text)) == default
            assert parse_robot(text).hash == parse_robot(default).hash

    def test_minus_zero_is_zero(self) -> None:
        assert parse_robot("hopper:gravity=-0").hash == parse_robot("hopper:gravity=0").hash
        assert str(parse_robot("hopper:gravity=-0")) == "hopper:gravity=0"

    def test_different_knobs_are_different_bodies(self) -> None:
        assert len({parse_robot(text) for text in TEXTS}) == len(TEXTS)

    def test_values_are_read_with_defaults(self) -> None:
        body = parse_robot("swimmer:back=10")
        assert (body.value("front"), body.value("back"), body.noise) == (100.0, 10.0, 0.0)

    @pytest.mark.parametrize("name", ROBOTS)
    @settings(max_examples=25, deadline=None)
    @given(data=st.data())
    def test_random_knobs_read_back_exactly(self, name: str, data: st.DataObject) -> None:
        values = {knob.name: data.draw(_values(knob)) for knob in ROBOTS[name]().knobs if knob.name != "model"}
        body = parse_robot(f"{name}:" + ",".join(f"{key}={value}" for key, value in values.items()))
        again = parse_robot(str(body))
        assert again == body
        assert {key: again.value(key) for key in values} == values

    @settings(max_examples=25, deadline=None)
    @given(ends=st.tuples(st.floats(-360, 360), st.floats(-360, 360)).filter(lambda ends: ends[0] < ends[1]))
    def test_random_intervals_read_back_exactly(self, ends: tuple[float, float]) -> None:
        knob = Knob("range.x", "degrees", (-90.0, 90.0), -360.0, 360.0, "a joint", lambda value: ())
        assert knob.parse("arm", value_text(ends)) == ends


class TestHash:
    def test_covers_the_compiled_model(self) -> None:
        hashes = {parse_robot(text).hash for text in (*TEXTS, "hopper", "walker2d", "half_cheetah")}
        assert len(hashes) == len(TEXTS) + 3

    def test_covers_noise_and_control_period(self, slider_path: Path) -> None:
        bodies = [parse_robot(f"{slider_path}{rest}") for rest in ("", ":noise=0.1", ":period=0.05")]
        assert len({body.hash for body in bodies}) == 3
        # neither is part of the compiled model
        buffers = [np.empty(mujoco.mj_sizeModel(body.model), np.uint8) for body in bodies]
        for body, buffer in zip(bodies, buffers, strict=True):
            mujoco.mj_saveModel(body.model, None, buffer)
        assert (buffers[0] == buffers[1]).all()
        assert (buffers[0] == buffers[2]).all()

    def test_does_not_cover_path_and_date(self, slider_path: Path, tmp_path: Path) -> None:
        copy = tmp_path / "elsewhere" / "other_name.xml"
        copy.parent.mkdir()
        copy.write_text(slider_path.read_text())
        os.utime(copy, (0, 0))
        assert parse_robot(str(copy)).hash == parse_robot(str(slider_path)).hash
        assert parse_robot(str(copy)) != parse_robot(str(slider_path)), "the text form differs, so the robots do"

    def test_a_changed_file_is_another_body(self, slider_path: Path) -> None:
        before = parse_robot(str(slider_path))
        slider_path.write_text(slider_path.read_text().replace('damping="0.1"', 'damping="0.2"'))
        after = parse_robot(str(slider_path))
        assert before != after
        assert before.hash != after.hash

    def test_is_the_same_in_another_process(self) -> None:
        program = "from imitable.robots.parse import parse_robot; print(parse_robot('walker2d:friction=1.1').hash)"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == parse_robot("walker2d:friction=1.1").hash


def changed_fields(one: Robot, other: Robot) -> set[str]:
    """Return the names of the model arrays in which two bodies differ."""
    names = [name for name in dir(one.model) if isinstance(getattr(one.model, name), np.ndarray)]
    return {name for name in names if not np.array_equal(getattr(one.model, name), getattr(other.model, name), equal_nan=True)}


class TestBuiltInKnobs:
    @pytest.mark.parametrize(("knob", "joint"), [("front", "motor1_rot"), ("back", "motor2_rot")])
    def test_swimmer_range_is_in_degrees(self, knob: str, joint: str) -> None:
        base, body = parse_robot("swimmer"), parse_robot(f"swimmer:{knob}=12")
        np.testing.assert_allclose(body.model.joint(joint).range, np.radians([-12, 12]), rtol=1e-15)
        np.testing.assert_allclose(base.model.joint(joint).range, np.radians([-100, 100]), rtol=1e-15)
        assert body.model.joint(joint).limited
        assert changed_fields(base, body) == {"jnt_range"}

    def test_walker_friction_is_that_of_both_feet(self) -> None:
        base, body = parse_robot("walker2d"), parse_robot("walker2d:friction=24.9")
        for foot in ("foot_geom", "foot_left_geom"):
            np.testing.assert_array_equal(base.model.geom(foot).friction, [0.9, 0.1, 0.1])
            np.testing.assert_array_equal(body.model.geom(foot).friction, [24.9, 0.1, 0.1])
        assert changed_fields(base, body) == {"geom_friction"}
        assert (base.model.geom_friction != body.model.geom_friction).sum() == 2

    def test_half_cheetah_gears_are_scaled_by_leg(self) -> None:
        legs = {"back": ([0, 1, 2], [120, 90, 60]), "front": ([3, 4, 5], [120, 60, 30])}
        base = parse_robot("half_cheetah")
        for knob, (motors, gears) in legs.items():
            np.testing.assert_array_equal(base.model.actuator_gear[motors, 0], gears)
            body = parse_robot(f"half_cheetah:{knob}=0.05")
            np.testing.assert_allclose(body.model.actuator_gear[motors, 0], np.multiply(gears, 0.05), rtol=1e-15)
            others = [i for i in range(6) if i not in motors]
            np.testing.assert_array_equal(body.model.actuator_gear[others], base.model.actuator_gear[others])
            assert changed_fields(base, body) == {"actuator_gear", "actuator_acc0"}  # the second follows from the first
        assert base.layout.actuators == ("bthigh", "bshin", "bfoot", "fthigh", "fshin", "ffoot")

    def test_hopper_gravity_points_down(self) -> None:
        np.testing.assert_array_equal(parse_robot("hopper").model.opt.gravity, [0, 0, -9.81])
        np.testing.assert_array_equal(parse_robot("hopper:gravity=15").model.opt.gravity, [0, 0, -15])
        assert changed_fields(parse_robot("hopper"), parse_robot("hopper:gravity=15")) == set()

    @pytest.mark.parametrize("name", ROBOTS)
    def test_noise_acts_outside_the_model(self, name: str) -> None:
        body = parse_robot(f"{name}:noise=0.25")
        assert body.noise == 0.25
        assert changed_fields(parse_robot(name), body) == set()

    @pytest.mark.parametrize("name", ROBOTS)
    def test_every_knob_says_what_it_is(self, name: str) -> None:
        for knob in ROBOTS[name]().knobs:
            assert knob.unit
            assert knob.about
            if isinstance(knob.default, str):
                assert not knob.choices or knob.default in knob.choices
            else:
                assert isinstance(knob.default, float)
                assert knob.low <= knob.default <= knob.high


class TestFileKnobs:
    def test_names_come_from_the_file(self, arm: str) -> None:
        names = [knob.name for knob in parse_robot(arm).family.knobs]
        assert names == [
            "gravity",
            "strength.turn",
            "gear.turn",
            "strength.extension",
            "range.shoulder",
            "range.extension",
            "range.wrist",
            "kp.turn",
            "kd.turn",
            "friction.floor",
            "friction.upper_geom",
            "mass.upper",
            "mass.lower",
            "speed.shoulder",
            "speed.extension",
            "speed.wrist",
            "period",
            "noise",
        ]

    def test_gravity(self, arm: str) -> None:
        np.testing.assert_array_equal(parse_robot(f"{arm}:gravity=-3").model.opt.gravity, [0, 0, 3])

    def test_gear(self, arm: str) -> None:
        body = parse_robot(f"{arm}:gear.turn=0.5")
        np.testing.assert_array_equal(body.model.actuator_gear[:, 0], [15, 1])

    def test_the_strength_of_a_motor_is_its_gear(self, arm: str) -> None:
        body = parse_robot(f"{arm}:strength.turn=0.5")
        np.testing.assert_array_equal(body.model.actuator_gear[:, 0], [15, 1])
        assert body.hash == parse_robot(f"{arm}:gear.turn=0.5").hash

    @pytest.mark.parametrize("damping", ['kv="30"', 'dampratio="0.7"'])
    @pytest.mark.parametrize("factor", [0.25, 2.0])
    def test_a_stronger_servo_is_told_the_same_angles(self, servo_arm_path: Path, damping: str, factor: float) -> None:
        """Force = gain · control + bias within its range: all of it k times, so that the angle without force stays."""
        servo_arm_path.write_text(servo_arm_path.read_text().replace('dampratio="1"', damping))
        base, body = parse_robot(str(servo_arm_path)), parse_robot(f"{servo_arm_path}:strength.elbow={factor:g}")
        for field in ("actuator_gainprm", "actuator_biasprm", "actuator_forcerange"):
            before, after = getattr(base.model, field), getattr(body.model, field)
            np.testing.assert_allclose(after[2], factor * before[2], rtol=1e-9)
            np.testing.assert_array_equal(after[:2], before[:2])
        for field in ("actuator_gear", "actuator_ctrlrange"):
            np.testing.assert_array_equal(getattr(body.model, field), getattr(base.model, field))

    def test_a_servo_without_strength_gives_no_force(self, servo_arm_path: Path) -> None:
        model = parse_robot(f"{servo_arm_path}:strength.elbow=0").model
        data = mujoco.MjData(model)
        data.ctrl[:] = 1.0
        mujoco.mj_forward(model, data)
        assert data.actuator_force[2] == 0
        assert (data.actuator_force[:2] != 0).all()

    @pytest.mark.parametrize("kind", ["motor", "position"])
    def test_strength_moves_the_force_limit_of_the_joint(self, tmp_path: Path, slider_path: Path, kind: str) -> None:
        gains = 'gear="2"' if kind == "motor" else 'kp="500"'
        text = slider_path.read_text().replace('damping="0.1"', 'damping="0.1" actuatorfrcrange="-1 1"')
        (tmp_path / "limited.xml").write_text(
            text.replace('<motor name="push" joint="slide" gear="2"', f'<{kind} name="push" joint="slide" {gains}')
        )
        model = parse_robot(f"{tmp_path}/limited.xml:strength.push=3").model
        data = mujoco.MjData(model)
        data.ctrl[:] = 1.0
        mujoco.mj_forward(model, data)
        np.testing.assert_allclose(data.qfrc_actuator, [3.0])

    def test_a_servo_has_no_gear_to_turn(self, arm: str) -> None:
        message = refused(f"{arm}:gear.extension=2", UnknownKnob)
        assert "strength.extension" in message

    @pytest.mark.parametrize("source", [DEGREES, RADIANS])
    def test_ranges_are_degrees_and_metres_whatever_the_file_uses(self, tmp_path: Path, source: str) -> None:
        path = tmp_path / "arm.xml"
        path.write_text(source)
        body = parse_robot(f"{path}:range.shoulder=-30..60,range.extension=-0.05..0.1,range.wrist=-10..10")
        np.testing.assert_allclose(body.model.joint("shoulder").range, np.radians([-30, 60]), rtol=1e-12)
        np.testing.assert_allclose(body.model.joint("extension").range, [-0.05, 0.1], rtol=1e-12)
        np.testing.assert_allclose(body.model.joint("wrist").range, np.radians([-10, 10]), rtol=1e-12)
        assert body.model.joint("wrist").limited
        assert parse_robot(str(path)).value("range.shoulder") == pytest.approx((-90.0, 45.0))
        assert parse_robot(str(path)).value("range.wrist") == (-math.inf, math.inf)

    def test_friction_leaves_torsion_and_rolling(self, arm: str) -> None:
        body = parse_robot(f"{arm}:friction.upper_geom=0.3")
        np.testing.assert_array_equal(body.model.geom("upper_geom").friction, [0.3, 0.01, 0.002])
        np.testing.assert_array_equal(body.model.geom("floor").friction, [0.6, 0.02, 0.003])

    @pytest.mark.parametrize("body", ["upper", "lower"])
    def test_mass_scales_the_inertia(self, arm: str, body: str) -> None:
        base, heavy = parse_robot(arm).model.body(body), parse_robot(f"{arm}:mass.{body}=4").model.body(body)
        assert heavy.mass[0] == pytest.approx(4.0, rel=1e-12)
        np.testing.assert_allclose(heavy.inertia, base.inertia * 4.0 / base.mass[0], rtol=1e-9)

    def test_mass_of_a_body_whose_inertia_is_that_of_its_geoms(self, tmp_path: Path) -> None:
        path = tmp_path / "arm.xml"
        path.write_text(DEGREES.replace('angle="degree"', 'angle="degree" inertiafromgeom="true"'))
        assert parse_robot(f"{path}:mass.lower=4").model.body("lower").mass[0] == pytest.approx(4.0, rel=1e-12)

    def test_period_sets_the_simulator_steps_a_control_step(self, arm: str) -> None:
        assert (parse_robot(arm).frame_skip, parse_robot(arm).layout.period_s) == (10, 0.02)
        body = parse_robot(f"{arm}:period=0.05")
        assert (body.frame_skip, body.layout.period_s) == (25, pytest.approx(0.05))
        assert str(body).endswith(":period=0.05")

    def test_a_path_may_hold_colons_commas_and_equals(self, tmp_path: Path, slider_path: Path) -> None:
        odd = tmp_path / "a:b,c=d"
        odd.mkdir()
        (odd / "slider.xml").write_text(slider_path.read_text())
        body = parse_robot(f"{odd}/slider.xml:gear.push=3,range.slide=-0.5..0.5")
        assert parse_robot(str(body)) == body
        assert body.model.actuator_gear[0, 0] == 6

    def test_layout_names_states_and_actions(self, arm: str) -> None:
        layout = parse_robot(arm).layout
        assert layout.qpos == ("shoulder", "extension", "wrist")
        assert layout.qvel == ("shoulder_velocity", "extension_velocity", "wrist_velocity")
        assert layout.actuators == ("turn", "extension")

    def test_a_range_left_to_the_joint_is_a_control_range(self, arm: str) -> None:
        np.testing.assert_allclose(parse_robot(arm).control_range, [[-1, -0.1], [1, 0.2]])

    def test_units_are_half_ranges_about_the_centre(self, arm: str) -> None:
        body = parse_robot(arm)
        low, high = body.control_range
        assert (body.control_centre == (low + high) / 2).all()
        assert (body.control_half_range == (high - low) / 2).all()
        assert not body.control_centre.flags.writeable
        assert not body.control_half_range.flags.writeable
        np.testing.assert_allclose(body.to_units(body.control_range), [[-1, -1], [1, 1]])
        units = np.random.default_rng(0).uniform(-2, 2, (5, 3, 2))
        assert (body.to_controls(units) == (low + high) / 2 + (high - low) / 2 * units).all(), "bit for bit"
        np.testing.assert_allclose(body.to_units(body.to_controls(units)), units, atol=1e-12)

    def test_an_unlimited_body_names_every_entry(self, tmp_path: Path, slider_path: Path) -> None:
        path = tmp_path / "free.xml"
        loose = '<worldbody><body><freejoint/><geom size="0.1"/></body><body><joint type="ball"/><geom size="0.1"/></body>'
        path.write_text(slider_path.read_text().replace("<worldbody>", loose))
        layout = parse_robot(str(path)).layout
        assert (len(layout.qpos), len(layout.qvel)) == (7 + 4 + 1, 6 + 3 + 1)
        assert len(set(layout.state)) == len(layout.state)

    def test_the_first_keyframe_is_the_start(self, tmp_path: Path, slider_path: Path) -> None:
        path = tmp_path / "key.xml"
        path.write_text(
            slider_path.read_text().replace("</mujoco>", '<keyframe><key qpos="0.5" qvel="-1"/></keyframe></mujoco>')
        )
        np.testing.assert_array_equal(parse_robot(str(path)).start, [0.5, -1])
        np.testing.assert_array_equal(parse_robot(str(slider_path)).start, [0, 0])


class TestRefusals:
    def test_unknown_robot(self) -> None:
        message = refused("hoper:gravity=15", UnknownRobot)
        assert "did you mean 'hopper'?" in message
        assert all(name in message for name in ROBOTS)
        assert ".xml" in message

    def test_unknown_knob(self) -> None:
        message = refused("hopper:gravitty=15", UnknownKnob)
        assert "did you mean 'gravity'?" in message
        assert "noise" in message

    def test_unknown_knob_of_a_file(self, slider_path: Path) -> None:
        message = refused(f"{slider_path}:gear.pull=2", UnknownKnob)
        assert "gear.push" in message

    @pytest.mark.parametrize("value", ["101", "-1", "nan", "inf", "-inf", "fast", "1..2", "1e400"])
    def test_value_that_is_not_allowed(self, value: str) -> None:
        message = refused(f"hopper:gravity={value}", BadKnobValue)
        assert f"gravity={value}" in message
        assert "between 0 and 100 (m/s² downwards)" in message

    @pytest.mark.parametrize("value", ["5", "1..", "2..1", "1..1", "a..b", "nan..1", "-2000..0", "0..1..2"])
    def test_interval_that_is_not_allowed(self, slider_path: Path, value: str) -> None:
        assert "LO..HI with LO < HI" in refused(f"{slider_path}:range.slide={value}", BadKnobValue)

    @pytest.mark.parametrize("text", ["", ":gravity=1", "hopper:gravity", "hopper:=1", "hopper:gravity=", "hopper: =1"])
    def test_malformed_text(self, text: str) -> None:
        assert "NAME[:KEY=VALUE" in refused(text, BadSpec)

    @pytest.mark.parametrize("text", ["hopper:gravity=1,gravity=2", "hopper:gravity=1, gravity=1"])
    def test_a_key_given_twice(self, text: str) -> None:
        assert "'gravity' is given twice" in refused(text, BadSpec)

    def test_text_behind_a_file_name(self, slider_path: Path) -> None:
        refused(f"{slider_path}?gear.push=2", BadSpec)

    def test_missing_file(self) -> None:
        assert refused("no/such/robot.xml", BadModel) == "no/such/robot.xml: no such file"

    @pytest.mark.parametrize("source", ["", "not xml", "<mujoco><worldbody>", "<mujoco><bodies/></mujoco>"])
    def test_broken_file(self, tmp_path: Path, source: str) -> None:
        path = tmp_path / "broken.xml"
        path.write_text(source)
        assert str(path) in refused(str(path), BadModel)

    def test_file_with_a_missing_mesh(self, tmp_path: Path, slider_path: Path) -> None:
        path = tmp_path / "mesh.xml"
        path.write_text(slider_path.read_text().replace("<worldbody>", '<asset><mesh file="gone.stl"/></asset><worldbody>'))
        assert "gone.stl" in refused(str(path), BadModel)

    def test_no_actuator(self, slider_path: Path) -> None:
        source = slider_path.read_text()
        slider_path.write_text(source[: source.index("<actuator>")] + "</mujoco>")
        assert "add an <actuator> section" in refused(str(slider_path), BadModel)

    @pytest.mark.parametrize("limits", ["", 'ctrllimited="false" ctrlrange="-1 1"'])
    def test_actuator_without_a_control_range(self, slider_path: Path, limits: str) -> None:
        slider_path.write_text(slider_path.read_text().replace('ctrllimited="true" ctrlrange="-1 1"', limits))
        message = refused(str(slider_path), BadModel)
        assert "'push' has no control range" in message
        assert "ctrlrange=" in message

    @pytest.mark.parametrize("period", ["0.015", "0.0123", "1.001"])
    def test_period_that_is_no_multiple_of_the_time_step(self, slider_path: Path, period: str) -> None:
        assert "multiple of the model's time step 0.01 s" in refused(f"{slider_path}:period={period}", BadKnobValue)

    def test_period_below_the_time_step(self, slider_path: Path) -> None:
        refused(f"{slider_path}:period=0.005", BadKnobValue)

    def test_mass_under_settotalmass(self, tmp_path: Path) -> None:
        path = tmp_path / "arm.xml"
        path.write_text(DEGREES.replace('angle="degree"', 'angle="degree" settotalmass="3"'))
        assert parse_robot(str(path)).model.body_mass.sum() == pytest.approx(3.0)
        assert "settotalmass" in refused(f"{path}:mass.upper=1", BadModel)

    def test_a_body_without_mass(self, slider_path: Path) -> None:
        slider_path.write_text(slider_path.read_text().replace('mass="1"', 'mass="1e-16"'))
        assert "MuJoCo cannot compile it" in refused(str(slider_path), BadModel)
