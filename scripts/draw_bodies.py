# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""Draw the four bodies, what their knobs change, and the values that the paper's settings give them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from draw_demonstrators import GROUND, INK, capsules, outline, plane_of, play
from draw_parting import GHOST, LOST, OURS
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon, Wedge

from imitable.experiments.settings import SETTINGS, Setting
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.types import Floats

PALE, AREA = "#5c676d", "#f3c9a6"
"""Of what is said beside the point, and of a knob's reach."""
HEADLINE: dict[str, Any] = {"x": 0.01, "ha": "left", "fontsize": 13, "weight": "bold", "color": INK}
Sketch = Callable[[Any, Robot, Floats], None]
"""Draws what a knob changes over a body in a state."""


@dataclass(frozen=True)
class Knobs:
    """How the knobs of a body are shown."""

    setting: str
    """Whose imitator is drawn."""
    moment_s: float
    """Seconds into its episode."""
    touched: tuple[int, ...]
    """Capsules that the knobs act on."""
    view: tuple[float, float, float, float]
    """Metres that are shown at least: left, right, bottom, top."""
    sketch: Sketch
    title: str
    order: Callable[[Robot], float]
    """Where a body stands among the others."""
    label: Callable[[Robot], str]
    axis: str
    """What the labels are of."""


def joint_ranges(axes: Any, robot: Robot, state: Floats) -> None:
    """Draw the range of both joints of a Swimmer: a wedge around the straight line of the link before."""
    links = [ends for ends, _ in capsules(robot, state, plane_of(robot))]
    for parent, child, knob in zip(links, links[1:], ("front", "back"), strict=False):
        here = int(np.linalg.norm(parent[:, None] - child[None], axis=2).min(axis=1).argmin())
        joint, along, half = parent[here], parent[here] - parent[1 - here], _number(robot, knob)
        centre = np.degrees(np.arctan2(along[1], along[0]))
        axes.add_patch(Wedge(joint, 0.7, centre - half, centre + half, facecolor=AREA, edgecolor=LOST, linewidth=0.8))
        wide, bend = half > 45, 1 if knob == "front" else -1
        side, reach = np.radians(centre - bend * (half / 2 if wide else half + 26)), 0.85 if wide else 0.95
        place = joint + reach * np.array([np.cos(side), np.sin(side)])
        axes.text(*place, f"{knob} ±{half:g}°", color=LOST, fontsize=9, ha="center", va="center")


def friction_cones(axes: Any, robot: Robot, state: Floats) -> None:
    """Draw where the ground's force on a foot may point: up to atan(friction) from the vertical."""
    feet = [ends for index, (ends, _) in enumerate(capsules(robot, state, plane_of(robot))) if index in WALKER_FEET]
    ends = min(feet, key=lambda foot: float(foot[:, 1].min()))
    at, reach = float(ends[int(ends[:, 1].argmin()), 0]), 0.75
    slippery = min(_number(parse_robot(text), "friction") for one in _settings("walker2d") for text in one.bodies)
    for friction, colour in ((_number(robot, "friction"), AREA), (slippery, "#e79f66")):
        half = np.degrees(np.arctan(friction))
        axes.add_patch(Wedge((at, 0), reach, 90 - half, 90 + half, facecolor=colour, edgecolor=LOST, linewidth=0.8))
        edge = np.radians(max(90 - half, 9))
        place = (at + 1.06 * reach * np.cos(edge), 1.06 * reach * np.sin(edge))
        axes.text(*place, f"friction {friction:g}", color=LOST, fontsize=9, va="center")


def motor_torques(axes: Any, robot: Robot, state: Floats) -> None:
    """Write the largest torque of every motor at its joint: as it is, and as it would be with all knobs at 1."""
    parts, model, base = capsules(robot, state, plane_of(robot)), robot.model, parse_robot(robot.family.name).model
    for motor, (ends, _) in enumerate(parts[2:]):
        own, whole = (float(gears[motor, 0]) for gears in (model.actuator_gear, base.actuator_gear))
        front = motor > 2
        axes.annotate(
            f"{own:g} N·m" + (f" of {whole:g}" if own != whole else ""),
            ends.mean(axis=0),
            (1.02 if front else -1.1, 0.62 - 0.27 * (motor % 3)),
            color=LOST if own != whole else INK,
            fontsize=9,
            ha="left" if front else "right",
            va="center",
            arrowprops={"arrowstyle": "-", "color": GROUND, "linewidth": 0.8, "shrinkA": 2, "shrinkB": 0},
        )


def gravities(axes: Any, robot: Robot, state: Floats) -> None:
    """Draw the gravity of every body of the setting as an arrow."""
    others = {parse_robot(text) for setting in _settings("hopper") for text in setting.bodies}
    for place, other in enumerate(sorted(others, key=lambda one: _number(one, "gravity"))):
        value, own = _number(other, "gravity"), other == robot
        x, top = float(state[0]) + 0.6 + 0.38 * place, 1.5
        style = {"arrowstyle": "-|>", "color": LOST if own else PALE, "linewidth": 2.5 if own else 1.5, "shrinkA": 0}
        axes.annotate("", (x, top - 0.072 * value), (x, top), arrowprops=style)
        axes.text(x, top + 0.05, f"{value:g}", color=LOST if own else PALE, fontsize=9, ha="center", va="bottom")


def _settings(family: str) -> list[Setting]:
    return [setting for setting in SETTINGS if parse_robot(setting.imitator).family.name == family]


def _number(robot: Robot, knob: str) -> float:
    value = robot.value(knob)
    assert isinstance(value, float)
    return value


