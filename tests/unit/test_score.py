# SPDX-License-Identifier: MIT
"""The verb `score`: closed forms, methods, bad input."""

from pathlib import Path

import numpy as np
import pytest

from imitable.errors import BadEpisode, BadOption, BadWeights
from imitable.feasibility import score as score_module
from imitable.feasibility.checks import check_episode
from imitable.feasibility.methods import parse_scorer
from imitable.feasibility.ruler import compared
from imitable.feasibility.score import Measuring, score, subset, weigh
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.babble import babble
from imitable.types import InMemory, Layout, Trajectory, Weights, episode_of
from tests.unit.pushed_slider import DAMPING, DT, FORCE, own, pushed


def test_direct_equals_the_closed_form(slider: Robot) -> None:
    """A cart that is pushed with twice the imitator's force: the best it can do is to push with all it has."""
    strong, weak = pushed(2 * FORCE, 30), pushed(FORCE, 30)
    measuring = Measuring(distance="l2", entries="slide_velocity", discount=0.9)
    scores = score(InMemory(slider.layout, [strong]), slider, measuring=measuring)
    gap = strong.states[1:, 1] - weak.states[1:, 1]
    expected = float((gap * 0.9 ** np.arange(30)).sum())
    assert scores.distance[0] == pytest.approx(expected, rel=1e-6)
    passive = float((strong.states[1:, 1] * 0.9 ** np.arange(30)).sum())
    assert scores.share[0] == pytest.approx(expected / passive, rel=1e-6)


def test_what_it_can_do_leaves_nothing(slider: Robot) -> None:
    scores = score(InMemory(slider.layout, [pushed(FORCE / 2, 30)]), slider)
    assert scores.share[0] < 0.01
    assert scores.verdict == ("feasible",)


def test_the_expected_distance_of_a_noisy_body_equals_the_closed_form(slider_path: Path) -> None:
    """At rest the best action is zero; noise gives the cart the speed F σ ξ (1/d + 1/d²) h, d = 1 + h c, and E|ξ| = √(2/π)."""
    noisy, sigma, steps = parse_robot(f"{slider_path}:noise=0.1"), 0.1, 5
    rest = Trajectory(np.zeros((steps + 1, 2)), "rest")
    measuring = Measuring(distance="l2", entries="slide_velocity", discount=0.9, rollouts=1500)
    scores = score(InMemory(noisy.layout, [rest]), noisy, "direct:form=restart", measuring=measuring)
    slowing = 1 + DT * DAMPING
    one_step = DT * FORCE * sigma * (1 / slowing + 1 / slowing**2) * np.sqrt(2 / np.pi)
    assert scores.distance[0] == pytest.approx(one_step * (0.9 ** np.arange(steps)).sum(), rel=0.03)


def test_a_tighter_range_never_lowers_the_distance(slider_path: Path) -> None:
    wide = parse_robot(str(slider_path))
    demos = InMemory(wide.layout, [pushed(FORCE, 60), pushed(-FORCE, 60), pushed(FORCE / 2, 60)])
    before = np.zeros(3)
    for reach in (1.0, 0.3, 0.15, 0.08, 0.04):
        body = parse_robot(f"{slider_path}:range.slide=-{reach}..{reach}")
        distance = score(demos, body, measuring=Measuring(distance="l2", discount=0.98)).distance
        assert (distance >= before - 0.01 * np.maximum(before, 1e-3)).all(), reach
        before = distance
    assert before.min() > 0.1


def test_a_tighter_elbow_never_lowers_the_distance(arm_path: Path) -> None:
    wide = parse_robot(str(arm_path))
    demos = InMemory(wide.layout, [Trajectory(t.states, "wide") for t in babble(wide, 3, 60, 2)])
    before = np.zeros(3)
    for reach in (2.0, 0.4, 0.2, 0.1, 0.05):
        body = parse_robot(f"{arm_path}:range.elbow=-{reach}..{reach}")
        distance = score(demos, body, measuring=Measuring(distance="l2", discount=0.98)).distance
        assert (distance >= before - 0.02 * np.maximum(before, 0.05)).all(), reach
        before = distance
    assert before.min() > 0.1


