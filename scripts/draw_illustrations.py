# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false
"""Draw what the paper draws by hand, from rollouts: what is feasible, the two f-MDPs, and the bodies with their knobs.

python scripts/draw_illustrations.py [NAME…]
"""

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from demonstrators_page import DOCS
from draw_bodies import draw_bodies
from draw_demonstrators import GROUND, INK, capsules, outline, plane_of
from draw_parting import GHOST, LOST, OURS
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Polygon
from reproduction_figures import svg

import imitable as im
from imitable.experiments.settings import BY_NAME
from imitable.feasibility.ruler import ruler
from imitable.feasibility.step_files import read_steps
from imitable.robots.robot import Robot
from imitable.sim.babble import scales
from imitable.tracking.follow import follow
from imitable.tracking.solver import Lanes, Solver
from imitable.types import Floats, Ints

CHEETAHS, HOPPERS = BY_NAME["half_cheetah-1"], BY_NAME["hopper"]
FEASIBLE, INFEASIBLE = CHEETAHS.demonstrators[0], CHEETAHS.demonstrators[3]
LEAP = HOPPERS.demonstrators[2]
"""A demonstrator of a third of the imitator's gravity: no single step of its leap says so."""
SHOWN_S = 1.6
"""Seconds of a demonstration that are followed, from its start on."""
WIDTH, LEFT, RIGHT = 10.0, 0.6, 0.6
"""Inches of a picture and of its margins."""
HEAD, GAP, ERRORS, FOOT = 0.65, 0.4, 1.5, 0.5
"""Inches of title and legend, of a lane's title, of the errors' panel, and of what stands under it."""
UNDERGROUND = 0.16
"""Metres of ground."""
COLOURS = (OURS, LOST)
"""Of the lane that goes well and of the other."""
PALE = "#5c676d"
"""Of what is said beside the point."""


@dataclass(frozen=True)
class Lane:
    """One attempt and how it is drawn."""

    said: str
    """Its title."""
    short: str
    """Its name at the curve of its errors."""
    colour: str
    demonstrator: Robot
    imitator: Robot
    demonstrated: Floats
    """(H + 1, S) states."""
    attempted: Floats
    """(H + 1, S) states of the imitator: the first is the demonstrated one."""
    errors: Floats
    """(H) distances of steps 1 … H."""
    starts: Ints
    """Steps in whose demonstrated state the imitator is put."""


@dataclass(frozen=True)
class Strip:
    """How poses are laid out."""

    poses: int
    """Moments that are drawn."""
    pace: float
    """Metres of paper a second: moments stand beside each other, whatever the body's speed."""
    height: float
    """Metres of air."""

    @property
    def margin(self) -> float:
        """Metres of paper before the first and after the last moment."""
        return 0.55 * SHOWN_S * self.pace / (self.poses - 1)


def demonstrated(text: str, setting: str) -> tuple[Robot, Floats]:
    """Return a demonstrator and how its first demonstration begins."""
    robot = im.robot(text)
    (first,) = im.collect(im.Locomotion(robot), im.policy_for(robot, setting), episodes=1, seed=0)
    return robot, first.states[: round(SHOWN_S / robot.layout.period_s) + 1]


def feasible_and_infeasible() -> list[Lane]:
    """Score a demonstration that the imitator can follow and one that it cannot."""
    imitator, shown = im.robot(CHEETAHS.imitator), [demonstrated(text, CHEETAHS.name) for text in (FEASIBLE, INFEASIBLE)]
    demos = im.InMemory(imitator.layout, [im.Trajectory(states, str(robot)) for robot, states in shown])
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "scores.parquet"
        scores = im.score(demos, imitator, f"direct:windows=1,window_s={SHOWN_S}", out=out)
        traces = [read_steps(out, demo.hash) for demo in demos]
    lanes = list[Lane]()
    for place, ((robot, states), trace) in enumerate(zip(shown, traces, strict=True)):
        assert trace is not None
        verdict, share, attempted = scores.verdict[place], scores.share[place], np.concatenate([states[:1], trace.states])
        left = f"leaves {100 * share:.0f} % of the error that doing nothing leaves"
        said = f"{verdict.capitalize()}: {robot} runs. Following it {left}"
        lanes.append(
            Lane(said, verdict, COLOURS[place], robot, imitator, states, attempted, trace.errors, np.zeros(1, np.int64))
        )
    return lanes


def one_step_and_trajectory() -> list[Lane]:
    """Follow one demonstration with the same tracker in both f-MDPs."""
    (robot, states), imitator = demonstrated(LEAP, HOPPERS.name), im.robot(HOPPERS.imitator)
    tracking, rule, steps = Lanes(imitator, scales(imitator).difference), ruler(imitator), np.arange(len(states) - 1)
    pairs = np.stack([states[:-1], states[1:]], axis=1)
    single = follow(tracking, Solver(), pairs, np.ones(len(steps), np.int64), seed=0).states[:, 0]
    whole = follow(tracking, Solver(), states[None], np.array([len(steps)]), seed=0).states[0]
    lanes = list[Lane]()
    for reached, name, begins, starts in (
        (single, "one-step", f"begins anew in each of {len(steps)} demonstrated states", steps),
        (whole, "trajectory", "begins in the first state and goes on from its own", steps[:1]),
    ):
        errors = rule.errors(reached, states[1:])
        said = f"{name.capitalize()} f-MDP: {begins}. Largest error {errors.max():.2g}"
        attempted = np.concatenate([states[:1], reached])
        lanes.append(Lane(said, name, COLOURS[len(lanes)], robot, imitator, states, attempted, errors, starts))
    return lanes


