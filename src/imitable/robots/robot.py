# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""A robot, a body with its knobs set: its text, equality, compiled model and hash.

An adapter file: MuJoCo ships no types, so the compiled model is `Any`.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mujoco
import numpy as np

from imitable.errors import BadKnobValue
from imitable.robots.compiling import compiled
from imitable.robots.edits import Edit, actuator_names
from imitable.robots.family import MOST_STEPS, TOOL_ENTRIES, RobotFamily, Tool, Value
from imitable.robots.knob_text import settings_text, value_text
from imitable.types import Floats, Layout, frozen


@dataclass(frozen=True)
class Robot:
    """A body with its knobs set."""

    family: RobotFamily
    """What has the knobs."""
    values: tuple[tuple[str, Value], ...] = ()
    """Name and value of the knobs that differ from their defaults, in the family's order."""

    def __str__(self) -> str:
        """Return the canonical text; `parse_robot(str(robot)) == robot`."""
        settings = settings_text(self.family, dict(self.values))
        return f"{self.family.name}:{settings}" if settings else self.family.name

    def value(self, name: str) -> Value:
        """Return a knob's value."""
        knob = self.family.knob(name)
        assert knob is not None, name
        return dict(self.values).get(name, knob.default)

    @property
    def noise(self) -> float:
        """Standard deviation of the actuation noise, in half control ranges."""
        value = self.value("noise")
        assert isinstance(value, float)
        return value

    @property
    def actuator_names(self) -> tuple[str, ...]:
        """One distinct name an actuator."""
        return self._compiled[1]

    @property
    def model(self) -> Any:
        """The compiled `MjModel`. Do not write to it: it is shared."""
        return self._compiled[0]

    @cached_property
    def _compiled(self) -> tuple[Any, tuple[str, ...]]:
        """The model, and one name an actuator."""
        build = self.family.build
        spec = mujoco.MjSpec.from_file(self.family.model_file) if build is None else build(self.value)
        for edit in self._edits():
            edit.apply(spec)
        # quiet: what is to be said of a file was said when it was read
        return compiled(spec, str(self), quiet=True), actuator_names(spec)

    def _edits(self) -> Iterator[Edit]:
        yield from self.family.base_edits
        for name, value in self.values:
            knob = self.family.knob(name)
            assert knob is not None, name
            yield from knob.edits(value)

    @cached_property
    def frame_skip(self) -> int:
        """Simulator steps a control step."""
        period = dict(self.values).get("period")
        if period is None:
            return self.family.frame_skip
        timestep = float(self.model.opt.timestep)
        assert isinstance(period, float)
        steps = round(period / timestep)
        if not 1 <= steps <= MOST_STEPS or abs(steps * timestep - period) > 1e-6 * period:
            such = min(max(steps, 1), MOST_STEPS) * timestep
            expected = f"a multiple of the model's time step {timestep:g} s, up to {MOST_STEPS:,} of them, such as {such:g}"
            raise BadKnobValue(self.family.name, "period", value_text(period), expected)
        return steps

    @cached_property
    def layout(self) -> Layout:
        """Names of state and action entries, and the control period."""
        model = self.model
        qpos: list[str] = []
        qvel: list[str] = []
        for index in range(model.njnt):
            joint = model.joint(index)
            qpos.extend(_entry_names(joint.name or f"joint{index}", len(joint.qpos0)))
            width = {7: 6, 4: 3, 1: 1}[len(joint.qpos0)]
            qvel.extend(f"{name}_velocity" for name in _entry_names(joint.name or f"joint{index}", width))
        return Layout(
            qpos=tuple(qpos),
            qvel=tuple(qvel),
            actuators=self.actuator_names if self.tool is None else TOOL_ENTRIES,
            period_s=self.frame_skip * float(model.opt.timestep),
        )

    @cached_property
    def control_range(self) -> Floats:
        """(2, A) lowest and highest control; of an arm, displacement of its tool."""
        if self.tool is not None:
            return frozen(self.tool.step_m * np.outer((-1.0, 1.0), np.ones(len(TOOL_ENTRIES))))
        return frozen(np.array(self.model.actuator_ctrlrange).T)

    @cached_property
    def control_centre(self) -> Floats:
        """(A) middle of the control range."""
        low, high = self.control_range
        return frozen((low + high) / 2)

    @cached_property
    def control_half_range(self) -> Floats:
        """(A) half of the control range."""
        low, high = self.control_range
        return frozen((high - low) / 2)

    def to_units(self, controls: Floats) -> Floats:
        """(…, A) → (…, A): controls in half ranges about the centre, so that the whole range is [−1, 1]."""
        return (controls - self.control_centre) / self.control_half_range

    def to_controls(self, units: Floats) -> Floats:
        """(…, A) → (…, A): the controls of units in [−1, 1]; what lies outside stays outside."""
        return self.control_centre + self.control_half_range * units

    @property
    def has_servos(self) -> bool:
        """Whether controls are positions or speeds: an actuator's force depends on where the body is. Not those of a tool."""
        return self.tool is None and bool((self.model.actuator_biastype == int(mujoco.mjtBias.mjBIAS_AFFINE)).any())

    @property
    def tool(self) -> Tool | None:
        """What an arm is controlled and compared by; None of other bodies."""
        return self.family.tool

    @property
    def root_entries(self) -> int:
        """How many leading state entries are the root's position in the world."""
        if self.family.rules is not None:
            return self.family.rules.root_entries
        return 3 if self.model.njnt and len(self.model.joint(0).qpos0) == 7 else 0

    @cached_property
    def start(self) -> Floats:
        """(S) state that episodes start from, before noise: the first keyframe, else the model's own."""
        model = self.model
        qpos = model.key_qpos[0] if model.nkey else model.qpos0
        qvel = model.key_qvel[0] if model.nkey else np.zeros(model.nv)
        return frozen(np.concatenate([qpos, qvel]))

    @cached_property
    def hash(self) -> str:
        """Hash of the compiled model, the control rate and the noise: what the dynamics depend on."""
        buffer = np.empty(mujoco.mj_sizeModel(self.model), np.uint8)
        mujoco.mj_saveModel(self.model, None, buffer)
        digest = hashlib.sha256(buffer.tobytes())
        digest.update(f"{self.frame_skip} {self.noise}".encode())
        return digest.hexdigest()[:32]


def _entry_names(joint: str, width: int) -> list[str]:
    return [joint] if width == 1 else [f"{joint}_{entry}" for entry in range(width)]
