# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""Draw the gait of every shipped demonstrator, and write docs/demonstrators.md from their cards.

python scripts/draw_demonstrators.py [--page]
"""

import argparse
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from demonstrators_page import DOCS, title, write_page
from matplotlib.patches import Polygon

from imitable.experiments.settings import BY_NAME
from imitable.policies.shipped import card, cards, policy_for, shipped
from imitable.report.poses import figure
from imitable.robots.parse import ROBOTS, parse_robot
from imitable.robots.robot import Robot
from imitable.sim.rollout import episodes
from imitable.sim.task import Locomotion
from imitable.types import Floats

FIRST = "half_cheetah-1"
"""The setting of the README's example."""
BEGIN_S, SHOWN_S, POSES = 4.0, 2.0, 9
"""Seconds into the episode, seconds shown, silhouettes drawn in them."""
INK, GROUND = "#1b3a4b", "#9aa5ab"


def capsules(robot: Robot, state: Floats, plane: tuple[int, int]) -> list[tuple[Floats, float]]:
    """Return the axis (2, 2) and the radius of every capsule of a body in a state, in a plane of the world."""
    shown = figure(robot, state[None])
    axes = np.split(shown.points[0][:, list(plane)], np.cumsum(shown.counts)[:-1])
    return [(ends, radius) for ends, radius in zip(axes, shown.radii, strict=True) if len(ends) == 2]


def plane_of(robot: Robot) -> tuple[int, int]:
    """Return the axes of the picture: a Swimmer is seen from above, the others from the side."""
    return (0, 1) if robot.family.name == "swimmer" else (0, 2)


def draw_body(axes: Any, robot: Robot, state: Floats, shift: float, alpha: float) -> None:
    """Draw one silhouette, moved by `shift` along x."""
    for ends, radius in capsules(robot, state, plane_of(robot)):
        corners = outline(ends + np.array([shift, 0.0]), radius)
        axes.add_patch(Polygon(corners, closed=True, facecolor=INK, edgecolor="white", linewidth=0.4, alpha=alpha))


def outline(ends: Floats, radius: float) -> Floats:
    """(2, 2) axis of a capsule → (24, 2) corners of its silhouette."""
    along = ends[1] - ends[0]
    angle = np.arctan2(along[1], along[0])
    turns = np.linspace(-np.pi / 2, np.pi / 2, 12)
    tip = ends[1] + radius * np.stack([np.cos(angle + turns), np.sin(angle + turns)], axis=1)
    tail = ends[0] + radius * np.stack([np.cos(angle + np.pi + turns), np.sin(angle + np.pi + turns)], axis=1)
    return np.concatenate([tip, tail])


def play(text: str, setting: str = "", set_name: str = "a") -> tuple[Robot, Floats]:
    """Return the body and the states of one episode of its demonstrator."""
    robot = parse_robot(text)
    trajectory, _ = next(episodes(Locomotion(robot), policy_for(robot, setting, set_name), [7]))
    return robot, trajectory.states


def draw_strip(axes: Any, robot: Robot, states: Floats, title: str) -> None:
    """Draw silhouettes of two seconds, each at its own place on the ground."""
    period = robot.layout.period_s
    first = min(int(BEGIN_S / period), max(len(states) - int(SHOWN_S / period) - 1, 0))
    frames = np.linspace(first, min(first + SHOWN_S / period, len(states) - 1), POSES).astype(int)
    gap = max(0.0, 1.3 - abs(states[frames[-1], 0] - states[frames[0], 0]) / (POSES - 1))
    for place, frame in enumerate(frames):
        draw_body(axes, robot, states[frame], place * gap - states[frames[0], 0], 0.35 + 0.65 * place / (POSES - 1))
    if robot.family.name != "swimmer":
        axes.axhline(0, color=GROUND, linewidth=1)
    axes.set_aspect("equal")
    axes.autoscale_view()
    axes.set_title(title, loc="left", fontsize=9)
    axes.set_xlabel(f"metres run in {SHOWN_S:g} s" + (", silhouettes spread apart" if gap else ""), fontsize=8)
    axes.set_ylabel("metres", fontsize=8)
    axes.tick_params(labelsize=7)


def draw_joints(axes: Any, robot: Robot, states: Floats) -> None:
    """Draw the angles of the actuated joints over the whole episode's first ten seconds."""
    layout = robot.layout
    shown = states[: int(10 / layout.period_s) + 1]
    driven = [int(robot.model.actuator_trnid[a, 0]) for a in range(robot.model.nu)]
    for joint in driven:
        column = int(robot.model.jnt_qposadr[joint])
        axes.plot(
            np.arange(len(shown)) * layout.period_s, np.degrees(shown[:, column]), linewidth=0.8, label=layout.qpos[column]
        )
    axes.set_xlabel("seconds", fontsize=8)
    axes.set_ylabel("joint angle, degrees", fontsize=8)
    axes.tick_params(labelsize=7)


def heading(said: dict[str, Any]) -> str:
    """Return a line that says who it is and what it returns."""
    mean = said["mean_actions"]
    return f"{title(said)}   return {mean['return_mean']:,.0f} ± {mean['return_std']:,.0f}"


def draw_robot(name: str) -> None:
    """Draw all demonstrators of one robot: silhouettes and joint angles."""
    own = [said for said in cards() if said["robot"].partition(":")[0] == name]
    sheet, rows = plt.subplots(len(own), 2, figsize=(12, 2.1 * len(own)), width_ratios=(3, 2), squeeze=False)
    for (left, right), said in zip(rows, own, strict=True):
        robot, states = play(said["robot"], said.get("setting", ""))
        draw_strip(left, robot, states, heading(said))
        draw_joints(right, robot, states)
    rows[0, 1].legend(fontsize=6, ncols=3, loc="lower left", bbox_to_anchor=(0, 1), frameon=False, handlelength=1)
    sheet.tight_layout()
    sheet.savefig(DOCS / "images" / f"gaits-{name}.png", dpi=90)
    plt.close(sheet)


def draw_first_setting() -> None:
    """Draw the demonstrators that the README's example asks about."""
    sheet, axes = plt.subplots(2, 2, figsize=(12, 3.4))
    for place, text in zip(axes.flat, BY_NAME[FIRST].demonstrators, strict=True):
        draw_strip(place, *play(text, FIRST), heading(card(parse_robot(text), FIRST)))
    sheet.suptitle(
        "Equally good demonstrators, different bodies: which of them can a robot with weak front motors imitate?", fontsize=11
    )
    sheet.tight_layout()
    sheet.savefig(DOCS / "images" / "demonstrators.png", dpi=90)
    plt.close(sheet)


def main() -> None:
    """Draw everything, or write the page only."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="write the page, leave the pictures as they are")
    if parser.parse_args().page:
        write_page()
        return
    (DOCS / "images").mkdir(exist_ok=True)
    for name in ROBOTS:
        if any(text.partition(":")[0] == name for text in shipped()):
            draw_robot(name)
    draw_first_setting()
    write_page()


if __name__ == "__main__":
    main()
