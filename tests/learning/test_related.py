# SPDX-License-Identifier: MIT
"""A learner that converges: on each body it reaches what one related demonstrator showed, within the steps of the protocol.

`make slow` learns anew, in a folder of its own, on the development imitators: three seeds, mean actions, the final policy.
"""

from pathlib import Path

import pytest

import imitable as im
from imitable.experiments.cases import Recording
from imitable.experiments.demonstrations import record_demonstrations, recorded
from imitable.experiments.protocol import PROJECTION, read_protocol
from imitable.experiments.settings import DEVELOPMENT, Setting
from imitable.spec_text import split

ROOT = Path(__file__).parents[2]
ENOUGH = 0.9
"""Part of the demonstrated return that counts as learned."""


@pytest.mark.slow
@pytest.mark.parametrize("setting", DEVELOPMENT, ids=lambda setting: setting.name)
def test_one_related_demonstrator_is_learned(setting: Setting, tmp_path: Path) -> None:
    protocol = read_protocol(ROOT / "results" / "protocol.json")
    shown = (Recording(setting.demonstrators[0], 50, setting.name, 0),)
    record_demonstrations(tmp_path, shown[0])
    demos = recorded(tmp_path, shown)
    run = im.Run(steps=protocol.steps[split(setting.imitator)[0]], episodes=(100, 1), evaluate_best=False)
    learned = im.imitate(demos, im.robot(setting.imitator), protocol.learners[PROJECTION], seeds=3, run=run)
    returns = [one.evaluation.last.mean_actions.return_mean or 0.0 for one in learned]
    demonstrated = sum(episode.total_return for episode in demos.episodes) / len(demos)
    assert sum(returns) / len(returns) >= ENOUGH * demonstrated, f"{returns} of {demonstrated:.0f}"
