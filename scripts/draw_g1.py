# SPDX-License-Identifier: MIT
"""Draw the picture of the G1 tutorial: one clip, the same twice as fast, and lifted, each with its verdict.

python scripts/draw_g1.py [HOLOSOMA_DATA], the folder holosoma/data of the installed package; by default that of the
environment that `make interop` makes. Without it the picture stays as it is.
"""

import io
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from demonstrators_page import DOCS
from draw_demonstrators import GROUND
from matplotlib.collections import PolyCollection
from PIL import Image
from scipy.spatial import ConvexHull

from imitable.experiments.g1 import BOX, FAST, LIFTED, Judged, clips_of, faster, g1, lifted, read_g1
from imitable.feasibility.episode_score import COLUMNS
from imitable.report.poses import figure
from imitable.robots.robot import Robot
from imitable.types import Floats, Trajectory

COLOURS = {"feasible": "#0072b2", "borderline": "#e69f00", "infeasible": "#d55e00"}
EVERY, FRAME_MS, PALETTE = 6, 120, 32
"""Control steps between two frames, milliseconds that one is shown, colours of the file."""
TITLES = {BOX: "the clip", FAST: "twice as fast", LIFTED: "lifted by 0.3 m"}


def hulls(robot: Robot, states: Floats) -> list[list[Floats]]:
    """(F, S) → of every state the outlines (k, 2) of all geoms, seen from the front: the clip walks sideways."""
    shown = figure(robot, states)
    ends = np.cumsum(shown.counts)[:-1]
    return [[outline_of(points) for points in np.split(row[:, 1:], ends) if len(points) > 3] for row in shown.points]


def outline_of(points: Floats) -> Floats:
    """(n, 2) → the corners of their convex hull."""
    return points[ConvexHull(points, qhull_options="QJ").vertices]


class Lane:
    """One movement, played again and again."""

    def __init__(self, axes: Any, robot: Robot, movement: Trajectory, said: Judged) -> None:
        """Draw the ground and what is said of it."""
        verdict = COLUMNS["verdict"].read(said.verdict)
        colour = COLOURS[verdict]
        self._outlines = hulls(robot, movement.states[::EVERY])
        self._body = axes.add_collection(PolyCollection([], facecolor=colour, edgecolor="white", linewidth=0.3))
        axes.axhspan(-0.2, 0, color="#e8ecee", linewidth=0)
        axes.axhline(0, color=GROUND, linewidth=1)
        axes.set(xlim=(-1.3, 1.3), ylim=(-0.12, 1.75), aspect="equal", xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
        axes.set_title(f"{TITLES[said.movement]}: {verdict}", loc="left", fontsize=10, color=colour)
        reason = "nothing supports it" if any("nothing supports it" in one for one in said.reasons) else ""
        axes.text(-1.25, -0.09, f"score {said.score:.2f}  {reason}", fontsize=8, color="#5c676d")

    @property
    def frames(self) -> int:
        """How many there are."""
        return len(self._outlines)

    def show(self, frame: int) -> None:
        """Put the body into a frame; what is over begins again."""
        self._body.set_verts(self._outlines[frame % self.frames])


def pictures(data: Path) -> list[Image.Image]:
    """Draw every frame."""
    record, robot = read_g1(DOCS.parent / "results"), g1(data, DOCS.parent / "examples" / "robots" / "g1_servos.json")
    assert record is not None
    [box] = [clip for clip in clips_of(data, robot) if clip.demonstrator == BOX]
    sheet, axes = plt.subplots(1, 3, figsize=(9, 2.7))
    movements = {BOX: box, FAST: faster(box, robot.layout.nq), LIFTED: lifted(box)}
    pairs = zip(axes, movements.items(), strict=True)
    lanes = [Lane(place, robot, movement, record.row(name)) for place, (name, movement) in pairs]
    sheet.tight_layout(pad=0.4)
    drawn: list[Image.Image] = []
    for frame in range(lanes[0].frames):
        for lane in lanes:
            lane.show(frame)
        drawn.append(sheet_image(sheet))
    plt.close(sheet)
    return drawn


def sheet_image(sheet: Any) -> Image.Image:
    """Return a sheet as it is now."""
    kept = io.BytesIO()
    sheet.savefig(kept, format="png", facecolor="white", dpi=80)
    return Image.open(kept).convert("RGB")


def main() -> None:
    """Draw and write the file: one palette for all frames, so that only what moves is stored."""
    found = sorted(DOCS.parent.glob(".venv-holosoma/lib/python*/site-packages/holosoma/data"))
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else next(iter(found), None)
    out = DOCS / "images" / "g1.gif"
    if data is None:
        print(f"{out.name} stays as it is: holosoma 0.0.3 is not installed; `make interop` does it")
        return
    drawn = pictures(data)
    palette = drawn[0].quantize(PALETTE)
    first, *rest = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in drawn]
    first.save(out, save_all=True, append_images=rest, duration=FRAME_MS, loop=0, optimize=True)
    print(f"{out.name}: {len(drawn)} frames, {out.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
