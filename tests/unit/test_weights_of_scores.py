# SPDX-License-Identifier: MIT
"""Weights from scoring belong to the demonstrations as they were scored."""

from dataclasses import replace
from pathlib import Path

import pytest

import imitable as im
from imitable.errors import BadWeights
from imitable.sim.babble import babble


def test_an_end_that_changed_since_scoring_is_refused(slider_path: Path, tmp_path: Path) -> None:
    body = im.robot(str(slider_path))
    trajectories = list(babble(body, 3, 20, seed=0))
    demos = im.InMemory(body.layout, trajectories)
    changed = im.InMemory(body.layout, [*trajectories[:2], replace(trajectories[2], terminated=True)])
    out = tmp_path / "scores.parquet"
    for scores in (im.score(demos, body, out=out), im.read_scores(out)):
        assert scores.weights.of(demos).sum() == pytest.approx(1)
        with pytest.raises(BadWeights, match="episode 2 of the set ended by itself, which was otherwise"):
            scores.weights.of(changed)
