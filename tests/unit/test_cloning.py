# SPDX-License-Identifier: MIT
"""Cloning against policies that are known, and the laws of every training: same seed, same bits, break or no break."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from imitable.errors import BadOption, CannotResume
from imitable.imitation.learner import LearningJob
from imitable.imitation.methods.cloning import Cloning
from imitable.imitation.regression import LOG_STD, Regression
from imitable.nn.cloner import Cloner
from imitable.policies.acting import act
from imitable.projection import project
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.babble import babble
from imitable.sim.batch import Batch
from imitable.spec_text import parse_method
from imitable.types import Demonstrations, Floats, InMemory, Policy, Trajectory, Weights

SMALL = Cloning(gradient_steps=1000, minibatch=64, hidden=(16,))
GAIN = np.array([-0.5, -0.3])
"""a = gain · (position, speed)."""


@pytest.fixture
def slider(slider_path: Path) -> Robot:
    return parse_robot(str(slider_path))


def steered(body: Robot, starts: Floats, gain: Floats, steps: int = 20) -> list[Trajectory]:
    """Let a linear policy steer the slider from some states."""
    batch, states, actions = Batch(body, len(starts)), [starts], list[Floats]()
    batch.set_state(starts)
    for _ in range(steps):
        actions.append(states[-1] @ gain[:, None])
        batch.step(actions[-1])
        states.append(batch.states)
    rows, taken = np.stack(states, axis=1), np.stack(actions, axis=1)
    return [Trajectory(rows[i], str(body), taken[i]) for i in range(len(starts))]


def starts(count: int, seed: int) -> Floats:
    return np.random.default_rng(seed).uniform(-0.8, 0.8, (count, 2))


def begun(body: Robot, demos: Demonstrations, weights: Weights | None = None, method: Cloning = SMALL) -> Regression[Cloner]:
    return method.begin(LearningJob(demos, body, weights, steps=4096, seed=0))


def finished(training: Regression[Cloner]) -> Policy:
    while not training.done:
        training.iterate()
    return training.policy


def mass(demos: Demonstrations, values: Sequence[float]) -> Weights:
    return Weights(tuple(episode.hash for episode in demos.episodes), np.array(values) / sum(values))


def test_a_linear_policy_is_recovered(slider: Robot) -> None:
    demos = InMemory(slider.layout, steered(slider, starts(30, 0), GAIN))
    training = begun(slider, demos, method=replace(SMALL, gradient_steps=3000))
    policy = finished(training)
    states = np.concatenate([t.states[:-1] for t in steered(slider, starts(10, 1) * 0.8, GAIN)])
    np.testing.assert_allclose(act(policy, states)[:, 0], states @ GAIN, atol=0.02)
    assert policy.log_std[0] < -3
    assert (policy.log_std >= LOG_STD[0]).all()


def test_the_deviation_is_what_the_regression_leaves_over(slider: Robot) -> None:
    rng, made = np.random.default_rng(0), steered(slider, starts(60, 0), 0 * GAIN, steps=60)
    noisy = [Trajectory(t.states, t.demonstrator, 0.2 * rng.standard_normal((len(t), 1))) for t in made]
    policy = finished(begun(slider, InMemory(slider.layout, noisy)))
    np.testing.assert_allclose(np.exp(policy.log_std), 0.2, rtol=0.05)


def test_no_simulator_step_is_spent(slider: Robot) -> None:
    training = begun(slider, InMemory(slider.layout, steered(slider, starts(3, 0), GAIN)))
    progress, reported = [training.progress], [training.iterate()]
    while not training.done:
        progress.append(training.progress)
        reported.append(training.iterate())
    assert {one.steps for one in reported} == {0}
    assert reported[-1].metrics["loss"] < reported[0].metrics["loss"]
    assert progress == sorted(progress)
    assert training.progress == 1


def test_a_demonstration_without_weight_has_no_influence(slider: Robot) -> None:
    good, bad = steered(slider, starts(4, 0), GAIN), steered(slider, starts(2, 1), -GAIN)
    # not even one that would be refused
    strange = Trajectory(bad[0].states, "someone")
    demos = InMemory(slider.layout, [bad[1], *good, strange])
    weighted = finished(begun(slider, demos, mass(demos, [0, 1, 1, 1, 1, 0])))
    assert weighted.hash == finished(begun(slider, InMemory(slider.layout, good))).hash


def test_equal_weights_are_no_weights(slider: Robot) -> None:
    demos = InMemory(slider.layout, steered(slider, starts(7, 0), GAIN))
    assert finished(begun(slider, demos, mass(demos, [1] * 7))).hash == finished(begun(slider, demos)).hash


def test_weights_decide_between_two_policies(slider: Robot) -> None:
    made = [*steered(slider, starts(10, 0), GAIN), *steered(slider, starts(10, 0), -GAIN)]
    demos = InMemory(slider.layout, made)
    policy = finished(begun(slider, demos, mass(demos, [0.9] * 10 + [0.1] * 10)))
    states = starts(50, 3) * 0.5
    slope = np.linalg.lstsq(states, act(policy, states)[:, 0])[0]
    np.testing.assert_allclose(slope, 0.8 * GAIN, atol=0.15)


def test_a_break_changes_nothing(slider: Robot, tmp_path: Path) -> None:
    demos = InMemory(slider.layout, steered(slider, starts(4, 0), GAIN))
    whole, broken, again = (begun(slider, demos) for _ in range(3))
    broken.iterate()
    broken.save(tmp_path / "saved")
    again.load(tmp_path / "saved")
    assert again.progress == broken.progress == 0.5
    assert finished(again).hash == finished(whole).hash


def test_a_checkpoint_of_other_settings_is_refused(slider: Robot, tmp_path: Path) -> None:
    demos = InMemory(slider.layout, steered(slider, starts(4, 0), GAIN))
    begun(slider, demos).save(tmp_path / "saved")
    with pytest.raises(CannotResume, match="method"):
        begun(slider, demos, method=replace(SMALL, minibatch=32)).load(tmp_path / "saved")
    with pytest.raises(CannotResume, match="no checkpoint"):
        begun(slider, demos).load(tmp_path / "nothing")
    (tmp_path / "saved").write_bytes(b"half a file")
    with pytest.raises(CannotResume, match="damaged"):
        begun(slider, demos).load(tmp_path / "saved")


def test_actions_of_another_body_are_refused(slider: Robot, slider_path: Path) -> None:
    strong = parse_robot(f"{slider_path}:gear.push=8")
    foreign = InMemory(strong.layout, steered(strong, starts(2, 0), GAIN))
    with pytest.raises(BadOption, match=r"recorded on .*gear.push=8.*imitable project"):
        begun(slider, foreign)
    with pytest.raises(BadOption, match=r"recorded on somebody.*imitable project"):
        begun(slider, InMemory(slider.layout, [Trajectory(babble(slider, 1, 9, 0)[0].states, "somebody")]))
    with pytest.raises(BadOption, match=r"has no actions.*imitable project"):
        begun(slider, InMemory(slider.layout, [Trajectory(babble(slider, 1, 9, 0)[0].states, str(slider))]))


def test_projected_demonstrations_can_be_cloned(slider: Robot) -> None:
    made = [Trajectory(t.states, "someone") for t in steered(slider, starts(20, 0) * 0.5, GAIN)]
    projected = project(InMemory(slider.layout, made), slider)
    policy = finished(begun(slider, projected))
    states = np.concatenate([t.states[:-1] for t in made])
    np.testing.assert_allclose(act(policy, states)[:, 0], states @ GAIN, atol=0.1)


@pytest.mark.parametrize("settings", ["gradient_steps=0", "minibatch=0", "learning_rate=0", "hidden=0"])
def test_bad_settings_are_refused(settings: str) -> None:
    with pytest.raises(BadOption, match="give a number from"):
        parse_method(f"cloning:{settings}", {"cloning": Cloning})
