# SPDX-License-Identifier: MIT
"""What a family of robots is: a model file, knobs that change its body, a control rate, and the rules of its task."""

from collections.abc import Callable
from dataclasses import dataclass, field

from imitable.errors import BadKnobValue
from imitable.robots.edits import Edit

Value = float | tuple[float, float]
"""A knob's value: a number, or an interval (low, high)."""


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

    def parse(self, robot: str, text: str) -> Value:
        """Read and check a value: `15`, or `LO..HI` for an interval."""
        try:
            parts = text.split("..") if isinstance(self.default, tuple) else [text]
            numbers = [float(part) + 0.0 for part in parts]  # −0 becomes 0: equal values must give equal models
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

    @property
    def expected(self) -> str:
        """What would be right, for error messages."""
        form = "LO..HI with LO < HI, both" if isinstance(self.default, tuple) else "a number"
        return f"{form} between {self.low:g} and {self.high:g} ({self.unit})"


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

    def knob(self, name: str) -> Knob | None:
        """Return the knob of that name."""
        return next((knob for knob in self.knobs if knob.name == name), None)


def _no_edits(value: Value) -> tuple[Edit, ...]:
    del value
    return ()


NOISE = Knob(
    name="noise",
    unit="of the half control range",
    default=0.0,
    low=0.0,
    high=1.0,
    about="standard deviation of the Gaussian noise on every control (stochastic dynamics)",
    edits=_no_edits,
)
"""Actuation noise acts on the controls that a batch sends, not on the model."""