def _of_two(unit: str, both: str) -> Callable[[Robot], str]:
    """Return a label that names the one of two knobs, front and back, that is set."""

    def label(robot: Robot) -> str:
        return "\n".join(f"{name}\n{unit.format(value)}" for name, value in robot.values) or both

    return label


WALKER_FEET = (3, 6)
BODIES = (
    Knobs(
        "swimmer",
        1.0,
        (2,),
        (-1.6, 1.0, -0.6, 1.0),
        joint_ranges,
        "Swimmer: joint limits",
        lambda robot: _number(robot, "back") / _number(robot, "front"),
        _of_two("±{:g}°", "both\n±100°"),
        "range of a joint, the other ±100°",
    ),
    Knobs(
        "walker2d-1",
        1.15,
        WALKER_FEET,
        (-1.0, 1.4, -0.05, 1.5),
        friction_cones,
        "Walker2d: friction of the feet",
        lambda robot: _number(robot, "friction"),
        lambda robot: f"{_number(robot, 'friction'):g}",
        "sliding friction coefficient",
    ),
    Knobs(
        "half_cheetah-1",
        1.45,
        (5, 6, 7),
        (-1.4, 1.4, 0.0, 0.9),
        motor_torques,
        "HalfCheetah: motors of a leg",
        lambda robot: _number(robot, "front") / _number(robot, "back"),
        _of_two("×{:g}", "both\n×1"),
        "gears of a leg's motors, the other leg ×1",
    ),
    Knobs(
        "hopper",
        1.15,
        (),
        (-0.7, 2.4, -0.05, 1.75),
        gravities,
        "Hopper: gravity",
        lambda robot: _number(robot, "gravity"),
        lambda robot: f"{_number(robot, 'gravity'):g}",
        "gravity, m/s²",
    ),
)
"""In the paper's order."""


def draw_bodies() -> Figure:
    """Draw a row a body: the body of an imitator, and the values of the settings."""
    figure, rows = plt.subplots(
        len(BODIES), 2, figsize=(10, 9), width_ratios=(1, 1.25), height_ratios=(1, 1.1, 1, 1), layout="constrained"
    )
    for knobs, (left, right) in zip(BODIES, rows, strict=True):
        settings = _settings(knobs.setting.partition("-")[0])
        draw_knobs(left, knobs, settings[0])
        draw_values(right, knobs, settings)
    marks: dict[str, dict[str, Any]] = {
        "imitator": {"marker": "D", "color": LOST, "markersize": 8},
        "related demonstrator": {"marker": "o", "color": OURS, "markersize": 8},
        "unrelated demonstrator": {"marker": "o", "color": INK, "markerfacecolor": "white", "markersize": 8},
        "number of its demonstrations": {"marker": "$500$", "color": PALE, "markersize": 16, "markeredgewidth": 0.2},
    }
    handles = [Line2D([], [], linestyle="", label=label, **style) for label, style in marks.items()]
    figure.legend(handles=handles, loc="outside lower right", ncols=4, frameon=False, fontsize=9, handletextpad=0.5)
    figure.suptitle("The four bodies, what their knobs change, and their values in the six settings", **HEADLINE)
    return figure


def draw_knobs(axes: Any, knobs: Knobs, setting: Setting) -> None:
    """Draw the imitator of a setting and what its knobs change."""
    robot, states = play(setting.imitator, setting.name)
    state = states[round(knobs.moment_s / robot.layout.period_s)].copy()
    state[0] = 0.0
    if robot.family.name == "swimmer":  # seen from above: where it is and heads is of no interest
        state[1:3] = 0.0, -state[3] / 2
    else:
        axes.axhline(0, color=GROUND, linewidth=1)
    knobs.sketch(axes, robot, state)
    for index, (ends, radius) in enumerate(capsules(robot, state, plane_of(robot))):
        colour = LOST if index in knobs.touched else INK
        axes.add_patch(Polygon(outline(ends, radius), closed=True, facecolor=colour, edgecolor="white", linewidth=0.5))
    left, right, bottom, top = knobs.view
    axes.update_datalim([(left, bottom), (right, top)])
    axes.margins(0.02)
    axes.autoscale_view()
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_axis_off()
    axes.set_title(f"{knobs.title} ({robot})", loc="left", fontsize=10, color=INK)


def draw_values(axes: Any, knobs: Knobs, settings: list[Setting]) -> None:
    """Draw who has which value in every setting, and how many demonstrations."""
    bodies = sorted({parse_robot(text) for one in settings for text in one.bodies}, key=knobs.order)
    places = {str(body): place for place, body in enumerate(bodies)}
    for row, setting in enumerate(settings):
        axes.axhline(-row, color=GHOST, linewidth=1, zorder=0)
        imitator = places[str(parse_robot(setting.imitator))]
        axes.plot(imitator, -row, "D", color=LOST, markersize=9)
        for rank, (text, count) in enumerate(zip(setting.demonstrators, setting.counts, strict=True)):
            place, related = places[str(parse_robot(text))], rank < setting.related
            fill, edge = (OURS, OURS) if related else ("white", INK)
            lift = 0.0 if place != imitator else 0.25
            axes.plot(place, -row + lift, "o", markerfacecolor=fill, markeredgecolor=edge, markersize=8)
            axes.text(place, -row + lift + 0.17, f"{count}", fontsize=8, color=PALE, ha="center", va="bottom")
    axes.set(xlim=(-0.5, len(bodies) - 0.5), ylim=(0.55 - len(settings), 0.6))
    axes.set_xticks(range(len(bodies)), [knobs.label(body) for body in bodies], fontsize=9)
    axes.set_yticks([-row for row in range(len(settings))], [setting.name for setting in settings], fontsize=9)
    axes.set_xlabel(knobs.axis, fontsize=9, color=PALE)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
