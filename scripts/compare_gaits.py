# SPDX-License-Identifier: MIT
"""How alike are the gaits of a setting's demonstrators? Write results/demonstrators/gaits.json and gaits.md.

The number is the sliced Wasserstein distance between the states that two demonstrators visit after their start, in the scales
of the setting's imitator (`evaluation/occupancy.py`): 0 for equal gaits, about 0.8 when all entries are off by one scale.
Mixtures of unlike gaits are harder to imitate.  python scripts/compare_gaits.py
"""

import json
from pathlib import Path

import numpy as np

from imitable.evaluation.occupancy import compare_occupancy
from imitable.evaluation.returns import EVALUATION_SEED, play
from imitable.experiments.settings import SETTINGS, Setting
from imitable.policies.shipped import policy_for
from imitable.robots.parse import parse_robot
from imitable.runtime import one_thread
from imitable.sim.task import Locomotion
from imitable.types import Trajectory

OUT = Path(__file__).resolve().parents[1] / "results" / "demonstrators"
EPISODES, SKIPPED_S = 3, 2.0
"""Episodes of each gait, and seconds at their beginning that are left out."""


def gait(body: str, setting: str) -> list[Trajectory]:
    """Play a demonstrator, and cut its start off."""
    robot = parse_robot(body)
    skipped = round(SKIPPED_S / robot.layout.period_s)
    rollouts = play(Locomotion(robot), policy_for(robot, setting), EPISODES, EVALUATION_SEED)
    return [Trajectory(each.states[skipped:], each.demonstrator) for each in rollouts]


def distances(setting: Setting) -> list[list[float]]:
    """(5, 5) distance of each gait from each other, the imitator's own first."""
    imitator = parse_robot(setting.imitator)
    gaits = [gait(body, setting.name) for body in setting.bodies]
    clouds = [np.concatenate([each.states[:-1] for each in rollouts]) for rollouts in gaits]
    return [
        [round(compare_occupancy(imitator, one, other, np.ones(len(other))).distance, 2) for other in clouds] for one in gaits
    ]


def page(tables: dict[str, list[list[float]]]) -> str:
    """Return the tables of all settings."""
    lines = ["# How alike the demonstrators' gaits are", "", *str(__doc__).split("\n")[2:5], ""]
    for setting in SETTINGS:
        lines += [f"## {setting.name}", "", "| | " + " | ".join(f"`{body}`" for body in setting.bodies) + " |"]
        lines += ["|---" * (len(setting.bodies) + 1) + "|"]
        for body, row in zip(setting.bodies, tables[setting.name], strict=True):
            lines.append(f"| `{body}` | " + " | ".join(f"{value:.2f}" for value in row) + " |")
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    """Compare all settings."""
    one_thread()
    tables = {setting.name: distances(setting) for setting in SETTINGS}
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "gaits.json").write_text(json.dumps(tables, indent=1) + "\n")
    (OUT / "gaits.md").write_text(page(tables))


if __name__ == "__main__":
    main()
