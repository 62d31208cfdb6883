# SPDX-License-Identifier: MIT
"""The verb `score`: closed forms, methods, bad input."""

from pathlib import Path

import numpy as np
import pytest

from imitable.errors import BadEpisode, BadOption, BadWeights
from imitable.feasibility import score as score_module
from imitable.feasibility.checks import check_episode
from imitable.feasibility.methods import direct, parse_scorer
from imitable.feasibility.methods.direct import window_begins
from imitable.feasibility.ruler import compared
from imitable.feasibility.score import Measuring, score, subset, weigh
from imitable.feasibility.spans import Span
from imitable.imitation.transitions import weighted_transitions
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.babble import babble, scales
from imitable.sim.kinematics import within_limits
from imitable.tracking.follow import passive_rollout
from imitable.tracking.solver import Lanes
from imitable.types import InMemory, Layout, Trajectory, Weights, episode_of
from tests.unit.pushed_slider import DAMPING, DT, FORCE, own, pushed
from tests.unit.thrown_bodies import thrown


def test_direct_equals_the_closed_form(slider: Robot) -> None:
    """A cart that is pushed with twice the imitator's force: the best it can do is to push with all it has."""
    strong, weak = pushed(2 * FORCE, 30), pushed(FORCE, 30)
    measuring = Measuring(distance="l2", entries="slide_velocity", discount=0.9)
    scores = score(InMemory(slider.layout, [strong]), slider, "direct:windows=1", measuring=measuring)
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
    measuring = Measuring(distance="l2", entries="slide_velocity", discount=0.9, rollouts=150)
    scores = score(InMemory(noisy.layout, [rest]), noisy, "direct:form=restart,transitions=5", measuring=measuring)
    slowing = 1 + DT * DAMPING
    one_step = DT * FORCE * sigma * (1 / slowing + 1 / slowing**2) * np.sqrt(2 / np.pi)
    assert scores.distance[0] == pytest.approx(one_step * sum(0.9**t for t in range(steps)), rel=0.08)


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


@pytest.mark.parametrize("form", ["windows", "restart"])
def test_every_form_tells_own_from_impossible(slider: Robot, form: str) -> None:
    demos = InMemory(slider.layout, [pushed(FORCE / 2, 40), pushed(8 * FORCE, 40)])
    scores = score(demos, slider, f"direct:form={form},window_s=0.4")
    assert scores.share[0] < 0.05 < 0.5 < scores.share[1]
    assert scores.measurement.certificate == 1.0


def test_windows_begin_at_the_start_and_anywhere_and_look_where_something_is_wrong(slider: Robot) -> None:
    demo = pushed(FORCE / 2, 400)
    begins = window_begins(demo, 20, 4)
    assert begins[0] == 0
    assert len(begins) == 4
    assert ((np.diff(begins) > 0) & (begins[1:] <= 400 - 20)).all()
    seen, missed = (static_span(int(begin), int(begin) + 10) for begin in (begins[2] + 5, begins[2] + 30))
    np.testing.assert_array_equal(window_begins(demo, 20, 4, [seen]), begins)
    (more,) = set(window_begins(demo, 20, 4, [missed]).tolist()) - set(begins.tolist())
    assert more < missed.begin < more + 20, "it begins before what looks wrong"
    assert window_begins(pushed(FORCE, 10), 20, 4).tolist() == [0], "there is one window always"


def static_span(begin: int, end: int) -> Span:
    return Span("force", begin, end, begin * DT, end * DT, "slide", 2.0, 1.0, "N")


def test_what_no_window_sees_is_found_by_the_states_alone(slider: Robot) -> None:
    easy, hard = pushed(FORCE / 2, 40), pushed(-10 * FORCE, 40)
    states = np.concatenate([easy.states, easy.states[-1] + hard.states[1:]])
    whole, part = (InMemory(slider.layout, [Trajectory(one, "later")]) for one in (states, easy.states))
    method = "direct:windows=2,window_s=0.8"
    seen, calm = score(whole, slider, method), score(part, slider, method)
    assert calm.share[0] < 0.05
    assert seen.share[0] > 0.3, "a window looks there"
    assert calm.lost_at == ((),)
    assert abs(seen.lost_at[0][0] - 40 * slider.layout.period_s) < 0.5


