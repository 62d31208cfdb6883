# SPDX-License-Identifier: MIT
"""A real torch `DataLoader` draws transitions by our weights."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare
from tests.interop.environments import environment, run
from tests.unit.datasets import LAYOUT, trajectory
from tests.unit.scored import scores_of

from imitable.types import InMemory

pytestmark = pytest.mark.interop

DRAWS = 100_000


@pytest.fixture(scope="session")
def torch_python() -> Path:
    return environment("torch", "torch", "numpy", "typing_extensions")


def test_a_data_loader_draws_in_proportion_to_the_weights(torch_python: Path) -> None:
    demos = InMemory(LAYOUT, [trajectory(length, k) for k, length in enumerate((5, 9, 7, 4))])
    probabilities = scores_of(demos, [4, 0, 1, 0.5]).weights.of_transitions(demos)
    seen = json.loads(run(torch_python, "torch_draws.py", json.dumps(probabilities.tolist()), DRAWS))
    counts = np.array(seen["counts"])
    assert (counts.sum(), seen["batches"]) == (DRAWS, -(-DRAWS // 256))
    held = probabilities > 0
    assert not counts[~held].any()
    assert chisquare(counts[held], DRAWS * probabilities[held]).pvalue > 1e-4