def draw_lanes(lanes: Sequence[Lane], strip: Strip, title: str) -> Figure:
    """Draw poses of every lane above each other, and the errors of all below, on one clock."""
    width = WIDTH - LEFT - RIGHT
    tall = width * (strip.height + UNDERGROUND) / (SHOWN_S * strip.pace + 2 * strip.margin)
    height = HEAD + len(lanes) * (tall + GAP) + GAP + ERRORS + FOOT
    figure, top = plt.figure(figsize=(WIDTH, height)), height - HEAD
    for lane in lanes:
        top -= GAP + tall
        draw_poses(figure.add_axes((LEFT / WIDTH, top / height, width / WIDTH, tall / height)), lane, strip)
    draw_errors(figure.add_axes((LEFT / WIDTH, FOOT / height, width / WIDTH, ERRORS / height)), lanes, strip)
    figure.text(LEFT / WIDTH, 1 - 0.25 / height, title, fontsize=13, color=INK, va="center", weight="bold")
    marks: dict[str, Any] = {
        "demonstrated": Patch(facecolor=GHOST, edgecolor=INK),
        f"our robot, {lanes[0].imitator}": (Patch(facecolor=OURS), Patch(facecolor=LOST)),
        "our robot is put into the demonstrated state": Line2D([], [], color=INK, marker="^", linestyle="", markersize=5),
    }
    figure.legend(
        list(marks.values()),
        list(marks),
        handler_map={tuple: HandlerTuple(None, pad=0)},
        loc="center left",
        bbox_to_anchor=((LEFT - 0.1) / WIDTH, 1 - 0.55 / height),
        ncols=3,
        frameon=False,
        fontsize=9,
        columnspacing=2.0,
        handlelength=1.6,
    )
    return figure


def draw_poses(axes: Axes, lane: Lane, strip: Strip) -> None:
    """Draw the demonstrated body and the imitator at the same moments; each moment has its place on the ground."""
    period = lane.imitator.layout.period_s
    axes.axhspan(-UNDERGROUND, 0, color="#e8ecee", linewidth=0)
    axes.axhline(0, color=GROUND, linewidth=1)
    for moment in np.linspace(0, SHOWN_S, strip.poses):
        step = round(moment / period)
        shift = moment * strip.pace - lane.demonstrated[step, 0]
        draw_body(axes, lane.demonstrator, lane.demonstrated[step], shift, facecolor=GHOST, edgecolor="none")
        draw_body(axes, lane.imitator, lane.attempted[step], shift, facecolor=lane.colour, edgecolor="white", alpha=0.85)
        draw_body(axes, lane.demonstrator, lane.demonstrated[step], shift, facecolor="none", edgecolor=INK)
    starts = lane.starts * period * strip.pace
    axes.plot(starts, np.full(len(starts), -UNDERGROUND / 2), "^", color=lane.colour, markersize=5, markeredgewidth=0)
    axes.set(xlim=(-strip.margin, SHOWN_S * strip.pace + strip.margin), ylim=(-UNDERGROUND, strip.height), xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.set_title(lane.said, loc="left", fontsize=10, color=lane.colour)


def draw_body(axes: Axes, robot: Robot, state: Floats, shift: float, **style: Any) -> None:
    """Draw one body, moved by `shift` along x."""
    for ends, radius in capsules(robot, state, plane_of(robot)):
        axes.add_patch(Polygon(outline(ends + np.array([shift, 0.0]), radius), closed=True, linewidth=0.6, **style))


def draw_errors(axes: Axes, lanes: Sequence[Lane], strip: Strip) -> None:
    """Draw the distance of every lane over the same clock as the poses."""
    period, margin = lanes[0].imitator.layout.period_s, strip.margin / strip.pace
    most = max(float(lane.errors.max()) for lane in lanes)
    for lane in lanes:
        times = np.arange(len(lane.demonstrated)) * period
        axes.plot(times, np.append(0.0, lane.errors), color=lane.colour, linewidth=2, clip_on=False)
        axes.text(times[-1] + 0.02, max(lane.errors[-1], 0.06 * most), lane.short, color=lane.colour, va="center", fontsize=10)
    axes.set(xlim=(-margin, SHOWN_S + margin), ylim=(0, 1.1 * most))
    axes.set_xticks(np.linspace(0, SHOWN_S, strip.poses))
    axes.set_title(
        "Error: distance to the demonstrated state, in usual spreads of the state", loc="left", fontsize=10, color=INK
    )
    axes.set_xlabel("seconds", fontsize=9, color=PALE)
    axes.tick_params(labelsize=9, colors=PALE)
    axes.spines[["top", "right"]].set_visible(False)


def draw_feasible() -> Figure:
    """Draw a demonstration that the imitator can follow and one that it cannot."""
    title = f"What {CHEETAHS.imitator} can follow, and what it cannot"
    return draw_lanes(feasible_and_infeasible(), Strip(5, 5.2, 1.42), title)


def draw_one_step_trajectory() -> Figure:
    """Draw both f-MDPs on the same demonstration."""
    return draw_lanes(
        one_step_and_trajectory(), Strip(9, 4.5, 2.05), f"{LEAP} leaps: one step is nearly possible, the whole leap is not"
    )


PICTURES = {"feasible": draw_feasible, "one-step-trajectory": draw_one_step_trajectory, "bodies": draw_bodies}
"""By name: docs/images/paper-NAME.svg."""


def main() -> None:
    """Write every picture, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PICTURES)}; default: all")
    for name in parser.parse_args().names or PICTURES:
        out = DOCS / "images" / f"paper-{name}.svg"
        out.write_bytes(svg(PICTURES[name]()))
        print(f"{out.relative_to(DOCS.parent)}: {out.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
