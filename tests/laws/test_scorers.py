# SPDX-License-Identifier: MIT
"""Laws that hold for every scorer, on a one-joint slider and a two-link arm."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from imitable.feasibility.methods import METHODS, direct
from imitable.feasibility.methods.direct import Direct
from imitable.feasibility.score import Measuring, score
from imitable.feasibility.scorer import Measured, Measurer, ScoringJob
from imitable.feasibility.scores import Scores
from imitable.robots.parse import parse_robot
from imitable.sim.babble import babble
from imitable.sim.kinematics import state_space
from imitable.testing import check_scorer
from imitable.types import InMemory, Trajectory

QUICK = {
    "direct": "direct:window_s=0.4,restart_budget=100",
    "trajectory": "trajectory:horizon=20,steps=20000",
    "one-step": "one-step:horizon=20,steps=20000",
    "inverse-dynamics": "inverse-dynamics:horizon=20,transitions=20000,passes=4,calibration=8",
    "transferability": "transferability:horizon=20,steps=32768",
    "neighbours": "neighbours:horizon=20",
}
"""Every method at a budget that suits a tiny body."""

LOCAL = ("direct", "neighbours")
"""Methods whose score of a demonstration depends on that demonstration alone."""


def test_every_method_is_tested() -> None:
    assert set(QUICK) == set(METHODS)


@dataclass(frozen=True)
class Case:
    """An imitator, and demonstrations of its own and of a stronger body."""

    imitator: str
    demos: InMemory
    own: int


def case(path: Path, gears: tuple[str, ...], count: int) -> Case:
    """Own movements, and those of a body with eight times the force: the imitator cannot keep up with them."""
    weak = parse_robot(str(path))
    strong = parse_robot(f"{path}:{','.join(f'gear.{name}=8' for name in gears)}")
    own = [Trajectory(t.states, "own") for t in babble(weak, count, 20, 3)]
    other = [Trajectory(t.states, "strong") for t in babble(strong, count, 20, 4)]
    return Case(str(path), InMemory(weak.layout, [*own, *other]), count)


@pytest.fixture
def slider_case(slider_path: Path) -> Case:
    return case(slider_path, ("push",), 4)


@pytest.fixture
def arm_case(arm_path: Path) -> Case:
    return case(arm_path, ("shoulder_motor", "elbow_motor"), 4)


def own_is_best(name: str, scores: Scores, own: int) -> bool:
    """Return whether own demonstrations score higher: each of them, or, of methods that learn little here, the middle one."""
    least, most = (np.min, np.max) if name in LOCAL else (np.median, np.median)
    return bool(least(scores.score[:own]) > most(scores.score[own:]))


@pytest.mark.parametrize("name", METHODS)
def test_laws_on_a_slider(slider_case: Case, name: str) -> None:
    scores = check_scorer(QUICK[name], slider_case.demos, slider_case.imitator, local=name in LOCAL)
    assert own_is_best(name, scores, slider_case.own)


@pytest.mark.parametrize("name", METHODS)
def test_own_demonstrations_score_highest_on_an_arm(arm_case: Case, name: str) -> None:
    scores = score(arm_case.demos, arm_case.imitator, QUICK[name])
    assert own_is_best(name, scores, arm_case.own)


@pytest.mark.parametrize("distance", ["standardised", "l2", "l1"])
def test_laws_hold_for_every_distance(slider_case: Case, distance: str) -> None:
    check_scorer(QUICK["direct"], slider_case.demos, slider_case.imitator, measuring=Measuring(distance=distance))


@pytest.mark.parametrize("form", ["windows", "restart"])
def test_laws_hold_for_every_form(slider_case: Case, form: str) -> None:
    check_scorer(f"direct:form={form},transitions=20,window_s=0.16,restart_budget=100", slider_case.demos, slider_case.imitator)


def test_laws_hold_with_noise(slider_case: Case) -> None:
    noisy = f"{slider_case.imitator}:noise=0.05"
    check_scorer(QUICK["direct"], slider_case.demos, noisy, measuring=Measuring(rollouts=3))


@pytest.mark.parametrize(("noise", "rollouts"), [("", 1), (":noise=0.05", 3)])
def test_how_many_attempts_are_simulated_side_by_side_does_not_matter(
    slider_case: Case, monkeypatch: pytest.MonkeyPatch, noise: str, rollouts: int
) -> None:
    found: list[Scores] = []
    for size in (direct.BLOCK, 8):
        monkeypatch.setattr(direct, "BLOCK", size)
        method, imitator = f"{QUICK['direct']},effort=thorough", f"{slider_case.imitator}{noise}"
        found.append(score(slider_case.demos, imitator, method, measuring=Measuring(rollouts=rollouts)))
    np.testing.assert_array_equal(found[0].share, found[1].share)


def test_threads_do_not_matter(arm_case: Case) -> None:
    one = score(arm_case.demos, arm_case.imitator, QUICK["direct"], measuring=Measuring(threads=1))
    two = score(arm_case.demos, arm_case.imitator, QUICK["direct"], measuring=Measuring(threads=2))
    np.testing.assert_array_equal(one.share, two.share)


SIGNED = {
    "direct": "direct:window_s=0.24,windows=1,restart_budget=50",
    "trajectory": "trajectory:horizon=8,steps=4096",
    "one-step": "one-step:horizon=16,steps=4096",
    "inverse-dynamics": "inverse-dynamics:horizon=12,transitions=2000,passes=1,calibration=3,hidden=16,jitter=0",
    "transferability": "transferability:horizon=12,steps=4096",
    "neighbours": "neighbours:horizon=16,transitions=2000,tries=0",
}
"""Every method without what it draws by a demonstration's hash, which covers the signs: of 16 transitions all are judged."""

