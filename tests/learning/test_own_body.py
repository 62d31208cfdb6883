# SPDX-License-Identifier: MIT
"""GAIfO with its defaults imitates the imitator's own expert: one recipe for all bodies, three seeds, the final policy.

`make slow` learns anew, in a folder of its own: records in `results/` are neither looked at nor changed.
"""

from pathlib import Path

import pytest

from imitable.experiments.cases import LearningCase, own_cases
from imitable.experiments.imitation import learn
from imitable.experiments.imitation_records import demonstrated_fraction, reaches_goal
from imitable.experiments.records import Places


@pytest.mark.slow
@pytest.mark.parametrize("case", own_cases(), ids=lambda case: case.name)
def test_gaifo_reaches_the_demonstrations_on_their_own_body(case: LearningCase, tmp_path: Path) -> None:
    [record] = learn([case], Places(tmp_path / "results", tmp_path / "runs"), processes=2)
    assert [run.seed for run in record.runs] == [0, 1, 2]
    assert reaches_goal(record), f"{demonstrated_fraction(record):.0%} of the demonstrations' return"
