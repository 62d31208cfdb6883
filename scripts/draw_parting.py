# SPDX-License-Identifier: MIT
"""Draw the picture that the README opens with: a demonstrated body, our body that follows it, and the step where they part.

python scripts/draw_parting.py
"""

import io
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from demonstrators_page import DOCS
from draw_demonstrators import GROUND, INK, capsules, outline
from matplotlib.patches import Polygon
from PIL import Image

import imitable as im
from imitable.feasibility.step_files import read_steps
from imitable.robots.robot import Robot
from imitable.types import Floats

DEMONSTRATOR, IMITATOR = "hopper:gravity=5", "hopper:gravity=15"
METHOD = "direct:windows=1,window_s=1.6"
"""One window from the start; checks may ask for a second one, which is another rollout."""
OURS, LOST = "#0072b2", "#d55e00"
"""Our body while it follows, and from the parting on; a pair that colour-blind people tell apart."""
GHOST = "#cfd6da"
"""The demonstrated body once more, behind ours."""
FRAME_S, FRAME_MS, REST_MS = 0.024, 50, 2500
"""Seconds between two frames, milliseconds that one is shown, and the last one."""
COLOURS = 48
"""Colours of the file's palette."""


class Parting(NamedTuple):
    """What is drawn."""

    demonstrated: Floats
    """(H + 1, S) states of the demonstration."""
    followed: Floats
    """(H + 1, S) states of our body, from the same start."""
    errors: Floats
    """(H) distances of steps 1 … H."""
    step: int
    """Where they part."""
    period_s: float


def measured() -> Parting:
    """Score the first demonstration and read what our body did."""
    body = im.robot(DEMONSTRATOR)
    demos = im.InMemory(body.layout, im.collect(im.Locomotion(body), im.policy_for(body), episodes=1, seed=0))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "scores.parquet"
        scores = im.score(demos, IMITATOR, METHOD, out=out)
        trace = read_steps(out, demos[0].hash)
    assert trace is not None
    first = trace.attempts == 0
    shown = demos[0].states[: int(first.sum()) + 1]
    followed = np.concatenate([shown[:1], trace.states[first]])
    return Parting(shown, followed, trace.errors[first], int(scores.first_divergence[0]), body.layout.period_s)


class Body:
    """One silhouette, moved from frame to frame."""

    def __init__(self, axes: Any, robot: Robot, colour: str) -> None:
        self._robot = robot
        self._parts = [
            axes.add_patch(Polygon(outline(*one), closed=True, facecolor=colour, edgecolor="white", linewidth=0.5))
            for one in capsules(robot, robot.start, (0, 2))
        ]

    def show(self, state: Floats) -> None:
        """Put it into a state."""
        for part, one in zip(self._parts, capsules(self._robot, state, (0, 2)), strict=True):
            part.set_xy(outline(*one))

    def recolour(self, colour: str) -> None:
        """Paint it anew."""
        for part in self._parts:
            part.set_facecolor(colour)


def ground(axes: Any, reach: tuple[float, float], title: str, colour: str) -> Any:
    """Draw the ground of a lane; return its title."""
    axes.axhspan(-0.2, 0, color="#e8ecee", linewidth=0)
    axes.axhline(0, color=GROUND, linewidth=1)
    axes.set(xlim=reach, ylim=(-0.12, 2.4), aspect="equal", xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    return axes.set_title(title, loc="left", fontsize=11, color=colour)


class Curve:
    """The distance between both, drawn as far as it has come."""

    def __init__(self, axes: Any, parting: Parting) -> None:
        self._parting = parting
        self._times = np.arange(1, len(parting.errors) + 1) * parting.period_s
        (self._before,) = axes.plot([], [], color=OURS, linewidth=2)
        (self._after,) = axes.plot([], [], color=LOST, linewidth=2)
        self._mark = axes.axvline(
            parting.step * parting.period_s, color=LOST, linewidth=1, linestyle=(0, (4, 3)), visible=False
        )
        axes.set(xlim=(0, self._times[-1]), ylim=(0, 1.05 * parting.errors.max()), yticks=[0, 1])
        axes.set_title("distance between both bodies, in usual spreads of the state", loc="left", fontsize=9, color=INK)
        axes.set_xlabel("seconds", fontsize=8, color="#5c676d")
        axes.tick_params(labelsize=8, colors="#5c676d")
        axes.spines[["top", "right"]].set_visible(False)

    def show(self, step: int) -> None:
        """Draw the steps so far."""
        parted = min(step, self._parting.step)
        self._before.set_data(self._times[:parted], self._parting.errors[:parted])
        after = slice(max(parted - 1, 0), step if step > parted else 0)
        self._after.set_data(self._times[after], self._parting.errors[after])
        self._mark.set_visible(step >= self._parting.step)


def frames(parting: Parting) -> list[Image.Image]:
    """Draw every frame; between two control steps states are blended, for the eye only."""
    figure, axes = plt.subplot_mosaic([["demonstrated", "ours"], ["error", "error"]], figsize=(8, 4.8), height_ratios=(3.2, 1))
    left, right, below = (axes[name] for name in ("demonstrated", "ours", "error"))
    travel = np.concatenate([parting.demonstrated[:, 0], parting.followed[:, 0]])
    reach = (float(travel.min()) - 0.8, float(travel.max()) + 0.8)
    ground(left, reach, f"demonstrated by {DEMONSTRATOR}", INK)
    said = ground(right, reach, f"our robot, {IMITATOR}, follows", OURS)
    shown, ghost = Body(left, im.robot(DEMONSTRATOR), INK), Body(right, im.robot(DEMONSTRATOR), GHOST)
    ours, curve = Body(right, im.robot(IMITATOR), OURS), Curve(below, parting)
    figure.tight_layout(pad=0.6, h_pad=0.7)
    drawn: list[Image.Image] = []
    lost = f"{IMITATOR}: they part at {parting.step * parting.period_s:.2f} s"
    for place in np.arange(0, len(parting.errors) + 1e-9, FRAME_S / parting.period_s):
        shown.show(_blended(parting.demonstrated, place))
        ghost.show(_blended(parting.demonstrated, place))
        ours.show(_blended(parting.followed, place))
        curve.show(int(place))
        if place >= parting.step:
            ours.recolour(LOST)
            said.set(text=lost, color=LOST)
        drawn.append(_picture(figure))
    plt.close(figure)
    return drawn


def _blended(states: Floats, place: float) -> Floats:
    before = int(place)
    part, after = place - before, min(before + 1, len(states) - 1)
    return (1 - part) * states[before] + part * states[after]


def _picture(figure: Any) -> Image.Image:
    kept = io.BytesIO()
    figure.savefig(kept, format="png", facecolor="white")
    return Image.open(kept).convert("RGB")


def main() -> None:
    """Draw and write the file: one palette for all frames, so that only what moves is stored."""
    drawn = frames(measured())
    palette = Image.fromarray(np.concatenate([np.asarray(drawn[i]) for i in (0, -1)])).quantize(COLOURS)
    first, *rest = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in drawn]
    durations = [FRAME_MS] * len(rest) + [REST_MS]
    out = DOCS / "images" / "parting.gif"
    first.save(out, save_all=True, append_images=rest, duration=durations, loop=0, optimize=True)
    print(f"{out.relative_to(DOCS.parent)}: {len(drawn)} frames, {out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
