# SPDX-License-Identifier: MIT
"""What a family of robots is: a model file, knobs that change its body, a control rate, and the rules of its task."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from imitable.errors import BadKnobValue
from imitable.robots.edits import Edit

Value = float | tuple[float, float] | str
"""A knob's value: a number, an interval (low, high), or a word."""


@dataclass(frozen=True)
class Knob:
    """One named number (or interval) of a body that a user may change."""

    name: str
    unit: str
    default: Value
    low: float
    """Smallest allowed value."""
    high: float
    """Largest allowed value."""
    about: str
    """One line for `imitable robots`."""
    edits: Callable[[Value], tuple[Edit, ...]] = field(compare=False)
    """The changes of the `MjSpec` that a value stands for; none for knobs that act outside the model."""
    choices: tuple[str, ...] = ()
    """Words to choose from, of a knob whose default is one; none: any text."""
    or_number: bool = False
    """Whether it may be a number, too, although its default is a word."""

    def parse(self, robot: str, text: str) -> Value:
        """Read and check a value: `15`, `90%` of the default, `LO..HI` for an interval, or a word."""
        if isinstance(self.default, str) and (text in self.choices or not self.or_number):
            if self.choices and text not in self.choices:
                raise BadKnobValue(robot, self.name, text, self.expected)
            return text
        try:
            parts = text.split("..") if isinstance(self.default, tuple) else [text]
            numbers = [self._number(part) + 0.0 for part in parts]  # −0 becomes 0: equal values must give equal models
        except ValueError:
            raise BadKnobValue(robot, self.name, text, self.expected) from None
        if isinstance(self.default, tuple):
            if len(numbers) != 2 or not numbers[0] < numbers[1]:
                raise BadKnobValue(robot, self.name, text, self.expected)
            value: Value = (numbers[0], numbers[1])
        else:
            value = numbers[0]
        if not all(self.low <= number <= self.high for number in numbers):
            raise BadKnobValue(robot, self.name, text, self.expected)
        return value

    def _number(self, text: str) -> float:
        """Read a number, or a part of the default: `90%`."""
        if text.endswith("%") and isinstance(self.default, float):
            return self.default * float(text.removesuffix("%")) / 100
        return float(text)

    @property
    def expected(self) -> str:
        """What would be right, for error messages."""
        if isinstance(self.default, str) and not self.or_number:
            return " or ".join(self.choices) or self.unit
        form = "LO..HI with LO < HI, both" if isinstance(self.default, tuple) else "a number"
        words = "".join(f"{word}, or " for word in self.choices)
        return f"{words}{form} between {self.low:g} and {self.high:g} ({self.unit})"


@dataclass(frozen=True)
class Rules:
    """The locomotion task of a family: reward, fall, start noise, what a policy observes.

    r = Δx / period + alive_bonus − control_cost · Σ a².
    """

    control_cost: float
    """Price of the squared action."""
    alive_bonus: float = 0.0
    """Paid for every step."""
    height: tuple[float, float] | None = None
    """Open interval that the root height (state entry 1) must stay in."""
    pitch: tuple[float, float] | None = None
    """Open interval that the root pitch (state entry 2) must stay in."""
    entries: float | None = None
    """Bound on the absolute value of every state entry from 2 on."""
    start_noise: float = 0.0
    """Half-width of the uniform noise on qpos, and half-width or deviation of the noise on qvel."""
    normal_velocity: bool = False
    """Whether the start noise of qvel is normal rather than uniform."""
    root_entries: int = 1
    """Leading state entries (root position) that a policy does not observe by default."""
    heading_entry: int | None = None
    """State entry of the root's heading, for a body that can turn in its plane of travel."""
    velocity_limit: float | None = None
    """Observed velocities are clipped to ± this; the state never is."""
    horizon: int = 1000
    """Steps after which an episode is cut."""

    @property
    def can_fall(self) -> bool:
        """Whether the task has an end of its own."""
        return self.height is not None or self.pitch is not None or self.entries is not None


@dataclass(frozen=True)
class ReachRules:
    """The task of an arm: bring its tool to a goal without touching the scene.

    return = −50 · actions − 10000 · hit + 5000 · goal, over at either (the paper's r = −s − 10000 h + 5000 g).
    """

    goal: tuple[float, float, float]
    """Where to, metres."""
    radius: float = 0.05
    """How near is there, metres."""
    action_cost: float = 50.0
    """Of one action: so many ticks of the published environment take the tool 1 cm on."""
    hit_cost: float = 10_000.0
    goal_reward: float = 5_000.0
    start_noise: float = 0.05
    """Half-width of the uniform noise on the joints that move, but the last, rad."""
    horizon: int = 160
    """Actions after which an episode is cut: 8000 ticks."""


TOOL_ENTRIES = ("tool_x", "tool_y", "tool_z")
"""What an arm is told and what its states are compared by."""


@dataclass(frozen=True)
class Tool:
    """What an arm does is where its tool is: actions are displacements of it, states are compared by it.

    Arms that cannot move it along an axis have that action, too, without effect: so arms of one layout share demonstrations.
    """

    site: str
    """The site of the model."""
    step_m: float
    """Largest displacement of one action along every axis."""


@dataclass(frozen=True)
class RobotFamily:
    """What has knobs: a model file, the knobs that change its body, and its task. With its knobs set it is a `Robot`."""

    name: str
    """Built-in name, or the path of an MJCF file."""
    model_file: str
    """Path of the model file."""
    source_hash: str
    """Hash of the file's contents."""
    frame_skip: int
    """Simulator steps a control step, at the file's own time step."""
    knobs: tuple[Knob, ...]
    """What can be changed."""
    rules: Rules | None = None
    """The task, or None for robots without a reward."""
    base_edits: tuple[Edit, ...] = ()
    """What turns the file's body into the robot with all knobs at their defaults."""
    build: Callable[[Callable[[str], Value]], Any] | None = field(default=None, compare=False)
    """Makes the `MjSpec` of a body that no file has, of its knobs' values by name."""
    reach: ReachRules | None = None
    """The task of an arm."""
    tool: Tool | None = None
    """Of an arm."""

    @property
    def has_task(self) -> bool:
        """Whether it has a task of its own, which pays and ends."""
        return self.rules is not None or self.reach is not None

    def knob(self, name: str) -> Knob | None:
        """Return the knob of that name."""
        return next((knob for knob in self.knobs if knob.name == name), None)


def no_edits(value: Value) -> tuple[Edit, ...]:
    """Return no change of the model: of knobs that act elsewhere."""
    del value
    return ()


MOST_STEPS = 10_000
"""Simulator steps of a control step, at most."""

NOISE = Knob(
    name="noise",
    unit="of the half control range",
    default=0.0,
    low=0.0,
    high=1.0,
    about="standard deviation of the Gaussian noise on every control (stochastic dynamics)",
    edits=no_edits,
)
"""Actuation noise acts on the controls that a batch sends, not on the model."""
