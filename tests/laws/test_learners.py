# SPDX-License-Identifier: MIT
"""Laws that hold for every learner, on a body that falls and on one without a task."""

from pathlib import Path

import pytest

from imitable.demonstrators.shipped import policy_for
from imitable.dynamics.parse import robot
from imitable.imitation.method import METHODS
from imitable.sim.babble import babble
from imitable.sim.rollout import episodes
from imitable.sim.task import Locomotion
from imitable.testing import check_learner
from imitable.types import InMemory, Trajectory

SMALL = "environments=8,length=16,minibatch=64,hidden=8x8"
QUICK = {
    "gaifo": f"gaifo:{SMALL},turns=2,judge_minibatch=32,judge_hidden=16x16",
    "gaifo, trpo": f"gaifo:preset=trpo,{SMALL},turns=2,judge_minibatch=32,judge_hidden=16x16",
    "gaifo, paper": f"gaifo:preset=paper,{SMALL},judge_minibatch=32,judge_hidden=16x16",
    "gaifo, loss": f"gaifo:weighting=loss,{SMALL},turns=2,judge_minibatch=32,judge_hidden=16x16",
    "sail": f"sail:{SMALL},critic_steps=0,goal_hidden=16,goal_steps=20,babbled=200,inverse_hidden=8,inverse_steps=20"
    ",pretrained=10,inverse_turns=2,turns=2,judge_hidden=16,judge_minibatch=32",
    "cloning": "cloning:gradient_steps=40,minibatch=32,hidden=8x8",
    "dcc": "dcc:transitions=400,forward_steps=20,map_steps=20,minibatch=16",
}
"""Every learner at a budget that suits a test."""

STEPS = {"dcc": 3 * 64 * 32}
"""Control steps of a course, if not three small batches."""


def test_every_learner_is_tested() -> None:
    assert {name.split(",")[0] for name in QUICK} == set(METHODS)


@pytest.fixture(scope="module")
def hops() -> InMemory:
    """Three short hops of a Hopper, one of which falls; with its own actions, for those who want them."""
    body = robot("hopper:gravity=15")
    played = [trajectory for trajectory, _ in episodes(Locomotion(body), policy_for(body), [1, 2, 3])]
    cut = [Trajectory(t.states[:41], str(body), t.actions[:40], i == 1) for i, t in enumerate(played) if t.actions is not None]
    return InMemory(body.layout, cut)


@pytest.mark.parametrize("name", QUICK)
def test_laws_on_a_body_that_falls(name: str, hops: InMemory) -> None:
    check_learner(QUICK[name], hops, "hopper:gravity=15", steps=STEPS.get(name, 3 * 8 * 16))


@pytest.mark.parametrize("name", QUICK)
def test_laws_on_a_body_without_a_task(name: str, slider_path: Path) -> None:
    body = robot(str(slider_path))
    check_learner(QUICK[name], InMemory(body.layout, babble(body, 3, 30, 0)), body, steps=STEPS.get(name, 3 * 8 * 16))
