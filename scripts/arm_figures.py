# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""The arm's paths as SVG files: in space and in the plane of three joints, and of trials through the real protocol.

They are of results/arm_paths.json and results/arm_real.json.
"""

from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Rectangle
from reproduction_figures import COLOURS, svg

from imitable.experiments.arm_paths import ArmPaths
from imitable.experiments.arm_real_records import ArmRealRecord, Trial
from imitable.robots.panda import GOAL, STAND_TOP_M, STANDS
from imitable.robots.parse import parse_robot


def drawn(paths: ArmPaths) -> bytes:
    """Return demonstrations and every row's episodes, side by side: in space above, in the plane y = 0 below."""
    groups = {"demonstrations": paths.demonstrated} | {row: {row: found} for row, found in paths.imitated.items()}
    figure = plt.figure(figsize=(3.1 * len(groups), 5.6))
    for place, (title, group) in enumerate(groups.items()):
        space: Any = figure.add_subplot(2, len(groups), place + 1, projection="3d")
        plane = figure.add_subplot(2, len(groups), len(groups) + place + 1)
        _scene(plane)
        for colour, (name, found) in zip(COLOURS, group.items(), strict=False):
            for number, path in enumerate(found):
                x, y, z = np.array(path).T / 1000
                label = name if number == 0 and len(group) > 1 else None
                space.plot(x, y, z, color=colour, linewidth=0.8)
                plane.plot(x, z, color=colour, linewidth=0.8, label=label)
                plane.plot(x[-1], z[-1], ".", color=colour, markersize=3)
        _boxes(space)
        space.set_title(title, fontsize=9)
        if len(group) > 1:
            plane.legend(fontsize=6, loc="upper right")
    figure.tight_layout()
    return svg(figure)


ENDS = {
    "goal": ("#0072b2", "o"),
    "hit": ("#d55e00", "X"),
    "stopped by a limit": ("#cc79a7", "s"),
    "out of time": ("#e69f00", "v"),
}
"""How a trial can end: colour of its path, and mark at the end of it."""


def tried(record: ArmRealRecord) -> bytes | None:
    """Return the paths of trials in the plane, a panel a row, by how they ended; None if no trial has its path."""
    if not any(trial.path for trials in record.rows.values() for trial in trials):
        return None
    figure, [panels] = plt.subplots(
        1, len(record.rows), figsize=(3.1 * len(record.rows), 3.2), squeeze=False, layout="constrained"
    )
    for panel, (row, trials) in zip(panels, record.rows.items(), strict=True):
        _scene(panel, (record.difference.shift_x, record.difference.shift_z))
        for trial in (trial for trial in trials if trial.path):
            colour, mark = ENDS[_end(trial)]
            x, z = np.array(trial.path).T / 1000
            panel.plot(x, z, color=colour, linewidth=0.8)
            panel.plot(x[-1], z[-1], mark, color=colour, markersize=4)
        panel.set_title(f"{row}: goal in {sum(trial.goal for trial in trials)} of {len(trials)} trials", fontsize=9)
    marks = [Line2D([], [], color=colour, marker=mark, markersize=4, linewidth=0.8) for colour, mark in ENDS.values()]
    figure.legend(marks, list(ENDS), loc="outside lower center", ncols=len(ENDS), frameon=False, fontsize=8)
    return svg(figure)


def _end(trial: Trial) -> str:
    """Return how a trial ended."""
    if trial.goal or trial.hit:
        return "goal" if trial.goal else "hit"
    return "stopped by a limit" if trial.stopped else "out of time"


def _scene(panel: Any, shift: tuple[float, float] = (0.0, 0.0)) -> None:
    """Draw goal, stands and books in the plane, the shelf as far off in x and z as it was."""
    x, z = shift
    for stand in STANDS:
        panel.add_patch(Rectangle((stand + x - 0.01, z), 0.02, STAND_TOP_M, color="#888888"))
    panel.add_patch(Rectangle((STANDS[0] + x, z), STANDS[1] - STANDS[0], 0.16, color="#cccccc", zorder=0))
    panel.add_patch(Circle((GOAL[0], GOAL[2]), 0.05, color="#009e73", alpha=0.3))
    panel.set(xlim=(0.2, 1.05), ylim=(-0.02, 0.62), xlabel="x (m)", ylabel="z (m)", aspect="equal")


def _boxes(space: Any) -> None:
    """Draw the scene's boxes in space."""
    model = parse_robot("panda").model
    for geom in np.flatnonzero(model.geom_bodyid == 0).tolist():
        if str(model.geom(geom).name) in ("table", "board"):
            continue
        low, sides = model.geom_pos[geom] - model.geom_size[geom], 2 * model.geom_size[geom]
        space.bar3d(*low, *sides, color="#bbbbbb", alpha=0.4, shade=True)
    space.set(xlim=(0.2, 1.05), ylim=(-0.35, 0.35), zlim=(0, 0.5))
    space.set_box_aspect((0.85, 0.7, 0.5))
    space.view_init(elev=25, azim=-60)
    space.tick_params(labelsize=6)