@pytest.mark.parametrize("form", ["rollout", "windows", "restart"])
def test_every_form_tells_own_from_impossible(slider: Robot, form: str) -> None:
    demos = InMemory(slider.layout, [pushed(FORCE / 2, 40), pushed(8 * FORCE, 40)])
    scores = score(demos, slider, f"direct:form={form},window=20")
    assert scores.share[0] < 0.05 < 0.5 < scores.share[1]
    assert scores.measurement.certificate == 1.0


def test_windows_look_past_the_beginning(slider: Robot) -> None:
    """A demonstration that becomes impossible only after the horizon: the rollout form cannot know, windows can."""
    easy, hard = pushed(FORCE / 2, 40), pushed(-10 * FORCE, 40)
    states = np.concatenate([easy.states, easy.states[-1] + hard.states[1:]])
    demo = InMemory(slider.layout, [Trajectory(states, "later")])
    assert score(demo, slider, "direct:horizon=40").share[0] < 0.05
    assert score(demo, slider, "direct:form=windows,windows=4,window=40").share[0] > 0.2


def test_a_class_of_ones_own_is_a_method(slider: Robot) -> None:
    scorer = parse_scorer("imitable.feasibility.methods.direct.Direct:horizon=7")
    assert score(own(slider), slider, scorer).measurement.horizon == 7


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("direkt", "did you mean 'direct'"),
        ("direct:form=roll", "rollout"),
        ("direct:speed=3", "speed"),
        ("direct:horizon=0", "horizon"),
        ("nowhere.Mine", "cannot be imported"),
    ],
)
def test_bad_methods_get_one_line(text: str, message: str) -> None:
    with pytest.raises(BadOption, match=message) as caught:
        parse_scorer(text)
    assert "\n" not in str(caught.value)