FORMS = ("direct:window_s=0.24,windows=1,restart_budget=50,effort=thorough",)


@pytest.mark.parametrize("method", [*(SIGNED[name] for name in METHODS), *FORMS])
def test_the_signs_of_quaternions_do_not_matter(floating_path: Path, method: str) -> None:
    """q and −q are one rotation, and recorders change from one to the other, frame by frame."""
    body, rng = parse_robot(str(floating_path)), np.random.default_rng(0)
    demonstrated = [one.states for one in babble(body, 2, 16, 5)]
    flipped = [states.copy() for states in demonstrated]
    for states in flipped:
        for first in state_space(body).quaternions:
            states[:, first : first + 4] *= rng.choice([-1.0, 1.0], size=(len(states), 1))
    plain, other = (
        score(InMemory(body.layout, [Trajectory(one, f"body {k}") for k, one in enumerate(states)]), body, method)
        for states in (demonstrated, flipped)
    )
    np.testing.assert_array_equal(other.distance, plain.distance)
    np.testing.assert_array_equal(other.share, plain.share)


@dataclass(frozen=True)
class Crowded:
    """A scorer that breaks the law: what it says of one demonstration depends on how many there are."""

    rule: ClassVar[str] = "share"

    def prepared(self, job: ScoringJob) -> Measurer:
        honest = Direct(window_s=0.2, restart_budget=0).prepared(job)
        crowd = len(job.demos)

        class Dishonest:
            spent, horizon, about = 0, honest.horizon, honest.about

            def __call__(self, trajectories: Sequence[Trajectory]) -> list[Measured]:
                return [replace(measured, share=measured.share + 0.01 * crowd) for measured in honest(trajectories)]

        return Dishonest()


def test_a_broken_scorer_is_caught(slider_case: Case) -> None:
    """The checks can fail."""
    check_scorer(Crowded(), slider_case.demos, slider_case.imitator, local=False)
    with pytest.raises(AssertionError, match="an added demonstration"):
        check_scorer(Crowded(), slider_case.demos, slider_case.imitator)
