# SPDX-License-Identifier: MIT
"""How alike are the gaits of a setting's demonstrators? Write results/demonstrators/gaits.json and gaits.md.

The number is the sliced Wasserstein distance between the states that two demonstrators visit after their start, in the scales
of the setting's imitator (`conduct.py`): 0 for equal gaits, about 1 when all entries are off by one scale of the body.
Mixtures of unlike gaits are harder to imitate.  python scripts/compare_gaits.py
"""

import json
from pathlib import Path

import numpy as np

from imitable.conduct import conduct
from imitable.demonstrators.settings import SETTINGS, Setting
from imitable.demonstrators.shipped import policy_for
from imitable.dynamics.parse import robot
from imitable.evaluate import EVALUATION_SEED, played
from imitable.runtime import one_thread
from imitable.sim.task import Locomotion
from imitable.types import Trajectory

OUT = Path(__file__).resolve().parents[1] / "results" / "demonstrators"
EPISODES, SKIPPED_S = 3, 2.0
"""Episodes of each gait, and seconds at their beginning that are left out."""


def gait(body: str, setting: str) -> list[Trajectory]:
    """Play a demonstrator, and cut its start off."""
    variant = robot(body)
    skipped = round(SKIPPED_S / variant.layout.period_s)
    rollouts = played(Locomotion(variant), policy_for(variant, setting), EPISODES, EVALUATION_SEED)
    return [Trajectory(each.states[skipped:], each.demonstrator) for each in rollouts]


def distances(setting: Setting) -> list[list[float]]:
    """(5, 5) distance of each gait from each other, the imitator's own first."""
    imitator = robot(setting.imitator)
    gaits = [gait(body, setting.name) for body in setting.bodies]
    clouds = [np.concatenate([each.states[:-1] for each in rollouts]) for rollouts in gaits]
    return [[round(conduct(imitator, one, other, np.ones(len(other))).occupancy, 2) for other in clouds] for one in gaits]


def page(found: dict[str, list[list[float]]]) -> str:
    """Return the tables of all settings."""
    lines = ["# How alike the demonstrators' gaits are", "", *str(__doc__).split("\n")[2:5], ""]
    for setting in SETTINGS:
        lines += [f"## {setting.name}", "", "| | " + " | ".join(f"`{body}`" for body in setting.bodies) + " |"]
        lines += ["|---" * (len(setting.bodies) + 1) + "|"]
        for body, row in zip(setting.bodies, found[setting.name], strict=True):
            lines.append(f"| `{body}` | " + " | ".join(f"{value:.2f}" for value in row) + " |")
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    """Compare all settings."""
    one_thread()
    found = {setting.name: distances(setting) for setting in SETTINGS}
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "gaits.json").write_text(json.dumps(found, indent=1) + "\n")
    (OUT / "gaits.md").write_text(page(found))


if __name__ == "__main__":
    main()
