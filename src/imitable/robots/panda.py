# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Panda: an arm before a shelf, with all seven joints or with three; knobs are the joints, the scene and the model.

An adapter file: MuJoCo ships no types.
"""

from collections.abc import Callable
from typing import Any

from imitable.robots.family import NOISE, Knob, ReachRules, RobotFamily, Tool, Value, no_edits
from imitable.robots.panda_model import FRAME_SKIP, JOINTS, MOVING, TOOL, TOOL_M, add_box, arm, hold, lock, read_arm

GOAL = (0.81, 0.0, 0.10)
"""Of the tool: behind the box, or in the empty bay of the shelf."""

STANDS = (0.42, 0.68, 1.00)
"""Where along x the shelf's stands are."""

STAND_TOP_M = 0.20

BOOKS = 6
"""In the shelf's first bay."""

HELD_M = (0.04, 0.05, 0.10)
"""Sides of the book in the hand; 3 cm of it are above the tool."""

WOOD, STEEL, COVERS = (0.72, 0.53, 0.34), (0.5, 0.52, 0.56), ((0.75, 0.28, 0.24), (0.24, 0.42, 0.65), (0.3, 0.55, 0.36))


def panda() -> RobotFamily:
    """Return the family of Pandas."""
    return RobotFamily(
        name="panda",
        model_file="",
        source_hash="",
        frame_skip=FRAME_SKIP,
        knobs=(
            Knob("dof", "degrees of freedom", "7", 3, 7, "joints that move: all, or 2, 4 and 6 alone", no_edits, ("7", "3")),
            Knob("scene", "name", "shelf", 0, 0, "before it: a shelf of books, or a box", no_edits, ("shelf", "box")),
            Knob("model", "path of an MJCF file", "", 0, 0, "a model of the arm that is not ours", no_edits),
            NOISE,
        ),
        build=_build,
        reach=ReachRules(GOAL),
        tool=Tool(TOOL, step_m=0.01),
    )


def _build(value: Callable[[str], Value]) -> Any:
    path = value("model")
    spec = read_arm(path) if isinstance(path, str) and path else arm()
    add_scene = {"shelf": _add_shelf, "box": _add_published_box}[str(value("scene"))]
    add_scene(spec)
    for joint in JOINTS:
        if joint not in MOVING[int(str(value("dof")))]:
            lock(spec, joint)
    return spec


def _add_table(spec: Any, top: float) -> None:
    add_box(spec, "table", (0.6, 0.0, top - 0.02), (1.0, 1.2, 0.04), (0.85, 0.82, 0.78))


def _add_shelf(spec: Any) -> None:
    """Three stands on a board, books between the first two, a book in the hand."""
    _add_table(spec, -0.01)
    add_box(spec, "board", (0.71, 0.0, -0.005), (0.6, 0.08, 0.01), WOOD)
    for number, x in enumerate(STANDS, start=1):
        add_box(spec, f"stand{number}", (x, 0.0, STAND_TOP_M / 2), (0.02, 0.08, STAND_TOP_M), STEEL)
    first, last = STANDS[0] + 0.01, STANDS[1] - 0.01
    width = (last - first) / BOOKS
    for number in range(BOOKS):
        centre = (first + (number + 0.5) * width, 0.0, 0.08)
        add_box(spec, f"book{number + 1}", centre, (width - 0.001, 0.05, 0.16), COVERS[number % len(COVERS)])
    hold(spec, "held_book", (0.0, 0.0, TOOL_M + 0.02), HELD_M, COVERS[0])


def _add_published_box(spec: Any) -> None:
    """The simulated task of the paper: one box in the way, as it lies once it has settled on the table."""
    _add_table(spec, -0.025)
    add_box(spec, "box", (0.56, 0.0, 0.075), (0.30, 0.04, 0.20), WOOD)
