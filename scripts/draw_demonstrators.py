# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""Draw the gait of every shipped demonstrator, and write docs/demonstrators.md from their cards.

python scripts/draw_demonstrators.py [--page]
"""

import argparse
import json
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import mujoco
import numpy as np
from matplotlib.patches import Polygon

from imitable.policies.shipped import card, folder, policy_for, shipped
from imitable.robots.parse import ROBOTS, parse_robot
from imitable.robots.robot import Robot
from imitable.sim.rollout import episodes
from imitable.sim.task import Locomotion
from imitable.types import Floats

DOCS = Path(__file__).resolve().parents[1] / "docs"
FIRST_SETTING = ("half_cheetah:front=0.05", "half_cheetah:front=0.5", "half_cheetah:back=0.5", "half_cheetah:back=0.05")
BEGIN_S, SHOWN_S, POSES = 4.0, 2.0, 9
"""Seconds into the episode, seconds shown, silhouettes drawn in them."""
COLUMNS = ("robot", "paper", "mean actions", "sampled actions", "falls", "pushes", "seed", "steps", "command")
"""Of the tables of the page."""
INK, GROUND = "#1b3a4b", "#9aa5ab"


def capsules(robot: Robot, state: Floats, plane: tuple[int, int]) -> list[tuple[Floats, float]]:
    """Return the axis (2, 2) and the radius of every capsule of a body in a state, in a plane of the world."""
    model, data = robot.model, mujoco.MjData(robot.model)
    data.qpos[:], data.qvel[:] = state[: model.nq], state[model.nq :]
    mujoco.mj_kinematics(model, data)
    shapes: list[tuple[Floats, float]] = []
    for geom in range(model.ngeom):
        if int(model.geom_type[geom]) == int(mujoco.mjtGeom.mjGEOM_CAPSULE):
            radius, half = model.geom_size[geom, :2]
            axis = data.geom_xmat[geom].reshape(3, 3)[:, 2] * half
            ends = np.stack([data.geom_xpos[geom] - axis, data.geom_xpos[geom] + axis])
            shapes.append((ends[:, list(plane)], float(radius)))
    return shapes


def draw_body(axes: Any, robot: Robot, state: Floats, shift: float, alpha: float) -> None:
    """Draw one silhouette, moved by `shift` along x."""
    plane = (0, 1) if robot.family.name == "swimmer" else (0, 2)
    for ends, radius in capsules(robot, state, plane):
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


def play(text: str) -> tuple[Robot, Floats]:
    """Return the body and the states of one episode of its demonstrator."""
    robot = parse_robot(text)
    trajectory, _ = next(episodes(Locomotion(robot), policy_for(robot), [7]))
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


def title_of(text: str) -> str:
    """Return a line that says who it is and what it returns."""
    said = card(parse_robot(text))["mean_actions"]
    return f"{text}   return {said['return_mean']:,.0f} ± {said['return_std']:,.0f}"


def draw_robot(name: str) -> None:
    """Draw all demonstrators of one robot: silhouettes and joint angles."""
    texts = [text for text in shipped() if text.partition(":")[0] == name]
    figure, rows = plt.subplots(len(texts), 2, figsize=(12, 2.1 * len(texts)), width_ratios=(3, 2), squeeze=False)
    for (left, right), text in zip(rows, texts, strict=True):
        robot, states = play(text)
        draw_strip(left, robot, states, title_of(text))
        draw_joints(right, robot, states)
    rows[0, 1].legend(fontsize=6, ncols=3, loc="lower left", bbox_to_anchor=(0, 1), frameon=False, handlelength=1)
    figure.tight_layout()
    figure.savefig(DOCS / "images" / f"gaits-{name}.png", dpi=90)
    plt.close(figure)


def draw_first_setting() -> None:
    """Draw the demonstrators that the README's example asks about."""
    figure, axes = plt.subplots(2, 2, figsize=(12, 3.4))
    for place, text in zip(axes.flat, FIRST_SETTING, strict=True):
        draw_strip(place, *play(text), title_of(text))
    figure.suptitle(
        "Equally good demonstrators, different bodies: which of them can a robot with weak front motors imitate?", fontsize=11
    )
    figure.tight_layout()
    figure.savefig(DOCS / "images" / "demonstrators.png", dpi=90)
    plt.close(figure)


def write_page() -> None:
    """Write docs/demonstrators.md from the cards."""
    lines = [
        "# The shipped demonstrators",
        "",
        "One policy for every demonstrator and every imitator of the paper's six settings. *Paper* is what the paper's",
        "demonstrations of a body's settings return. Our returns are over 100 episodes from",
        "start states that training never saw; *falls* are episodes that ended early, of those with mean and of those with",
        "sampled actions. *Pushes* are episodes of another 100, with mean actions, that survive a push of 0.1 s at a random",
        "time: no fall, and nine tenths of the return without it; – stands for policies that were made before this was asked.",
        "Written by `python scripts/draw_demonstrators.py` from the cards beside the policies, made by `make demonstrators`.",
    ]
    cards = [json.loads(path.read_text()) for path in sorted(folder().glob("*.json"))]
    retrained = {said["robot"] for said in cards if "pushed" in said}
    for name in ROBOTS:
        own = [said for said in cards if said["robot"].partition(":")[0] == name]
        lines += ["", f"## {name}", "", "| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
        lines += [_row(said) for said in own]
        lines += [f"\n*{_title(said)}*: {' '.join(remarks)}" for said in own if (remarks := _remarks(said, retrained))]
        lines += ["", f"![Gaits of the {name} demonstrators](images/gaits-{name}.png)"]
    (DOCS / "demonstrators.md").write_text("\n".join(lines) + "\n")


def _title(said: dict[str, Any]) -> str:
    return said["robot"] + (f" for {said['setting']}" if said.get("setting") else "")


def _row(said: dict[str, Any]) -> str:
    mean, sampled, pushed = said["mean_actions"], said["sampled_actions"], said.get("pushed")
    returns = [f"{each['return_mean']:,.0f} ± {each['return_std']:,.0f}" for each in (mean, sampled)]
    pushes = f"{pushed['survived']} ({pushed['newtons']:g} N)" if pushed else "–"
    seeds = " ".join(dict.fromkeys(re.findall(r"--seed (\d+)", said["command"])))
    cells = (
        f"`{_title(said)}`",
        said["paper_demonstrations"],
        *returns,
        f"{mean['falls']}, {sampled['falls']}",
        pushes,
        seeds,
        f"{said['steps']:,}",
        f"`{said['command']}`",
    )
    return f"| {' | '.join(cells)} |"


def _remarks(said: dict[str, Any], retrained: set[str]) -> list[str]:
    """Return a card's note, what acceptance had against the policy, and whether its command begins from another one by now."""
    remarks = [said["note"]] if said["note"] else []
    if said.get("refusals"):
        remarks.append(f"Not accepted: {'; '.join(said['refusals'])}.")
    begun = retrained & set(re.findall(r"--begin (\S+)", said["command"]))
    if begun and said["robot"] not in retrained:
        names = ", ".join(sorted(begun))
        remarks.append(f"Begun from the policy of {names} before that was trained anew: its command gives another one now.")
    return remarks


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
