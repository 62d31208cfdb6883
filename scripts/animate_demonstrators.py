# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""Draw a short animation of every shipped demonstrator: docs/images/gaits/NAME.svg, that of set b in docs/images/gaits/b.

python scripts/animate_demonstrators.py [--missing] [ROBOT[@SETTING]…]

The camera goes along at the body's mean speed, and the ground with its ticks passes by. A Swimmer is seen from above, on a
grid. Without ROBOT, all are drawn.
"""

import argparse
from dataclasses import dataclass
from html import escape
from typing import Any

import mujoco
import numpy as np
from demonstrators_page import DOCS, animation, title
from draw_demonstrators import GROUND, INK, plane_of, play

from imitable.policies.shipped import SETS, cards
from imitable.report.poses import Figure, figure
from imitable.robots.robot import Robot
from imitable.types import Floats

FRAME_S = 0.04
"""Seconds between two poses, or those of a control step if that is longer; browsers draw what lies between."""
BEGIN_S, SHOWN_S = 4.0, 2.0
"""Seconds into the episode, and seconds shown."""
SWIMMER_BEGIN_S, SWIMMER_SHOWN_S = 20.0, 8.0
"""A Swimmer turns first, and its strokes are slow."""
UNIT, TICK_M, MARGIN_M = 0.005, 0.5, 0.12
"""Metres of a unit of the file, between two ticks, and around the body."""
WIDTH, HEIGHT, LEAST_M = 160, 120, 2.2
"""Pixels of the picture, and metres that are seen at least from left to right."""
FAR = "#7f97a3"
"""Colour of the left leg, behind the right one."""


@dataclass(frozen=True)
class Scene:
    """F poses of a body of P points, seen by a camera that goes along: metres, x to the right, y upwards."""

    shown: Figure
    points: Floats
    """(F, P, 2) in the picture."""
    travel: Floats
    """(2) way of the camera from the first pose to the last."""
    seconds: float
    above: bool
    """Seen from above, not from the side."""

    @property
    def window(self) -> tuple[float, float, float, float]:
        """Left, bottom, width and height of what is seen: all poses with a margin, in the picture's proportions."""
        radius = max(self.shown.radii)
        low, high = (bound(self.points, axis=(0, 1)) for bound in (np.min, np.max))
        low, high = low - radius - MARGIN_M, high + radius + MARGIN_M
        low[1] = low[1] if self.above else -2 * MARGIN_M
        width = max(high[0] - low[0], (high[1] - low[1]) * WIDTH / HEIGHT, LEAST_M)
        height = width * HEIGHT / WIDTH
        middle = (low + high) / 2
        return middle[0] - width / 2, middle[1] - height / 2 if self.above else low[1], width, height


def filmed(robot: Robot, states: Floats) -> Scene:
    """Return the scene of a few seconds of an episode with (T + 1, S) states."""
    above, period = robot.family.name == "swimmer", robot.layout.period_s
    begin_s, shown_s = (SWIMMER_BEGIN_S, SWIMMER_SHOWN_S) if above else (BEGIN_S, SHOWN_S)
    stride, steps = max(1, round(FRAME_S / period)), round(shown_s / period)
    first = max(0, min(round(begin_s / period), len(states) - 1 - steps))
    frames = states[first : first + steps + 1 : stride]
    shown = figure(robot, frames)
    points = shown.points[:, :, list(plane_of(robot))]
    seconds = np.arange(len(frames)) * stride * period
    middle = points.mean(axis=1)  # (F, 2)
    speed = np.polyfit(seconds, middle, 1)[0] * (1.0, float(above))
    camera = middle.mean(axis=0) * (1.0, float(above)) + (seconds - seconds.mean())[:, None] * speed
    return Scene(shown, points - camera[:, None], camera[-1] - camera[0], float(seconds[-1]), above)