def test_an_imitator_has_one_noise_whatever_the_seed(slider: Robot) -> None:
    scores = [score(own(slider, 1), slider, seed=seed) for seed in (1, 2)]
    assert scores[0].measurement.own_share == scores[1].measurement.own_share
    assert scores[0].measurement.noise == scores[1].measurement.noise


def test_what_was_spent_on_own_movements_counts_for_every_set(slider: Robot) -> None:
    demos = [InMemory(slider.layout, [pushed(FORCE / 2, steps)]) for steps in (30, 40)]
    (first, again), other = (
        (score(demos[0], slider, "direct:window_s=0.2", 5) for _ in range(2)),
        score(demos[1], slider, "direct:window_s=0.2", 5),
    )
    assert first.measurement == again.measurement
    assert first.measurement.simulator_steps > first.measurement.measured_steps
    assert first.measurement.own_share == other.measurement.own_share


def test_segments_weigh_their_own_score(slider: Robot) -> None:
    """The first half can be followed, the second cannot: as a whole it weighs little, its first half as much as any."""
    easy, hard = pushed(FORCE / 8, 80), pushed(-10 * FORCE, 80)
    states = np.concatenate([easy.states, easy.states[-1] + hard.states[1:]])
    demos = InMemory(slider.layout, [Trajectory(states, "later"), pushed(FORCE / 20, 160)])
    scores = score(demos, slider, "direct:windows=4,window_s=0.4")
    plain, cut = scores.weights, weigh(scores, segments=True).weights
    assert plain.segments == ()
    assert plain.values[0] < 0.01
    densities = weighted_transitions(demos, cut, 0).density
    later, same = densities[:160], densities[160:]
    assert later[:60] == pytest.approx(same[:60], rel=0.1)
    assert later[100:].max() < 0.05 * later[:60].min()
    assert cut.values[0] == pytest.approx(later.sum() / densities.sum(), rel=1e-6)
    assert weigh(weigh(scores, segments=True), segments=False).weights.values == pytest.approx(plain.values)
    with pytest.raises(BadOption, match="share:NUMBER"):
        weigh(scores, "paper", segments=True)


@pytest.mark.parametrize("body", ["half_cheetah:front=0.01", "hopper", "swimmer"])
@pytest.mark.parametrize("noise", [0.0, 1e-3])
def test_the_imitators_own_rest_is_feasible(body: str, noise: float) -> None:
    """Doing nothing follows it, too: what is left of it must not be a share of nothing."""
    robot, rng = parse_robot(body), np.random.default_rng(0)
    fallen = passive_rollout(Lanes(robot, scales(robot).difference), robot.start[None], round(12 / robot.layout.period_s))[0]
    rest = fallen[-round(2 / robot.layout.period_s) :]
    states = rest + noise * scales(robot).coordinates * rng.standard_normal(rest.shape)
    assert score(InMemory(robot.layout, [Trajectory(states, "rest")]), robot).verdict == ("feasible",)


def test_windows_begin_at_the_start_and_where_the_hash_says() -> None:
    robot = parse_robot("half_cheetah")
    one, other = babble(robot, 2, 200, 0)
    first, again, second = (direct.window_begins(trajectory, 16, 4) for trajectory in (one, one, other))
    np.testing.assert_array_equal(first, again)
    assert first[0] == second[0] == 0
    assert (first != second).any()
    assert len(first) == 4
    assert (np.diff(first) > 0).all()
    assert first[-1] <= 200 - 16
    assert direct.window_begins(one, 300, 4).tolist() == [0]


def test_a_window_beyond_a_joint_stop_begins_at_the_stop() -> None:
    """Thrown out of its stop, a body would say nothing of the demonstration, and neither would the passive one."""
    robot = parse_robot("swimmer:back=10")
    states = np.tile(robot.start, (2, 1))
    states[1, 4] = np.radians(90)
    inside = within_limits(robot, states)
    np.testing.assert_array_equal(inside[0], states[0])
    assert inside[1, 4] == pytest.approx(np.radians(10), abs=0.02)
    assert np.delete(inside[1] - states[1], 4).any() == 0