def test_weigh_never_simulates_and_compositions_neither(slider: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    demos = InMemory(slider.layout, [pushed(f * FORCE, 40) for f in (0.5, 1.5, 3.0, 8.0)])
    scores = score(demos, slider)
    monkeypatch.setattr(score_module, "babble", None)
    hot = weigh(scores, 1000)
    assert hot.weights.effective_size > scores.weights.effective_size
    best_two = weigh(scores, "auto", "top:2")
    assert (best_two.weight > 0).sum() == 2
    part = subset(scores, [demos[0].hash, demos[3].hash])
    np.testing.assert_array_equal(part.score, scores.score[[0, 3]])
    assert part.weight.sum() == pytest.approx(1)


def test_bad_demonstrations_are_named(slider: Robot, slider_path: Path) -> None:
    layout, good = slider.layout, pushed(FORCE, 10)
    clipped = np.concatenate([np.linspace(0, 0.5, 11)[:, None], np.minimum(np.linspace(0, 2, 11), 1.0)[:, None]], axis=1)
    outside = good.states + np.array([0.9, 0.0])
    for states, message in ((clipped, "clipped at ±1"), (outside, "slide = 0.9")):
        narrow = parse_robot(f"{slider_path}:range.slide=-0.5..0.5")
        with pytest.raises(BadEpisode, match=f"episode 1 .*{message}"):
            score(InMemory(layout, [good, Trajectory(states, "bad")]), narrow)
    with pytest.raises(BadEpisode, match=r"episode 0 .*one transition"):
        score(InMemory(layout, [pushed(FORCE, 1)]), slider)
    with pytest.raises(BadOption, match="no demonstration"):
        score(InMemory(layout, []), slider)


def test_demonstrations_of_another_robot_are_refused(slider: Robot) -> None:
    other = Layout(("a", "b"), ("c", "d"), (), 0.02)
    with pytest.raises(BadOption, match="not the imitator's"):
        score(InMemory(other, [Trajectory(np.zeros((5, 4)), "x")]), slider)
    slow = Layout(slider.layout.qpos, slider.layout.qvel, (), 0.05)
    with pytest.raises(BadOption, match=r"0\.05 s"):
        score(InMemory(slow, [Trajectory(np.zeros((5, 2)), "x")]), slider)


def test_entries_are_checked(slider: Robot) -> None:
    assert compared(slider, "all").tolist() == [True, True]
    assert compared(slider, "slide").tolist() == [True, False]
    assert compared(parse_robot("swimmer"), "rootless").sum() == 8
    with pytest.raises(BadOption, match="did you mean 'slide'"):
        compared(slider, "slid")
    for wrong in (Measuring(distance="manhattan"), Measuring(discount=1.5)):
        with pytest.raises(BadOption):
            score(own(slider), slider, measuring=wrong)


def test_weights_belong_to_their_demonstrations(slider: Robot) -> None:
    demos = InMemory(slider.layout, [pushed(f * FORCE, 40) for f in (0.5, 1.5, 3.0)])
    weights = score(demos, slider, temperature=5.0).weights
    np.testing.assert_array_equal(score(demos, slider, temperature="5").weight, weights.values)
    np.testing.assert_array_equal(weights.of(demos), weights.values)
    backwards = InMemory(slider.layout, [demos[2], demos[1], demos[0]])
    np.testing.assert_allclose(weights.of(backwards), weights.values[::-1])
    assert weights.of(InMemory(slider.layout, [demos[1], demos[2]])).sum() == pytest.approx(1)
    with pytest.raises(BadWeights, match="other demonstrations"):
        weights.of(InMemory(slider.layout, [pushed(0.1, 40)]))
    with pytest.raises(BadWeights, match="sum to one"):
        Weights(("a", "b"), np.array([0.5, 0.2]))


def test_a_movement_that_repeats_itself_is_not_taken_for_clipped(slider: Robot) -> None:
    angles = 2 * np.pi * np.arange(201) / 20
    speed = 2 * np.pi / 20 / slider.layout.period_s
    wave = np.stack([0.1 * np.sin(angles), 0.1 * speed * np.cos(angles)], axis=1)
    velocity = np.minimum(np.minimum(np.arange(101.0), 20), np.arange(101.0)[::-1]) * 0.01
    ramp = np.stack([np.cumsum(velocity) * slider.layout.period_s, velocity], axis=1)
    for states in (wave, ramp):
        trajectory = Trajectory(states, "scripted")
        check_episode(episode_of(trajectory, 0), trajectory, slider)


def test_a_recorder_that_clips_single_peaks_is_found_out(slider: Robot) -> None:
    angles, speed = 2 * np.pi * np.arange(201) / 20, 2 * np.pi / 20 / slider.layout.period_s
    peaks = np.clip(0.1 * speed * np.cos(angles), -0.0955 * speed, 0.0955 * speed)
    trajectory = Trajectory(np.stack([0.1 * np.sin(angles), peaks], axis=1), "clipped")
    with pytest.raises(BadEpisode, match="clipped"):
        check_episode(episode_of(trajectory, 0), trajectory, slider)


def test_rollouts_of_a_body_without_noise_are_refused(slider: Robot) -> None:
    with pytest.raises(BadOption, match="no noise"):
        score(InMemory(slider.layout, [pushed(FORCE, 10)]), slider, measuring=Measuring(rollouts=3))


@pytest.mark.parametrize("name", ["neighbours", "transferability"])
def test_a_method_with_a_measure_of_its_own_refuses_other_distances(slider: Robot, name: str) -> None:
    for measuring in (Measuring(distance="l2"), Measuring(entries="rootless")):
        with pytest.raises(BadOption, match="leave out --distance"):
            score(InMemory(slider.layout, [pushed(FORCE, 10)]), slider, name, measuring=measuring)