def drawn(scene: Scene, far: list[bool], name: str) -> str:
    """Return the file; `far` says of each geom whether it is on the far side."""
    left, bottom, width, height = (round(value / UNIT) for value in scene.window)
    top, moved = -bottom - height, f"{-scene.travel[0] / UNIT:.0f} {scene.travel[1] / UNIT:.0f}"
    level = "" if scene.above else f'<path d="M{left} 0h{width}"/>'
    passing = f'<animateTransform attributeName="transform" type="translate" values="0 0;{moved}" {_clock(scene)}/>'
    behind_first = sorted(range(len(far)), key=lambda geom: not far[geom])
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}"',
        f' viewBox="{left} {top} {width} {height}">',
        f"<title>{escape(name)}</title>",
        f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="#fff"/>',
        f'<g stroke="{GROUND}" stroke-width="{width / WIDTH:.1f}" fill="none">',
        f'{level}<path d="{_ticks(scene)}">{passing}</path></g>',
        *("<defs>", *_moving(scene), "</defs>"),
        '<g fill="none" stroke-linecap="round" stroke-linejoin="round">',
        *(_strokes(geom, scene.shown.radii[geom], FAR if far[geom] else INK) for geom in behind_first),
        "</g></svg>",
    ]
    return "\n".join(lines) + "\n"


def _clock(scene: Scene) -> str:
    return f'dur="{scene.seconds:g}s" repeatCount="indefinite"'


def _moving(scene: Scene) -> list[str]:
    """Return the line of every geom, and how it moves."""
    lines: list[str] = []
    for geom, points in enumerate(np.split(scene.points, np.cumsum(scene.shown.counts)[:-1], axis=1)):
        poses = [_path(pose) for pose in points]
        motion = f'<animate attributeName="d" values="{";".join(poses)}" {_clock(scene)}/>'
        lines.append(f'<path id="g{geom}" d="{poses[0]}">{motion}</path>')
    return lines


def _strokes(geom: int, radius: float, colour: str) -> str:
    """Return a geom drawn with a round pen, with a white rim."""
    pens = ((2 * radius / UNIT + 4, "#fff"), (2 * radius / UNIT, colour))
    return "".join(f'<use href="#g{geom}" stroke="{shade}" stroke-width="{wide:.0f}"/>' for wide, shade in pens)


def _path(points: Floats) -> str:
    """(k, 2) metres → the line through them, in units, downwards."""
    whole = np.round(points * (1, -1) / UNIT).astype(int)
    return "M" + "L".join(f"{x} {y}" for x, y in whole)


def _ticks(scene: Scene) -> str:
    """Return the marks that pass by: ticks below the ground, or a grid under a Swimmer, as far as the camera goes."""
    left, bottom, width, height = scene.window
    ways = [(min(0.0, way), max(0.0, way)) for way in scene.travel]
    across = np.arange(left + ways[0][0], left + width + ways[0][1] + TICK_M, TICK_M) / UNIT
    if not scene.above:
        return "".join(f"M{x:.0f} 0v{MARGIN_M / UNIT:.0f}" for x in across)
    upwards = np.arange(bottom + ways[1][0], bottom + height + ways[1][1] + TICK_M, TICK_M) / UNIT
    columns = "".join(f"M{x:.0f} {-upwards[-1]:.0f}V{-upwards[0]:.0f}" for x in across)
    return columns + "".join(f"M{across[0]:.0f} {-y:.0f}H{across[-1]:.0f}" for y in upwards)


def is_far(robot: Robot) -> list[bool]:
    """Return whether each geom that is drawn belongs to a left leg."""
    model = robot.model
    solid = [geom for geom in range(model.ngeom) if int(model.geom_type[geom]) != int(mujoco.mjtGeom.mjGEOM_PLANE)]
    return ["left" in str(model.body(int(model.geom_bodyid[geom])).name) for geom in solid]


def animate(said: dict[str, Any], set_name: str) -> None:
    """Draw the demonstrator of a card."""
    robot, states = play(said["robot"], said.get("setting", ""), set_name)
    path = DOCS / animation(said, set_name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(drawn(filmed(robot, states), is_far(robot), f"Gait of {title(said, set_name)}"))


def main() -> None:
    """Draw what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", nargs="*", help="ROBOT, of all settings, or ROBOT@SETTING; default: all")
    parser.add_argument("--missing", action="store_true", help="leave those that are there")
    asked = parser.parse_args()
    for set_name in SETS:
        for said in cards(set_name):
            wanted = not asked.robots or {said["robot"], f"{said['robot']}@{said.get('setting')}"} & set(asked.robots)
            if wanted and not (asked.missing and (DOCS / animation(said, set_name)).exists()):
                animate(said, set_name)


if __name__ == "__main__":
    main()