def test_the_second_stage_only_tightens() -> None:
    """And says so: which demonstrations got it is a rule on the first stage's share alone."""
    robot, other = parse_robot("half_cheetah:front=0.01"), parse_robot("half_cheetah:front=0.05")
    demos = InMemory(robot.layout, [Trajectory(one.states, "other") for one in thrown(other, 4, 40, 0)])
    shares = {effort: score(demos, robot, f"direct:effort={effort},windows=2") for effort in direct.EFFORTS}
    assert (shares["thorough"].share <= shares["quick"].share).all()
    assert (shares["thorough"].share < 0.9 * shares["quick"].share).any()
    low, high = direct.MAY_BE_GREED
    planned = (shares["quick"].share > low) & (shares["quick"].share < high)
    np.testing.assert_array_equal(shares["standard"].stage, np.where(planned, 2, 1))
    assert set(shares["quick"].stage) == {1}
    np.testing.assert_array_equal(shares["standard"].share, np.where(planned, shares["thorough"].share, shares["quick"].share))


def test_what_is_judged_does_not_depend_on_the_rate_of_recording() -> None:
    for body in ("half_cheetah", "hopper", "swimmer", "walker2d"):
        robot = parse_robot(body)
        assert direct.Direct().window_steps(robot) * robot.layout.period_s == pytest.approx(0.8, abs=0.03)


def test_a_class_of_ones_own_is_a_method(slider: Robot) -> None:
    scorer = parse_scorer("imitable.feasibility.methods.direct.Direct:window_s=0.14")
    assert score(own(slider), slider, scorer).measurement.horizon == 7


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("direkt", "did you mean 'direct'"),
        ("direct:form=window", "windows"),
        ("direct:speed=3", "speed"),
        ("direct:window_s=0", "window_s"),
        ("nowhere.Mine", "only what you type yourself is imported"),
    ],
)
def test_bad_methods_get_one_line(text: str, message: str) -> None:
    with pytest.raises(BadOption, match=message) as caught:
        parse_scorer(text)
    assert "\n" not in str(caught.value)


def test_weigh_never_simulates_and_compositions_neither(slider: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    demos = InMemory(slider.layout, [pushed(f * FORCE, 40) for f in (0.5, 1.5, 3.0, 8.0)])
    scores = score(demos, slider)
    monkeypatch.setattr(score_module, "calibrated", None)
    hot = weigh(scores, 1000)
    assert hot.weights.effective_size > scores.weights.effective_size
    best_two = weigh(scores, "auto", "top:2")
    assert np.count_nonzero(weigh(best_two, "score:1").weight) == 2, "what is not given stays as it was"
    assert weigh(best_two, keep="all").weight.all()
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


@pytest.mark.parametrize("hertz", [0.5, 2.0, 5.0, 10.0])
@pytest.mark.parametrize("phase", [0.0, 0.5])
def test_a_sine_whose_samples_miss_its_peaks_is_not_clipped(slider: Robot, hertz: float, phase: float) -> None:
    """At 50 Hz a sine of 5 Hz repeats its largest sampled speed exactly, and is faster between the two samples."""
    rate = 2 * np.pi * hertz
    angles = rate * slider.layout.period_s * (np.arange(50) + phase)
    speeds = 0.1 * rate * np.round(np.cos(angles), 12)
    sine = Trajectory(np.stack([0.1 * np.sin(angles), speeds], axis=1), "a sine")
    check_episode(episode_of(sine, 0), sine, slider)
    limit = 0.7 * float(np.abs(speeds).max())
    clipped = Trajectory(np.stack([sine.states[:, 0], np.clip(speeds, -limit, limit)], axis=1), "clipped")
    with pytest.raises(BadEpisode, match="clipped"):
        check_episode(episode_of(clipped, 0), clipped, slider)


def test_encoder_steps_are_not_taken_for_clipped(slider: Robot) -> None:
    """Of 3 and 4 steps in turn the mean speed is 3.5, again and again, and every other step is faster than that."""
    places = 0.001 * np.cumsum(np.tile([3.0, 4.0], 40))
    speeds = np.gradient(places, slider.layout.period_s)
    recorded = Trajectory(np.stack([places, np.round(speeds, 9)], axis=1), "encoders")
    check_episode(episode_of(recorded, 0), recorded, slider)


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


def test_jitter_follows_the_same_windows_a_little_differently(slider: Robot) -> None:
    demos = InMemory(slider.layout, [pushed(FORCE / 2, 200), pushed(2 * FORCE, 200)])
    plain, again, jittered = (score(demos, slider, f"direct:window_s=0.4,jitter={size}") for size in (0, 0, 0.001))
    np.testing.assert_array_equal(plain.share, again.share)
    assert (plain.share != jittered.share).all()
    assert plain.segment_begin == jittered.segment_begin
    np.testing.assert_allclose(plain.share, jittered.share, atol=0.02)
